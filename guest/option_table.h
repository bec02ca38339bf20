/*
 * The options that kickio understands, one row each, and the names of those that only fio understands.
 * The parser, the range checks, the help texts and the defaults all come from these rows.
 */
#ifndef KB_OPTION_TABLE_H
#define KB_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/job.h"

enum option_kind {
	OPTION_STRING,      /* char * */
	OPTION_FLAG,        /* bool; the value may be missing */
	OPTION_BOOL,        /* bool; the value is required */
	OPTION_INVERSE,     /* bool, stored inverted */
	OPTION_UNSIGNED,    /* unsigned */
	OPTION_COMPLEMENT,  /* unsigned, 100 minus the value is stored */
	OPTION_NUMBER,      /* uint64_t */
	OPTION_SEED,        /* job.randseed and randseed_set */
	OPTION_DIRECTIONS,  /* uint64_t [DDIRS] */
	OPTION_EXTENT,      /* struct extent */
	OPTION_TIME,        /* uint64_t, microseconds */
	OPTION_CHOICE,      /* an enum (int) from the row's choices */
	OPTION_FORMATS,     /* unsigned mask of the row's choices */
	OPTION_PERCENTILES, /* job.percentiles, npercentiles, percentile_precision */
	OPTION_ENGINE,      /* const struct engine * */
	OPTION_DIRECTORY,   /* char *, a list of folders that exist */
	OPTION_ACTION,      /* prints something; never stored */
	OPTION_ACTION_ON,   /* the same, takes an optional name */
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
	size_t offset;       /* in struct job, of program options in struct jobs */
	const struct choice *choices;
	const char *help;
};

extern const struct option job_options[];
extern const struct option program_options[];

/* By name or alias; NULL when the table has no such row. */
const struct option *option_find(const struct option *table, const char *name);

/* Whether the option has no value, or may do without. */
bool option_value_optional(const struct option *o);

/* Whether fio 3.33 knows an option (or an engine) of that name. */
bool option_known_to_fio(const char *name);
bool engine_known_to_fio(const char *name);

/* The nearest name that kickio supports, NULL when none is near. */
const char *option_nearest(const char *name);

/*
 * Store a value at its place in base (a struct job, or a struct jobs for program options), after checking
 * it. value NULL: written without one.
 */
int option_store(const struct option *o, void *base, const char *value, struct error *e);

/* Store all defaults of a table. Fails only when memory is short. */
int option_defaults(const struct option *table, void *base, struct error *e);

/* What a value of this kind looks like: "integer (4k)". */
const char *option_kind_help(enum option_kind kind);

#endif
