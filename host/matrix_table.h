/* A regress folder as the forms of its report see it: options with values, cells with what became of them, pairs. */
#ifndef KB_MATRIX_TABLE_H
#define KB_MATRIX_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "guest/error.h"
#include "guest/text.h"
#include "host/cell.h"
#include "host/matrix_common.h"
#include "host/matrix_report.h"

#define CELL_MISSING CELL_STATUSES /* not stored yet */

struct matrix_column {
	const char *name;
	const char **value; /* as run.json lists them, then what only a cell that was asked for by name has */
	unsigned nvalues, nlisted;
	bool varies;        /* among the cells */
};

/* Everything that is borrowed lives as long as the folder. */
struct matrix_table {
	struct matrix_column *column;
	size_t ncolumns;
	unsigned *value; /* by cell, then by option */
	enum cell_status *status;
	size_t ncells;
};

int matrix_table_make(const struct matrix_folder *f, struct matrix_table *out, struct error *e);
void matrix_table_free(struct matrix_table *t);

/* The value that a cell has of an option. */
const char *matrix_table_value(const struct matrix_table *t, size_t cell, size_t column);

/* "pass", "fail", …, "missing" */
const char *matrix_word(enum cell_status status);
bool matrix_bad(enum cell_status status); /* fail, stalled, corrupt */
enum matrix_outcome matrix_outcome_of(enum cell_status status);

/* Of cell i, and "" when there is none. The record is NULL when it is missing. */
unsigned matrix_cell_number(const struct matrix_folder *f, size_t i);
const char *matrix_cell_name(const struct matrix_folder *f, size_t i);
const json_t *matrix_cell_record(const struct matrix_folder *f, size_t i);
const char *matrix_cell_text(const struct matrix_folder *f, size_t i, const char *key);

/* A check of a record that is not pass: its status. */
enum cell_status matrix_check_status(const json_t *check);

/* "18 passed, 1 failed, 0 stalled, 1 corrupt, 2 skipped, 0 missing": appended. */
void matrix_counts(const struct matrix_folder *f, struct text *out);

/* Pairs of values of two options, of those that run.json lists. */
struct matrix_coverage {
	size_t possible, covered, tried; /* by the cells there are; by those that were neither skipped nor are missing */
};
struct matrix_coverage matrix_coverage_of(const struct matrix_folder *f, const struct matrix_table *t);

/* What became of the cells that have two values of two options. */
struct matrix_pair {
	unsigned passed, failed, untried;
};
struct matrix_pair matrix_pair_of(const struct matrix_table *t, size_t a, unsigned value_a, size_t b, unsigned value_b);

/* Why the two cannot meet, NULL: they can. */
const char *matrix_pair_impossible(const struct matrix_folder *f, const struct matrix_table *t, size_t a, unsigned value_a, size_t b,
				   unsigned value_b);

#endif
