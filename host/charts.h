/*
 * Charts of a comparison: SVG drawn by gnuplot, ready to stand in an HTML page. Their colours are custom properties of
 * that page: --v0 to --v5 (variants; baseline first), --band (the margin), --grid, --page (behind a mark); lines and
 * letters have the page's colour. Nothing that a user named goes through gnuplot.
 */
#ifndef KB_CHARTS_H
#define KB_CHARTS_H

#include "guest/text.h"
#include "host/compare.h"

enum chart_kind {
	CHART_RATIO,   /* candidate / baseline with 95 % interval, a row per cell and candidate */
	CHART_SWEEP,   /* the primary metric over the swept option, a line per variant */
	CHART_LATENCY, /* latency by percentile, a curve per variant: one chart per cell */
	CHART_TIME,    /* trial by trial in time order: one chart per cell */
	CHART_HISTORY, /* run by run (host/charts_history.h); none of a comparison's */
	CHART_KINDS,
};

#define CHARTS_CELLS 24 /* cells that get charts: the first ones */
#define CHART_COLOURS 6

struct chart {
	enum chart_kind kind;
	struct text heading; /* what it is of: a cell's name, a workload; plain text, as is note */
	struct text note;    /* what one has to know to read it: what was left out, which intervals these are */
	struct text svg;     /* <svg role="img"> with <title> and <desc>, which tell in words what it shows */
};

struct charts {
	struct chart *chart; /* by kind */
	size_t n;
};

/*
 * Draw all charts for which there are data, by one run of gnuplot. An error, such as gnuplot missing, is for the reader
 * of the report, which is complete without them; then there are none.
 */
int charts_draw(const struct comparison *c, struct charts *out, struct error *e);
void charts_free(struct charts *c);

/* How a variant looks: its --vN and its mark as a character. */
unsigned chart_colour(const struct dataset *d, unsigned variant);
const char *chart_mark(const struct dataset *d, unsigned variant);

#endif
