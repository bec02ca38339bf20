/* Shared by the files that write a matrix as HTML. All append. */
#ifndef KB_MATRIX_HTML_H
#define KB_MATRIX_HTML_H

#include "host/matrix_words.h"

/* A status as a word with a sign. */
void matrix_html_badge(enum cell_status status, struct text *out);

/* A section per cell: checks, evidence, settings, the end of the console, how to run it again. */
void matrix_html_cells(const struct matrix_folder *f, const struct matrix_table *t, struct text *out);

/* A table of every pair of values of two options: how many cells passed, how many did not. */
void matrix_html_pairs(const struct matrix_folder *f, const struct matrix_table *t, struct text *out);

#endif
