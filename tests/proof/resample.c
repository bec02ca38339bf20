/*
 * resample RUN LEVEL: RUN compares a device with one that takes a known time longer. Does the reported interval hold the true
 * effect, and how often would 8 blocks have found it? LEVEL is that of the interval that decides (1 - 0.05/runs, so that all
 * of several runs pass nineteen times in twenty); the 95 % interval is printed beside it.
 *
 * The true effect comes from the device's own service times in the same boots: one request at a time takes 1/IOPS, and the
 * slower device adds the difference of the service times, whatever the timers added to both.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/compare.h"
#include "host/selftest.h"

#define BLOCKS 8
#define RESAMPLES 2000

/* xorshift64*: the same resamples on every machine. */
static size_t below(uint64_t *state, size_t n)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (size_t)((*state * 0x2545f4914f6cdd1du >> 33) % n);
}

static double instant(const json_t *session, const char *key)
{
	const char *text = json_string_value(json_object_get(session, key));
	struct tm tm = { 0 };

	return text && strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm) ? (double)timegm(&tm) : NAN;
}

static double seconds_per_block(const struct dataset *d)
{
	const json_t *session = json_array_get(json_object_get(d->run, "sessions"), 0);

	return (instant(session, "ended") - instant(session, "started")) / d->nblocks;
}

static bool finds(const double *log_ratio, double alpha)
{
	struct stats_paired s;

	stats_paired(log_ratio, BLOCKS, &s);
	return s.p < alpha && s.mean < 0;
}

static void chance(const struct dataset *d, const double *log_ratio, const struct stats_paired *whole)
{
	size_t found = 0, consecutive = 0, runs = d->nblocks / BLOCKS;
	uint64_t state = 0x6b69636b62656e63u;
	double low, high, s = seconds_per_block(d);

	for (size_t i = 0; i < RESAMPLES; i++) {
		double drawn[BLOCKS];

		for (size_t b = 0; b < BLOCKS; b++)
			drawn[b] = log_ratio[below(&state, d->nblocks)];
		found += finds(drawn, d->alpha);
	}
	for (size_t i = 0; i < runs; i++)
		consecutive += finds(log_ratio + i * BLOCKS, d->alpha);
	selftest_binomial(found, RESAMPLES, 0.95, &low, &high);
	printf("  %d blocks find it in %.1f %% of %d resamples [%.1f, %.1f], by the noncentral t in %.1f %%; %zu of %zu runs of %d\n"
	       "  consecutive blocks did; %d blocks take %.0f s (noise of a block %.2f %%)\n", BLOCKS,
	       100.0 * (double)found / RESAMPLES, RESAMPLES, 100 * low, 100 * high,
	       100 * stats_power(BLOCKS, whole->mean, whole->sd, d->alpha), consecutive, runs, BLOCKS, BLOCKS, BLOCKS * s,
	       100 * expm1(whole->sd));
}

/* 0: the interval of the level holds the true effect, and the run found the loss. */
static int look(const struct comparison *c, double level)
{
	const struct dataset *d = c->dataset;
	const struct finding *f = &c->finding[0];
	const struct effect *iops = &f->effect[METRIC_IOPS], *device = &f->effect[METRIC_DEVICE_TIME];
	const struct stats_paired *s = &iops->estimate;
	double added_us = device->candidate - device->baseline, truth = 1 / (1 + added_us * 1e-6 * iops->baseline);
	double half = stats_t_quantile((1 + level) / 2, (double)s->n - 1) * s->sd / sqrt((double)s->n);
	double *log_ratio = calloc(d->nblocks + 1, sizeof(*log_ratio));
	bool held = fabs(log(truth) - s->mean) <= half;

	if (!log_ratio || iops->kind != EFFECT_INTERVAL || device->kind != EFFECT_INTERVAL || d->primary != METRIC_IOPS ||
	    iops->complete != d->nblocks || c->nfindings != 1) {
		printf("  this is no complete run of two variants and one cell with IOPS and device times\n");
		free(log_ratio);
		return 1;
	}
	for (size_t b = 0; b < d->nblocks; b++)
		log_ratio[b] = log(dataset_candidate(d, f->cell, f->variant, b)->value[METRIC_IOPS] /
				   dataset_baseline(d, f->cell, f->variant, b)->value[METRIC_IOPS]);
	printf("  device %.1f -> %.1f us per request (%+.2f %%), a request of the guest's took %.1f us: true ratio of IOPS %.4f\n",
	       device->baseline, device->candidate, 100 * (device->candidate / device->baseline - 1), 1e6 / iops->baseline, truth);
	printf("  reported %.4f [%.4f, %.4f] (95 %%) from %u blocks: holds it: %s; at %.2f %%: %s; verdict: %s\n", s->ratio, s->low95,
	       s->high95, iops->complete, truth >= s->low95 && truth <= s->high95 ? "yes" : "NO", 100 * level, held ? "yes" : "NO",
	       verdict_name(f->verdict));
	chance(d, log_ratio, s);
	free(log_ratio);
	return !held || f->verdict != VERDICT_WORSE;
}

int main(int argc, char **argv)
{
	struct comparison *c = NULL;
	struct dataset *d = NULL;
	struct error e = { 0 };
	int status = 2;

	if (argc != 3) {
		fprintf(stderr, "usage: resample RUN LEVEL\n");
		return 2;
	}
	if (dataset_load(argv[1], &d, &e) || compare(d, &c, &e))
		fprintf(stderr, "resample: %s\n", e.text);
	else
		status = look(c, strtod(argv[2], NULL));
	comparison_free(c);
	dataset_free(d);
	return status;
}
