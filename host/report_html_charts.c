#include <stdbool.h>
#include <string.h>

#include "host/charts.h"
#include "host/escape.h"
#include "host/report_html_parts.h"

static const struct { const char *title, *words; } kinds[CHART_KINDS] = {
	[CHART_RATIO] = { "How much", NULL },
	[CHART_SWEEP] = { "Over the sweep", NULL },
	[CHART_LATENCY] = { "Latency by percentile", "All counted trials of a variant together, reads and writes; logarithmic axis, "
			    "the tail spread out. Lower is better." },
	[CHART_TIME] = { "Trials in time order", "Every mark is a trial that counts. A slope or a step that all variants share is "
			 "drift of the host." },
};

static void legend(const struct dataset *d, bool with_baseline, struct text *out)
{
	text_add(out, "<ul class=\"legend\">");
	for (unsigned v = 0; v < d->nvariants; v++) {
		if (v == d->baseline && !with_baseline)
			continue;
		text_add(out, "<li><span class=\"v%u\" aria-hidden=\"true\">%s</span> ", chart_colour(d, v), chart_mark(d, v));
		html_name(out, d->variant[v]);
		text_add(out, "%s</li>", v == d->baseline ? " (baseline)" : "");
	}
	text_add(out, "</ul>\n");
}

static void figure(const struct chart *chart, bool with_note, struct text *out)
{
	text_add(out, "<figure><h4><bdi>");
	escape_xml(out, text_get(&chart->heading));
	text_add(out, "</bdi></h4>\n");
	text_add_bytes(out, text_get(&chart->svg), chart->svg.length);
	if (with_note && chart->note.length) {
		text_add(out, "<figcaption>");
		escape_xml(out, text_get(&chart->note));
		text_add(out, "</figcaption>\n");
	}
	text_add(out, "</figure>\n");
}

/* The charts of one kind, which follow each other. A note that they all have is said once. */
static void of_one_kind(const struct dataset *d, const struct chart *chart, size_t n, struct text *out)
{
	const char *note = text_get(&chart->note), *words = kinds[chart->kind].words;
	bool shared = n > 1 && *note;

	for (size_t i = 1; i < n; i++)
		shared &= strcmp(note, text_get(&chart[i].note)) == 0;
	text_add(out, "<h3>%s</h3>\n", kinds[chart->kind].title);
	legend(d, chart->kind != CHART_RATIO, out);
	if (words || shared) {
		text_add(out, "<p class=\"soft\">%s%s", words ? words : "", words && d->ncells > CHARTS_CELLS ?
			 " The first 24 cells." : "");
		if (chart->kind == CHART_TIME && d->paired)
			text_add(out, " Blocks take it out of the comparison.");
		text_add(out, "%s", words && shared ? " " : "");
		escape_xml(out, shared ? note : "");
		text_add(out, "</p>\n");
	}
	text_add(out, "<div class=\"charts\">\n");
	for (size_t i = 0; i < n; i++)
		figure(&chart[i], !shared, out);
	text_add(out, "</div>\n");
}

void html_charts(const struct comparison *c, struct text *out)
{
	const struct dataset *d = c->dataset;
	struct charts charts;
	struct error e = { 0 };

	if (charts_draw(c, &charts, &e)) {
		text_add(out, "<h2>Charts</h2>\n<p>There are no charts: ");
		escape_xml(out, e.text);
		text_add(out, ". The tables below have all their numbers.</p>\n");
		return;
	}
	if (charts.n)
		text_add(out, "<h2>Charts</h2>\n");
	for (size_t i = 0, n; i < charts.n; i += n) {
		for (n = 1; i + n < charts.n && charts.chart[i + n].kind == charts.chart[i].kind; n++)
			;
		of_one_kind(d, &charts.chart[i], n, out);
	}
	charts_free(&charts);
}
