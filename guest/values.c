#include "guest/values.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *suffix;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{ "b", 1 },
	{ "k", 1ull << 10 }, { "kb", 1ull << 10 }, { "ki", 1ull << 10 },
	{ "m", 1ull << 20 }, { "mb", 1ull << 20 }, { "mi", 1ull << 20 },
	{ "g", 1ull << 30 }, { "gb", 1ull << 30 }, { "gi", 1ull << 30 },
	{ "t", 1ull << 40 }, { "tb", 1ull << 40 }, { "ti", 1ull << 40 },
	{ "p", 1ull << 50 }, { "pb", 1ull << 50 }, { "pi", 1ull << 50 },
	{ NULL, 0 },
};

/* With kb_base=1024 fio takes the IEC spellings for the decimal ones. */
static const struct unit swapped_units[] = {
	{ "kib", 1000ull }, { "mib", 1000000ull }, { "gib", 1000000000ull },
	{ "tib", 1000000000000ull }, { "pib", 1000000000000000ull },
	{ NULL, 0 },
};

#define SECOND 1000000ull

static const struct unit time_units[] = {
	{ "us", 1 }, { "usec", 1 },
	{ "ms", 1000 }, { "msec", 1000 },
	{ "s", SECOND }, { "m", 60 * SECOND }, { "h", 3600 * SECOND }, { "d", 86400 * SECOND },
	{ NULL, 0 },
};

/* What people write for a time and fio takes for microseconds. */
static const struct unit wordy_units[] = {
	{ "sec", SECOND }, { "secs", SECOND }, { "second", SECOND }, { "seconds", SECOND },
	{ "min", 60 * SECOND }, { "mins", 60 * SECOND }, { "minute", 60 * SECOND }, { "minutes", 60 * SECOND },
	{ "hr", 3600 * SECOND }, { "hrs", 3600 * SECOND }, { "hour", 3600 * SECOND }, { "hours", 3600 * SECOND },
	{ "day", 86400 * SECOND }, { "days", 86400 * SECOND },
	{ NULL, 0 },
};

/* The factor of a suffix, 0 when the table has none of that name. */
static uint64_t unit_factor(const struct unit *units, const char *suffix)
{
	for (; units->suffix; units++)
		if (strcasecmp(units->suffix, suffix) == 0)
			return units->factor;
	return 0;
}

/*
 * The leading integer; *rest is what follows. Leading blanks are skipped, as strtoull does in fio.
 * -1 when there is none or it does not fit.
 */
static int leading_integer(const char *s, uint64_t *n, const char **rest, struct error *e)
{
	uint64_t v = 0;

	while (*s == ' ' || *s == '\t')
		s++;
	if (*s == '-')
		return error_set(e, STATUS_FAILED, "a negative number makes no sense here");
	if (!isdigit((unsigned char)*s))
		return error_set(e, STATUS_FAILED, "not a number");
	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && isxdigit((unsigned char)s[2])) {
		char *end;

		if (strspn(s + 2, "0123456789abcdefABCDEF") > 16)
			return error_set(e, STATUS_FAILED, "the number is too large");
		*n = strtoull(s, &end, 16);
		*rest = end;
		return 0;
	}
	for (; isdigit((unsigned char)*s); s++) {
		if (v > (UINT64_MAX - 9) / 10)
			return error_set(e, STATUS_FAILED, "the number is too large");
		v = v * 10 + (uint64_t)(*s - '0');
	}
	*n = v;
	*rest = s;
	return 0;
}

static bool starts_blank(const char *s)
{
	return *s == ' ' || *s == '\t';
}

static bool is_hex(const char *s)
{
	return s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
}

/* value * factor when that is a whole number that fits, else 0. */
static uint64_t whole(double value, uint64_t factor)
{
	double product = value * (double)factor;

	if (product < 1 || product > 9e15 || product != (double)(uint64_t)product)
		return 0;
	return (uint64_t)product;
}

/* What the writer of a refused size meant, in bytes; 0 when nobody knows. */
static uint64_t meant_size(const char *s)
{
	char *end;
	double value = strtod(s, &end);
	uint64_t factor;

	while (*end == ' ' || *end == '\t')
		end++;
	if (*end == '\0')
		return whole(value, 1);
	factor = unit_factor(size_units, end);
	if (!factor && unit_factor(swapped_units, end)) {
		char letter[2] = { *end, '\0' };

		factor = unit_factor(size_units, letter);
	}
	if (!factor)
		return 0;
	return whole(value, factor);
}

/* What fio 3.33 makes of a size of which it knows the number and what follows. */
static uint64_t fio_size(uint64_t n, const char *rest, bool hex)
{
	char letter[2] = { *rest, '\0' };
	uint64_t factor;

	if (hex)
		return n;
	factor = unit_factor(swapped_units, rest);
	if (!factor)
		factor = unit_factor(size_units, letter);
	return n * (factor ? factor : 1);
}

static int refuse_size(const char *s, uint64_t n, const char *rest, struct error *e)
{
	unsigned long long fio = fio_size(n, starts_blank(s) ? "" : rest, is_hex(s));
	uint64_t meant = meant_size(s);

	if (strpbrk(rest, "-:,"))
		return error_set(e, STATUS_FAILED, "this takes one number; fio would use only one of the list");
	if (!meant)
		return error_set(e, STATUS_FAILED,
				 "fio would take this for %llu; write a whole number, with k, m, g, t or p", fio);
	if (meant % 1024 == 0) {
		bool megs = meant % (1u << 20) == 0;

		return error_set(e, STATUS_FAILED,
				 "fio would take this for %llu; write %llu%c for %llu, or %llu for what fio does", fio,
				 (unsigned long long)(megs ? meant >> 20 : meant >> 10), megs ? 'm' : 'k',
				 (unsigned long long)meant, fio);
	}
	return error_set(e, STATUS_FAILED,
			 "fio would take this for %llu; write %llu", fio, (unsigned long long)meant);
}

int value_number(const char *s, uint64_t *n, struct error *e)
{
	uint64_t v, factor;
	const char *rest;

	if (leading_integer(s, &v, &rest, e))
		return -1;
	if (*rest == '\0') {
		*n = v;
		return 0;
	}
	factor = unit_factor(size_units, rest);
	if (!factor || starts_blank(s) || is_hex(s))
		return refuse_size(s, v, rest, e);
	if (v > UINT64_MAX / factor)
		return error_set(e, STATUS_FAILED, "the number is too large");
	*n = v * factor;
	return 0;
}

int value_extent(const char *s, struct extent *x, struct error *e)
{
	uint64_t v;
	const char *rest;
	size_t length = strlen(s);

	if (length == 0 || s[length - 1] != '%') {
		if (value_number(s, &v, e))
			return -1;
		*x = (struct extent){ .bytes = v };
		return 0;
	}
	if (leading_integer(s, &v, &rest, e))
		return -1;
	if (strcmp(rest, "%") != 0 || is_hex(s))
		return error_set(e, STATUS_FAILED,
				 "a percentage is a whole number with %%; fio would take this for %llu",
				 (unsigned long long)v);
	if (v == 0)
		return error_set(e, STATUS_FAILED, "0%% is nothing to work on");
	*x = (struct extent){ .percent = v > 100 ? 100 : (unsigned)v };
	return 0;
}

/* One place of a list. */
static int list_place(const char *from, size_t length, uint64_t *n, struct error *e)
{
	char place[64];

	if (length == 0)
		return 0;
	if (length >= sizeof(place))
		return error_set(e, STATUS_FAILED, "not a number");
	memcpy(place, from, length);
	place[length] = '\0';
	return value_number(place, n, e);
}

int value_directions(const char *s, uint64_t n[DDIRS], struct error *e)
{
	uint64_t v[DDIRS];
	unsigned place = 0;
	const char *p = s;

	if (*s == '\0')
		return error_set(e, STATUS_FAILED, "not a number");
	if (strchr(s, '-') && s[0] != '-')
		return error_set(e, STATUS_FAILED,
				 "this is no range: fio would take the first for reads and the second for writes; "
				 "write them with a comma if you mean that");
	memcpy(v, n, sizeof(v));
	for (;;) {
		size_t length = strcspn(p, ",:");

		if (place == DDIRS)
			return error_set(e, STATUS_FAILED, "more than three values (read,write,trim)");
		if (list_place(p, length, &v[place++], e))
			return -1;
		p += length;
		if (*p == '\0')
			break;
		p++;
	}
	for (; place < DDIRS; place++)
		v[place] = v[place - 1];
	memcpy(n, v, sizeof(v));
	return 0;
}

/* What fio 3.33 makes of a time: an unknown word is microseconds, anything else a bare number. */
static uint64_t fio_time(uint64_t n, uint64_t bare, const char *rest, bool blank, bool hex)
{
	uint64_t factor = unit_factor(time_units, rest);

	if (hex)
		return n;
	if (blank || !isalpha((unsigned char)*rest))
		return n * bare;
	return factor ? n * factor : n;
}

/* What the writer of a refused time meant, in microseconds; 0 when nobody knows. */
static uint64_t meant_time(const char *s, uint64_t bare)
{
	char *end;
	double value = strtod(s, &end);
	uint64_t factor;

	if (is_hex(s))
		return 0;
	while (*end == ' ' || *end == '\t')
		end++;
	factor = *end ? unit_factor(time_units, end) : bare;
	if (!factor)
		factor = unit_factor(wordy_units, end);
	return factor ? whole(value, factor) : 0;
}

static int refuse_time(const char *s, uint64_t n, uint64_t bare, const char *rest, struct error *e)
{
	uint64_t us = fio_time(n, bare, rest, starts_blank(s), is_hex(s));
	uint64_t meant = meant_time(s, bare);
	bool seconds = us && us % SECOND == 0;
	unsigned long long shown = seconds ? us / SECOND : us;
	const char *unit = seconds ? "second" : "microsecond", *plural = shown == 1 ? "" : "s";

	if (strpbrk(rest, "-:,"))
		return error_set(e, STATUS_FAILED, "this takes one time; fio would use only one of the list");
	if (meant && meant % SECOND == 0)
		return error_set(e, STATUS_FAILED,
				 "fio would take this for %llu %s%s; write %llus", shown, unit, plural,
				 (unsigned long long)(meant / SECOND));
	if (meant)
		return error_set(e, STATUS_FAILED,
				 "fio would take this for %llu %s%s; write %lluus", shown, unit, plural,
				 (unsigned long long)meant);
	return error_set(e, STATUS_FAILED,
			 "fio would take this for %llu %s%s; write a whole number with us, ms, s, m, h or d", shown,
			 unit, plural);
}

static int scan_time(const char *s, uint64_t bare, uint64_t *us, struct error *e)
{
	uint64_t v, factor;
	const char *rest;

	if (leading_integer(s, &v, &rest, e))
		return -1;
	factor = *rest ? unit_factor(time_units, rest) : bare;
	if (!factor || is_hex(s) || (*rest && starts_blank(s)))
		return refuse_time(s, v, bare, rest, e);
	if (v > INT64_MAX / 1000 / factor) /* it has to fit in nanoseconds, too */
		return error_set(e, STATUS_FAILED, "the time is too long");
	*us = v * factor;
	return 0;
}

int value_time(const char *s, uint64_t *us, struct error *e)
{
	return scan_time(s, SECOND, us, e);
}

int value_microseconds(const char *s, uint64_t *us, struct error *e)
{
	return scan_time(s, 1, us, e);
}

int value_bool(const char *s, bool *b, struct error *e)
{
	uint64_t v;
	const char *rest;
	struct error ignored = {0};

	if (leading_integer(s, &v, &rest, &ignored) || *rest)
		return error_set(e, STATUS_FAILED, "this needs a value, 0 or 1");
	if (v > 1)
		return error_set(e, STATUS_FAILED, "max value out of range: %llu (1 max)", (unsigned long long)v);
	*b = v == 1;
	return 0;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* One number of a percentile list at s: digits with at most one point. Returns what follows, or NULL. */
static const char *percentile(const char *s, double *percent, unsigned *decimals)
{
	size_t whole_digits = strspn(s, "0123456789");
	const char *end = s + whole_digits;
	size_t more = 0;

	if (*end == '.') {
		more = strspn(end + 1, "0123456789");
		end += 1 + more;
	}
	if (whole_digits + more == 0 || (*end && *end != ':'))
		return NULL;
	*percent = strtod(s, NULL);
	*decimals = (unsigned)more;
	return end;
}

int value_percentiles(const char *s, struct percentile_list *list, struct error *e)
{
	struct percentile_list l = { .count = 0 };
	const char *p = s;

	for (;;) {
		unsigned decimals;
		double percent;

		p = percentile(p, &percent, &decimals);
		if (!p)
			return error_set(e, STATUS_FAILED, "not a list of percentages such as 50:99:99.9");
		if (percent > 100)
			return error_set(e, STATUS_FAILED,
					 "value out of range: %f (range max: 100.000000)", percent);
		if (decimals > 12)
			return error_set(e, STATUS_FAILED, "more than 12 decimals");
		if (percent == 0)
			break;
		if (l.count == JOB_MAX_PERCENTILES)
			return error_set(e, STATUS_FAILED, "more than %d percentages", JOB_MAX_PERCENTILES);
		l.percent[l.count++] = percent;
		if (decimals > l.precision)
			l.precision = decimals;
		if (*p == '\0')
			break;
		p++;
	}
	if (l.count == 0)
		return error_set(e, STATUS_FAILED, "the list is empty");
	qsort(l.percent, l.count, sizeof(l.percent[0]), ascending);
	*list = l;
	return 0;
}
