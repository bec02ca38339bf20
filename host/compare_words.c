/* Effects and verdicts in words. */
#include <math.h>
#include <stdio.h>

#include "host/compare_private.h"

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

void effect_side_text(const struct effect *effect, enum metric metric, unsigned side, char out[METRIC_TEXT_SIZE])
{
	double value = side ? effect->candidate : effect->baseline;

	(effect->kind == EFFECT_SINGLE ? metric_text_of_run : metric_text)(metric_info(metric)->unit, value, out);
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

const char *effect_direction(const struct effect *effect, enum metric metric)
{
	double ratio = effect->estimate.ratio;
	bool good;

	if (!(fabs(ratio - 1) >= 0.00005)) /* NAN too; as in effect_words() */
		return "";
	if (effect->kind == EFFECT_CONSTANT ||
	    (effect->kind == EFFECT_INTERVAL && effect->estimate.low95 <= 1 && effect->estimate.high95 >= 1))
		return "";
	good = (ratio > 1) == metric_info(metric)->higher_is_better;
	return ratio > 1 ? (good ? "up: better" : "up: worse") : good ? "down: better" : "down: worse";
}

static void unclear_words(const struct comparison *c, const struct finding *f, struct text *out)
{
	const struct effect *primary = &f->effect[c->dataset->primary];
	const char *unit = c->dataset->paired ? "blocks" : "runs per side";
	unsigned had = c->dataset->paired ? c->dataset->nblocks : primary->complete;
	char low[PERCENT_TEXT_SIZE], high[PERCENT_TEXT_SIZE];

	percent_text(100 * (primary->estimate.low95 - 1), "+", low);
	percent_text(100 * (primary->estimate.high95 - 1), "+", high);
	effect_words(primary, c->dataset->primary, out);
	text_add(out, ", %s to %s %% (95 %%); ", low, high);
	if (f->blocks_needed > had)
		text_add(out, "about %zu %s would settle it", f->blocks_needed, unit);
	else if (f->blocks_needed && c->dataset->paired)
		text_add(out, "another run of %u blocks would probably settle it", had);
	else if (f->blocks_needed)
		text_add(out, "as many runs again would probably settle it");
	else
		text_add(out, "at this size no run of up to %d %s would settle it", STATS_BLOCKS_MAX, unit);
}

/* "7 of 8 blocks", "7 of 8 runs of A, 8 of 8 of B", "no host CPU per I/O from A" */
static void incomplete_words(const struct comparison *c, const struct finding *f, struct text *out)
{
	const struct dataset *d = c->dataset;
	const struct effect *primary = &f->effect[d->primary];
	const char *name[2] = { d->variant[d->baseline], d->variant[f->variant] };

	if (f->valueless[0] || f->valueless[1])
		text_add(out, "no data on %s from %s%s%s", metric_info(d->primary)->title, name[f->valueless[0] ? 0 : 1],
			 f->valueless[0] && f->valueless[1] ? " and " : "", f->valueless[0] && f->valueless[1] ? name[1] : "");
	else if (d->paired)
		text_add(out, "%u of %u blocks", primary->complete, d->nblocks);
	else
		text_add(out, "%u of %u run%s of %s, %u of %u of %s", primary->runs[0], f->planned[0],
			 f->planned[0] == 1 ? "" : "s", name[0], primary->runs[1], f->planned[1], name[1]);
	if (primary->kind == EFFECT_INTERVAL || primary->kind == EFFECT_SINGLE) {
		text_add(out, "; so far ");
		effect_words(primary, d->primary, out);
	}
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
		if (d->nsources > 1)
			text_add(out, " of %s", d->variant[f->side ? f->variant : d->baseline]);
		break;
	case VERDICT_INCOMPLETE:
		incomplete_words(c, f, out);
		break;
	case VERDICT_SINGLE:
		effect_words(primary, d->primary, out);
		text_add(out, ", direction only");
		break;
	case VERDICT_NOT_EFFECTIVE:
		text_add(out, "a setting was not in force");
		if (isfinite(primary->estimate.ratio))
			text_add(out, "; seen: ");
		effect_words(primary, d->primary, out);
		break;
	case VERDICT_NOT_TESTED:
		text_add(out, "%s is %s", metric_info(d->primary)->title, primary->kind != EFFECT_ZERO ? "constant" :
			 d->paired ? "zero or below in some block" : "zero or below in some run");
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
