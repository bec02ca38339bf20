/* One job's block of a report: what its lines say, before anything is compared. */
#ifndef KB_FIO_TEXT_BLOCK_H
#define KB_FIO_TEXT_BLOCK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/fio_text_lines.h"
#include "host/fio_text_number.h"

struct fio_direction {
	bool there;
	bool old; /* the form before 2.17 */
	size_t line;
	struct fio_printed iops, bw[2], bytes; /* bw[1]: the same in the other unit, since 2.17 */
	bool has_runtime;
	uint64_t runtime; /* ms */
	json_t *latency;  /* {"slat_ns":{…},…} */
};

struct fio_block {
	size_t line;
	json_t *name, *error_text; /* error_text NULL: none */
	char *time;                /* NULL: not printed */
	int64_t when;              /* the same in seconds, 0: not printed */
	long groupid, members, error, pid;
	bool has_pid;
	struct fio_direction direction[FIO_DIRECTIONS];
	int current;   /* the direction whose lines come, -1: none */
	json_t *rest;  /* what the document takes as it is: "usr_cpu", "ctx", … and "sync" */
	json_t *rows;  /* where rows of percentiles go; borrowed; NULL: nowhere */
	double unit;   /* of those rows, in ns */
	bool has_issued;
	size_t issued_line;
	uint64_t total[4], lacking[4]; /* reads, writes, trims, syncs; lacking: short and dropped */
	long depth;                    /* requested, 0: not printed */
};

/* Read a title line, squeezed. NULL: it is none, or no memory. */
struct fio_block *fio_block_open(const char *title, size_t number);
void fio_block_free(struct fio_block *b);

/*
 * Read a line of the block. NULL when that was possible or the line tells nothing that is kept; else what is wrong
 * with it, as text that lives forever.
 */
const char *fio_block_line(struct fio_block *b, const struct fio_line *line, const char *text);

/* Percentiles that are all zero although the smallest value is not, or that have no summary: they were not recorded. */
void fio_block_drop_unrecorded(struct fio_block *b);

#endif
