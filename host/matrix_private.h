/* What the files of the matrix share. */
#ifndef KB_MATRIX_PRIVATE_H
#define KB_MATRIX_PRIVATE_H

#include <limits.h>

#include "host/matrix.h"

#define MATRIX_OPEN UINT_MAX /* instead of a value's number: the option is left as the base has it */

/* [except NAME]: two options of this matrix with the values that are not to meet. */
struct matrix_except {
	unsigned option[2];
	bool *value[2]; /* by the option's values */
	char *reason;
};

/* Set one option of a cell. Refusals name file and line, and what is allowed. */
int matrix_option_set(struct matrix_cell *cell, const char *name, const char *value, const char *file, int line, struct error *e);

/* Whether there is such an option: in the table, or a key of the disk or the machine. */
bool matrix_option_is(const char *name);

/* Every option there is, for messages. Appended. */
void matrix_option_names(struct text *out);

/* The keys of disk and machine that an option sets: 0.. until NULL. "readonly" and such have none. */
const char *matrix_option_key(const char *name, size_t index);

/* Why a cell's settings and its event cannot be together; NULL: they can. What it says lives for ever. */
const char *matrix_conflict(const struct matrix_cell *cell);

/* Fill what follows from settings and machine: bytes, block_size, write_cache. */
void matrix_cell_derive(struct matrix_cell *cell);

/* Make a cell of one value of every option; a value may be MATRIX_OPEN. It is to be freed after an error, too. */
int matrix_cell_make(const struct matrix *m, const unsigned *value, struct matrix_cell *cell, struct error *e);
void matrix_cell_free(struct matrix_cell *cell);

/* "ring=packed": appended, a comma of the value as '\,'. */
void matrix_value_text(const struct matrix *m, unsigned option, unsigned value, struct text *out);

/* The cells of the covering, or those of them that request->only names. */
int matrix_select(struct matrix *m, const struct matrix_request *request, struct error *e);

/* Events by their name (host/event.h), but for MATRIX_EVENT_NONE. */
bool matrix_event_is(const char *name);
void matrix_event_names(struct text *out);
const char *matrix_event_refused(const struct matrix_cell *cell);

#endif
