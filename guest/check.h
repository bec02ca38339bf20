/*
 * `kickio check DEVICE`: what a disk's driver must get right at its edges: size, names, first and last sector, past the
 * end, unaligned, read-only, discard, zeroes, flush, the largest and the most pieced requests.
 */
#ifndef KB_CHECK_H
#define KB_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "guest/error.h"
#include "guest/text.h"

#define CHECK_UNKNOWN UINT64_MAX

/* What the system shall say of the disk, each CHECK_UNKNOWN when it was not given. */
enum check_expected {
	CHECK_SIZE,
	CHECK_SECTOR,
	CHECK_READONLY,
	CHECK_WRITE_CACHE,
	CHECK_DISCARD,
	CHECK_ZEROES,
	CHECK_QUEUES,
	CHECK_SEGMENTS,
	CHECK_EXPECTED
};

struct check_options {
	const char *device; /* these point into argv */
	const char *serial; /* expected, NULL: not given */
	uint64_t expected[CHECK_EXPECTED];
	bool destroy;       /* what is on the disk may be overwritten */
};

enum check_status { CHECK_PASS, CHECK_FAIL, CHECK_SKIPPED };

struct check_line {
	char name[48];
	enum check_status status;
	bool corrupt; /* it failed because data were not what had been written */
	char message[240];
};

struct check_report {
	struct check_line *line;
	size_t count;
	bool incomplete;      /* no memory for more */
	uint64_t reads, writes; /* __atomic: requests that came back, for who watches from another thread */
};

/* argv after the command's name. -1: a usage error. */
int check_parse(int argc, char **argv, struct check_options *options, struct error *e);
void check_help(FILE *out);

/* The options as a list in mdoc. */
void check_man(FILE *out);

/* Ask it all. -1: nothing could be asked, as when there is no such disk. */
int check_run(const struct check_options *options, struct check_report *report, struct error *e);

/* 0, or 1 when a check failed. */
int check_exit_status(const struct check_report *report);

/* "pass|fail|skip NAME: MESSAGE" lines; only the failed ones, where wanted. */
void check_text(const struct check_report *report, bool only_failed, struct text *out);

/* {"checks":[{"name","status":"pass"|"fail"|"skipped","message":"…"[,"corrupt":true]}]} */
void check_json(const struct check_report *report, struct text *out);

void check_report_free(struct check_report *report);

#endif
