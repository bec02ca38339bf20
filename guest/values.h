/*
 * Scanners for the values that options take, with fio's meaning (its A3 rules with kb_base=1024).
 * Where fio 3.33 reads a value as something that nobody means (4kib is 4000 bytes, runtime=1min one
 * microsecond) they refuse and say what fio would have taken and what to write instead.
 * All leave the result alone when they fail. Messages do not name the option: the caller does.
 */
#ifndef KB_VALUES_H
#define KB_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/error.h"
#include "guest/job.h"

/* An integer: decimal with an optional k m g t p (b or i may follow, 1024 each time), or plain 0x hex. */
int value_number(const char *s, uint64_t *n, struct error *e);

/* The same, or N% (more than 100 is 100, as in fio). */
int value_extent(const char *s, struct extent *x, struct error *e);

/*
 * "read,write,trim" numbers (also ':'): a missing write copies read, a missing trim copies write, an
 * empty place keeps what is there.
 */
int value_directions(const char *s, uint64_t n[DDIRS], struct error *e);

/* A time in microseconds: us usec ms msec s m h d, bare numbers are seconds. */
int value_time(const char *s, uint64_t *us, struct error *e);

/* 0 or 1, as fio wants it. */
int value_bool(const char *s, bool *b, struct error *e);

struct percentile_list {
	double percent[JOB_MAX_PERCENTILES]; /* ascending */
	unsigned count;
	unsigned precision; /* most decimals written */
};

/* "50:99:99.9"; a 0 ends the list. */
int value_percentiles(const char *s, struct percentile_list *list, struct error *e);

#endif
