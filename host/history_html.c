#include <stdlib.h>
#include <string.h>

#include "host/charts_history.h"
#include "host/escape.h"
#include "host/history_print.h"
#include "host/report_html_parts.h"

static void words(struct text *out, struct text *plain)
{
	escape_xml(out, text_get(plain));
	out->failed |= plain->failed;
	text_reset(plain);
}

static void head(const struct history_view *v, struct text *out)
{
	/* as in a report: names are escaped, and the policy is for the mistake that nobody has found yet */
	text_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	escape_xml(out, v->folder);
	text_add(out, ": kickbench history</title>\n<style>\n");
	html_style(out);
	text_add(out, "</style></head>\n<body><main>\n<h1>");
	html_name(out, v->folder);
	text_add(out, "</h1>\n");
}

/* ---- change points ---- */

static void change(const struct history *h, const struct history_mark *m, struct text *out)
{
	const struct history_change *c = m->change;
	bool better = (c->ratio > 1) == metric_info(m->series->metric)->higher_is_better;
	struct text t = { 0 };

	if (history_change_small(h, m->series, c))
		text_add(out, "<li><span class=\"badge same\">= small</span>");
	else
		text_add(out, "<li><span class=\"badge %s\">%s</span>", better ? "better" : "worse", better ? "\342\226\262 better" :
			 "\342\226\274 worse");
	text_add(out, "<b>");
	history_title(h, m->series, true, &t);
	html_name(out, text_get(&t));
	text_reset(&t);
	text_add(out, "</b>: ");
	history_change_words(h, m->series, c, &t);
	text_add(&t, " (");
	history_change_sure(h, c, &t);
	text_add(&t, ")");
	words(out, &t);
	text_add(out, "</li>\n");
	text_free(&t);
}

static void between(const struct history *h, const struct history_view *v, const struct history_mark *m, struct text *out)
{
	struct text t = { 0 };

	text_add(out, "<h3>");
	history_change_place(h, v, m, &t);
	words(out, &t);
	text_add(out, "</h3>\n<p>");
	history_change_differ(h, m, &t);
	words(out, &t);
	text_add(out, "</p>\n<ul class=\"verdicts\">\n");
	text_free(&t);
}

static void changes(const struct history *h, const struct history_view *v, struct text *out)
{
	struct history_mark *mark;
	size_t n;

	out->failed |= history_marks(h, &mark, &n) != 0;
	if (n)
		text_add(out, "<h2>Change points</h2>\n<p>%zu series searched.</p>\n", h->nsearched);
	else if (h->nsearched)
		text_add(out, "<p class=\"headline\">No change point in any of %zu series that could be searched.</p>\n", h->nsearched);
	else
		text_add(out, "<p class=\"headline\">No series could be searched for change points.</p>\n");
	for (size_t i = 0; i < n; i++) {
		bool last = i + 1 == n || mark[i].before != mark[i + 1].before || mark[i].after != mark[i + 1].after;

		if (i == 0 || mark[i].before != mark[i - 1].before || mark[i].after != mark[i - 1].after)
			between(h, v, &mark[i], out);
		change(h, &mark[i], out);
		text_add(out, last ? "</ul>\n" : "");
	}
	free(mark);
}

/* ---- charts ---- */

static void figure(const struct history *h, const struct history_chart *c, const struct chart *chart, struct text *out)
{
	text_add(out, "<figure><h4><bdi>");
	escape_xml(out, text_get(&chart->heading));
	text_add(out, "</bdi></h4>\n<ul class=\"legend\">");
	for (size_t i = c->first; i < c->first + c->n; i++) {
		unsigned look = history_chart_look(h, c, i);

		text_add(out, "<li><span class=\"v%u\" aria-hidden=\"true\">%s</span> ", chart_colour(&(struct dataset){ 0 }, look),
			 history_chart_mark(look));
		html_name(out, h->series[i].variant);
		text_add(out, "</li>");
	}
	text_add(out, "</ul>\n");
	text_add_bytes(out, text_get(&chart->svg), chart->svg.length);
	text_add(out, "</figure>\n");
}

static void charts(const struct history *h, const struct history_view *v, struct text *out)
{
	struct history_chart c = { 0 };
	struct charts drawn;
	struct error e = { 0 };

	text_add(out, "<h2>Charts</h2>\n");
	if (charts_history(h, v->by, &drawn, &e)) {
		text_add(out, "<p>There are no charts: ");
		escape_xml(out, e.text);
		text_add(out, ". The tables below have all their numbers.</p>\n");
		return;
	}
	text_add(out, "<p class=\"soft\">%s</p>\n<div class=\"charts\">\n", drawn.n ?
		 "A mark is a run, its bar a 95 % interval; runs stand in equal steps in the order of time. A line ends where a run has no "
		 "data. A vertical line is a change point of the variant in its colour." : "No series has two runs with data.");
	for (size_t i = 0; i < drawn.n && history_chart_next(h, &c); i++)
		figure(h, &c, &drawn.chart[i], out);
	text_add(out, "</div>\n");
	if (history_chart_next(h, &c))
		text_add(out, "<p class=\"soft\">The first %zu charts; the tables below have all numbers.</p>\n", drawn.n);
	charts_free(&drawn);
}

/* ---- tables ---- */

static void row(const struct history *h, const struct history_view *v, const struct history_series *s,
		const struct history_point *p, struct text *out)
{
	char value[METRIC_TEXT_SIZE], date[HISTORY_DATE_SIZE];
	struct text t = { 0 };

	history_date(h->run[p->run].started, date);
	history_value(s, p->value, value);
	text_add(out, "<tr><th scope=\"row\">%s</th>", date);
	if (v->by != HISTORY_DATE) {
		text_add(out, "<td data-l=\"%s\">", v->by == HISTORY_EMULATOR ? "emulator" : "guest kernel");
		history_label(h, s, p->run, v->by, &t);
		words(out, &t);
		text_add(out, "</td>");
	}
	text_add(out, "<td data-l=\"blocks\">");
	if (p->planned)
		text_add(out, "%u", p->blocks);
	text_add(out, "</td><td data-l=\"%s\">%s</td><td data-l=\"95 %% interval\">", s->baseline ? "ratio" : "value", value);
	history_interval(s, p, &t);
	words(out, &t);
	text_add(out, "</td><td class=\"l\" data-l=\"folder\">");
	html_name(out, history_folder(&h->run[p->run]));
	text_add(out, "</td></tr>\n");
	text_free(&t);
}

static void table(const struct history *h, const struct history_view *v, const struct history_series *s, struct text *out)
{
	static const char *const by[] = { "", "<th>emulator</th>", "<th>guest kernel</th>" };
	struct text t = { 0 };
	size_t next = 0;

	text_add(out, "<details><summary>");
	history_title(h, s, true, &t);
	words(out, &t);
	text_add(out, "</summary>\n");
	history_search_words(s, &t);
	if (t.length) {
		text_add(out, "<p class=\"soft\">");
		words(out, &t);
		text_add(out, "</p>\n");
	}
	text_add(out, "<div class=\"scroll\"><table><thead><tr><th class=\"l\">run</th>%s<th>blocks</th><th>%s</th>"
		      "<th>95 %% interval</th><th class=\"l\">folder</th></tr></thead>\n<tbody>", by[v->by], s->baseline ? "ratio" : "value");
	for (size_t i = 0; i < s->npoints; i++) {
		if (next < s->nchanges && s->change[next].after == i) {
			text_add(out, "<tr><th scope=\"row\" colspan=\"%d\">change: ", v->by == HISTORY_DATE ? 5 : 6);
			history_change_words(h, s, &s->change[next++], &t);
			words(out, &t);
			text_add(out, "</th></tr>\n");
		}
		row(h, v, s, &s->point[i], out);
	}
	text_add(out, "</tbody></table></div></details>\n");
	text_free(&t);
}

int history_html(const struct history *h, const struct history_view *v, struct text *out, struct error *e)
{
	struct text t = { 0 };

	head(v, out);
	text_add(out, "<p>");
	history_headline(h, &t);
	words(out, &t);
	text_add(out, ". ");
	history_apart(h, &t);
	words(out, &t);
	text_add(out, "</p>\n");
	changes(h, v, out);
	charts(h, v, out);
	text_add(out, "<h2>Runs</h2>\n");
	for (size_t i = 0; i < h->nseries; i++)
		table(h, v, &h->series[i], out);
	text_add(out, "<h2>How to read it</h2>\n");
	for (size_t i = 0; history_notes[i]; i++)
		text_add(out, "<p>%s</p>\n", history_notes[i]);
	text_add(out, "</main></body></html>\n");
	text_free(&t);
	return out->failed ? error_set(e, STATUS_HOST, "out of memory") : 0;
}
