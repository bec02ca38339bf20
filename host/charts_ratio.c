/* Candidate / baseline with its interval: a row per cell and candidate, so that all can be read at a glance. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/charts_private.h"
#include "host/report_layout.h"

#define ROW 21     /* units */
#define AROUND 62  /* axis and its words */
#define LONGEST 52 /* characters of a row's name */
#define FARTHEST 4 /* an interval is drawn up to this factor beyond all ratios */

/* The first charts' cells. */
static size_t cells_of(const struct dataset *d)
{
	return d->ncells < CHARTS_CELLS ? d->ncells : CHARTS_CELLS;
}

/* Of a cell that neither side has: nothing. */
static const struct effect *effect_of(const struct comparison *c, size_t candidate, size_t cell)
{
	static const struct effect nothing = { .kind = EFFECT_NO_DATA, .baseline = NAN, .candidate = NAN,
					       .estimate = { .ratio = NAN, .low95 = NAN, .high95 = NAN } };
	unsigned variant = (unsigned)(candidate < c->dataset->baseline ? candidate : candidate + 1);
	const struct finding *f = comparison_find(c, variant, (unsigned)cell);

	return f ? &f->effect[c->dataset->primary] : &nothing;
}

static size_t candidates_of(const struct dataset *d)
{
	return d->nvariants - 1;
}

/* What the axis shows: all ratios, the margin, and intervals as far as they tell anything. */
static struct range axis_of(const struct comparison *c)
{
	const struct dataset *d = c->dataset;
	struct range points = RANGE_NONE, all;

	for (size_t v = 0; v < candidates_of(d); v++)
		for (size_t cell = 0; cell < cells_of(d); cell++)
			range_take(&points, effect_of(c, v, cell)->estimate.ratio);
	if (!range_has(&points))
		return points;
	range_take(&points, 1 - d->margin);
	range_take(&points, 1 + d->margin);
	all = points;
	for (size_t v = 0; v < candidates_of(d); v++) {
		for (size_t cell = 0; cell < cells_of(d); cell++) {
			const struct effect *e = effect_of(c, v, cell);

			if (e->kind != EFFECT_INTERVAL)
				continue;
			range_take(&all, fmax(e->estimate.low95, points.low / FARTHEST));
			range_take(&all, fmin(e->estimate.high95, points.high * FARTHEST));
		}
	}
	range_pad(&all, true);
	return all;
}

static void row_name(struct drawing *g, const char *name, double y)
{
	struct text cut = { 0 };
	size_t bytes = 0, n = 0;

	if (layout_width(name) > LONGEST) {
		while (n < LONGEST || ((unsigned char)name[bytes] & 0xc0) == 0x80)
			n += ((unsigned char)name[bytes++] & 0xc0) != 0x80;
		text_add_bytes(&cut, name, bytes);
		text_add(&cut, "...");
	} else {
		text_add(&cut, "%s", name);
	}
	text_add(&g->script, "set label ");
	drawing_label(g, "%s", text_get(&cut));
	text_add(&g->script, " at graph 0.01, first %.9g left front\n", y);
	text_free(&cut);
}

static void row_data(struct drawing *g, const struct comparison *c, size_t candidate, size_t cell, const struct range *axis,
		     double y)
{
	const struct effect *e = effect_of(c, candidate, cell);
	const struct stats_paired *s = &e->estimate;

	if (!isfinite(s->ratio))
		return;
	text_add(&g->script, "%.9g %.9g ", s->ratio, y);
	if (e->kind == EFFECT_INTERVAL)
		text_add(&g->script, "%.9g %.9g\n", fmax(s->low95, axis->low), fmin(s->high95, axis->high));
	else
		text_add(&g->script, "0 0\n"); /* no ratio is 0 */
}

static void describe(struct drawing *g, const struct comparison *c)
{
	const struct dataset *d = c->dataset;

	text_add(&g->title, "Ratio of %s, candidate to baseline, for every cell", metric_info(d->primary)->title);
	for (size_t i = 0; i < c->nfindings; i++) {
		const struct finding *f = &c->finding[i];
		struct text words = { 0 };

		if (f->cell >= cells_of(d))
			continue;
		finding_words(c, f, &words);
		text_add(&g->desc, "%s, %s: %s. ", d->cell[f->cell].name, d->variant[f->variant], text_get(&words));
		text_free(&words);
	}
}

/* Room for names and rows; the margin as a band, equality as a line. */
static void frame(struct drawing *g, const struct comparison *c, const struct range *axis, double rows)
{
	const struct dataset *d = c->dataset;
	const struct metric_info *info = metric_info(d->primary);

	axis_set(g, 'x', axis, true, UNIT_COUNT);
	text_add(&g->script,
		 "set border 1\nunset ytics\nset yrange [%.9g:-0.3]\nset lmargin at screen 0.045\nset rmargin at screen 0.955\n"
		 "set tmargin at screen 0.995\nset bmargin at screen %.9g\n"
		 "set object 1 rect from %.9g, graph 0 to %.9g, graph 1 fc rgb '#000011' fs solid noborder behind\n"
		 "set arrow 1 from 1, graph 0 to 1, graph 1 nohead lw 1.4 lc rgb 'black' back\nset xlabel ", rows,
		 (double)(AROUND - 12) / g->height, 1 - d->margin, 1 + d->margin);
	drawing_label(g, "\342\227\204 %s   |   %s \342\226\272", info->less, info->more);
	text_add(&g->script, " offset 0,0.2\n");
}

static void plot(struct drawing *g, const struct comparison *c)
{
	const struct dataset *d = c->dataset;
	bool first = true;

	text_add(&g->script, "plot ");
	for (unsigned v = 0; v < d->nvariants; v++) {
		if (v == d->baseline)
			continue;
		text_add(&g->script, "%s$d%u using ($3 > 0 ? $1 : NaN):2:3:4 with xerrorbars lw 1.8 ", first ? "" : ", ", v);
		drawing_mark(g, d, v);
		text_add(&g->script, ", $d%u using 1:2 with points ", v); /* those without an interval, too */
		drawing_mark(g, d, v);
		first = false;
	}
	text_add(&g->script, "\n");
}

void charts_ratio(struct drawings *all, const struct comparison *c)
{
	const struct dataset *d = c->dataset;
	double rows = (double)(cells_of(d) * (1 + candidates_of(d)));
	struct range axis = axis_of(c);
	size_t candidate = 0;
	struct drawing *g;

	if (!range_has(&axis))
		return;
	g = drawing_add(all, CHART_RATIO, (unsigned)rows * ROW + AROUND);
	if (!g)
		return;
	frame(g, c, &axis, rows);
	for (size_t cell = 0; cell < cells_of(d); cell++)
		row_name(g, d->cell[cell].name, (double)(cell * (1 + candidates_of(d))) + 0.3);
	for (unsigned v = 0; v < d->nvariants; v++) {
		if (v == d->baseline)
			continue;
		text_add(&g->script, "$d%u <<EOD\n", v);
		for (size_t cell = 0; cell < cells_of(d); cell++)
			row_data(g, c, candidate, cell, &axis, (double)(cell * (1 + candidates_of(d)) + 1 + candidate));
		text_add(&g->script, "NaN NaN NaN NaN\nEOD\n"); /* a variant without any data, too, is a plot */
		candidate++;
	}
	plot(g, c);
	describe(g, c);
	text_add(&g->chart.heading, "%s: candidate / baseline", metric_info(d->primary)->title);
	text_add(&g->chart.note, "Logarithmic axis; bars are 95 %% intervals, a mark without a bar has none, and one that ends at "
		 "the edge goes on. Shaded: the margin of +-%.3g %%. %s is better.", 100 * d->margin,
		 metric_info(d->primary)->higher_is_better ? "Right" : "Left");
	if (d->ncells > cells_of(d))
		text_add(&g->chart.note, " The first %zu of %zu cells.", cells_of(d), d->ncells);
}
