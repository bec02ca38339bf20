#include "host/report_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/report_layout.h"
#include "host/report_values.h"
#include "host/stats_welch.h"

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

/* A name that is too long for its column gets a line of its own. */
static void name_and_sides(const char *name, int width, const struct effect *e, enum metric metric,
			   struct text *out)
{
	char side[METRIC_TEXT_SIZE];
	struct text ratio = { 0 };

	text_add(out, "  ");
	if (layout_width(name) > (size_t)width) {
		layout_pad(out, name, 0);
		text_add(out, "\n  ");
		name = "";
	}
	layout_pad(out, name, width);
	effect_side_text(e, metric, 0, side);
	layout_pad(out, side, -SIDE);
	effect_side_text(e, metric, 1, side);
	layout_pad(out, side, -SIDE);
	report_ratio(e, &ratio);
	text_add(out, "  ");
	layout_pad(out, text_get(&ratio), RATIO);
	text_free(&ratio);
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

static void p_column(double p, struct text *out)
{
	struct text s = { 0 };

	report_p(p, &s);
	layout_pad(out, text_get(&s), -P);
	text_free(&s);
}

static void primary_table(const struct comparison *c, unsigned variant, struct text *out)
{
	const struct dataset *d = c->dataset;

	head("cell", CELL_NAME, out);
	text_add(out, d->paired ? "  Holm p  flip p  verdict\n" : "  Holm p  perm p  verdict\n");
	for (size_t i = 0; i < c->nfindings; i++) {
		const struct finding *f = &c->finding[i];

		if (f->variant != variant)
			continue;
		name_and_sides(d->cell[f->cell].name, CELL_NAME, &f->effect[d->primary], d->primary, out);
		p_column(f->holm, out);
		p_column(f->sign_flip, out);
		text_add(out, "  %s\n", verdict_name(f->verdict));
	}
}

/* A metric that only one side has, or both have but in no block together. */
static const char *no_data(const struct effect *e)
{
	return isnan(e->baseline) ? "no data: baseline" : isnan(e->candidate) ? "no data: candidate" : "no common block";
}

static void other_table(const struct comparison *c, const struct finding *f, struct text *out)
{
	const struct dataset *d = c->dataset;

	for (int m = 0; m < METRICS; m++) {
		const struct effect *e = &f->effect[m];

		if (m == (int)d->primary || (e->kind == EFFECT_NO_DATA && isnan(e->baseline) && isnan(e->candidate)))
			continue;
		name_and_sides(metric_info((enum metric)m)->title, METRIC_NAME, e, (enum metric)m, out);
		text_add(out, "  ");
		if (e->kind == EFFECT_ZERO)
			text_add(out, "zero or below: no ratio");
		else if (e->kind == EFFECT_CONSTANT)
			text_add(out, "constant: not tested");
		else if (e->kind == EFFECT_NO_DATA)
			text_add(out, "%s", no_data(e));
		else
			text_add(out, "%s", *effect_direction(e, (enum metric)m) ? effect_direction(e, (enum metric)m) :
				 metric_info((enum metric)m)->higher_is_better ? "higher is better" : "lower is better");
		text_add(out, "\n");
	}
}

/* Those with the primary metric, or planned where a side does not have it. */
static void runs_words(const struct finding *f, const struct effect *primary, struct text *out)
{
	const unsigned *n = primary->complete ? primary->runs : f->planned;

	if (n[0] == n[1])
		text_add(out, "%u run%s each", n[0], n[0] == 1 ? "" : "s");
	else
		text_add(out, "%u run%s against %u", n[1], n[1] == 1 ? "" : "s", n[0]);
}

static void other_metrics(const struct comparison *c, struct text *out)
{
	const struct dataset *d = c->dataset;

	text_add(out, "OTHER METRICS AND COST (intervals, no verdict; up, down: 1 is not in the interval%s)\n",
		 c->count[VERDICT_SINGLE] ? ", or a single run" : "");
	for (size_t i = 0; i < c->nfindings; i++) {
		const struct finding *f = &c->finding[i];
		const struct effect *primary = &f->effect[d->primary];
		struct text title = { 0 };

		text_add(&title, "%s, %s against %s, ", d->cell[f->cell].name, d->variant[f->variant], d->variant[d->baseline]);
		if (d->paired)
			text_add(&title, "%u of %u blocks", primary->complete, d->nblocks);
		else
			runs_words(f, primary, &title);
		layout_wrap(out, "", 0, text_get(&title));
		text_free(&title);
		if (primary->complete == 0 && !f->valueless[0] && !f->valueless[1]) {
			text_add(out, d->paired ? "  no complete block\n\n" : "  no run on a side\n\n");
			continue;
		}
		head("metric", METRIC_NAME, out);
		text_add(out, "\n");
		other_table(c, f, out);
		text_add(out, "\n");
	}
}

/* In percent; unpaired: sd is that of a pair of runs. A cautious test of runs finds what one of so many blocks would. */
static double smallest_found(const struct comparison *c, double sd, size_t runs, bool cautious)
{
	const struct dataset *d = c->dataset;

	return 100 * ((d->paired || cautious ? stats_detectable(runs, sd, d->alpha, 0.9, c->nfindings)
					     : stats_welch_detectable(runs, sd / sqrt(2), d->alpha, 0.9, c->nfindings)) - 1);
}

/* What the spread that was seen lets this design find. */
static void detectable(const struct comparison *c, struct text *out)
{
	const struct dataset *d = c->dataset;
	double least = HUGE_VAL, most = 0;
	size_t runs = d->nblocks;
	bool cautious = false;
	char low[PERCENT_TEXT_SIZE], high[PERCENT_TEXT_SIZE];

	for (size_t i = 0; i < c->nfindings; i++) {
		const struct effect *e = &c->finding[i].effect[d->primary];

		if (e->kind != EFFECT_INTERVAL)
			continue;
		runs = e->complete < runs && !d->paired ? e->complete : runs;
		cautious |= compare_cautious(e->runs[0], e->runs[1]);
		least = fmin(least, e->estimate.sd);
		most = fmax(most, e->estimate.sd);
	}
	if (!(most > 0))
		return;
	least = smallest_found(c, least, runs, cautious);
	most = smallest_found(c, most, runs, cautious);
	percent_text(least, "", low);
	percent_text(most, "", high);
	text_add(out, " With the spread seen here, %zu %s find a change of ", runs, d->paired ? "blocks" : "runs per side");
	if (strcmp(low, high))
		text_add(out, "%s %% (quietest cell) to %s %% (noisiest)", low, high);
	else
		text_add(out, "%s %%", high);
	text_add(out, " nine times in ten%s.", d->fail_margin > 0 ? ", fail_margin aside" : "");
}

/* Which test stands beside the t. */
static void check_words(const struct comparison *c, struct text *out)
{
	size_t least = 0, most = 0;

	for (size_t i = 0; i < c->nfindings; i++) {
		size_t draws = c->finding[i].draws;

		least = draws && (!least || draws < least) ? draws : least;
		most = draws > most ? draws : most;
	}
	text_add(out, c->dataset->paired ? " flip p is the %ssign-flip test of the cell alone"
					 : " perm p is the %spermutation test of the cell's runs", most ? "" : "exact ");
	if (most)
		text_add(out, least < most ? " (sampled: %zu to %zu random draws)" : " (sampled: %zu random draws)", least, most);
	text_add(out, ", a check and never the gate.");
}

static bool anything_tested(const struct comparison *c)
{
	for (size_t i = 0; i < c->nfindings; i++)
		if (c->finding[i].effect[c->dataset->primary].kind == EFFECT_INTERVAL)
			return true;
	return false;
}

void report_how_to_read(const struct comparison *c, struct text *out)
{
	const struct dataset *d = c->dataset;

	text_add(out, d->paired ? "Baseline and candidate are geometric means over the complete blocks, ratio is candidate / "
				 "baseline; its interval is a paired t on block log ratios."
			       : "Baseline and candidate are geometric means over the runs, ratio is candidate / baseline; its "
				 "interval is Welch's on the logs with the run as the unit, and needs two runs per side. Its p counts "
				 "the degrees of freedom of the smaller side alone where a side has fewer than %d runs, the sides differ "
				 "in number, or one spreads more than %d times as much.", RUNS_FOR_WELCH, UNEVEN_SPREAD);
	if (!anything_tested(c))
		return;
	text_add(out, " Holm p covers all %zu comparison%s of this run; below %g it is a verdict%s", c->nfindings,
		 c->nfindings == 1 ? "" : "s", d->alpha, d->fail_margin > 0 ? "" : ".");
	if (d->fail_margin > 0)
		text_add(out, " when the ratio is more than %g %% away from 1.", 100 * d->fail_margin);
	text_add(out, " same: the 90 %% interval lies within +-%g %%.", 100 * d->margin);
	check_words(c, out);
	detectable(c, out);
}

static void sentences(const char *label, char *const *list, size_t count, struct text *out)
{
	for (size_t i = 0; i < count; i++)
		layout_wrap(out, i ? "      -" : label, 8, list[i]);
	if (count)
		text_add(out, "\n");
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
	sentences("Mind: -", c->warning, c->nwarnings, out);
	sentences("Next: -", c->advice, c->nadvice, out);
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
