#include "host/charts_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/charts_private.h"
#include "host/history_print.h"

#define TICKS 4

/* In their order variants look as in a report whose baseline is the first. */
static const struct dataset plain = { .baseline = 0 };

/* ---- which there are ---- */

static bool same_chart(const struct history_series *a, const struct history_series *b)
{
	return a->group == b->group && !a->baseline == !b->baseline;
}

bool history_chart_next(const struct history *h, struct history_chart *c)
{
	for (size_t first = c->first + c->n; first < h->nseries; first += c->n) {
		size_t most = 0;

		for (c->n = 0; first + c->n < h->nseries && same_chart(&h->series[first], &h->series[first + c->n]); c->n++)
			most = h->series[first + c->n].nvalues > most ? h->series[first + c->n].nvalues : most;
		c->first = first;
		if (most > 1)
			return true;
	}
	return false;
}

unsigned history_chart_look(const struct history *h, const struct history_chart *c, size_t series)
{
	return (unsigned)(series - c->first) + (h->series[c->first].place > 0);
}

const char *history_chart_mark(unsigned look)
{
	return chart_mark(&plain, look);
}

/* ---- one of them ---- */

struct course {
	const struct history *h;
	const struct history_chart *c;
	enum history_by by;
	size_t *place; /* by run: on the axis */
	size_t *run;   /* by place */
	size_t places;
};

static const struct history_series *series_at(const struct course *u, size_t i)
{
	return &u->h->series[u->c->first + i];
}

static int places_make(struct course *u)
{
	size_t first = SIZE_MAX, last = 0;

	for (size_t i = 0; i < u->c->n; i++) {
		const struct history_series *s = series_at(u, i);

		first = s->point[0].run < first ? s->point[0].run : first;
		last = s->point[s->npoints - 1].run > last ? s->point[s->npoints - 1].run : last;
	}
	u->place = calloc(u->h->nruns, sizeof(*u->place));
	u->run = calloc(u->h->nruns, sizeof(*u->run));
	if (!u->place || !u->run)
		return -1;
	for (size_t run = first; run <= last; run++) {
		const struct history_run *r = &u->h->run[run];

		if (strcmp(r->accel, series_at(u, 0)->accel) == 0 && strcmp(r->host, series_at(u, 0)->host) == 0) {
			u->place[run] = u->places;
			u->run[u->places++] = run;
		}
	}
	return 0;
}

/* Two blocks may have an interval of many powers of ten: the axis is not theirs. */
static void take(struct range *r, const struct history_point *p)
{
	range_take(r, p->value);
	if (isfinite(p->low) && isfinite(p->high)) {
		range_take(r, fmin(p->high, p->value * 2));
		range_take(r, fmax(p->low, p->value / 2));
	}
}

/* Variants that measure alike stand beside each other. */
static double aside(const struct course *u, size_t i)
{
	return ((double)i - (double)(u->c->n - 1) / 2) * 0.6 / (double)(u->c->n + 1);
}

static void add_data(struct drawing *g, const struct course *u, size_t i, struct range *y)
{
	const struct history_series *s = series_at(u, i);

	text_add(&g->script, "$d%zu <<EOD\n", i);
	for (size_t k = 0; k < s->npoints; k++) {
		const struct history_point *p = &s->point[k];

		if (!isfinite(p->value)) {
			text_add(&g->script, "\n"); /* the line ends here, and another begins */
			continue;
		}
		take(y, p);
		text_add(&g->script, "%.9g %.9g ", (double)u->place[p->run] + aside(u, i), p->value);
		if (isfinite(p->low) && isfinite(p->high))
			text_add(&g->script, "1 %.9g %.9g\n", p->low, p->high);
		else
			text_add(&g->script, "0 0 0\n");
	}
	text_add(&g->script, "NaN NaN NaN NaN NaN\nEOD\n");
}

static void describe(struct drawing *g, const struct course *u, size_t i)
{
	const struct history_series *s = series_at(u, i);
	char value[METRIC_TEXT_SIZE];
	struct text words = { 0 };
	size_t last = s->npoints;

	while (last > 0 && !isfinite(s->point[last - 1].value))
		last--;
	text_add(&g->desc, "%s: %zu run%s with data", s->variant, s->nvalues, s->nvalues == 1 ? "" : "s");
	if (last > 0) {
		history_value(s, s->point[last - 1].value, value);
		text_add(&g->desc, ", %s in the last", value);
	}
	for (size_t k = 0; k < s->nchanges; k++) {
		text_reset(&words);
		history_change_words(u->h, s, &s->change[k], &words);
		text_add(&g->desc, "; change at ");
		history_label(u->h, s, s->point[s->change[k].after].run, HISTORY_DATE, &g->desc);
		text_add(&g->desc, ", %s", text_get(&words));
	}
	text_add(&g->desc, ". ");
	text_free(&words);
}

static void mark_changes(struct drawing *g, const struct course *u, size_t i)
{
	const struct history_series *s = series_at(u, i);

	for (size_t k = 0; k < s->nchanges; k++) {
		double x = (double)(u->place[s->point[s->change[k].before].run] + u->place[s->point[s->change[k].after].run]) / 2;

		text_add(&g->script, "set arrow from %.9g, graph 0 to %.9g, graph 1 nohead back ", x, x);
		drawing_line(g, &plain, history_chart_look(u->h, u->c, u->c->first + i));
		text_add(&g->script, "\n");
	}
}

/* A date without its time, which has no room, unless all are of one day. */
static void tick_text(const struct course *u, size_t place, struct text *out)
{
	struct text day[2] = { { 0 }, { 0 } };
	bool one_day;

	history_label(u->h, series_at(u, 0), u->run[place], u->by, out);
	if (u->by != HISTORY_DATE)
		return;
	history_label(u->h, series_at(u, 0), u->run[0], HISTORY_DATE, &day[0]);
	history_label(u->h, series_at(u, 0), u->run[u->places - 1], HISTORY_DATE, &day[1]);
	one_day = strncmp(text_get(&day[0]), text_get(&day[1]), 10) == 0;
	if (out->length == strlen("2026-01-31 12:00")) {
		if (one_day)
			memmove(out->data, out->data + 11, 6);
		else
			out->data[10] = '\0';
	}
	text_free(&day[0]);
	text_free(&day[1]);
}

/* Ticks stand where a name is new, with some distance between them. */
static void axis_x(struct drawing *g, const struct course *u)
{
	double distance = (double)u->places / TICKS, next = 0;
	struct text before = { 0 }, t = { 0 };
	bool first = true;

	text_add(&g->script, "set xrange [-0.5:%zu.5]\nset xtics (", u->places - 1);
	for (size_t i = 0; i < u->places; i++) {
		text_reset(&t);
		tick_text(u, i, &t);
		if ((double)i < next || (!first && strcmp(text_get(&t), text_get(&before)) == 0))
			continue;
		next = (double)i + distance;
		text_reset(&before);
		text_add(&before, "%s", text_get(&t));
		text_add(&g->script, "%s", first ? "" : ", ");
		drawing_label(g, "%.16s", text_get(&t));
		text_add(&g->script, " %zu", i);
		first = false;
	}
	text_add(&g->script, ")\nset bmargin at screen %.9g\nset tmargin at screen %.9g\n", 30.0 / HISTORY_CHART_HEIGHT,
		 1 - 26.0 / HISTORY_CHART_HEIGHT);
	text_free(&t);
	text_free(&before);
}

static void plot(struct drawing *g, const struct course *u)
{
	text_add(&g->script, "plot ");
	for (size_t i = 0; i < u->c->n; i++) {
		unsigned look = history_chart_look(u->h, u->c, u->c->first + i);

		text_add(&g->script, "%s$d%zu using 1:2 with lines lw 0.8 lc rgb '#0000%02x', $d%zu using 1:($3 > 0 ? $2 : NaN):4:5 "
			 "with yerrorbars lw 1.2 ", i ? ", " : "", i, chart_colour(&plain, look) + 1, i);
		drawing_mark(g, &plain, look);
		text_add(&g->script, ", $d%zu using 1:2 with points ", i); /* those without an interval, too */
		drawing_mark(g, &plain, look);
	}
	text_add(&g->script, "\n");
}

static void draw(struct drawings *all, struct course *u)
{
	const struct history_series *s = series_at(u, 0);
	struct drawing *g = drawing_add(all, CHART_HISTORY, HISTORY_CHART_HEIGHT);
	struct range y = RANGE_NONE;

	if (!g)
		return;
	for (size_t i = 0; i < u->c->n; i++) {
		add_data(g, u, i, &y);
		mark_changes(g, u, i);
		describe(g, u, i);
	}
	range_pad(&y, false);
	if (s->baseline && y.low < 1 && y.high > 1)
		text_add(&g->script, "set arrow from graph 0, first 1 to graph 1, first 1 nohead lw 1.4 lc rgb 'black' back\n");
	axis_x(g, u);
	axis_set(g, 'y', &y, false, s->baseline ? UNIT_COUNT : metric_info(s->metric)->unit);
	text_add(&g->script, "set label ");
	drawing_label(g, "%s%s", metric_info(s->metric)->title, s->baseline ? ", candidate / baseline" : "");
	text_add(&g->script, " at screen 0.02, screen %.9g left\n", 1 - 10.0 / HISTORY_CHART_HEIGHT);
	plot(g, u);
	history_title(u->h, s, false, &g->chart.heading);
	text_add(&g->title, "%s, run by run", text_get(&g->chart.heading));
}

int charts_history(const struct history *h, enum history_by by, struct charts *out, struct error *e)
{
	struct drawings all = { 0 };
	struct history_chart c = { 0 };

	while (all.n < HISTORY_CHARTS && !all.failed && history_chart_next(h, &c)) {
		struct course u = { .h = h, .c = &c, .by = by };

		if (places_make(&u))
			all.failed = true;
		else
			draw(&all, &u);
		free(u.place);
		free(u.run);
	}
	return drawings_finish(&all, out, e);
}
