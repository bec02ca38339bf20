/*
 * One direction's numbers, printed several times, compared.
 *
 * Every print becomes an interval of bytes per second: both bandwidths, amount / runtime, IOPS x block size, count of
 * I/Os x block size / runtime. Prints agree when their intervals have a point in common; the largest set that agrees
 * is believed (of two equally large ones the more precise), the rest is marked. Within the set the most precise print
 * gives the value; a count of whole blocks gives it exactly.
 */
#ifndef KB_FIO_TEXT_CHECK_H
#define KB_FIO_TEXT_CHECK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/fio_text_block.h"

/* What is known beside the direction's own line. */
struct fio_around {
	const char *release;  /* "fio-3.12", "" when unknown */
	uint64_t block_size;  /* bytes, 0: varies or unknown */
	bool certain;         /* the block size stands in fio's own header, not in a command line found above */
	bool has_count;       /* I/Os were counted exactly */
	bool lacking;         /* some were short or dropped: block size x count is then not the amount */
	uint64_t count;
	size_t count_line;
};

struct fio_agreed {
	bool has_bytes, has_bw, has_iops;
	bool inconsistent; /* numbers disagree, and no two of them agree */
	double bytes, bw, iops;
};

/* Marks {"line","what"} are appended to marks. -1: no memory. */
int fio_agree(const struct fio_direction *d, const struct fio_around *around, json_t *marks, struct fio_agreed *out);

#endif
