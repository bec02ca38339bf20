/*
 * Scanners for the values that options take, with fio's meaning (its A3 rules with kb_base=1024).
 * Where fio 3.33 reads a value as something that nobody means (4kib is 4000 bytes, runtime=1min one
 * microsecond) they refuse and say what fio would have taken and what to write instead.
 * All leave the result alone when they fail. Messages do not name the option: the caller does.
 */
#ifndef KB_VALUES_H
#define KB_VALUES_H

#include <stdbool.h>
#include <stddef.h>
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

/* The same, but bare numbers are microseconds. */
int value_microseconds(const char *s, uint64_t *us, struct error *e);

/* "lo-hi" or one value for both; swapped ends are put in order. ':' separates sizes, too. */
int value_range(const char *s, struct range *r, struct error *e);
int value_time_range(const char *s, struct range *r, struct error *e); /* microseconds; bare: seconds */

/* Ranges "read,write,trim": missing and empty places as in value_directions(), single values refused. */
int value_ranges(const char *s, struct range r[DDIRS], struct error *e);

/*
 * "size/percent:size/percent,…", a list per direction as in value_directions(). What was given without a
 * percentage shares the rest evenly; refused when it all does not make 100.
 */
int value_bssplit(const char *s, struct bssplit split[DDIRS], struct error *e);

/*
 * A distribution, or one for each direction: "zipf:1.2", "zoned:60/10:40/90,normal:20". choose finds the
 * kind of a name of `length` bytes. A center behind the parameter is refused.
 */
typedef int distribution_chooser(const void *context, const char *name, size_t length, enum distribution_kind *kind,
				 struct error *e);
int value_distribution(const char *s, distribution_chooser *choose, const void *context,
		       struct distribution out[DDIRS], struct error *e);

/* Whole CPU numbers and ranges: "0,2-4". Whether they exist is for who uses them to find out. */
int value_cpus(const char *s, struct cpu_list *cpus, struct error *e);

/* -20..19 */
int value_nice(const char *s, int *n, struct error *e);

/* 0..100, with decimals. */
int value_percentage(const char *s, double *percent, struct error *e);

/*
 * Bytes to repeat: 0x hex digits, a decimal number (as few bytes as it needs, the lowest first), "text",
 * 'file' (the contents of that file), or several of them in a row.
 */
int value_pattern(const char *s, struct pattern *pattern, struct error *e);

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
