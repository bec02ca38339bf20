/* What a reader has to know before he believes a verdict. Nothing here changes a verdict or drops a value. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/compare_private.h"
#include "host/stats_checks.h"
#include "host/stats_hosts.h"
#include "host/stats_resample.h"

/* Each kind of check may raise a false alarm in one comparison of twenty, over all its cells (Bonferroni). */
#define CHECK_LEVEL 0.05

/* The ends of the bootstrap and the t interval may differ by this part of the t interval's width. */
#define BOOTSTRAP_APART 0.2
#define BOOTSTRAP_DRAWS 9999

#define MOST_NAMED 5 /* outliers, in one sentence */

int compare_say(char ***list, size_t *count, struct text *sentence)
{
	char **grown = realloc(*list, (*count + 1) * sizeof(*grown));

	if (grown)
		*list = grown;
	if (!grown || sentence->failed || !(grown[*count] = strdup(text_get(sentence)))) {
		text_free(sentence);
		return -1;
	}
	++*count;
	text_free(sentence);
	return 0;
}

static int warn(struct comparison *c, struct text *sentence)
{
	return compare_say(&c->warning, &c->nwarnings, sentence);
}

static const char *side_name(const struct comparison *c, const struct finding *f, unsigned side)
{
	return c->dataset->variant[side ? f->variant : c->dataset->baseline];
}

/* ---- of the whole comparison ---- */

/* What the view has to say: cells that one side lacks, facts that differ. */
static int notes(struct comparison *c)
{
	const json_t *note;
	size_t i;

	json_array_foreach(json_object_get(c->dataset->run, "notes"), i, note) {
		struct text t = { 0 };

		if (!json_is_string(note))
			continue;
		text_add(&t, "%s", json_string_value(note));
		if (warn(c, &t))
			return -1;
	}
	return 0;
}

static int accelerators(struct comparison *c)
{
	json_t *set = json_object_get(c->dataset->seen, "accel");
	struct text t = { 0 };
	const char *name;
	json_t *n;

	if (json_object_size(set) < 2)
		return 0;
	text_add(&t, "trials ran under different accelerators (");
	json_object_foreach(set, name, n)
		text_add(&t, "%s%s: %lld", t.data[t.length - 1] == '(' ? "" : ", ", name, (long long)json_integer_value(n));
	text_add(&t, "), which have nothing in common: believe no ratio");
	return warn(c, &t);
}

/* "2026-01-31T12:00:00Z"; an import's own time is not that of its runs. False: not told. */
static bool began(const struct dataset *d, unsigned source, char words[32])
{
	const json_t *run = d->source[source].run;
	const char *started = json_string_value(json_object_get(run, "started"));
	double first = HUGE_VAL;
	struct tm tm;
	time_t at;

	for (size_t i = 0; i < d->npoints; i++)
		if (d->point[i].source == source && d->point[i].started < first)
			first = d->point[i].started;
	at = isfinite(first) ? (time_t)first : 0;
	if (isfinite(first))
		strftime(words, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &tm));
	else if (started && !json_is_true(json_object_get(run, "imported")))
		snprintf(words, 32, "%s", started);
	else
		return false;
	return true;
}

static int times(struct comparison *c)
{
	const struct dataset *d = c->dataset;
	struct text t = { 0 }, told = { 0 };

	if (d->paired || d->nvariants < 2)
		return 0;
	for (unsigned i = 0; d->nsources > 1 && i < d->nsources; i++) {
		char words[32];

		if (began(d, i, words))
			text_add(&told, "%s%s from %s", told.length ? ", " : " (", d->source[i].label, words);
	}
	text_add(&t, "the sides were not measured in alternation%s%s: whatever else changed from one to the other is part of every "
		     "difference", text_get(&told), told.length ? ")" : "");
	text_free(&told);
	return warn(c, &t);
}

static int single_runs(struct comparison *c)
{
	unsigned n = c->count[VERDICT_SINGLE];
	struct text t = { 0 };

	if (n == 0)
		return 0;
	text_add(&t, "a side has a single run in ");
	if (n == c->nfindings)
		text_add(&t, n == 1 ? "the one comparison" : "all %u comparisons", n);
	else
		text_add(&t, "%u of %zu comparisons", n, c->nfindings);
	text_add(&t, ": no interval, no verdict, direction only; two runs of one and the same variant differ, too");
	return warn(c, &t);
}

static int hopeless(struct comparison *c)
{
	const struct dataset *d = c->dataset;
	struct text t = { 0 };

	if (d->nblocks < 2 || !compare_sign_flip_hopeless(c)) /* one block has no t test either */
		return 0;
	text_add(&t, "flip p of %u block%s cannot fall below %.2g, too coarse to be significant over %zu comparison%s: it "
		     "is a check of the t test here and no second opinion", d->nblocks, d->nblocks == 1 ? "" : "s",
		 stats_sign_flip_smallest(d->nblocks), c->nfindings, c->nfindings == 1 ? "" : "s");
	return warn(c, &t);
}

/* ---- of the values ---- */

/* A series of one finding: its log ratios, or the logs of one side. */
enum series { SERIES_BASELINE, SERIES_CANDIDATE, SERIES_RATIO, SERIES };

/* What one check found in all cells, and the clearest case. */
struct alarm {
	unsigned cells;
	const struct finding *worst, *last;
	enum series series;
	struct stats_drift drift;
	double p;
};

struct checks {
	struct comparison *c;
	struct gathered *g;
	struct alarm effect_drift, side_drift, dependence;
	unsigned host_cells;     /* whose effect depends on the host */
	const struct finding *host_worst;
	struct stats_hosts hosts; /* of the clearest of them */
	unsigned *host;          /* of each value of the finding that is looked at */
	unsigned apart; /* cells whose bootstrap disagrees */
	struct text apart_words, outliers;
	size_t noutliers;
	size_t *index;
};

static void raise(struct alarm *a, const struct finding *f, enum series series, const struct stats_drift *drift, double p)
{
	a->cells += a->last != f;
	a->last = f;
	if (a->worst && a->p <= p)
		return;
	a->worst = f;
	a->series = series;
	a->drift = *drift;
	a->p = p;
}

static const double *series_of(const struct gathered *g, enum series series, size_t *n)
{
	*n = g->n[series == SERIES_CANDIDATE];
	return series == SERIES_RATIO ? g->ratio : g->log[series];
}

static void look_over_time(struct checks *k, const struct finding *f)
{
	bool paired = k->c->dataset->paired;
	double level = CHECK_LEVEL / (double)(k->c->nfindings * (paired ? 3 : 2));
	double lag_level = CHECK_LEVEL / (double)(k->c->nfindings * (paired ? 1 : 2));

	for (enum series s = SERIES_BASELINE; s < (paired ? SERIES : SERIES_RATIO); s++) {
		struct stats_drift drift;
		size_t n;
		const double *values = series_of(k->g, s, &n);

		stats_drift(values, n, &drift);
		if (drift.p_slope < level)
			raise(s == SERIES_RATIO ? &k->effect_drift : &k->side_drift, f, s, &drift, drift.p_slope);
		else if (drift.p_lag1 < lag_level && (s == SERIES_RATIO || !paired)) /* a drift raises it, too */
			raise(&k->dependence, f, s, &drift, drift.p_lag1);
	}
}

/* The mean log of a side without its value i. */
static double elsewhere(const struct gathered *g, unsigned side, size_t i)
{
	double sum = 0;

	for (size_t k = 0; k < g->n[side]; k++)
		sum += k == i ? 0 : g->log[side][k];
	return sum / (double)(g->n[side] - 1);
}

static void name_outlier(struct checks *k, const struct finding *f, unsigned side, size_t i)
{
	const struct dataset *d = k->c->dataset;
	enum unit unit = metric_info(d->primary)->unit;
	char value[METRIC_TEXT_SIZE], others[METRIC_TEXT_SIZE];

	if (k->noutliers++ >= MOST_NAMED)
		return;
	metric_text(unit, k->g->value[side][i], value);
	metric_text(unit, exp(elsewhere(k->g, side, i)), others);
	text_add(&k->outliers, "%s%s, %s %u, %s: %s against %s elsewhere", k->noutliers > 1 ? "; " : "", d->cell[f->cell].name,
		 d->paired ? "block" : "run", k->g->block[side][i] + 1, side_name(k->c, f, side), value, others);
}

static void look_for_outliers(struct checks *k, const struct finding *f)
{
	bool paired = k->c->dataset->paired;
	double level = CHECK_LEVEL / (double)(k->c->nfindings * (paired ? 1 : 2));
	const struct gathered *g = k->g;

	for (enum series s = paired ? SERIES_RATIO : SERIES_BASELINE; s < (paired ? SERIES : SERIES_RATIO); s++) {
		size_t n, found;
		const double *values = series_of(g, s, &n);

		found = stats_outliers(values, n, level, k->index);
		for (size_t i = 0; i < found; i++) {
			size_t at = k->index[i];
			double off[2] = { fabs(g->log[0][at] - elsewhere(g, 0, at)), 0 };

			if (paired)
				off[1] = fabs(g->log[1][at] - elsewhere(g, 1, at));
			name_outlier(k, f, paired ? off[1] >= off[0] : (unsigned)s, at);
		}
	}
}

/* Blocks that were shared out over hosts: their effect is that of these hosts, unless they agree. */
static int look_at_hosts(struct checks *k, const struct finding *f)
{
	const struct dataset *d = k->c->dataset;
	size_t n = k->g->n[0];
	struct stats_hosts s;

	if (d->nhosts < 2)
		return 0;
	for (size_t i = 0; i < n; i++)
		k->host[i] = d->block_host[k->g->block[0][i]];
	if (stats_hosts(k->g->ratio, k->host, n, &s))
		return -1;
	if (!(s.p < CHECK_LEVEL / (double)k->c->nfindings))
		return 0;
	if (k->host_cells++ == 0 || s.p < k->hosts.p) {
		k->hosts = s;
		k->host_worst = f;
	}
	return 0;
}

static int say_of_hosts(const struct checks *k)
{
	const struct dataset *d = k->c->dataset;
	const struct stats_hosts *h = &k->hosts;
	struct text t = { 0 };

	if (!k->host_cells)
		return 0;
	text_add(&t, "the hosts disagree: in %s the ratio of %s to %s is %.3f on %s (%zu block%s) and %.3f on %s (%zu block%s) (F test of "
		     "host and variant, p %.2g, uncorrected)", d->cell[k->host_worst->cell].name, side_name(k->c, k->host_worst, 1),
		 side_name(k->c, k->host_worst, 0), exp(h->low_mean), d->host[h->low], h->low_blocks, h->low_blocks == 1 ? "" : "s",
		 exp(h->high_mean), d->host[h->high], h->high_blocks, h->high_blocks == 1 ? "" : "s", h->p);
	if (k->host_cells > 1)
		text_add(&t, "; so in %u more comparison%s", k->host_cells - 1, k->host_cells == 2 ? "" : "s");
	text_add(&t, "; the mean holds for these hosts, in these shares, and for no other");
	return warn(k->c, &t);
}

static int look_at_bootstrap(struct checks *k, const struct finding *f)
{
	const struct stats_paired *t = &f->effect[k->c->dataset->primary].estimate;
	double low, high, width = log(t->high95 / t->low95);
	size_t n = k->g->n[0];

	if (!k->c->dataset->paired || n < STATS_BOOTSTRAP_MIN)
		return 0;
	if (stats_bootstrap(k->g->ratio, n, compare_seed(k->c, f), compare_draws(k->c, n, BOOTSTRAP_DRAWS), 0.95, &low, &high))
		return -1;
	if (!(fabs(log(low / t->low95)) > BOOTSTRAP_APART * width || fabs(log(high / t->high95)) > BOOTSTRAP_APART * width))
		return 0;
	if (k->apart++ == 0)
		text_add(&k->apart_words, "%s has %.3f to %.3f instead of %.3f to %.3f", k->c->dataset->cell[f->cell].name, low,
			 high, t->low95, t->high95);
	return 0;
}

/* ---- in words ---- */

/* "rises by 1.2 % per block" */
static void slope_words(double slope, const char *step, struct text *out)
{
	char percent[PERCENT_TEXT_SIZE];

	percent_text(fabs(100 * expm1(slope)), "", percent);
	text_add(out, "%s by %s %% per %s", slope > 0 ? "rises" : "falls", percent, step);
}

static void others(const struct alarm *a, struct text *out)
{
	if (a->cells > 1)
		text_add(out, "; so in %u more comparison%s", a->cells - 1, a->cells == 2 ? "" : "s");
}

static int say_over_time(const struct checks *k)
{
	const struct dataset *d = k->c->dataset;
	const struct alarm *a = &k->effect_drift;
	struct text t = { 0 };

	if (a->cells) {
		text_add(&t, "the effect drifts: in %s the ratio of %s to %s ", d->cell[a->worst->cell].name,
			 side_name(k->c, a->worst, 1), side_name(k->c, a->worst, 0));
		slope_words(a->drift.slope, "block", &t);
		text_add(&t, " (p %.2g, uncorrected)", a->p);
		others(a, &t);
		text_add(&t, "; the mean holds for this stretch of time only");
		if (warn(k->c, &t))
			return -1;
	}
	a = &k->side_drift;
	if (a->cells) {
		text_add(&t, "the values drift: in %s %s of %s ", d->cell[a->worst->cell].name, metric_info(d->primary)->title,
			 side_name(k->c, a->worst, a->series == SERIES_CANDIDATE));
		slope_words(a->drift.slope, d->paired ? "block" : "run", &t);
		text_add(&t, " (p %.2g, uncorrected)", a->p);
		others(a, &t);
		text_add(&t, d->paired ? "; the pairing removes what both sides of a block share"
				       : "; its runs are no sample of one state, and the interval is not what it says");
		if (warn(k->c, &t))
			return -1;
	}
	a = &k->dependence;
	if (!a->cells)
		return 0;
	text_add(&t, "%s resemble%s their neighbours: in %s the correlation of one with the next is %+.2f (p %.2g, uncorrected)",
		 d->paired ? "blocks" : "runs", a->drift.lag1 < 0 ? " the opposite of" : "", d->cell[a->worst->cell].name,
		 a->drift.lag1, a->p);
	others(a, &t);
	text_add(&t, "; the interval is too %s", a->drift.lag1 < 0 ? "wide" : "narrow");
	return warn(k->c, &t);
}

static int say_of_values(struct checks *k)
{
	struct text t = { 0 };

	if (k->noutliers) {
		text_add(&t, "far from all others, and kept: %s", text_get(&k->outliers));
		if (k->noutliers > MOST_NAMED)
			text_add(&t, "; and %zu more", k->noutliers - MOST_NAMED);
		if (warn(k->c, &t))
			return -1;
	}
	if (!k->apart)
		return 0;
	text_add(&t, "the bootstrap (BCa) disagrees with the t interval in %u comparison%s by more than %g %% of its width: %s; the "
		     "ratios of the blocks are skewed", k->apart, k->apart == 1 ? "" : "s", 100 * BOOTSTRAP_APART,
		 text_get(&k->apart_words));
	return warn(k->c, &t);
}

static int look(struct checks *k)
{
	const struct dataset *d = k->c->dataset;

	for (size_t i = 0; i < k->c->nfindings; i++) {
		const struct finding *f = &k->c->finding[i];

		if (f->effect[d->primary].kind != EFFECT_INTERVAL)
			continue;
		compare_gather(d, f, d->primary, k->g);
		look_over_time(k, f);
		look_for_outliers(k, f);
		if (look_at_bootstrap(k, f) || look_at_hosts(k, f))
			return -1;
	}
	return 0;
}

int compare_check(struct comparison *c, struct gathered *g)
{
	struct checks k = { .c = c, .g = g, .index = calloc(c->dataset->nblocks, sizeof(*k.index)),
			    .host = calloc(c->dataset->nblocks, sizeof(*k.host)) };
	int rc = -1;

	if (!k.index || !k.host || notes(c) || accelerators(c) || times(c) || single_runs(c) || look(&k) || say_over_time(&k) ||
	    say_of_hosts(&k) || say_of_values(&k) || hopeless(c))
		goto out;
	rc = 0;
out:
	free(k.index);
	free(k.host);
	text_free(&k.apart_words);
	text_free(&k.outliers);
	return rc;
}
