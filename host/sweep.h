/*
 * The values of a run as a server's sweep is published: a column per number of jobs (or of whichever option was swept),
 * a row per workload, variant and guest, and a table per quantity. Each side's values stand for themselves: this needs no
 * second variant, and says nothing about what is significant.
 */
#ifndef KB_SWEEP_H
#define KB_SWEEP_H

#include "host/dataset.h"

enum sweep_table {
	SWEEP_IOPS,
	SWEEP_RESPONSE,
	SWEEP_BUSY,
	SWEEP_CPU,
	SWEEP_AWAIT,
	SWEEP_REQUESTS,
	SWEEP_SIZE,
	SWEEP_RUNS,
	SWEEP_TABLES
};

#define SWEEP_NO_CELL ((size_t)-1)

struct sweep_row {
	char *label;        /* "linux: raw bs=4096, kickfd": the guest only where there are several */
	char *workload;     /* "raw bs=4096": without guest, variant and the option of the columns */
	const char *guest;  /* the dataset's, as is variant */
	const char *variant;
	char *block_size;   /* as given, "" when not told */
	size_t *cell;       /* by column: the dataset's, or SWEEP_NO_CELL */
	unsigned variant_index;
	bool new_group;     /* its block size is another than that of the row above */
};

struct sweep {
	const struct dataset *dataset; /* the caller's; has to outlive this */
	char *key;                     /* "numjobs"; "" when no option varies: there is one column then */
	char **column;                 /* its values, ascending; "?": cells that do not tell it */
	size_t ncolumns;
	struct sweep_row *row; /* by block size, then in the order of the cells, the variants of a cell together */
	size_t nrows;
	bool only_jobs;     /* CPU per operation is that of the jobs: nothing counted all of the guest's */
	bool short_of_runs; /* some value comes from fewer runs than were planned: SWEEP_RUNS tells which */
};

int sweep_make(const struct dataset *d, struct sweep **out, struct error *e);
void sweep_free(struct sweep *s);

/*
 * Geometric mean over the runs (observations) that are complete, arithmetic where one of them is zero or below, as in the
 * comparison; in the table's unit. NAN: no data. SWEEP_RUNS: how many runs that is.
 */
double sweep_value(const struct sweep *s, enum sweep_table table, size_t row, size_t column);

/* Does any row have a value? */
bool sweep_has(const struct sweep *s, enum sweep_table table);

/* "response time (mean), µs"; for programs "response_time" and "us". CPU per operation says which one it is. */
const char *sweep_title(const struct sweep *s, enum sweep_table table);
const char *sweep_name(const struct sweep *s, enum sweep_table table);
const char *sweep_unit(enum sweep_table table);

/* A value of the table for people: "97255", "47.9", "0.0123"; "-" for NAN. Three significant digits at least. */
void sweep_text(double value, enum sweep_table table, char out[METRIC_TEXT_SIZE]);

#endif
