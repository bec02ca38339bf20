#include "host/fio_text_number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *fio_scan_decimal(const char *p, double *value, int *decimals)
{
	double v = 0, scale = 1;
	int n = 0;

	if (!isdigit((unsigned char)*p))
		return NULL;
	while (isdigit((unsigned char)*p))
		v = v * 10 + (*p++ - '0');
	if (p[0] == '.' && isdigit((unsigned char)p[1])) {
		for (p++; isdigit((unsigned char)*p) && n < 15; n++) {
			v = v * 10 + (*p++ - '0');
			scale *= 10;
		}
		p += strspn(p, "0123456789");
	}
	if (v > 1e30)
		return NULL;
	*value = v / scale;
	if (decimals)
		*decimals = n;
	return p;
}

const char *fio_scan_count(const char *p, uint64_t *value)
{
	uint64_t v = 0;

	if (!isdigit((unsigned char)*p))
		return NULL;
	for (; isdigit((unsigned char)*p); p++) {
		if (v > (INT64_MAX - 9) / 10)
			return NULL;
		v = v * 10 + (uint64_t)(*p - '0');
	}
	*value = v;
	return p;
}

double fio_unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"nsec", 1}, {"usec", 1e3}, {"msec", 1e6}, {"sec", 1e9}};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strncmp(unit, units[i].name, strlen(units[i].name)))
			return units[i].ns;
	return 0;
}

/* The prefix at *p and what one of it is worth; power 0 when there is none. */
static double prefix(const char **p, enum fio_style style, unsigned *power)
{
	static const char order[] = "kmgtpe";
	const char *at = **p ? strchr(order, tolower((unsigned char)**p)) : NULL;
	double base = style == FIO_OLD_BYTES ? 1024 : 1000;

	*power = 0;
	if (!at || !*at)
		return 1;
	*power = (unsigned)(at - order) + 1;
	if (style != FIO_SINCE_2_17 && *power >= 5)
		--*power; /* P stands where T should */
	++*p;
	if (**p == 'i') {
		base = 1024;
		++*p;
	}
	return pow(base, *power);
}

/* Past the unit; in bits when it says so. */
static double unit(const char **p)
{
	double one = 1;

	if (!strncmp(*p, "bit", 3)) {
		one = 1.0 / 8;
		*p += 3;
	} else if (**p == 'B') {
		++*p;
	}
	if (!strncmp(*p, "/s", 2))
		*p += 2;
	return one;
}

const char *fio_scan(const char *p, enum fio_style style, struct fio_printed *out)
{
	const char *start = p;
	double v, one, half;
	unsigned power;
	int decimals;

	memset(out, 0, sizeof(*out));
	p = fio_scan_decimal(p, &v, &decimals);
	if (!p)
		return NULL;
	one = prefix(&p, style, &power);
	one *= unit(&p);
	half = 0.5 * pow(10, -decimals);
	out->there = true;
	out->value = v * one;
	snprintf(out->text, sizeof(out->text), "%.*s", (int)(p - start), start);
	if (!power) {
		out->range = (struct fio_range){v, v + 1};
	} else if (style == FIO_SINCE_2_17) {
		/* The remainder is truncated before it is rounded: one step of 1/1000 more upwards. */
		double step = decimals ? 1e-3 : 0;

		out->range = (struct fio_range){v - half, v + half + step};
		out->bug = decimals && v == floor(v);
		out->other = (struct fio_range){v + 1 - half, v + 1};
	} else if (decimals) {
		out->range = (struct fio_range){floor(v), floor(v) + 1};
	} else {
		/* 1.x truncated, 2.x rounds. Early 1.x called bytes per millisecond KiB/s. */
		out->range = (struct fio_range){fmax(v - 0.5, 0), v + 1};
		out->bug = style == FIO_OLD_BYTES && power == 1;
		out->other = (struct fio_range){v * 1000 / 1024, (v + 1) * 1000 / 1024};
	}
	out->range.low *= one;
	out->range.high *= one;
	out->other.low *= one;
	out->other.high *= one;
	return p;
}
