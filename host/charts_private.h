/* Shared by the files that write one kind of chart each (charts_KIND.c), charts.c and charts_svg.c. */
#ifndef KB_CHARTS_PRIVATE_H
#define KB_CHARTS_PRIVATE_H

#include "host/charts.h"

#define CHART_WIDTH 400 /* units of the drawing, in which letters are CHART_LETTERS high; on a phone a unit is 0.9 px */
#define CHART_LETTERS 12
#define CHART_POINTS 2000 /* marks in one chart */

/* A chart while its script is being written. */
struct drawing {
	struct chart chart;
	unsigned height;
	struct text title, desc;
	struct text script;  /* from "set output" to "plot", data blocks included */
	struct text *label;  /* texts, for which drawing_label() gave tokens */
	size_t nlabels;
};

struct drawings {
	struct drawing *at;
	size_t n;
	bool failed; /* memory ran out */
};

void drawings_free(struct drawings *all);

/* Draw them by one run of gnuplot, and free them. An error as that of charts_draw(). */
int drawings_finish(struct drawings *all, struct charts *out, struct error *e);

/* A new chart; NULL: out of memory. Valid until the next call. */
struct drawing *drawing_add(struct drawings *all, enum chart_kind kind, unsigned height);

/* Append to the script, in quotes, what stands for a text until gnuplot is done: it never sees the text itself. */
void drawing_label(struct drawing *d, const char *fmt, ...) KB_PRINTF(2, 3);

/* "pt 7 ps 0.7 lc rgb '#000001'": how a variant is drawn; and the line of one. */
void drawing_mark(struct drawing *d, const struct dataset *data, unsigned variant);
void drawing_line(struct drawing *d, const struct dataset *data, unsigned variant);

/* Each adds the charts of one kind. */
void charts_ratio(struct drawings *all, const struct comparison *c);
void charts_sweep(struct drawings *all, const struct comparison *c);
void charts_latency(struct drawings *all, const struct comparison *c);
void charts_time(struct drawings *all, const struct comparison *c);

/* ---- axes (charts_axis.c) ---- */

/* The smallest and the largest of some values. */
struct range {
	double low, high;
};

#define RANGE_NONE { HUGE_VAL, -HUGE_VAL }
void range_take(struct range *r, double value); /* NAN and infinite ones are passed over */
bool range_has(const struct range *r);

/* A little room at both ends; one value gets room around it. Logarithmic: both ends stay positive. */
void range_pad(struct range *r, bool logarithmic);

#define AXIS_TICKS 16
/* Round values within the range, ascending, about `wanted` of them. Returns how many. */
size_t axis_ticks(const struct range *r, bool logarithmic, double step_base, unsigned wanted, double tick[AXIS_TICKS]);

/* Append "set xrange …" and "set xtics …" for a metric's unit, axis 'x' or 'y'. */
void axis_set(struct drawing *d, char axis, const struct range *r, bool logarithmic, enum unit unit);

/* "5.5 ms" where metric_text() has "5.500 ms". */
void axis_text(enum unit unit, double value, char out[METRIC_TEXT_SIZE]);

/* ---- gnuplot's SVG (charts_svg.c) ---- */

/*
 * From one of gnuplot's documents to an <svg> for a page. marks: with the definitions of the marks, which a page needs
 * once, in its first chart.
 */
void drawing_finish(struct drawing *d, const char *document, size_t length, bool marks);

#endif
