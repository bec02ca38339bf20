#include "guest/result.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

double moments_mean(const struct moments *m)
{
	if (m->n == 0)
		return 0;
	return (double)m->base + (double)m->sum / (double)m->n;
}

/* Sum of squared distances from the mean. Rounding may leave a hair below zero. */
static double moments_m2(const struct moments *m)
{
	double sum = (double)m->sum;
	double m2;

	if (m->n < 2)
		return 0;
	m2 = m->sum2 - sum * sum / (double)m->n;
	return m2 > 0 ? m2 : 0;
}

double moments_stdev(const struct moments *m)
{
	return m->n < 2 ? 0 : sqrt(moments_m2(m) / (double)(m->n - 1));
}

void moments_merge(struct moments *into, const struct moments *from)
{
	double shift;

	if (from->n == 0)
		return;
	if (into->n == 0) {
		*into = *from;
		return;
	}
	/* Move from's sums to into's base: v - base = (v - from.base) + shift. */
	shift = (double)(int64_t)(from->base - into->base);
	into->sum2 += from->sum2 + 2 * shift * (double)from->sum + shift * shift * (double)from->n;
	into->sum += from->sum + (int64_t)(from->base - into->base) * (int64_t)from->n;
	into->n += from->n;
	if (from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
}

void samples_add(struct samples *s, uint64_t v)
{
	double delta = (double)v - s->mean;

	if (s->n++ == 0) {
		s->min = s->max = v;
	} else {
		if (v < s->min)
			s->min = v;
		if (v > s->max)
			s->max = v;
	}
	s->mean += delta / (double)s->n;
	s->m2 += delta * ((double)v - s->mean);
}

double samples_stdev(const struct samples *s)
{
	return s->n < 2 ? 0 : sqrt(s->m2 / (double)(s->n - 1));
}

/*
 * Everything is added, the counts as well; fio's deviation of a sum is then sqrt(sum of S / (sum of n - 1)),
 * which samples_stdev yields without knowing how many members there were.
 */
void samples_sum(struct samples *into, const struct samples *from)
{
	into->n += from->n;
	into->min += from->min;
	into->max += from->max;
	into->mean += from->mean;
	into->m2 += from->m2;
}

static void add_all(uint64_t *into, const uint64_t *from, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		into[i] += from[i];
}

void direction_reset(struct direction *d)
{
	struct histogram *slat = d->slat_histogram, *lat = d->lat_histogram;

	/* The monitor looks at these while the job runs. */
	__atomic_store_n(&d->ios, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&d->bytes, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&d->short_ios, 0, __ATOMIC_RELAXED);
	memset((char *)d + offsetof(struct direction, dropped_ios), 0, sizeof(*d) - offsetof(struct direction, dropped_ios));
	d->slat_histogram = slat;
	d->lat_histogram = lat;
	if (slat)
		*slat = (struct histogram){0};
	if (lat)
		*lat = (struct histogram){0};
}

static int copy_histogram(struct histogram **h)
{
	const struct histogram *from = *h;

	if (!from)
		return 0;
	*h = malloc(sizeof(**h));
	if (!*h)
		return -1;
	**h = *from;
	return 0;
}

struct job_result *job_result_copy(const struct job_result *from)
{
	struct job_result *r = malloc(sizeof(*r));
	bool failed = false;

	if (!r)
		return NULL;
	*r = *from;
	for (unsigned d = 0; d < DDIRS; d++) {
		failed |= copy_histogram(&r->dir[d].slat_histogram) < 0;
		failed |= copy_histogram(&r->dir[d].lat_histogram) < 0;
	}
	if (!failed)
		return r;
	job_result_free(r);
	return NULL;
}

static void histogram_store(struct histogram **into, struct histogram *own)
{
	if (own && *into)
		*own = **into;
	*into = own;
}

void job_result_store(struct job_result *into, const struct job_result *from)
{
	struct histogram *slat[DDIRS], *lat[DDIRS];

	for (unsigned d = 0; d < DDIRS; d++) {
		slat[d] = into->dir[d].slat_histogram;
		lat[d] = into->dir[d].lat_histogram;
	}
	*into = *from;
	for (unsigned d = 0; d < DDIRS; d++) {
		histogram_store(&into->dir[d].slat_histogram, slat[d]);
		histogram_store(&into->dir[d].lat_histogram, lat[d]);
	}
}

void job_result_free(struct job_result *r)
{
	for (unsigned d = 0; r && d < DDIRS; d++) {
		free(r->dir[d].slat_histogram);
		free(r->dir[d].lat_histogram);
	}
	free(r);
}

/* Members whose job does not ask for these percentiles add nothing to them. */
static void histogram_merge_if(struct histogram *into, const struct histogram *from)
{
	if (into && from)
		histogram_merge(into, from);
}

static void direction_merge(struct direction *into, const struct direction *from)
{
	into->ios += from->ios;
	into->bytes += from->bytes;
	into->short_ios += from->short_ios;
	into->dropped_ios += from->dropped_ios;
	if (from->runtime_us > into->runtime_us)
		into->runtime_us = from->runtime_us;
	moments_merge(&into->slat, &from->slat);
	moments_merge(&into->clat, &from->clat);
	moments_merge(&into->lat, &from->lat);
	histogram_merge(&into->clat_histogram, &from->clat_histogram);
	histogram_merge_if(into->slat_histogram, from->slat_histogram);
	histogram_merge_if(into->lat_histogram, from->lat_histogram);
	samples_sum(&into->bw, &from->bw);
	samples_sum(&into->iops, &from->iops);
}

void job_result_merge(struct job_result *into, const struct job_result *from)
{
	into->members += from->members;
	if (!into->failure.error)
		into->failure = from->failure;
	for (unsigned d = 0; d < DDIRS; d++)
		direction_merge(&into->dir[d], &from->dir[d]);
	into->syncs += from->syncs;
	moments_merge(&into->sync_lat, &from->sync_lat);
	histogram_merge(&into->sync_histogram, &from->sync_histogram);
	into->user_us += from->user_us;
	into->system_us += from->system_us;
	into->context_switches += from->context_switches;
	into->major_faults += from->major_faults;
	into->minor_faults += from->minor_faults;
	into->total_runtime_ms += from->total_runtime_ms;
	if (from->runtime_ms > into->runtime_ms)
		into->runtime_ms = from->runtime_ms;
	add_all(into->lat_ns, from->lat_ns, LAT_NS_CLASSES);
	add_all(into->lat_us, from->lat_us, LAT_US_CLASSES);
	add_all(into->lat_ms, from->lat_ms, LAT_MS_CLASSES);
	add_all(into->depth, from->depth, DEPTH_CLASSES);
	add_all(into->submit, from->submit, DEPTH_CLASSES);
	add_all(into->complete, from->complete, DEPTH_CLASSES);
	into->total_errors += from->total_errors;
	if (!into->first_error)
		into->first_error = from->first_error;
	into->started |= from->started;
}

void run_result_free(struct run_result *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nreports; i++)
		job_result_free(r->report[i]);
	free(r->report);
	free(r->disk);
	*r = (struct run_result){0};
}
