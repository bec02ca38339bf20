/* Trial by trial in time order: drift, warming up and single bad trials are seen here and nowhere else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/charts_private.h"

#define HEIGHT 230
#define MOST_LINEAR 20        /* largest by smallest value; beyond that the axis is logarithmic */
#define MOST_ALTOGETHER 12000 /* marks in all these charts: a hundred bytes each */

/* Does every trial that counts tell when it began, and not all the same? */
static bool have_times(const struct dataset *d, double *first)
{
	struct range all = RANGE_NONE;

	for (size_t i = 0; i < d->npoints; i++) {
		if (isnan(d->point[i].started))
			return false;
		range_take(&all, d->point[i].started);
	}
	*first = all.low;
	return range_has(&all) && all.high > all.low;
}

struct time_chart {
	const struct dataset *d;
	size_t cell, points, step; /* every step'th of its points is drawn */
	bool times;
	double first, unit; /* x = (started - first) / unit */
};

static double x_of(const struct time_chart *t, const struct point *p)
{
	return t->times ? (p->started - t->first) / t->unit : p->trial;
}

static void add_data(struct drawing *g, const struct time_chart *t, unsigned variant, struct range *x, struct range *y)
{
	const struct dataset *d = t->d;
	const struct metric_info *info = metric_info(d->primary);
	struct range own = RANGE_NONE;
	size_t n = 0, seen = 0;
	char low[METRIC_TEXT_SIZE], high[METRIC_TEXT_SIZE];

	text_add(&g->script, "$d%u <<EOD\n", variant);
	for (size_t i = 0; i < d->npoints; i++) {
		const struct point *p = &d->point[i];
		double value = p->value[d->primary];

		if (p->cell != t->cell || p->variant != variant || !isfinite(value))
			continue;
		n++;
		range_take(&own, value);
		range_take(x, x_of(t, p));
		if (seen++ % t->step == 0)
			text_add(&g->script, "%.9g %.9g\n", x_of(t, p), value);
	}
	text_add(&g->script, "NaN NaN\nEOD\n");
	if (n == 0)
		return;
	range_take(y, own.low);
	range_take(y, own.high);
	metric_text(info->unit, own.low, low);
	metric_text(info->unit, own.high, high);
	text_add(&g->desc, "%s: %zu trial%s from %s to %s. ", d->variant[variant], n, n == 1 ? "" : "s", low, high);
}

static const char *time_words(const struct time_chart *t)
{
	if (!t->times)
		return "number of the trial";
	return t->unit >= 86400 ? "days since the first trial" : t->unit >= 3600 ? "hours since the first trial" :
	       t->unit >= 60 ? "minutes since the first trial" : "seconds since the first trial";
}

static void frame(struct drawing *g, const struct time_chart *t, struct range *x, struct range *y)
{
	const struct metric_info *info = metric_info(t->d->primary);
	bool logarithmic = y->low > 0 && y->high / y->low > MOST_LINEAR;

	if (x->low == x->high)
		x->high += 1;
	range_pad(x, false);
	range_pad(y, logarithmic);
	axis_set(g, 'x', x, false, UNIT_COUNT);
	axis_set(g, 'y', y, logarithmic, info->unit);
	text_add(&g->script, "set bmargin at screen %.9g\nset tmargin at screen %.9g\nset xlabel ", 46.0 / HEIGHT,
		 1 - 26.0 / HEIGHT);
	drawing_label(g, "%s", time_words(t));
	text_add(&g->script, " offset 0,0.3\nset label ");
	drawing_label(g, "%s", info->title);
	text_add(&g->script, " at screen 0.02, screen %.9g left\n", 1 - 10.0 / HEIGHT);
}

static void draw(struct drawings *all, const struct time_chart *t)
{
	const struct dataset *d = t->d;
	struct range x = RANGE_NONE, y = RANGE_NONE;
	struct drawing *g = drawing_add(all, CHART_TIME, HEIGHT);

	if (!g)
		return;
	for (unsigned v = 0; v < d->nvariants; v++)
		add_data(g, t, v, &x, &y);
	frame(g, t, &x, &y);
	text_add(&g->script, "plot ");
	for (unsigned v = 0; v < d->nvariants; v++) {
		text_add(&g->script, "%s$d%u using 1:2 with points ", v ? ", " : "", v);
		drawing_mark(g, d, v);
	}
	text_add(&g->script, "\n");
	text_add(&g->title, "%s of every trial in time order, %s", metric_info(d->primary)->title, d->cell[t->cell].name);
	text_add(&g->chart.heading, "%s", d->cell[t->cell].name);
	if (t->step > 1)
		text_add(&g->chart.note, "One in %zu of %zu trials is drawn.", t->step, t->points);
}

/* The trials of the variant that has most of them: two are no course of events. */
static size_t longest(const struct time_chart *t)
{
	const struct dataset *d = t->d;
	size_t most = 0;

	for (unsigned v = 0; v < d->nvariants; v++) {
		size_t n = 0;

		for (size_t i = 0; i < d->npoints; i++)
			n += d->point[i].cell == t->cell && d->point[i].variant == v && isfinite(d->point[i].value[d->primary]);
		most = n > most ? n : most;
	}
	return most;
}

void charts_time(struct drawings *all, const struct comparison *c)
{
	const struct dataset *d = c->dataset;
	size_t cells = d->ncells < CHARTS_CELLS ? d->ncells : CHARTS_CELLS, most = MOST_ALTOGETHER / cells;
	struct time_chart t = { .d = d };
	double last = 0;

	most = most < CHART_POINTS ? most : CHART_POINTS;
	t.times = have_times(d, &t.first);
	for (size_t i = 0; t.times && i < d->npoints; i++)
		last = fmax(last, d->point[i].started - t.first);
	t.unit = last >= 3 * 86400 ? 86400 : last >= 3 * 3600 ? 3600 : last >= 180 ? 60 : 1;
	for (t.cell = 0; t.cell < cells; t.cell++) {
		t.points = 0;
		for (size_t i = 0; i < d->npoints; i++)
			t.points += d->point[i].cell == t.cell && isfinite(d->point[i].value[d->primary]);
		t.step = (t.points + most - 1) / most;
		if (longest(&t) > 2)
			draw(all, &t);
	}
}
