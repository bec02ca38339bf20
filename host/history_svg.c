/* The charts of a history in one drawing, for documents: one below the other, in plain colours. */
#include <stdio.h>
#include <string.h>

#include "host/charts_history.h"
#include "host/charts_private.h"
#include "host/escape.h"
#include "host/history_print.h"

#define HEADING 20 /* units, of a line above a chart */
#define GAP 14

/* A drawing outside of a page has no custom properties to follow: the page's in light (report_html_style.c). */
static const struct { const char *from, *to; } colours[] = {
	{ "var(--page)", "#fff" },	{ "var(--grid)", "#dedede" },  { "var(--band)", "#e9eef5" }, { "var(--v0)", "#0069a8" },
	{ "var(--v1)", "#c64a00" }, { "var(--v2)", "#007355" }, { "var(--v3)", "#9c3f78" }, { "var(--v4)", "#7a5c00" },
	{ "var(--v5)", "#4d4d4d" },
};

static const char *colour_of(const char *s, size_t *length)
{
	for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++) {
		*length = strlen(colours[i].from);
		if (strncmp(s, colours[i].from, *length) == 0)
			return colours[i].to;
	}
	return NULL;
}

/* Names are escaped, so that nobody's name holds an attribute; "var(" in one is no colour, as it is not in quotes. */
static void copy_coloured(const char *s, struct text *out)
{
	while (*s) {
		const char *next = strstr(s, "var(--"), *colour;
		size_t length;

		if (!next) {
			text_add(out, "%s", s);
			return;
		}
		text_add_bytes(out, s, (size_t)(next - s));
		colour = next > s && strchr("'\"", next[-1]) ? colour_of(next, &length) : NULL;
		if (colour)
			text_add(out, "%s", colour);
		else
			text_add_bytes(out, next, length = 1);
		s = next + length;
	}
}

static void one(const struct history *h, const struct history_chart *c, const struct chart *chart, unsigned *y, struct text *out)
{
	static const char begin[] = "<svg role=\"img\"";

	text_add(out, "<text x=\"6\" y=\"%u\" font-weight=\"bold\">", *y + CHART_LETTERS);
	escape_xml(out, text_get(&chart->heading));
	text_add(out, "</text>\n");
	*y += HEADING;
	for (size_t i = c->first; i < c->first + c->n; i++, *y += HEADING) {
		unsigned look = history_chart_look(h, c, i);
		size_t length;
		char name[16];

		snprintf(name, sizeof(name), "var(--v%u)", chart_colour(&(struct dataset){ 0 }, look));
		text_add(out, "<text x=\"6\" y=\"%u\"><tspan fill=\"%s\">%s</tspan> ", *y + CHART_LETTERS, colour_of(name, &length),
			 history_chart_mark(look));
		escape_xml(out, h->series[i].variant);
		text_add(out, "</text>\n");
	}
	text_add(out, "%s x=\"0\" y=\"%u\" width=\"%d\" height=\"%d\"", begin, *y, CHART_WIDTH, HISTORY_CHART_HEIGHT);
	copy_coloured(text_get(&chart->svg) + sizeof(begin) - 1, out);
	*y += HISTORY_CHART_HEIGHT + GAP;
}

int history_svg(const struct history *h, const struct history_view *v, struct text *out, struct error *e)
{
	struct history_chart c = { 0 };
	struct charts charts;
	struct text body = { 0 };
	unsigned y = GAP;

	if (charts_history(h, v->by, &charts, e))
		return -1;
	if (charts.n == 0)
		error_set(e, STATUS_USAGE, "%s: no series has two runs with data: there is nothing to draw", v->folder);
	for (size_t i = 0; i < charts.n && history_chart_next(h, &c); i++)
		one(h, &c, &charts.chart[i], &y, &body);
	if (history_chart_next(h, &c)) {
		text_add(&body, "<text x=\"6\" y=\"%u\">The first %zu charts.</text>\n", y + CHART_LETTERS, charts.n);
		y += HEADING;
	}
	text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
		 "xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" color=\"#1c1c1c\" "
		 "fill=\"#1c1c1c\" font-family=\"sans-serif\" font-size=\"%d\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		 CHART_WIDTH, y, CHART_WIDTH, y, CHART_LETTERS);
	text_add_bytes(out, text_get(&body), body.length);
	text_add(out, "</svg>\n");
	out->failed |= body.failed;
	text_free(&body);
	charts_free(&charts);
	return e->status ? -1 : 0;
}
