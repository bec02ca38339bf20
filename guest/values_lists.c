/* The scanners of values.h for values with parts: ranges, splits, distributions, CPUs. */
#include "guest/values.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define PLACE 256 /* longest part of a list */

/* Copy the first `length` bytes of s, which are a part of a list. */
static int part_of(char part[PLACE], const char *s, size_t length, struct error *e)
{
	if (length >= PLACE)
		return error_set(e, STATUS_FAILED, "a part of the list is too long");
	memcpy(part, s, length);
	part[length] = '\0';
	return 0;
}

typedef int scanner(const char *s, uint64_t *n, struct error *e);

/* "lo-hi", or one value for both ends, each read by scan; *both tells which it was. */
static int range_of(const char *s, const char *separators, scanner *scan, struct range *r, bool *both, struct error *e)
{
	size_t length = *s ? strcspn(s + 1, separators) + 1 : 0;
	struct range v;
	char low[PLACE];

	*both = s[length] != '\0';
	if (part_of(low, s, length, e) || scan(low, &v.lo, e))
		return -1;
	v.hi = v.lo;
	if (*both && scan(s + length + 1, &v.hi, e))
		return -1;
	if (v.lo > v.hi)
		v = (struct range){ .lo = v.hi, .hi = v.lo };
	*r = v;
	return 0;
}

int value_range(const char *s, struct range *r, struct error *e)
{
	bool both;

	return range_of(s, "-:", value_number, r, &both, e);
}

int value_time_range(const char *s, struct range *r, struct error *e)
{
	bool both;

	return range_of(s, "-", value_time, r, &both, e);
}

int value_ranges(const char *s, struct range r[DDIRS], struct error *e)
{
	struct range v[DDIRS];
	unsigned place = 0;

	memcpy(v, r, sizeof(v));
	for (const char *p = s;; p++) {
		size_t length = strcspn(p, ",");
		bool both = true;
		char part[PLACE];

		if (place == DDIRS)
			return error_set(e, STATUS_FAILED, "more than three ranges (read,write,trim)");
		if (part_of(part, p, length, e) ||
		    (length && range_of(part, "-:", value_number, &v[place], &both, e)))
			return -1;
		if (!both)
			return error_set(e, STATUS_FAILED, "not a range such as 1k-4k");
		place++;
		p += length;
		if (*p == '\0')
			break;
	}
	if (*s == '\0')
		return error_set(e, STATUS_FAILED, "not a range such as 1k-4k");
	for (; place < DDIRS; place++)
		v[place] = v[place - 1];
	memcpy(r, v, sizeof(v));
	return 0;
}

/* A whole percentage that fills the string; *given is false for an empty one. */
static int percent_of(const char *s, unsigned *percent, bool *given, struct error *e)
{
	size_t digits = strspn(s, "0123456789");

	*given = *s != '\0';
	*percent = 0;
	if (s[digits] || digits > 3 || strtoul(*s ? s : "0", NULL, 10) > 100)
		return error_set(e, STATUS_FAILED, "%s is no whole percentage from 0 to 100", s);
	*percent = (unsigned)strtoul(*s ? s : "0", NULL, 10);
	return 0;
}

/* Percentages, of which some were not given: those share what is missing to 100, the last also its remainder. */
struct shares {
	unsigned total, missing;
	unsigned *open[JOB_MAX_SPLITS];
};

static void share_add(struct shares *s, unsigned *percent, bool given)
{
	s->total += *percent;
	if (!given)
		s->open[s->missing++] = percent;
}

static int shares_finish(const struct shares *s, const char *what, struct error *e)
{
	if (s->total > 100 || (s->total < 100 && !s->missing))
		return error_set(e, STATUS_FAILED, "%s add up to %u%%, not 100%%", what, s->total);
	for (unsigned i = 0; i < s->missing; i++)
		*s->open[i] = (100 - s->total) / s->missing;
	if (s->missing)
		*s->open[s->missing - 1] += (100 - s->total) % s->missing;
	return 0;
}

static int split_of(const char *s, struct bssplit *split, struct error *e)
{
	struct bssplit v = { .count = 0 };
	struct shares shares = { .total = 0 };

	for (const char *p = s;; p++) {
		size_t length = strcspn(p, ":");
		char part[PLACE], *percent;
		bool given;

		if (v.count == JOB_MAX_SPLITS)
			return error_set(e, STATUS_FAILED, "more than %d sizes", JOB_MAX_SPLITS);
		if (part_of(part, p, length, e))
			return -1;
		percent = strchr(part, '/');
		if (percent)
			*percent++ = '\0';
		if (value_number(part, &v.part[v.count].bs, e) ||
		    percent_of(percent ? percent : "", &v.part[v.count].percent, &given, e))
			return -1;
		if (v.part[v.count].bs == 0 || v.part[v.count].bs > UINT32_MAX)
			return error_set(e, STATUS_FAILED, "a block size is from 1 to %u bytes", UINT32_MAX);
		share_add(&shares, &v.part[v.count].percent, given);
		v.count++;
		p += length;
		if (*p == '\0')
			break;
	}
	if (shares_finish(&shares, "the percentages", e))
		return -1;
	*split = v;
	return 0;
}

int value_bssplit(const char *s, struct bssplit split[DDIRS], struct error *e)
{
	struct bssplit v[DDIRS];
	unsigned place = 0;

	memcpy(v, split, sizeof(v));
	for (const char *p = s;; p++) {
		size_t length = strcspn(p, ",");
		char part[64 * PLACE];

		if (place == DDIRS)
			return error_set(e, STATUS_FAILED, "more than three lists (read,write,trim)");
		if (length >= sizeof(part))
			return error_set(e, STATUS_FAILED, "the list is too long");
		memcpy(part, p, length);
		part[length] = '\0';
		if ((length || *s == '\0') && split_of(part, &v[place], e))
			return -1;
		place++;
		p += length;
		if (*p == '\0')
			break;
	}
	for (; place < DDIRS; place++)
		v[place] = v[place - 1];
	memcpy(split, v, sizeof(v));
	return 0;
}

static int zones_of(const char *s, struct distribution *d, struct error *e)
{
	struct shares access = { .total = 0 }, size = { .total = 0 };

	for (const char *p = s;; p++) {
		size_t length = strcspn(p, ":");
		char part[PLACE], *slash;
		bool given;

		if (d->nzones == JOB_MAX_SPLITS)
			return error_set(e, STATUS_FAILED, "more than %d zones", JOB_MAX_SPLITS);
		if (part_of(part, p, length, e))
			return -1;
		slash = strchr(part, '/');
		if (slash)
			*slash++ = '\0';
		if (!slash || *part == '\0')
			return error_set(e, STATUS_FAILED, "a zone is its share of the accesses and of the size: 60/10");
		if (percent_of(part, &d->zone[d->nzones].access_percent, &given, e))
			return -1;
		share_add(&access, &d->zone[d->nzones].access_percent, true);
		if (percent_of(slash, &d->zone[d->nzones].size_percent, &given, e))
			return -1;
		share_add(&size, &d->zone[d->nzones].size_percent, given);
		d->nzones++;
		p += length;
		if (*p == '\0')
			break;
	}
	if (shares_finish(&access, "the shares of the accesses", e))
		return -1;
	return shares_finish(&size, "the shares of the size", e);
}

/* A number with at most one point that fills the string. */
static int decimal(const char *s, double *v, struct error *e)
{
	size_t whole = strspn(s, "0123456789"), length = whole, more = 0;

	if (s[length] == '.') {
		more = strspn(s + length + 1, "0123456789");
		length += 1 + more;
	}
	if (strchr(s, ':'))
		return error_set(e, STATUS_FAILED, "a centre is known to fio but not supported by kickio");
	if (s[length] || whole + more == 0)
		return error_set(e, STATUS_FAILED, "%s is not a number", s);
	*v = strtod(s, NULL);
	return 0;
}

static int distribution_parameter(struct distribution *d, const char *s, struct error *e)
{
	static const double initial[] = {
		[DISTRIBUTION_RANDOM] = 0, [DISTRIBUTION_ZIPF] = 1.1, [DISTRIBUTION_PARETO] = 0.2,
		[DISTRIBUTION_NORMAL] = 0, [DISTRIBUTION_ZONED] = 0,
	};

	d->parameter = initial[d->kind];
	if (d->kind == DISTRIBUTION_ZONED)
		return zones_of(s ? s : "", d, e);
	if (d->kind == DISTRIBUTION_RANDOM)
		return s ? error_set(e, STATUS_FAILED, "random takes no parameter") : 0;
	if (s && decimal(s, &d->parameter, e))
		return -1;
	if (d->kind == DISTRIBUTION_ZIPF && (d->parameter == 1 || d->parameter <= 0))
		return error_set(e, STATUS_FAILED, "zipf theta must be above 0 and different from 1.0");
	if (d->kind == DISTRIBUTION_PARETO && (d->parameter <= 0 || d->parameter >= 1))
		return error_set(e, STATUS_FAILED, "pareto input out of range (0 < input < 1.0)");
	if (d->kind == DISTRIBUTION_NORMAL && d->parameter >= 100)
		return error_set(e, STATUS_FAILED, "normal deviation out of range (0 <= input < 100.0)");
	return 0;
}

int value_distribution(const char *s, distribution_chooser *choose, const void *context,
		       struct distribution out[DDIRS], struct error *e)
{
	struct distribution v[DDIRS] = { { .nzones = 0 } };
	unsigned place = 0;

	for (const char *p = s;; p++) {
		struct distribution *d = &v[place];
		size_t length = strcspn(p, ","), name;
		char part[16 * PLACE];

		if (place == DDIRS)
			return error_set(e, STATUS_FAILED, "more than three distributions (read,write,trim)");
		if (length >= sizeof(part))
			return error_set(e, STATUS_FAILED, "the list is too long");
		memcpy(part, p, length);
		part[length] = '\0';
		/* after zones the word "zoned" may be left out */
		if (place && isdigit((unsigned char)*part) && d[-1].kind == DISTRIBUTION_ZONED) {
			d->kind = DISTRIBUTION_ZONED;
			if (distribution_parameter(d, part, e))
				return -1;
		} else {
			name = strcspn(part, ":");
			if (choose(context, part, name, &d->kind, e) ||
			    distribution_parameter(d, part[name] ? part + name + 1 : NULL, e))
				return -1;
		}
		place++;
		p += length;
		if (*p == '\0')
			break;
	}
	for (; place < DDIRS; place++)
		v[place] = v[place - 1];
	memcpy(out, v, sizeof(v));
	return 0;
}

static const char *cpu_number(const char *s, unsigned *cpu)
{
	char *end;
	unsigned long v;

	if (!isdigit((unsigned char)*s))
		return NULL;
	v = strtoul(s, &end, 10);
	*cpu = v < JOB_MAX_CPUS ? (unsigned)v : JOB_MAX_CPUS;
	return end;
}

int value_cpus(const char *s, struct cpu_list *cpus, struct error *e)
{
	struct cpu_list v = { .count = 0 };

	for (const char *p = s;; p++) {
		unsigned first, last;

		p = cpu_number(p, &first);
		last = first;
		if (p && *p == '-')
			p = cpu_number(p + 1, &last);
		if (!p || (*p && *p != ',') || first > last)
			return error_set(e, STATUS_FAILED, "not a list of CPUs such as 0,2-4");
		if (last >= JOB_MAX_CPUS)
			return error_set(e, STATUS_FAILED, "CPU number too large (max %d)", JOB_MAX_CPUS - 1);
		for (unsigned cpu = first; cpu <= last; cpu++) {
			uint64_t bit = (uint64_t)1 << cpu % 64;

			v.count += !(v.bits[cpu / 64] & bit);
			v.bits[cpu / 64] |= bit;
		}
		if (*p == '\0')
			break;
	}
	*cpus = v;
	return 0;
}

int value_nice(const char *s, int *n, struct error *e)
{
	char *end;
	long v;

	if (!isdigit((unsigned char)s[*s == '-']))
		return error_set(e, STATUS_FAILED, "not a number");
	v = strtol(s, &end, 10);
	if (*end)
		return error_set(e, STATUS_FAILED, "not a whole number");
	if (v < -20)
		return error_set(e, STATUS_FAILED, "min value out of range: %ld (-20 min)", v);
	if (v > 19)
		return error_set(e, STATUS_FAILED, "max value out of range: %ld (19 max)", v);
	*n = (int)v;
	return 0;
}

int value_percentage(const char *s, double *percent, struct error *e)
{
	double v = 0;

	if (decimal(s, &v, e))
		return -1;
	if (v > 100)
		return error_set(e, STATUS_FAILED, "value out of range: %f (range max: 100.000000)", v);
	*percent = v;
	return 0;
}
