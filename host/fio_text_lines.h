/*
 * The lines of a text that may hold fio's reports, as fio printed them: without quoting, colours, progress lines and
 * the wrapping that mails add, with runs of blanks reduced ("err= 0" is "err=0", "read :" is "read:").
 */
#ifndef KB_FIO_TEXT_LINES_H
#define KB_FIO_TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "guest/text.h"

enum fio_kind {
	FIO_PROSE, /* anything that is not fio's */
	FIO_COMMAND,
	FIO_HEADER, /* "name: (g=0): rw=…" */
	FIO_VERSION,
	FIO_STARTING,
	FIO_LAYOUT,
	FIO_NOTICE, /* "fio: …" */
	FIO_VERIFY, /* a verify failure */
	FIO_TITLE,  /* "name: (groupid=0, jobs=1): err= 0: …" */
	FIO_DIRECTION,
	FIO_LATENCY,      /* "clat (usec): min=…" */
	FIO_DISTRIBUTION, /* "lat (usec): 250=99.84%"; some releases call it clat */
	FIO_PERCENTILES,  /* the title of the rows */
	FIO_ROW,
	FIO_SAMPLES,
	FIO_CPU,
	FIO_DEPTHS, /* also submit, complete, steadystate, errors, description, title of the sync lines */
	FIO_ISSUED,
	FIO_TARGET, /* "latency   : target=0, …, depth=1" */
	FIO_GROUP,
	FIO_DISKS,
	FIO_DISK,
};

#define FIO_DIRECTIONS 5
extern const char *const fio_direction_names[FIO_DIRECTIONS]; /* read write trim mixed file_operation */

/* What a squeezed line is; *direction is set for FIO_DIRECTION. */
enum fio_kind fio_line_kind(const char *line, int *direction);

/* Reduce blanks in place. */
void fio_line_squeeze(char *line);

struct fio_line {
	size_t text;   /* where it begins in bytes */
	size_t number; /* of the first physical line, from 1 */
	enum fio_kind kind;
	int direction; /* index in fio_direction_names, of FIO_DIRECTION */
};

struct fio_lines {
	struct text bytes; /* the lines, each NUL-terminated */
	struct fio_line *line;
	size_t count, capacity;
	bool prompts; /* commands stand behind "# " of a shell: a line that begins with one "#" is then no heading */
	size_t diff;  /* number of the first line of a comparison, whose lines with "<" and ">" are not read; 0: none */
};

/* Both linear in length. On failure (memory) the error says so; fio_lines_free is right in any case. */
int fio_lines_split(const char *bytes, size_t length, struct fio_lines *out, struct error *e);
void fio_lines_free(struct fio_lines *l);

const char *fio_lines_text(const struct fio_lines *l, size_t index);

#endif
