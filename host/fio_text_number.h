/*
 * Numbers as fio prints them, each with the interval of values that would print so.
 *
 * Since 2.17: an integer until 4 digits are exceeded (truncated from a fraction), then divided by 1024 or 1000 and
 * rounded to the decimals shown; up to 3.25 the carry of that rounding was lost: 11.99 printed as 11.0. Before 2.17:
 * KB is 1024 bytes, T is missing in the list of prefixes (a terabyte prints as P), and decimals are the remainder of the
 * division without its leading zeros, so that only the integer part tells something.
 */
#ifndef KB_FIO_TEXT_NUMBER_H
#define KB_FIO_TEXT_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

struct fio_range {
	double low, high; /* inclusive */
};

struct fio_printed {
	bool there;
	double value;           /* as printed, in the base unit */
	struct fio_range range; /* what prints so */
	bool bug;               /* a known mistake of some releases would print so, too: */
	struct fio_range other; /* for these values */
	char text[32];          /* as printed */
};

enum fio_style {
	FIO_SINCE_2_17,
	FIO_OLD_BYTES,
	FIO_OLD_COUNT, /* K is 1000 */
};

/* Read a number at p with its prefix and unit ("12.6MB/s", "13.1k"). The end of it, or NULL when there is none. */
const char *fio_scan(const char *p, enum fio_style style, struct fio_printed *out);

/* Digits with an optional decimal point, no sign, no exponent, whatever the locale. decimals may be NULL. */
const char *fio_scan_decimal(const char *p, double *value, int *decimals);

/* Digits; NULL also when the number is beyond 2^63-1. */
const char *fio_scan_count(const char *p, uint64_t *value);

/* Nanoseconds of "nsec", "usec", "msec", "sec"; 0 for anything else. Only the first letters are looked at. */
double fio_unit_ns(const char *unit);

#endif
