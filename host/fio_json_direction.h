/* One direction ("read") of a job in fio's JSON, of whatever version, in the form of fio_import.h. */
#ifndef KB_FIO_JSON_DIRECTION_H
#define KB_FIO_JSON_DIRECTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "guest/error.h"

struct fio_json_units {
	bool known; /* the version was understood */
	bool kib;   /* io_bytes holds KiB: up to 2.20, and no io_kbytes beside it */
};

/* From "fio-2.18-59-g618e". */
struct fio_json_units fio_json_units(const char *version);

/*
 * *out: the caller's, NULL when the direction did nothing. Bytes over run time, printed bandwidth, and IOPS x bytes
 * per I/O have to agree: where two of them do, the third is replaced and marked in job; else *worst becomes 1.
 */
int fio_json_direction(const json_t *direction, const char *name, const struct fio_json_units *units, size_t line, json_t *job,
		       json_t **out, int *worst, struct error *e);

#endif
