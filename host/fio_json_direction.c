#include "host/fio_json_direction.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/histogram.h"
#include "host/fio_bytes.h"

struct fio_json_units fio_json_units(const char *version)
{
	struct fio_json_units units = { 0 };
	unsigned major, minor;

	if (!version || sscanf(version, "fio-%u.%u", &major, &minor) != 2)
		return units;
	units.known = true;
	units.kib = major < 2 || (major == 2 && minor <= 20);
	return units;
}

/* NAN when absent. */
static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* value times scale: whole numbers stay whole where they fit. */
static json_t *scaled(const json_t *value, int scale)
{
	const json_int_t most = (json_int_t)1 << 50, n = json_integer_value(value);

	if (json_is_integer(value) && n < most && n > -most)
		return json_integer(n * scale);
	return json_real(json_number_value(value) * scale);
}

static void copy_scaled(json_t *to, const json_t *from, const char *key, int scale)
{
	const json_t *value = json_object_get(from, key);

	if (json_is_number(value))
		json_object_set_new(to, key, scaled(value, scale));
}

/* ---- latencies ---- */

/* Unused places of the list of up to fio 3.3 bear the key "0.00". */
static json_t *percentiles(const json_t *from, int scale)
{
	json_t *to = json_object(), *value;
	const char *key;

	json_object_foreach((json_t *)from, key, value) {
		char name[32], *end;
		double p = strtod(key, &end);

		if (end == key || *end || !(p > 0 && p <= 100) || !json_is_number(value))
			continue;
		snprintf(name, sizeof(name), "%f", p);
		json_object_set_new(to, name, scaled(value, scale));
	}
	return to;
}

/*
 * Bins by latency (3.x), or by index among fio's buckets (2.x, which says how many bits they have): those are
 * of unit scale ns, and are brought to the value that stands for the bucket.
 */
static json_t *bins_of(const json_t *from, int scale)
{
	bool by_index = json_object_get(from, "FIO_IO_U_PLAT_BITS") != NULL;
	json_t *to = json_object(), *value;
	const char *key;

	json_object_foreach((json_t *)from, key, value) {
		char name[32], *end;
		unsigned long long at = strtoull(key, &end, 10);

		if (end == key || *end || *key == '-' || !json_is_integer(value) || json_integer_value(value) <= 0)
			continue;
		if (by_index && at >= HISTOGRAM_BUCKETS)
			continue;
		if (by_index)
			at = histogram_value((unsigned)at);
		if (at > UINT64_MAX / 1000)
			continue;
		snprintf(name, sizeof(name), "%llu", at * (unsigned)scale);
		json_object_set_new(to, name, json_integer(json_integer_value(value)));
	}
	return to;
}

/* NULL: not measured. */
static json_t *latency(const json_t *from, int scale)
{
	static const char *const moment[] = { "min", "max", "mean", "stddev" };
	const json_t *list = json_object_get(from, "percentile"), *bins = json_object_get(from, "bins");
	double n = number(from, "N");
	bool some = false;
	json_t *to;

	for (int i = 0; i < 4; i++)
		some = some || number(from, moment[i]) != 0; /* NAN is not 0 either: looked at below */
	if (!json_is_object(from) || n == 0 || (isnan(n) && !some) || isnan(number(from, "mean")))
		return NULL;
	to = json_object();
	for (int i = 0; i < 4; i++)
		copy_scaled(to, from, moment[i], scale);
	copy_scaled(to, from, "N", 1);
	if (json_object_size(list))
		json_object_set_new(to, "percentile", percentiles(list, scale));
	if (json_object_size(bins))
		json_object_set_new(to, "bins", bins_of(bins, scale));
	return to;
}

static void copy_latencies(json_t *to, const json_t *from)
{
	static const char *const kind[] = { "slat", "clat", "lat" };

	for (int i = 0; i < 3; i++) {
		char ns[16];
		json_t *it;

		snprintf(ns, sizeof(ns), "%s_ns", kind[i]);
		it = json_object_get(from, ns) ? latency(json_object_get(from, ns), 1)
					       : latency(json_object_get(from, kind[i]), 1000);
		if (it)
			json_object_set_new(to, ns, it);
	}
}

/* ---- do the numbers agree? ---- */

static bool near(double a, double b, double slack)
{
	return fabs(a - b) <= 0.002 * fmax(fabs(a), fabs(b)) + slack;
}

/*
 * Slack: the printed bandwidth is cut to KiB/s where there is no bw_bytes, io_bytes was to KiB in 2.x, and IOPS were
 * whole numbers up to 2.1.
 */
static int check(json_t *d, const char *name, size_t line, json_t *job, int *worst, struct error *e)
{
	double bytes = number(d, "io_bytes"), ios = number(d, "total_ios"), ms = number(d, "runtime");
	double bw = number(d, "bw_bytes"), iops = number(d, "iops"), each = bytes / ios, slack = 1024 + 1024 * 1000 / ms;
	double ran = 1000 * bytes / ms, by_iops = iops * each;
	bool a, b, c;

	if (!(ms > 0) || !(bytes > 0) || !(ran < 1e18) || isnan(bw))
		return 0;
	a = near(ran, bw, slack);
	if (!(ios > 0) || isnan(iops)) { /* two of them only */
		*worst = *worst || !a;
		return a ? 0
			 : fio_mark(job, line, e, "%s: io_bytes over runtime are %.0f B/s, bw says %.0f", name, ran,
				    bw);
	}
	if (json_is_integer(json_object_get(d, "iops")))
		slack += each;
	b = near(ran, by_iops, slack);
	c = near(bw, by_iops, slack);
	if ((a && b) || (a && c) || (b && c))
		return 0; /* within rounding of each other, if not all pairs */
	if (a) {
		json_object_set_new(d, "iops", json_real(1000 * ios / ms));
		return fio_mark(job, line, e, "%s: iops %.2f is wrong: total_ios over runtime are %.2f, and bw agrees",
				name, iops, 1000 * ios / ms);
	}
	if (b) {
		json_object_set_new(d, "bw_bytes", json_integer((json_int_t)ran));
		return fio_mark(job, line, e,
				"%s: bw of %.0f B/s is wrong: io_bytes over runtime are %.0f, and iops agrees", name,
				bw, ran);
	}
	if (c && bw > 0 && 1000 * bytes / bw < 1e18) {
		json_object_set_new(d, "runtime", json_integer((json_int_t)llround(1000 * bytes / bw)));
		return fio_mark(job, line, e, "%s: runtime %.0f ms is wrong: bw and iops both say %.0f ms", name, ms,
				1000 * bytes / bw);
	}
	*worst = 1;
	return fio_mark(job, line, e, "%s: io_bytes over runtime are %.0f B/s, bw says %.0f, iops says %.0f", name, ran,
			bw, by_iops);
}

static bool did_nothing(const json_t *d)
{
	static const char *const key[] = { "io_bytes", "total_ios", "runtime", "bw", "iops" };

	for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++)
		if (number(d, key[i]) > 0)
			return false;
	return true;
}

static bool in_kib(const json_t *d, const struct fio_json_units *units)
{
	double bytes = number(d, "io_bytes"), bw = number(d, "bw"), ms = number(d, "runtime");

	if (json_object_get(d, "io_kbytes") || json_object_get(d, "bw_bytes"))
		return false;
	if (units->known)
		return units->kib;
	return bytes > 0 && ms > 0 && near(1000 * bytes / ms, bw, 2 + 1000 / ms); /* bw is KiB/s in every version */
}

int fio_json_direction(const json_t *direction, const char *name, const struct fio_json_units *units, size_t line,
		       json_t *job, json_t **out, int *worst, struct error *e)
{
	static const char *const kept[] = { "total_ios", "short_ios", "drop_ios",    "runtime",
					    "iops",	 "bw_min",    "bw_max",	     "bw_agg",
					    "bw_mean",	 "bw_dev",    "bw_samples",  "iops_min",
					    "iops_max",	 "iops_mean", "iops_stddev", "iops_samples" };
	json_t *d;

	*out = NULL;
	if (!json_is_object(direction) || did_nothing(direction))
		return 0;
	d = json_object();
	copy_scaled(d, direction, "io_bytes", in_kib(direction, units) ? 1024 : 1);
	if (json_object_get(direction, "bw_bytes"))
		copy_scaled(d, direction, "bw_bytes", 1);
	else if (!isnan(number(direction, "bw")))
		json_object_set_new(d, "bw_bytes", scaled(json_object_get(direction, "bw"), 1024));
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		copy_scaled(d, direction, kept[i], 1);
	copy_latencies(d, direction);
	if (check(d, name, line, job, worst, e)) {
		json_decref(d);
		return -1;
	}
	*out = d;
	return 0;
}
