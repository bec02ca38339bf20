/* What the readers of fio's output share. */
#ifndef KB_FIO_BYTES_H
#define KB_FIO_BYTES_H

#include <stddef.h>

#include "guest/text.h"
#include "host/fio_import.h"

/* Length of the valid UTF-8 sequence at bytes (at most length bytes), 0 when there is none. NUL is none. */
size_t fio_utf8_length(const char *bytes, size_t length);

/* A JSON string; what is not UTF-8 becomes U+FFFD. NULL: out of memory. */
json_t *fio_string(const char *bytes, size_t length);

/* Overwrite with blanks; newlines stay, so that line numbers hold. */
void fio_blank(char *bytes, size_t from, size_t to);

/* Of a file. */
#define FIO_MOST_NOTES 500

/* A line for into->notes; after FIO_MOST_NOTES one more says that others are left out. */
int fio_note(struct fio_import *into, size_t line, struct error *e, const char *fmt, ...) KB_PRINTF(4, 5);

/* Append {"line","what"} to the "marks" of a job. */
int fio_mark(json_t *job, size_t line, struct error *e, const char *fmt, ...) KB_PRINTF(4, 5);

#endif
