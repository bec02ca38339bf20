/* A file of fio's output, from the disk or standard input to documents. */
#ifndef KB_FIO_FILE_H
#define KB_FIO_FILE_H

#include "host/fio_import.h"

struct fio_file {
	const char *name; /* in messages: the path, or "standard input" */
	long long size;   /* bytes */
	long long mtime;  /* s since 1970; negative: not known */
	struct fio_import found;
};

/*
 * path, "-" for standard input. What could not be read is said at once, and found.notes is empty. A folder, an empty or
 * binary file, one of more than 256 MiB (which is not even begun) and one without any output of fio are refused by name. f
 * has to be freed also after an error.
 */
int fio_file_read(const char *path, struct fio_file *f, struct error *e);
void fio_file_free(struct fio_file *f);

/* Notes to stderr, a line each, and forget them. */
void fio_file_say(const struct fio_file *f, json_t *notes);

#endif
