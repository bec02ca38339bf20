/* What every form of a matrix's report says in words. */
#ifndef KB_MATRIX_WORDS_H
#define KB_MATRIX_WORDS_H

#include <jansson.h>

#include "guest/text.h"
#include "host/matrix_table.h"

/* "quick: 22 cells, 312 of 312 pairs of 9 options": appended. */
void matrix_headline(const struct matrix_folder *f, const struct matrix_table *t, struct text *out);

/* Rows of a label and words: options, what cannot be, guest, emulator, accelerator, seed. In order; words may be of any length. */
typedef void (*matrix_row)(void *context, const char *label, const char *words);
void matrix_facts(const struct matrix_folder *f, const struct matrix_table *t, matrix_row row, void *context);

/*
 * Rows of the checks that cells which were tried left out, and why: "cells 3 and 5: disk: discard: the guest has no command"; and of
 * settings that the running guest did not confirm.
 */
void matrix_unchecked(const struct matrix_folder *f, const struct matrix_table *t, matrix_row row, void *context);

/* The last session did not say that it ended: it runs, or was killed. */
bool matrix_is_open(const struct matrix_folder *f);

/* A fact of all cells that were stored, else of run.json: "tcg", or each there is of several. key: as a cell has it. */
void matrix_fact(const struct matrix_folder *f, const char *key, struct text *out);

/* What failing cells have in common (host/matrix_common.h), a sentence each, the caller's array. NULL: out of memory. */
json_t *matrix_common_words(const struct matrix_table *t, const enum matrix_outcome *outcome, struct error *e);

/* The same, of the statuses of the table. */
json_t *matrix_failures_words(const struct matrix_table *t, struct error *e);

/* What decided, of a check: "kick lost: avail 18, last_avail 17", or the plain values there are; nothing where its message says it. Appended, a line or two. */
void matrix_evidence(const json_t *check, struct text *out);

/*
 * What of a check's evidence has lines of its own, the end of a console most often: each without its indent and the bar before it,
 * and without what the message has said. Its key "console" is left out.
 */
typedef void (*matrix_line)(void *context, const char *line);
void matrix_evidence_lines(const json_t *check, matrix_line line, void *context);

/* "cells 3, 7 and 9" of the cells for which wanted says so, and how many they are. */
size_t matrix_cell_list(const struct matrix_folder *f, bool (*wanted)(void *context, size_t cell), void *context, struct text *out);

/* The end of a cell's console, at most so many lines; NULL when it is not there. The caller frees it. */
char *matrix_console_tail(const struct matrix_folder *f, size_t cell, size_t lines);

#endif
