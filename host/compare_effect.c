/* From observations to numbers: one metric of one cell, paired by blocks or with each run on its own. */
#include <math.h>
#include <stdlib.h>

#include "host/compare_private.h"
#include "host/stats_resample.h"
#include "host/stats_welch.h"

/* Of drawn values: in a cell, and in all cells together. */
#define MOST_DRAWN_IN_CELL 20000000
#define MOST_DRAWN 50000000
#define LEAST_DRAWS 999
#define FLIP_DRAWS 99999 /* 2^20 sign patterns, exactly, take about as long */

/* Walking through all sign patterns of all cells may take this many steps: about a second. */
#define MOST_PATTERNS ((size_t)1 << 30)

int gathered_make(struct gathered *g, size_t blocks)
{
	*g = (struct gathered){ .ratio = calloc(blocks, sizeof(*g->ratio)) };
	for (int side = 0; side < 2; side++) {
		g->value[side] = calloc(blocks, sizeof(*g->value[side]));
		g->log[side] = calloc(blocks, sizeof(*g->log[side]));
		g->block[side] = calloc(blocks, sizeof(*g->block[side]));
		if (!g->value[side] || !g->log[side] || !g->block[side])
			return -1;
	}
	return g->ratio ? 0 : -1;
}

void gathered_free(struct gathered *g)
{
	for (int side = 0; side < 2; side++) {
		free(g->value[side]);
		free(g->log[side]);
		free(g->block[side]);
	}
	free(g->ratio);
}

bool observation_complete(const struct observation *o)
{
	return o->planned > 0 && o->status == OBSERVED_OK;
}

const struct observation *finding_side(const struct dataset *d, const struct finding *f, unsigned side, size_t block)
{
	return side ? dataset_candidate(d, f->cell, f->variant, block) : dataset_baseline(d, f->cell, f->variant, block);
}

static void keep(struct gathered *g, unsigned side, double value, size_t block)
{
	size_t i = g->n[side]++;

	g->value[side][i] = value;
	g->block[side][i] = (unsigned)block;
	if (value > 0)
		g->log[side][i] = log(value);
	else
		g->zero = true;
}

void compare_gather(const struct dataset *d, const struct finding *f, enum metric metric, struct gathered *g)
{
	g->n[0] = g->n[1] = 0;
	g->zero = false;
	for (size_t block = 0; block < d->nblocks; block++) {
		double value[2];
		bool there[2];

		for (unsigned side = 0; side < 2; side++) {
			const struct observation *o = finding_side(d, f, side, block);

			value[side] = o->value[metric];
			there[side] = observation_complete(o) && isfinite(value[side]);
		}
		for (unsigned side = 0; side < 2; side++)
			if (there[side] && (there[!side] || !d->paired))
				keep(g, side, value[side], block);
	}
	if (d->paired && !g->zero)
		for (size_t i = 0; i < g->n[0]; i++)
			g->ratio[i] = log(g->value[1][i] / g->value[0][i]);
}

static double mean_of(const double *value, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += value[i];
	return n ? sum / (double)n : NAN;
}

bool compare_cautious(size_t baseline_runs, size_t candidate_runs)
{
	return baseline_runs != candidate_runs || baseline_runs < RUNS_FOR_WELCH;
}

/* Welch's figures in the members of a paired estimate. */
static void estimate_unpaired(const struct gathered *g, struct stats_paired *out)
{
	struct stats_welch w;
	bool cautious;

	stats_welch(g->log[0], g->n[0], g->log[1], g->n[1], &w);
	cautious = compare_cautious(g->n[0], g->n[1]) || fmax(w.sd[0], w.sd[1]) > UNEVEN_SPREAD * fmin(w.sd[0], w.sd[1]);
	*out = (struct stats_paired){ .n = g->n[0] + g->n[1], .mean = w.diff, .sd = hypot(w.sd[0], w.sd[1]), .t = w.t,
				      .p = cautious ? w.p_cautious : w.p, .ratio = w.ratio, .low95 = w.low95, .high95 = w.high95, .low90 = w.low90,
				      .high90 = w.high90 };
}

/* The mean of a side that stands alone: the other has no value at all. */
static double lonely_mean(const struct dataset *d, const struct finding *f, enum metric metric, unsigned side)
{
	double sum = 0;
	size_t n = 0;

	for (size_t block = 0; block < d->nblocks; block++) {
		const struct observation *o = finding_side(d, f, side, block);

		if (!observation_complete(o) || !isfinite(o->value[metric]))
			continue;
		if (o->value[metric] <= 0)
			return NAN;
		sum += log(o->value[metric]);
		n++;
	}
	return n ? exp(sum / (double)n) : NAN;
}

void compare_measure(const struct dataset *d, const struct finding *f, enum metric metric, struct gathered *g,
		     struct effect *out)
{
	compare_gather(d, f, metric, g);
	out->runs[0] = (unsigned)g->n[0];
	out->runs[1] = (unsigned)g->n[1];
	out->complete = out->runs[0] < out->runs[1] ? out->runs[0] : out->runs[1];
	if (out->complete == 0) {
		stats_paired(NULL, 0, &out->estimate);
		out->kind = EFFECT_NO_DATA;
		out->baseline = lonely_mean(d, f, metric, 0);
		out->candidate = lonely_mean(d, f, metric, 1);
		return;
	}
	if (g->zero) {
		stats_paired(NULL, 0, &out->estimate);
		out->kind = EFFECT_ZERO;
		out->baseline = mean_of(g->value[0], g->n[0]);
		out->candidate = mean_of(g->value[1], g->n[1]);
		return;
	}
	if (d->paired)
		stats_paired(g->ratio, g->n[0], &out->estimate);
	else
		estimate_unpaired(g, &out->estimate);
	out->baseline = exp(mean_of(g->log[0], g->n[0]));
	out->candidate = exp(mean_of(g->log[1], g->n[1]));
	out->kind = out->complete == 1 ? EFFECT_SINGLE : isnan(out->estimate.p) ? EFFECT_CONSTANT : EFFECT_INTERVAL;
}

/* splitmix64's finaliser: neighbouring cells get unrelated seeds. */
uint64_t compare_seed(const struct comparison *c, const struct finding *f)
{
	uint64_t x = (uint64_t)json_integer_value(json_object_get(c->dataset->run, "seed")) +
		     0x9e3779b97f4a7c15u * (1 + (uint64_t)(f - c->finding));

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

size_t compare_draws(const struct comparison *c, size_t n, size_t most)
{
	size_t draws = MOST_DRAWN_IN_CELL / n, share = MOST_DRAWN / n / c->nfindings;

	draws = share < draws ? share : draws;
	draws = draws < most ? draws : most;
	return draws > LEAST_DRAWS ? draws : LEAST_DRAWS;
}

void compare_flip(const struct comparison *c, struct finding *f, const struct gathered *g)
{
	size_t n = g->n[0] + g->n[1];

	f->sign_flip = NAN;
	if (f->effect[c->dataset->primary].kind != EFFECT_INTERVAL)
		return;
	if (!c->dataset->paired) {
		double ways = exp(lgamma((double)n + 1) - lgamma((double)g->n[0] + 1) - lgamma((double)g->n[1] + 1));
		size_t draws = compare_draws(c, n, FLIP_DRAWS);

		f->draws = ways > (double)draws ? draws : 0;
		f->sign_flip = stats_permutation(g->log[0], g->n[0], g->log[1], g->n[1], compare_seed(c, f), draws);
	} else if (g->n[0] <= STATS_SIGN_FLIP_MAX && c->nfindings <= MOST_PATTERNS >> g->n[0]) {
		f->sign_flip = stats_sign_flip(g->ratio, g->n[0]);
	} else {
		f->draws = compare_draws(c, g->n[0], FLIP_DRAWS);
		f->sign_flip = stats_sign_flip_sampled(g->ratio, g->n[0], compare_seed(c, f), f->draws, NULL);
	}
}
