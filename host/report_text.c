#include "host/report_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/report_layout.h"

/* Columns of the tables: name of cell or metric, either side, ratio with interval, p. */
enum { CELL_NAME = 20, METRIC_NAME = 26, SIDE = 12, RATIO = 21, P = 8 };

void report_headline(const struct comparison *c, unsigned variant, struct text *out)
{
	const struct dataset *d = c->dataset;
	unsigned count[VERDICTS] = { 0 };
	bool first = true;

	for (size_t i = 0; i < c->nfindings; i++)
		if (c->finding[i].variant == variant)
			count[c->finding[i].verdict]++;
	text_add(out, "%s against %s (%s):", d->variant[variant], d->variant[d->baseline],
		 metric_info(d->primary)->title);
	for (int v = 0; v < VERDICTS; v++) {
		if (count[v] == 0)
			continue;
		text_add(out, "%s %s in ", first ? "" : ",", verdict_name((enum verdict)v));
		if (count[v] == d->ncells)
			text_add(out, d->ncells == 1 ? "the one cell" : "all %zu cells", d->ncells);
		else if (first)
			text_add(out, "%u of %zu cells", count[v], d->ncells);
		else
			text_add(out, "%u", count[v]);
		first = false;
	}
	text_add(out, ".");
}

static void verdict_list(const struct comparison *c, unsigned variant, struct text *out)
{
	size_t width = 0;

	for (size_t cell = 0; cell < c->dataset->ncells; cell++) {
		size_t w = layout_width(c->dataset->cell[cell].name);

		width = w > width ? w : width;
	}
	width = (width < 40 ? width : 40) + 4;
	for (size_t i = 0; i < c->nfindings; i++) {
		const struct finding *f = &c->finding[i];
		struct text label = { 0 }, words = { 0 };

		if (f->variant != variant)
			continue;
		text_add(&label, "  %s", c->dataset->cell[f->cell].name);
		finding_words(c, f, &words);
		layout_wrap(out, text_get(&label), width, text_get(&words));
		text_free(&label);
		text_free(&words);
	}
}

/* A ratio with three significant digits at least. */
static void factor_text(double ratio, char *out, size_t size)
{
	static const double step[] = { 0.00995, 0.0995, 9.9995, 99.995, 999.95 };
	static const int decimals[] = { 5, 4, 3, 2, 1 };
	size_t i = 0;

	while (i < 5 && ratio >= step[i])
		i++;
	if (i == 5)
		snprintf(out, size, ">1000");
	else if (ratio < 0.001)
		snprintf(out, size, "<0.001");
	else
		snprintf(out, size, "%.*f", decimals[i], ratio);
}

/* "1.131 [1.094, 1.169]" */
static void ratio_text(const struct effect *e, char *out, size_t size)
{
	const struct stats_paired *s = &e->estimate;
	char ratio[16], low[16], high[16];

	if (isnan(s->ratio)) {
		snprintf(out, size, "-");
		return;
	}
	factor_text(s->ratio, ratio, sizeof(ratio));
	factor_text(s->low95, low, sizeof(low));
	factor_text(s->high95, high, sizeof(high));
	if (e->kind == EFFECT_INTERVAL)
		snprintf(out, size, "%s [%s, %s]", ratio, low, high);
	else
		snprintf(out, size, "%s", ratio);
}

/* A name that is too long for its column gets a line of its own. */
static void name_and_sides(const char *name, int width, const struct effect *e, enum metric metric,
			   struct text *out)
{
	char side[METRIC_TEXT_SIZE], ratio[64];
	enum unit unit = metric_info(metric)->unit;

	text_add(out, "  ");
	if (layout_width(name) > (size_t)width) {
		layout_pad(out, name, 0);
		text_add(out, "\n  ");
		name = "";
	}
	layout_pad(out, name, width);
	metric_text(unit, e->baseline, side);
	layout_pad(out, side, -SIDE);
	metric_text(unit, e->candidate, side);
	layout_pad(out, side, -SIDE);
	ratio_text(e, ratio, sizeof(ratio));
	text_add(out, "  ");
	layout_pad(out, ratio, RATIO);
}

static void head(const char *name, int width, struct text *out)
{
	text_add(out, "  ");
	layout_pad(out, name, width);
	layout_pad(out, "baseline", -SIDE);
	layout_pad(out, "candidate", -SIDE);
	text_add(out, "  ");
	layout_pad(out, "ratio [95 % interval]", RATIO);
}

static void p_text(double p, struct text *out)
{
	char s[32];

	if (isnan(p))
		snprintf(s, sizeof(s), "-");
	else if (p < 0.0001)
		snprintf(s, sizeof(s), "<0.0001");
	else
		snprintf(s, sizeof(s), "%.4f", p);
	layout_pad(out, s, -P);
}

static void primary_table(const struct comparison *c, unsigned variant, struct text *out)
{
	const struct dataset *d = c->dataset;

	head("cell", CELL_NAME, out);
	text_add(out, "  Holm p  flip p  verdict\n");
	for (size_t i = 0; i < c->nfindings; i++) {
		const struct finding *f = &c->finding[i];

		if (f->variant != variant)
			continue;
		name_and_sides(d->cell[f->cell].name, CELL_NAME, &f->effect[d->primary], d->primary, out);
		p_text(f->holm, out);
		p_text(f->sign_flip, out);
		text_add(out, "  %s\n", verdict_name(f->verdict));
	}
}

static void other_table(const struct comparison *c, const struct finding *f, struct text *out)
{
	const struct dataset *d = c->dataset;

	for (int m = 0; m < METRICS; m++) {
		const struct effect *e = &f->effect[m];

		if (m == (int)d->primary || e->kind == EFFECT_NO_DATA)
			continue;
		name_and_sides(metric_info((enum metric)m)->title, METRIC_NAME, e, (enum metric)m, out);
		text_add(out, "  ");
		if (e->kind == EFFECT_ZERO)
			text_add(out, "zero or below: no ratio");
		else if (e->kind == EFFECT_CONSTANT)
			text_add(out, "constant: not tested");
		else
			text_add(out, metric_info((enum metric)m)->higher_is_better ? "higher is better" : "lower is better");
		text_add(out, "\n");
	}
}

static void other_metrics(const struct comparison *c, struct text *out)
{
	const struct dataset *d = c->dataset;

	text_add(out, "OTHER METRICS AND COST (intervals, no verdict)\n");
	for (size_t i = 0; i < c->nfindings; i++) {
		const struct finding *f = &c->finding[i];
		struct text title = { 0 };

		text_add(&title, "%s, %s against %s, %u of %u blocks", d->cell[f->cell].name, d->variant[f->variant],
			 d->variant[d->baseline], f->effect[d->primary].complete, d->nblocks);
		layout_wrap(out, "", 0, text_get(&title));
		text_free(&title);
		if (f->effect[d->primary].complete == 0) {
			text_add(out, "  no complete block\n\n");
			continue;
		}
		head("metric", METRIC_NAME, out);
		text_add(out, "\n");
		other_table(c, f, out);
		text_add(out, "\n");
	}
}

/* What the spread that was seen lets this design find. */
static void detectable(const struct comparison *c, struct text *out)
{
	const struct dataset *d = c->dataset;
	double least = HUGE_VAL, most = 0;
	char low[PERCENT_TEXT_SIZE], high[PERCENT_TEXT_SIZE];

	for (size_t i = 0; i < c->nfindings; i++) {
		const struct effect *e = &c->finding[i].effect[d->primary];

		if (e->kind != EFFECT_INTERVAL)
			continue;
		least = fmin(least, e->estimate.sd);
		most = fmax(most, e->estimate.sd);
	}
	if (!(most > 0))
		return;
	least = 100 * (stats_detectable(d->nblocks, least, d->alpha, 0.9, c->nfindings) - 1);
	most = 100 * (stats_detectable(d->nblocks, most, d->alpha, 0.9, c->nfindings) - 1);
	percent_text(least, "", low);
	percent_text(most, "", high);
	text_add(out, " With the spread seen here, %u blocks find a change of ", d->nblocks);
	if (strcmp(low, high))
		text_add(out, "%s %% (quietest cell) to %s %% (noisiest)", low, high);
	else
		text_add(out, "%s %%", high);
	text_add(out, " nine times in ten.");
}

void report_how_to_read(const struct comparison *c, struct text *out)
{
	const struct dataset *d = c->dataset;

	text_add(out, "Baseline and candidate are geometric means over the complete blocks, ratio is candidate / "
		     "baseline; its interval is a paired t on block log ratios. Holm p covers all %zu comparison%s "
		     "of this run; below %g it is a verdict%s", c->nfindings, c->nfindings == 1 ? "" : "s", d->alpha,
		 d->fail_margin > 0 ? "" : ".");
	if (d->fail_margin > 0)
		text_add(out, " when the ratio is more than %g %% away from 1.", 100 * d->fail_margin);
	text_add(out, " same: the 90 %% interval lies within +-%g %%.", 100 * d->margin);
	text_add(out, " flip p is the exact sign-flip test of the cell alone, a check and never the gate");
	if (compare_sign_flip_hopeless(c))
		text_add(out, "; with %u blocks it cannot fall below %.2g, too coarse to be significant over %zu "
			     "comparison%s", d->nblocks, stats_sign_flip_smallest(d->nblocks), c->nfindings,
			 c->nfindings == 1 ? "" : "s");
	text_add(out, ".");
	detectable(c, out);
}

void report_text(const struct comparison *c, struct text *out)
{
	const struct dataset *d = c->dataset;

	for (unsigned v = 0; v < d->nvariants; v++) {
		struct text line = { 0 };

		if (v == d->baseline)
			continue;
		report_headline(c, v, &line);
		layout_wrap(out, "", 0, text_get(&line));
		text_free(&line);
		verdict_list(c, v, out);
		text_add(out, "\n");
	}
	report_what_ran(d, out);
	for (unsigned v = 0; v < d->nvariants; v++) {
		struct text line = { 0 };

		if (v == d->baseline)
			continue;
		text_add(&line, "%s, %s (candidate) against %s (baseline)", metric_info(d->primary)->title, d->variant[v],
			 d->variant[d->baseline]);
		layout_wrap(out, "", 0, text_get(&line));
		text_free(&line);
		primary_table(c, v, out);
		text_add(out, "\n");
	}
	if (c->nfindings) {
		struct text words = { 0 };

		report_how_to_read(c, &words);
		layout_wrap(out, "  ", 2, text_get(&words));
		text_free(&words);
		text_add(out, "\n");
		other_metrics(c, out);
	} else {
		text_add(out, "There is no variant beside the baseline: nothing to compare.\n\n");
	}
	report_in_force(d, out);
	report_trials(d, out);
	report_environment(d, out);
	report_reproduce(d, out);
}
