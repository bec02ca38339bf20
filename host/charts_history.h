/* Charts of a history: run by run, with intervals and change points. */
#ifndef KB_CHARTS_HISTORY_H
#define KB_CHARTS_HISTORY_H

#include "host/charts.h"
#include "host/history.h"

#define HISTORY_CHARTS 48 /* at most: the first ones */
#define HISTORY_CHART_HEIGHT 250

/* The series of one chart, which follow each other. */
struct history_chart {
	size_t first, n;
};

/*
 * The next chart after *c (zeroed before the first call): one cell's values, or its ratios. False: no more. Series of
 * which none has two runs with data have no chart.
 */
bool history_chart_next(const struct history *h, struct history_chart *c);

/* The number of a series' mark and colour (chart_mark() and chart_colour() in the order of charts.h). */
unsigned history_chart_look(const struct history *h, const struct history_chart *c, size_t series);
const char *history_chart_mark(unsigned look);

/* Draw the first HISTORY_CHARTS of them. An error as that of charts_draw(). */
int charts_history(const struct history *h, enum history_by by, struct charts *out, struct error *e);

#endif
