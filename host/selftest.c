#include "host/selftest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POWER 0.9

/* ---- the share of false alarms ---- */

/* P(X >= hits) of n draws with chance p: I_p(hits, n - hits + 1) (Abramowitz & Stegun 26.5.24). */
static double at_least(size_t hits, size_t n, double p)
{
	return hits == 0 ? 1 : stats_beta((double)hits, (double)(n - hits + 1), p);
}

/* The chance at which P(X >= hits) is `tail`: it grows with the chance. */
static double chance_of_tail(size_t hits, size_t n, double tail)
{
	double low = 0, high = 1;

	for (int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (at_least(hits, n, middle) < tail)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

void selftest_binomial(size_t hits, size_t n, double level, double *low, double *high)
{
	double tail = (1 - level) / 2;

	*low = n == 0 ? NAN : hits == 0 ? 0 : chance_of_tail(hits, n, tail);
	*high = n == 0 ? NAN : hits == n ? 1 : chance_of_tail(hits + 1, n, 1 - tail);
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

struct deal {
	const double *log_ratio;
	size_t cells, blocks;
	double alpha, fail_margin;
	double *turned, *p, *holm, *ratio; /* room for blocks; cells each */
};

static int judge_deal(const struct deal *d, const bool *turn, struct selftest_deals *out)
{
	bool verdict = false;

	for (size_t cell = 0; cell < d->cells; cell++) {
		const double *row = d->log_ratio + cell * d->blocks;
		struct stats_paired s;

		for (size_t b = 0; b < d->blocks; b++)
			d->turned[b] = turn[b] ? -row[b] : row[b];
		stats_paired(d->turned, d->blocks, &s);
		d->p[cell] = s.p;
		d->ratio[cell] = s.ratio;
		out->tests += !isnan(s.p);
		out->below += s.p < d->alpha;
	}
	if (stats_holm(d->p, d->cells, d->holm))
		return -1;
	for (size_t cell = 0; cell < d->cells; cell++)
		verdict |= d->holm[cell] < d->alpha && fabs(d->ratio[cell] - 1) > d->fail_margin;
	out->with_verdict += verdict;
	out->deals++;
	return 0;
}

int selftest_deals(const double *log_ratio, size_t cells, size_t blocks, double alpha, double fail_margin, uint64_t seed,
		   struct selftest_deals *out)
{
	double *room = calloc(blocks + 3 * cells + 1, sizeof(*room));
	bool *turn = calloc(blocks + 1, sizeof(*turn));
	struct deal d = { log_ratio, cells, blocks, alpha, fail_margin, room, room + blocks, room + blocks + cells,
			  room + blocks + 2 * cells };
	size_t deals = SELFTEST_DRAWS;
	int status = room && turn ? 0 : -1;

	*out = (struct selftest_deals){ .all = blocks < SELFTEST_EXACT };
	if (out->all)
		deals = blocks ? (size_t)1 << (blocks - 1) : 0;
	for (size_t i = 0; i < deals && status == 0; i++) {
		/* The last block keeps its sign. */
		for (size_t b = 0; b + 1 < blocks; b++)
			turn[b] = out->all ? i >> b & 1 : draw(&seed) >> 63;
		status = judge_deal(&d, turn, out);
	}
	free(room);
	free(turn);
	return status;
}

int selftest_split(const struct point *point, size_t npoints, unsigned cell, enum metric metric, struct stats_variance *out)
{
	double *value = calloc(npoints + 1, sizeof(*value));
	unsigned *boot = calloc(npoints + 1, sizeof(*boot));
	size_t n = 0;
	int status;

	for (size_t i = 0; value && boot && i < npoints; i++) {
		double v = point[i].value[metric];

		if (point[i].cell != cell || !(v > 0) || !isfinite(v))
			continue;
		value[n] = log(v);
		boot[n++] = point[i].boot;
	}
	status = value && boot ? stats_variance(value, boot, n, out) : -1;
	free(value);
	free(boot);
	return status;
}

size_t selftest_false(const struct comparison *c)
{
	return c->count[VERDICT_WORSE] + c->count[VERDICT_BETTER];
}

/* ---- for people ---- */

/* Whether a verdict rests on a test: all blocks are complete, then, and there is a spread. */
static bool tested(const struct finding *f)
{
	return f->verdict == VERDICT_WORSE || f->verdict == VERDICT_BETTER || f->verdict == VERDICT_SAME ||
	       f->verdict == VERDICT_UNCLEAR;
}

static double *log_ratios(const struct comparison *c)
{
	const struct dataset *d = c->dataset;
	double *log_ratio = calloc(c->nfindings * d->nblocks + 1, sizeof(*log_ratio)), *at = log_ratio;

	for (size_t i = 0; log_ratio && i < c->nfindings; i++) {
		const struct finding *f = &c->finding[i];

		for (size_t block = 0; block < d->nblocks; block++) {
			double base = dataset_baseline(d, f->cell, f->variant, block)->value[d->primary];
			double candidate = dataset_candidate(d, f->cell, f->variant, block)->value[d->primary];

			*at++ = tested(f) ? log(candidate / base) : NAN;
		}
	}
	return log_ratio;
}

static void share_text(struct text *out, size_t hits, size_t n, bool exact)
{
	double low, high;

	text_add(out, "%.1f %%", 100 * (double)hits / (double)n);
	if (exact)
		return;
	selftest_binomial(hits, n, 0.95, &low, &high);
	text_add(out, " [%.1f, %.1f]", 100 * low, 100 * high);
}

static void alarms_text(const struct comparison *c, size_t ntested, const struct selftest_deals *deals, struct text *out)
{
	const struct dataset *d = c->dataset;
	size_t below = 0;

	for (size_t i = 0; i < c->nfindings; i++)
		below += tested(&c->finding[i]) && c->finding[i].effect[d->primary].estimate.p < d->alpha;
	text_add(out, "FALSE ALARMS\n  verdicts     %zu of %zu cells worse or better; any at all in at most %.3g %% of such runs\n",
		 selftest_false(c), c->nfindings, 100 * d->alpha);
	text_add(out, "  uncorrected  %zu of %zu cells with p < %.3g: ", below, ntested, d->alpha);
	share_text(out, below, ntested, false);
	text_add(out, ", expected %.3g %%\n", 100 * d->alpha);
	text_add(out, "  other deals  %zu of %zu would have shown a false verdict: ", deals->with_verdict, deals->deals);
	share_text(out, deals->with_verdict, deals->deals, deals->all);
	text_add(out, "; %.1f %% of their\n               cells p < %.3g\n\n", 100 * (double)deals->below / (double)deals->tests,
		 d->alpha);
	text_add(out, "  Uncorrected p values are what Holm's correction is for; [95 %% interval] is Clopper and Pearson's, as if cells\n"
		      "  did not share boots. Other deals: which of a block's two equal boots is called %s was drawn, so the run\n"
		      "  could have come out with the names swapped in any of its blocks; %s %zu deals were judged as a run is. In the\n"
		      "  mean over many runs their share is the rate of false alarms; of a single one it is a rough look at it.\n\n",
		 d->variant[c->finding[0].variant], deals->all ? "all" : "a seeded draw of", deals->deals);
}

static void column(double ratio, struct text *out, int width)
{
	char words[PERCENT_TEXT_SIZE];

	percent_text(100 * (ratio - 1), "", words);
	text_add(out, "%*s", width, strncmp(words, "more", 4) ? words : "> 1000");
}

/* With several trials of a cell in a boot: is it boots that differ, or trials? */
static int split_text(const struct comparison *c, int wide, struct text *out)
{
	const struct dataset *d = c->dataset;

	if (d->repeats < 2 || d->npoints == 0)
		return 0;
	text_add(out, "  %-*s   between boots  within a boot   (standard deviations, %%)\n", wide, "cell");
	for (unsigned cell = 0; cell < d->ncells; cell++) {
		struct stats_variance v;

		if (selftest_split(d->point, d->npoints, cell, d->primary, &v))
			return -1;
		text_add(out, "  %-*s  ", wide, d->cell[cell].name);
		if (isnan(v.between_var) || isnan(v.within_var)) {
			text_add(out, "too few trials\n");
			continue;
		}
		column(exp(sqrt(v.between_var)), out, 14);
		column(exp(sqrt(v.within_var)), out, 15);
		text_add(out, "\n");
	}
	text_add(out, "\n");
	return 0;
}

static void in_words(const struct comparison *c, double least, double most, struct text *out)
{
	const struct dataset *d = c->dataset;
	char quiet[PERCENT_TEXT_SIZE], noisy[PERCENT_TEXT_SIZE];
	bool wrong = selftest_false(c) > 0;

	percent_text(100 * (least - 1), "", quiet);
	percent_text(100 * (most - 1), "", noisy);
	text_add(out, "In words: nine times in ten, the default design of 8 blocks finds here a change in %s of %s %%",
		 metric_info(d->primary)->title, quiet);
	if (most > least)
		text_add(out, "\n(quietest cell) to %s %% (noisiest)", noisy);
	text_add(out, ". What is smaller takes more blocks. This run raised %s false alarm", wrong ? "a" : "no");
	if (wrong)
		text_add(out, ",\nas %.3g %% of such runs may", 100 * d->alpha);
	text_add(out, ".\n");
}

static int noise_text(const struct comparison *c, struct text *out)
{
	static const unsigned design[] = { 8, 16, 32 };
	const struct dataset *d = c->dataset;
	double least = INFINITY, most = 0;
	int wide = 4;

	for (size_t i = 0; i < d->ncells; i++)
		wide = (int)strlen(d->cell[i].name) > wide ? (int)strlen(d->cell[i].name) : wide;
	text_add(out, "NOISE FLOOR of %s, and the smallest change that a run would find nine times in ten, in %%\n"
		      "  %-*s   ratio      p   noise   8 blocks  16 blocks  32 blocks\n", metric_info(d->primary)->title, wide, "cell");
	for (size_t i = 0; i < c->nfindings; i++) {
		const struct finding *f = &c->finding[i];
		const struct stats_paired *s = &f->effect[d->primary].estimate;

		text_add(out, "  %-*s  ", wide, d->cell[f->cell].name);
		if (!tested(f)) {
			text_add(out, "%s\n", verdict_name(f->verdict));
			continue;
		}
		text_add(out, "%6.3f  %.3f  ", s->ratio, s->p);
		column(exp(s->sd), out, 6);
		for (size_t k = 0; k < sizeof(design) / sizeof(design[0]); k++) {
			double found = stats_detectable(design[k], s->sd, d->alpha, POWER, c->nfindings);

			column(found, out, 11);
			if (k == 0) {
				least = found < least ? found : least;
				most = found > most ? found : most;
			}
		}
		text_add(out, "\n");
	}
	text_add(out, "\n  Noise: standard deviation of the ratio of two equal boots of one block, %u blocks. A change has to pass Holm's\n"
		      "  first step over %zu cell%s.\n\n", d->nblocks, c->nfindings, c->nfindings == 1 ? "" : "s");
	if (split_text(c, wide, out))
		return -1;
	in_words(c, least, most, out);
	return 0;
}

/* What the host looked like, and what the comparison saw: reasons for noise. */
static void warnings_text(const struct comparison *c, struct text *out)
{
	const json_t *warnings = json_object_get(json_object_get(c->dataset->run, "environment"), "warnings"), *w;
	size_t i;

	json_array_foreach(warnings, i, w)
		text_add(out, "Mind: %s\n", json_string_value(w) ? json_string_value(w) : "");
	for (i = 0; i < c->nwarnings; i++)
		text_add(out, "Mind: %s\n", c->warning[i]);
}

int selftest_text(const struct comparison *c, struct text *out)
{
	const struct dataset *d = c->dataset;
	struct selftest_deals deals;
	size_t ntested = 0;
	double *log_ratio;
	int status;

	for (size_t i = 0; i < c->nfindings; i++)
		ntested += tested(&c->finding[i]);
	text_add(out, "%s against itself: scenario %s, %u blocks, %zu cell%s\n\n", d->variant[d->baseline], d->name, d->nblocks,
		 d->ncells, d->ncells == 1 ? "" : "s");
	if (ntested == 0) {
		text_add(out, "No cell could be tested: see the report.\n");
		return out->failed ? -1 : 0;
	}
	log_ratio = log_ratios(c);
	if (!log_ratio)
		return -1;
	status = selftest_deals(log_ratio, c->nfindings, d->nblocks, d->alpha, d->fail_margin,
				(uint64_t)json_integer_value(json_object_get(d->run, "seed")), &deals);
	free(log_ratio);
	if (status)
		return -1;
	alarms_text(c, ntested, &deals, out);
	if (noise_text(c, out))
		return -1;
	warnings_text(c, out);
	return out->failed ? -1 : 0;
}
