#include "host/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/scenario.h"

#define POWER 0.9 /* with which a number of blocks is said to settle it */

static const struct {
	const char *name;
	unsigned fail_on;
} verdicts[VERDICTS] = {
	[VERDICT_CORRUPT] = { "corrupt", FAIL_CORRUPT },
	[VERDICT_STALLED] = { "stalled", FAIL_STALLED },
	[VERDICT_INCOMPLETE] = { "incomplete", 0 },
	[VERDICT_NOT_EFFECTIVE] = { "not effective", 0 },
	[VERDICT_NOT_TESTED] = { "not tested", 0 },
	[VERDICT_WORSE] = { "worse", FAIL_WORSE },
	[VERDICT_BETTER] = { "better", FAIL_BETTER },
	[VERDICT_SAME] = { "same", 0 },
	[VERDICT_UNCLEAR] = { "unclear", FAIL_UNCLEAR },
};

const char *verdict_name(enum verdict verdict)
{
	return verdicts[verdict].name;
}

bool verdict_fails(enum verdict verdict, unsigned fail_on)
{
	return (verdicts[verdict].fail_on & fail_on) != 0;
}

/* ---- effects ---- */

static bool complete(const struct observation *o)
{
	return o->planned > 0 && o->status == OBSERVED_OK;
}

/* Gather the complete blocks: log ratios (where they exist) into log_ratio, which has room for all blocks. */
static void measure(const struct dataset *d, const struct finding *f, enum metric metric, double *log_ratio,
		    struct effect *out)
{
	double sum[2] = { 0, 0 }, logs[2] = { 0, 0 };
	bool zero = false;

	for (size_t block = 0; block < d->nblocks; block++) {
		const struct observation *b = dataset_baseline(d, f->cell, f->variant, block);
		const struct observation *c = dataset_candidate(d, f->cell, f->variant, block);
		double base = b->value[metric], cand = c->value[metric];

		if (!complete(b) || !complete(c) || !isfinite(base) || !isfinite(cand))
			continue;
		sum[0] += base;
		sum[1] += cand;
		if (base > 0 && cand > 0) {
			logs[0] += log(base);
			logs[1] += log(cand);
			log_ratio[out->complete] = log(cand / base);
		} else {
			zero = true;
		}
		out->complete++;
	}
	out->runs[0] = out->runs[1] = out->complete;
	if (zero) {
		out->kind = EFFECT_ZERO;
		out->baseline = sum[0] / out->complete;
		out->candidate = sum[1] / out->complete;
		stats_paired(NULL, 0, &out->estimate);
		return;
	}
	stats_paired(log_ratio, out->complete, &out->estimate);
	out->baseline = out->complete ? exp(logs[0] / out->complete) : NAN;
	out->candidate = out->complete ? exp(logs[1] / out->complete) : NAN;
	out->kind = out->complete == 0 ? EFFECT_NO_DATA :
		    out->complete == 1 ? EFFECT_SINGLE :
		    isnan(out->estimate.p) ? EFFECT_CONSTANT : EFFECT_INTERVAL;
}

/* ---- verdicts ---- */

static void look_at(const struct observation *o, enum observed *gravest, unsigned *culprit, bool *mismatch)
{
	if (o->status > *gravest) {
		*gravest = o->status;
		*culprit = o->culprit;
	}
	*mismatch |= o->mismatch;
}

/* Everything that stands in the way of a comparison. VERDICTS when nothing does. */
static enum verdict obstacle(const struct dataset *d, struct finding *f)
{
	enum observed gravest = OBSERVED_OK;
	bool mismatch = false;

	for (size_t block = 0; block < d->nblocks; block++) {
		look_at(dataset_baseline(d, f->cell, f->variant, block), &gravest, &f->culprit, &mismatch);
		look_at(dataset_candidate(d, f->cell, f->variant, block), &gravest, &f->culprit, &mismatch);
	}
	if (gravest == OBSERVED_CORRUPT)
		return VERDICT_CORRUPT;
	if (gravest == OBSERVED_STALLED)
		return VERDICT_STALLED;
	f->culprit = 0;
	/* One block has no interval, planned or not. */
	if (f->effect[d->primary].complete < d->nblocks || f->effect[d->primary].complete < 2)
		return VERDICT_INCOMPLETE;
	return mismatch ? VERDICT_NOT_EFFECTIVE : VERDICTS;
}

static size_t blocks_that_settle(const struct comparison *c, const struct stats_paired *s)
{
	const struct dataset *d = c->dataset;
	size_t found = 0, same = stats_blocks_for_same(s->mean, s->sd, d->margin, POWER);

	if (fabs(s->ratio - 1) > d->fail_margin)
		found = stats_blocks_for_effect(s->mean, s->sd, d->alpha, POWER, c->nfindings);
	if (found == 0 || same == 0)
		return found ? found : same;
	return found < same ? found : same;
}

static enum verdict judge(const struct comparison *c, struct finding *f)
{
	const struct dataset *d = c->dataset;
	const struct effect *primary = &f->effect[d->primary];
	const struct stats_paired *s = &primary->estimate;
	enum verdict verdict = obstacle(d, f);

	if (verdict != VERDICTS)
		return verdict;
	if (primary->kind != EFFECT_INTERVAL)
		return VERDICT_NOT_TESTED;
	if (f->holm < d->alpha && fabs(s->ratio - 1) > d->fail_margin)
		return (s->ratio > 1) == metric_info(d->primary)->higher_is_better ? VERDICT_BETTER : VERDICT_WORSE;
	if (stats_same(s, d->margin))
		return VERDICT_SAME;
	f->blocks_needed = blocks_that_settle(c, s);
	return VERDICT_UNCLEAR;
}

static int adjust(struct comparison *c)
{
	double *p = calloc(2 * c->nfindings + 1, sizeof(*p)), *adjusted = p + c->nfindings;
	enum metric primary = c->dataset->primary;
	int rc = -1;

	if (!p)
		return -1;
	for (size_t i = 0; i < c->nfindings; i++)
		p[i] = c->finding[i].effect[primary].estimate.p;
	if (stats_holm(p, c->nfindings, adjusted))
		goto out;
	for (size_t i = 0; i < c->nfindings; i++)
		c->finding[i].holm = adjusted[i];
	rc = 0;
out:
	free(p);
	return rc;
}

static void fill(struct comparison *c, double *log_ratio)
{
	const struct dataset *d = c->dataset;
	struct finding *f = c->finding;

	for (unsigned variant = 0; variant < d->nvariants; variant++) {
		if (variant == d->baseline)
			continue;
		for (unsigned cell = 0; cell < d->ncells; cell++, f++) {
			f->variant = variant;
			f->cell = cell;
			for (int m = 0; m < METRICS; m++)
				if (m != (int)d->primary)
					measure(d, f, (enum metric)m, log_ratio, &f->effect[m]);
			/* last, so that its log ratios are those that the sign flips get */
			measure(d, f, d->primary, log_ratio, &f->effect[d->primary]);
			f->sign_flip = f->effect[d->primary].kind == EFFECT_INTERVAL ?
				       stats_sign_flip(log_ratio, f->effect[d->primary].complete) : NAN;
		}
	}
}

int compare(const struct dataset *d, struct comparison **out, struct error *e)
{
	struct comparison *c = calloc(1, sizeof(*c));
	double *log_ratio = calloc(d->nblocks, sizeof(*log_ratio));

	*out = NULL;
	if (!c || !log_ratio)
		goto no_memory;
	c->dataset = d;
	c->nfindings = (d->nvariants - 1) * d->ncells;
	c->finding = calloc(c->nfindings ? c->nfindings : 1, sizeof(*c->finding));
	if (!c->finding)
		goto no_memory;
	fill(c, log_ratio);
	if (adjust(c))
		goto no_memory;
	for (size_t i = 0; i < c->nfindings; i++) {
		c->finding[i].verdict = judge(c, &c->finding[i]);
		c->count[c->finding[i].verdict]++;
	}
	free(log_ratio);
	*out = c;
	return 0;
no_memory:
	free(log_ratio);
	comparison_free(c);
	return error_set(e, STATUS_HOST, "out of memory");
}

void comparison_free(struct comparison *c)
{
	if (!c)
		return;
	free(c->finding);
	free(c);
}

unsigned compare_fail(const struct comparison *c, unsigned fail_on)
{
	unsigned occurred = 0;

	for (int v = 0; v < VERDICTS; v++)
		if (c->count[v])
			occurred |= verdicts[v].fail_on;
	return occurred & fail_on;
}

bool compare_sign_flip_hopeless(const struct comparison *c)
{
	const struct dataset *d = c->dataset;

	return c->nfindings > 0 &&
	       stats_sign_flip_smallest(d->nblocks) * (double)c->nfindings >= d->alpha;
}

/* ---- words ---- */

/* Beyond this nobody learns anything from the digits: two noisy blocks give intervals up to 1e15 %. */
#define MOST_PERCENT 1000

void percent_text(double percent, const char *sign, char out[PERCENT_TEXT_SIZE])
{
	double size = fabs(percent);

	if (size > MOST_PERCENT) /* infinite too */
		snprintf(out, PERCENT_TEXT_SIZE, "more than %s%d", sign, MOST_PERCENT);
	else if (*sign)
		snprintf(out, PERCENT_TEXT_SIZE, "%+.1f", percent);
	else
		snprintf(out, PERCENT_TEXT_SIZE, "%.*f", size < 0.995 ? 2 : size < 99.95 ? 1 : 0, percent);
}

void effect_words(const struct effect *effect, enum metric metric, struct text *out)
{
	const struct metric_info *info = metric_info(metric);
	double ratio = effect->estimate.ratio, percent = fabs(ratio - 1) * 100;
	char words[PERCENT_TEXT_SIZE];

	if (isnan(ratio))
		return;
	if (percent < 0.005) {
		text_add(out, "equal %s", info->title);
		return;
	}
	percent_text(percent, "", words);
	text_add(out, "%s %% %s", words, ratio > 1 ? info->more : info->less);
}

static void unclear_words(const struct comparison *c, const struct finding *f, struct text *out)
{
	const struct effect *primary = &f->effect[c->dataset->primary];
	char low[PERCENT_TEXT_SIZE], high[PERCENT_TEXT_SIZE];

	percent_text(100 * (primary->estimate.low95 - 1), "+", low);
	percent_text(100 * (primary->estimate.high95 - 1), "+", high);
	effect_words(primary, c->dataset->primary, out);
	text_add(out, ", %s to %s %% (95 %%); ", low, high);
	if (f->blocks_needed > c->dataset->nblocks)
		text_add(out, "about %zu blocks would settle it", f->blocks_needed);
	else if (f->blocks_needed)
		text_add(out, "another run of %u blocks would probably settle it", c->dataset->nblocks);
	else
		text_add(out, "at this size no run of up to %d blocks would settle it", STATS_BLOCKS_MAX);
}

void finding_words(const struct comparison *c, const struct finding *f, struct text *out)
{
	const struct dataset *d = c->dataset;
	const struct effect *primary = &f->effect[d->primary];

	text_add(out, "%s: ", verdict_name(f->verdict));
	switch (f->verdict) {
	case VERDICT_CORRUPT:
	case VERDICT_STALLED:
		text_add(out, "see trial %u", f->culprit);
		break;
	case VERDICT_INCOMPLETE:
		text_add(out, "%u of %u blocks", primary->complete, d->nblocks);
		if (primary->kind == EFFECT_INTERVAL || primary->kind == EFFECT_SINGLE) {
			text_add(out, "; so far ");
			effect_words(primary, d->primary, out);
		}
		break;
	case VERDICT_NOT_EFFECTIVE:
		text_add(out, "a setting was not in force");
		if (isfinite(primary->estimate.ratio))
			text_add(out, "; seen: ");
		effect_words(primary, d->primary, out);
		break;
	case VERDICT_NOT_TESTED:
		text_add(out, primary->kind == EFFECT_ZERO ? "%s is zero or below in some block" : "%s is constant",
			 metric_info(d->primary)->title);
		break;
	case VERDICT_SAME:
		effect_words(primary, d->primary, out);
		text_add(out, ", within +-%.3g %%", 100 * d->margin);
		break;
	case VERDICT_UNCLEAR:
		unclear_words(c, f, out);
		break;
	default:
		effect_words(primary, d->primary, out);
	}
}
