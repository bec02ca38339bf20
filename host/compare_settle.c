/* What an unclear cell needs. */
#include <math.h>
#include <stdlib.h>

#include "host/compare_private.h"
#include "host/stats_welch.h"

#define POWER 0.9 /* with which a number of blocks is said to settle it */

/* Steps of 1 % from e^-8 to e^8: beyond them the answer is the least or none, and found at once. */
enum { LOWEST = -800, STEPS = 1600 };

enum { FOR_EFFECT, FOR_SAME, FOR_SAME_CENTRED, QUESTIONS };

struct settle {
	size_t answer[QUESTIONS][STEPS];
	bool known[QUESTIONS][STEPS];
};

struct settle *settle_make(void)
{
	return calloc(1, sizeof(struct settle));
}

/*
 * Fewer than RUNS_FOR_WELCH are tested with the degrees of freedom of one side, as so many blocks are: the same number
 * of runs finds less than Welch's power says.
 */
static size_t runs_for_effect(const struct comparison *c, const struct stats_paired *s)
{
	const struct dataset *d = c->dataset;
	double side = s->sd / sqrt(2); /* of one run, when the two sides spread alike */
	size_t runs = stats_welch_runs_for_effect(s->mean, side, side, d->alpha, POWER, c->nfindings), cautious;

	if (runs == 0 || runs >= RUNS_FOR_WELCH)
		return runs;
	cautious = stats_blocks_for_effect(s->mean, s->sd, d->alpha, POWER, c->nfindings);
	return cautious && cautious < RUNS_FOR_WELCH ? cautious : RUNS_FOR_WELCH;
}

static size_t ask(const struct comparison *c, const struct stats_paired *s, int question)
{
	const struct dataset *d = c->dataset;

	if (question != FOR_EFFECT) /* runs per side of a pair of runs: Welch's degrees of freedom are at least these */
		return stats_blocks_for_same(s->mean, s->sd, d->margin, POWER);
	if (d->paired)
		return stats_blocks_for_effect(s->mean, s->sd, d->alpha, POWER, c->nfindings);
	return runs_for_effect(c, s);
}

/* standardised: what alone decides the answer. */
static size_t answer(struct settle *cache, const struct comparison *c, const struct stats_paired *s, int question,
		     double standardised)
{
	double step = floor(100 * log(standardised)) - LOWEST;
	size_t i;

	if (!(step >= 0 && step < STEPS))
		return ask(c, s, question);
	i = (size_t)step;
	if (!cache->known[question][i]) {
		cache->answer[question][i] = ask(c, s, question);
		cache->known[question][i] = true;
	}
	return cache->answer[question][i];
}

size_t settle_blocks(struct settle *cache, const struct comparison *c, const struct finding *f)
{
	const struct stats_paired *s = &f->effect[c->dataset->primary].estimate;
	double up = log1p(c->dataset->margin) - s->mean, down = s->mean - log1p(-c->dataset->margin);
	double nearer = fmin(up, down);
	size_t found = 0, same = 0;

	/* stats_blocks_for_same() answers by the distance to the nearer limit, and by another level near the middle */
	if (nearer > 0)
		same = answer(cache, c, s, fabs(up - down) < 0.2 * (up + down) ? FOR_SAME_CENTRED : FOR_SAME, nearer / s->sd);
	if (fabs(s->ratio - 1) > c->dataset->fail_margin)
		found = answer(cache, c, s, FOR_EFFECT, fabs(s->mean) / s->sd);
	if (found == 0 || same == 0)
		return found ? found : same;
	return found < same ? found : same;
}
