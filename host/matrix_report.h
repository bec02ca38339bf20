/* A regress folder read back, as text, HTML, JUnit and JSON, and two of them held against each other. */
#ifndef KB_MATRIX_REPORT_H
#define KB_MATRIX_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "guest/error.h"
#include "guest/text.h"
#include "host/cell.h"

struct matrix_folder {
	char *path;
	json_t *run;   /* run.json */
	json_t *cells; /* array of cell records in the order of run.json; null where one is not stored yet */
	unsigned count[CELL_STATUSES], missing;
};

/* Whether a folder holds a matrix (and not a run): its run.json says so. */
bool matrix_folder_is(const char *path);
int matrix_folder_read(const char *path, struct matrix_folder *out, struct error *e);
void matrix_folder_free(struct matrix_folder *f);

/* All append. color: of a terminal. */
int matrix_report_text(const struct matrix_folder *f, bool color, struct text *out, struct error *e);
int matrix_report_html(const struct matrix_folder *f, struct text *out, struct error *e);
int matrix_report_junit(const struct matrix_folder *f, struct text *out, struct error *e);
int matrix_report_json(const struct matrix_folder *f, struct text *out, struct error *e);

/* new failures, fixed, still failing, not in both. *worse: how many cells failed newly. */
int matrix_compare_text(const struct matrix_folder *before, const struct matrix_folder *after, struct text *out, unsigned *worse,
			struct error *e);

/*
 * The exit status of a folder: 1 when a cell failed, stalled or was corrupt, 3 when one is missing or all were skipped, else 0: some
 * may have been skipped. bisect: 0, 1, and 125 instead of 3.
 */
int matrix_status(const struct matrix_folder *f, bool bisect);

#endif
