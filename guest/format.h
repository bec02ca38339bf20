/* Numbers as fio prints them. */
#ifndef KB_FORMAT_H
#define KB_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#define FORMAT_SIZE 32

/* Digits of bandwidths, sizes and IOPS; digits of the extremes of a latency. */
#define FORMAT_DIGITS 4
#define FORMAT_LATENCY_DIGITS 6

/*
 * Cut an integer down to at most `digits` digits with a prefix (Ki Mi … or k M …) and a unit behind it.
 * The rule of fio since 3.26, with the carry into the integer part.
 */
void format_number(char out[FORMAT_SIZE], uint64_t v, unsigned digits, bool binary, const char *unit);

/* The unit that fio prints a line of latencies in. */
struct latency_unit {
	const char *name;  /* "nsec", "usec", "msec" */
	uint64_t divisor; /* ns per unit */
	unsigned thousands;
};

/* For a line of min, max, avg, stdev; all in ns. */
const struct latency_unit *format_latency_unit(uint64_t min, uint64_t max, double stdev);

/* For a block of percentiles, from its smallest and its largest value in ns. */
const struct latency_unit *format_percentile_unit(uint64_t min, uint64_t max);

/* ns in the unit, rounded up at each division by 1000. */
uint64_t format_percentile(uint64_t ns, const struct latency_unit *unit);

unsigned format_digits(uint64_t v); /* decimal digits, 1 for 0 */

#endif
