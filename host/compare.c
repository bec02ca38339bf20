#include "host/compare.h"

#include <math.h>
#include <stdlib.h>

#include "host/compare_private.h"
#include "host/scenario.h"

static const struct {
	const char *name;
	unsigned fail_on;
} verdicts[VERDICTS] = {
	[VERDICT_CORRUPT] = { "corrupt", FAIL_CORRUPT },
	[VERDICT_STALLED] = { "stalled", FAIL_STALLED },
	[VERDICT_INCOMPLETE] = { "incomplete", 0 },
	[VERDICT_NOT_EFFECTIVE] = { "not effective", 0 },
	[VERDICT_SINGLE] = { "single runs", 0 },
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

/* ---- verdicts ---- */

struct seen {
	enum observed gravest;
	unsigned planned[2], fine[2], valued[2];
	bool mismatch;
};

static void look_at(const struct dataset *d, struct finding *f, unsigned side, size_t block, struct seen *seen)
{
	const struct observation *o = finding_side(d, f, side, block);

	if (o->status > seen->gravest) {
		seen->gravest = o->status;
		f->culprit = o->culprit;
		f->side = side;
	}
	seen->planned[side] += o->planned > 0 || d->paired;
	seen->fine[side] += observation_complete(o);
	seen->valued[side] += observation_complete(o) && isfinite(o->value[d->primary]);
	seen->mismatch |= o->mismatch;
}

/* Everything that stands in the way of a comparison. VERDICTS when nothing does. */
static enum verdict obstacle(const struct dataset *d, struct finding *f)
{
	const struct effect *primary = &f->effect[d->primary];
	struct seen seen = { 0 };

	for (size_t block = 0; block < d->nblocks; block++)
		for (unsigned side = 0; side < 2; side++)
			look_at(d, f, side, block, &seen);
	for (unsigned side = 0; side < 2; side++) {
		f->planned[side] = seen.planned[side];
		f->valueless[side] = seen.fine[side] > 0 && seen.valued[side] == 0;
	}
	if (seen.gravest == OBSERVED_CORRUPT)
		return VERDICT_CORRUPT;
	if (seen.gravest == OBSERVED_STALLED)
		return VERDICT_STALLED;
	f->culprit = f->side = 0;
	if (primary->complete == 0 || primary->runs[0] < f->planned[0] || primary->runs[1] < f->planned[1])
		return VERDICT_INCOMPLETE;
	return seen.mismatch ? VERDICT_NOT_EFFECTIVE : VERDICTS;
}

static enum verdict judge(const struct comparison *c, struct finding *f, struct settle *settle)
{
	const struct dataset *d = c->dataset;
	const struct effect *primary = &f->effect[d->primary];
	const struct stats_paired *s = &primary->estimate;
	enum verdict verdict = obstacle(d, f);

	if (verdict != VERDICTS)
		return verdict;
	if (primary->kind == EFFECT_SINGLE)
		return VERDICT_SINGLE;
	if (primary->kind != EFFECT_INTERVAL)
		return VERDICT_NOT_TESTED;
	if (f->holm < d->alpha && fabs(s->ratio - 1) > d->fail_margin)
		return (s->ratio > 1) == metric_info(d->primary)->higher_is_better ? VERDICT_BETTER : VERDICT_WORSE;
	if (stats_same(s, d->margin))
		return VERDICT_SAME;
	f->blocks_needed = settle_blocks(settle, c, f);
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

/* Imports may hold cells that only a third variant has. */
static bool is_planned(const struct dataset *d, const struct finding *f)
{
	for (size_t block = 0; block < d->nblocks; block++)
		for (unsigned side = 0; side < 2; side++)
			if (finding_side(d, f, side, block)->planned)
				return true;
	return false;
}

static void fill(struct comparison *c, struct gathered *g)
{
	const struct dataset *d = c->dataset;
	struct finding *f = c->finding;

	for (unsigned variant = 0; variant < d->nvariants; variant++) {
		if (variant == d->baseline)
			continue;
		for (unsigned cell = 0; cell < d->ncells; cell++) {
			f->variant = variant;
			f->cell = cell;
			if (!is_planned(d, f))
				continue;
			for (int m = 0; m < METRICS; m++)
				if (m != (int)d->primary)
					compare_measure(d, f, (enum metric)m, g, &f->effect[m]);
			/* last, so that what the check gets is still gathered */
			compare_measure(d, f, d->primary, g, &f->effect[d->primary]);
			compare_flip(c, f, g);
			f++;
		}
	}
	c->nfindings = (size_t)(f - c->finding);
}

static int judge_all(struct comparison *c)
{
	struct settle *settle = settle_make();

	if (!settle)
		return -1;
	for (size_t i = 0; i < c->nfindings; i++) {
		c->finding[i].verdict = judge(c, &c->finding[i], settle);
		c->count[c->finding[i].verdict]++;
	}
	free(settle);
	return 0;
}

int compare(const struct dataset *d, struct comparison **out, struct error *e)
{
	struct comparison *c = calloc(1, sizeof(*c));
	struct gathered g = { 0 };
	int rc = -1;

	*out = NULL;
	if (!c || gathered_make(&g, d->nblocks))
		goto out;
	c->dataset = d;
	c->nfindings = (d->nvariants - 1) * d->ncells;
	c->finding = calloc(c->nfindings ? c->nfindings : 1, sizeof(*c->finding));
	if (!c->finding)
		goto out;
	fill(c, &g);
	if (adjust(c) || judge_all(c) || compare_check(c, &g) || compare_advise(c))
		goto out;
	*out = c;
	c = NULL;
	rc = 0;
out:
	gathered_free(&g);
	comparison_free(c);
	return rc ? error_set(e, STATUS_HOST, "out of memory") : 0;
}

static void free_sentences(char **list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(list[i]);
	free(list);
}

static int by_place(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	return x->variant != y->variant ? (x->variant < y->variant ? -1 : 1) : (x->cell > y->cell) - (x->cell < y->cell);
}

const struct finding *comparison_find(const struct comparison *c, unsigned variant, unsigned cell)
{
	struct finding key = { .variant = variant, .cell = cell };

	return bsearch(&key, c->finding, c->nfindings, sizeof(key), by_place);
}

void comparison_free(struct comparison *c)
{
	if (!c)
		return;
	free_sentences(c->warning, c->nwarnings);
	free_sentences(c->advice, c->nadvice);
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

	return c->nfindings > 0 && d->paired &&
	       stats_sign_flip_smallest(d->nblocks) * (double)c->nfindings >= d->alpha;
}
