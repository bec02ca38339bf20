/* The primary metric over the swept option: a chart per workload (and guest), a line per variant. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/charts_private.h"
#include "host/sweep.h"

#define HEIGHT 270
#define MOST_COLUMNS 32

/* The rows of a sweep that make one chart: one workload on one guest. */
struct group {
	const struct comparison *c;
	const struct sweep *s;
	const struct sweep_row *first;
	double *logs; /* room for all blocks */
	size_t columns;
	bool numeric; /* places by the logarithm of the value; else one after the other */
};

/* "4", "64k"; NAN for what is no number above 0. */
static double number_of(const char *value)
{
	static const char suffix[] = "kmgt";
	char *end;
	double n = strtod(value, &end);
	const char *s = *end ? strchr(suffix, *end | 0x20) : NULL;

	if (end == value || !(n > 0) || (*end && (!s || end[1])))
		return NAN;
	return s ? n * pow(1024, (double)(s - suffix + 1)) : n;
}

static double place(const struct group *g, size_t column)
{
	return g->numeric ? log2(number_of(g->s->column[column])) : (double)column;
}

static bool has_value(const struct observation *o, enum metric metric)
{
	return o->planned > 0 && o->status == OBSERVED_OK && isfinite(o->value[metric]) && o->value[metric] > 0;
}

/*
 * A variant by itself: the geometric mean of its blocks with a t interval on their logarithms, by the same mathematics as
 * a ratio's.
 */
static void estimate(const struct group *g, size_t cell, unsigned variant, struct stats_paired *out)
{
	const struct dataset *d = g->c->dataset;
	unsigned partner = d->baseline == 0 ? 1 : 0;
	size_t n = 0;

	for (size_t block = 0; cell != SWEEP_NO_CELL && block < d->nblocks; block++) {
		const struct observation *o = variant == d->baseline && d->nvariants > 1 ?
					      dataset_baseline(d, cell, partner, block) :
					      dataset_candidate(d, cell, variant, block);

		if (has_value(o, d->primary))
			g->logs[n++] = log(o->value[d->primary]);
	}
	stats_paired(g->logs, n, out);
}

/* Two blocks may have an interval of many powers of ten: the axis is not theirs. */
static void take(struct range *r, const struct stats_paired *s)
{
	range_take(r, s->ratio);
	if (isfinite(s->high95))
		range_take(r, fmin(s->high95, s->ratio * 2));
}

static void add_data(struct drawing *w, const struct group *g, const struct sweep_row *row, struct range *y)
{
	const struct dataset *d = g->c->dataset;
	bool first = true;

	text_add(&w->script, "$d%u <<EOD\n", row->variant_index);
	text_add(&w->desc, "%s: ", row->variant);
	for (size_t i = 0; i < g->columns; i++) {
		struct stats_paired e;
		char value[METRIC_TEXT_SIZE];

		estimate(g, row->cell[i], row->variant_index, &e);
		if (!isfinite(e.ratio))
			continue;
		take(y, &e);
		text_add(&w->script, "%.9g %.9g ", place(g, i), e.ratio);
		if (isfinite(e.low95) && isfinite(e.high95))
			text_add(&w->script, "%.9g %.9g\n", e.low95, e.high95);
		else
			text_add(&w->script, "0 0\n"); /* no value is 0 */
		metric_text(metric_info(d->primary)->unit, e.ratio, value);
		text_add(&w->desc, "%s%s with %s=%s", first ? "" : ", ", value, g->s->key, g->s->column[i]);
		first = false;
	}
	text_add(&w->script, "NaN NaN NaN NaN\nEOD\n");
	text_add(&w->desc, "%s. ", first ? "no data" : "");
}

static void axis_x(struct drawing *w, const struct group *g)
{
	double low = place(g, 0), high = place(g, g->columns - 1);
	double room = 0.06 * (high - low);

	text_add(&w->script, "set xrange [%.9g:%.9g]\nset xtics (", low - room, high + room);
	for (size_t i = 0; i < g->columns; i++) {
		text_add(&w->script, "%s", i ? ", " : "");
		drawing_label(w, "%.10s", g->columns > 8 && i % 2 ? "" : g->s->column[i]);
		text_add(&w->script, " %.9g", place(g, i));
	}
	text_add(&w->script, ")\nset xlabel ");
	drawing_label(w, "%s", g->s->key);
	text_add(&w->script, " offset 0,0.3\nset bmargin at screen %.9g\nset tmargin at screen %.9g\n", 46.0 / HEIGHT,
		 1 - 26.0 / HEIGHT);
}

static bool in_group(const struct group *g, const struct sweep_row *row)
{
	return strcmp(row->workload, g->first->workload) == 0 && strcmp(row->guest, g->first->guest) == 0;
}

static void plot(struct drawing *w, const struct group *g)
{
	const struct dataset *d = g->c->dataset;
	bool first = true;

	text_add(&w->script, "plot ");
	for (const struct sweep_row *row = g->first; row < g->s->row + g->s->nrows; row++) {
		if (!in_group(g, row))
			continue;
		text_add(&w->script, "%s$d%u using 1:2 with lines ", first ? "" : ", ", row->variant_index);
		drawing_line(w, d, row->variant_index);
		text_add(&w->script, ", $d%u using 1:($3 > 0 ? $2 : NaN):3:4 with yerrorbars lw 1.2 ", row->variant_index);
		drawing_mark(w, d, row->variant_index);
		text_add(&w->script, ", $d%u using 1:2 with points ", row->variant_index); /* those without an interval, too */
		drawing_mark(w, d, row->variant_index);
		first = false;
	}
	text_add(&w->script, "\n");
}

static void tell(struct drawing *w, const struct group *g)
{
	const struct dataset *d = g->c->dataset;
	const struct metric_info *info = metric_info(d->primary);
	bool several = false;

	for (const struct sweep_row *row = g->s->row; row < g->s->row + g->s->nrows; row++)
		several |= strcmp(row->guest, g->first->guest) != 0;
	text_add(&w->chart.heading, "%s%s%s", several ? g->first->guest : "", several ? ": " : "", g->first->workload);
	text_add(&w->title, "%s over %s, %s", info->title, g->s->key, text_get(&w->chart.heading));
	text_add(&w->chart.note, "Geometric mean of each variant by itself; bars: its 95 %% interval (t on logarithms) where there "
		 "are two %s or more.%s%s", d->paired ? "blocks" : "runs", d->paired ? " They hold what a block's variants have in "
		 "common; the ratio is free of it." : "", g->numeric ? " Places on the axis by the logarithm." : "");
}

static void draw(struct drawings *all, const struct group *g)
{
	const struct metric_info *info = metric_info(g->c->dataset->primary);
	struct range y = RANGE_NONE;
	struct drawing *w = drawing_add(all, CHART_SWEEP, HEIGHT);

	if (!w)
		return;
	for (const struct sweep_row *row = g->first; row < g->s->row + g->s->nrows; row++)
		if (in_group(g, row))
			add_data(w, g, row, &y);
	y.low = 0;
	range_pad(&y, false);
	axis_x(w, g);
	axis_set(w, 'y', &y, false, info->unit);
	text_add(&w->script, "set label ");
	drawing_label(w, "%s", info->title);
	text_add(&w->script, " at screen 0.02, screen %.9g left\n", 1 - 10.0 / HEIGHT);
	plot(w, g);
	tell(w, g);
}

/* Is there a row of the same group above? */
static bool was_drawn(const struct group *g)
{
	for (const struct sweep_row *row = g->s->row; row < g->first; row++)
		if (in_group(g, row))
			return true;
	return false;
}

/* gnuplot takes a chart without any value for an error. */
static bool was_measured(const struct group *g)
{
	for (const struct sweep_row *row = g->first; row < g->s->row + g->s->nrows; row++) {
		for (size_t i = 0; in_group(g, row) && i < g->columns; i++) {
			struct stats_paired e;

			estimate(g, row->cell[i], row->variant_index, &e);
			if (isfinite(e.ratio))
				return true;
		}
	}
	return false;
}

static void draw_groups(struct drawings *all, struct group *g)
{
	size_t drawn = 0;

	g->columns = g->s->ncolumns < MOST_COLUMNS ? g->s->ncolumns : MOST_COLUMNS;
	g->numeric = true;
	for (size_t i = 0; i < g->columns; i++)
		g->numeric &= isfinite(number_of(g->s->column[i]));
	for (size_t i = 0; i < g->s->nrows && drawn < CHARTS_CELLS; i++) {
		g->first = &g->s->row[i];
		if (was_drawn(g) || !was_measured(g))
			continue;
		draw(all, g);
		drawn++;
	}
}

void charts_sweep(struct drawings *all, const struct comparison *c)
{
	struct group g = { .c = c, .logs = calloc(c->dataset->nblocks, sizeof(*g.logs)) };
	struct sweep *s = NULL;
	struct error e = { 0 };

	if (!g.logs || sweep_make(c->dataset, &s, &e)) {
		all->failed = true;
	} else if (s->ncolumns > 1) {
		g.s = s;
		draw_groups(all, &g);
	}
	sweep_free(s);
	free(g.logs);
}
