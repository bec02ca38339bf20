/*
 * The options that kickio understands, one row each, and the names of those that only fio understands.
 * The parser, the range checks, the help texts, the manual page and the defaults all come from these rows.
 */
#ifndef KB_OPTION_TABLE_H
#define KB_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/job.h"

enum option_kind {
	OPTION_STRING,       /* char * */
	OPTION_LOG,          /* char *, a prefix; in a job file it may be missing: "" */
	OPTION_FLAG,         /* bool; the value may be missing */
	OPTION_BOOL,         /* bool; the value is required */
	OPTION_INVERSE,      /* bool, stored inverted */
	OPTION_UNSIGNED,     /* unsigned */
	OPTION_COMPLEMENT,   /* unsigned, 100 minus the value is stored */
	OPTION_SIGNED,       /* int, -20..19 */
	OPTION_NUMBER,       /* uint64_t */
	OPTION_SEED,         /* job.randseed and randseed_set */
	OPTION_DIRECTIONS,   /* uint64_t [DDIRS] */
	OPTION_RANGE,        /* struct range, bytes */
	OPTION_RANGES,       /* struct range [DDIRS], bytes */
	OPTION_TIME_RANGE,   /* struct range, microseconds; bare numbers are seconds */
	OPTION_BSSPLIT,      /* struct bssplit [DDIRS] */
	OPTION_EXTENT,       /* struct extent */
	OPTION_TIME,         /* uint64_t, microseconds; bare numbers are seconds */
	OPTION_MICROSECONDS, /* the same; bare numbers are microseconds */
	OPTION_CHOICE,       /* an enum (int) from the row's choices */
	OPTION_SERVICE,      /* struct file_service, the kind from the row's choices */
	OPTION_DISTRIBUTION, /* struct distribution [DDIRS], the kind from the row's choices */
	OPTION_FORMATS,      /* unsigned mask of the row's choices */
	OPTION_PERCENTILES,  /* job.percentiles, npercentiles, percentile_precision */
	OPTION_PERCENTAGE,   /* double, 0..100 */
	OPTION_PATTERN,      /* struct pattern */
	OPTION_CPUS,         /* struct cpu_list */
	OPTION_ENGINE,       /* const struct engine * */
	OPTION_DIRECTORY,    /* char *, a list of folders that exist */
	OPTION_SECTION,      /* jobs.section, one more */
	OPTION_ACTION,       /* prints something; never stored */
	OPTION_ACTION_ON,    /* the same, takes an optional name */
};

struct choice {
	const char *name; /* NULL ends the list */
	int value;        /* CHOICE_REFUSED: known to fio only */
	const char *help;
};

#define CHOICE_REFUSED (-1)

struct option {
	const char *name; /* NULL ends the table */
	const char *alias;
	enum option_kind kind;
	uint64_t min, max; /* for numbers */
	const char *initial; /* the default as one would write it, or NULL */
	size_t offset, size; /* in struct job, of program options in struct jobs */
	const struct choice *choices;
	const char *help;
	const char *engines; /* names of the only engines that have it, with blanks between; NULL: all */
};

/* Offset and size of a field, for a row. */
#define JOB_FIELD(field) offsetof(struct job, field), sizeof(((struct job *)0)->field)
#define JOBS_FIELD(field) offsetof(struct jobs, field), sizeof(((struct jobs *)0)->field)
#define NO_FIELD 0, 0
#define OPTION_END { .name = NULL }

/* The job options in groups, in the order of the help. */
struct option_section {
	const char *title; /* NULL ends the list */
	const struct option *options;
};

extern const struct option_section job_sections[];
extern const struct option program_options[];

extern const struct option options_grouping[], options_io[], options_files[], options_engine[], options_time[],
	options_random[], options_cache[], options_data[], options_verify[], options_cpu[], options_report[],
	options_log[];

/* By name or alias; NULL when the table has no such row. */
const struct option *option_find(const struct option *table, const char *name);
const struct option *job_option_find(const char *name);

/* Whether the option has no value, or may do without. */
bool option_value_optional(const struct option *o);

/* Whether fio 3.33 knows an option (or an engine) of that name. */
bool option_known_to_fio(const char *name);
bool engine_known_to_fio(const char *name);

/* The engines of kickio on any system, ended by NULL; why this build lacks one, NULL when it is none of them. */
extern const char *const kickio_engines[];
const char *engine_absent_reason(const char *name);

/* The nearest name that kickio supports, NULL when none is near. */
const char *option_nearest(const char *name);

/*
 * Store a value at its place in base (a struct job, or a struct jobs for program options), after checking
 * it. value NULL: written without one.
 */
int option_store(const struct option *o, void *base, const char *value, struct error *e);

/* Store all defaults of a table, or of all job options. Fail only when memory is short. */
int option_defaults(const struct option *table, void *base, struct error *e);
int job_defaults(struct job *job, struct error *e);

/* Whether two jobs (or struct jobs) have the same value of an option. */
bool option_same(const struct option *o, const void *a, const void *b);

/* Whether the option belongs to this engine, or to all. */
bool option_of_engine(const struct option *o, const char *engine);

/* What a value of this kind looks like: "integer (4k)". */
const char *option_kind_help(enum option_kind kind);

#endif
