#include "host/escape.h"
#include "host/report_html_parts.h"
#include "host/report_text.h"
#include "host/report_values.h"

/* A cell of a table; its label is shown where rows become cards. */
static void cell(struct text *out, const char *label, const char *value)
{
	text_add(out, "<td data-l=\"%s\">", label);
	escape_xml(out, value);
	text_add(out, "</td>");
}

static void sides(struct text *out, const struct effect *e, enum metric metric)
{
	struct text ratio = { 0 };
	char side[METRIC_TEXT_SIZE];

	effect_side_text(e, metric, 0, side);
	cell(out, "baseline", side);
	effect_side_text(e, metric, 1, side);
	cell(out, "candidate", side);
	report_ratio(e, &ratio);
	cell(out, "ratio [95 %]", text_get(&ratio));
	text_free(&ratio);
}

static void p_cell(struct text *out, const char *label, double p)
{
	struct text words = { 0 };

	report_p(p, &words);
	cell(out, label, text_get(&words));
	text_free(&words);
}

static void row_head(struct text *out, const char *name)
{
	text_add(out, "<tr><th scope=\"row\">");
	html_name(out, name);
	text_add(out, "</th>");
}

static void primary_table(const struct comparison *c, unsigned variant, struct text *out)
{
	const struct dataset *d = c->dataset;
	const char *check = d->paired ? "flip p" : "perm p"; /* sign flips of blocks, permutations of runs */

	text_add(out, "<h3>%s, ", metric_info(d->primary)->title);
	html_name(out, d->variant[variant]);
	text_add(out, " (candidate) against ");
	html_name(out, d->variant[d->baseline]);
	text_add(out, " (baseline)</h3>\n<div class=\"scroll\"><table>\n<thead><tr><th class=\"l\" scope=\"col\">cell</th>"
		 "<th scope=\"col\">baseline</th><th scope=\"col\">candidate</th><th scope=\"col\">ratio [95 %% interval]</th>"
		 "<th scope=\"col\">Holm p</th><th scope=\"col\">%s</th><th class=\"l\" scope=\"col\">verdict</th></tr></thead>\n"
		 "<tbody>\n", check);
	for (size_t i = 0; i < c->nfindings; i++) {
		const struct finding *f = &c->finding[i];

		if (f->variant != variant)
			continue;
		row_head(out, d->cell[f->cell].name);
		sides(out, &f->effect[d->primary], d->primary);
		p_cell(out, "Holm p", f->holm);
		p_cell(out, check, f->sign_flip);
		text_add(out, "<td class=\"l\" data-l=\"verdict\">%s</td></tr>\n", verdict_name(f->verdict));
	}
	text_add(out, "</tbody></table></div>\n");
}

static void other_row(const struct effect *e, enum metric metric, struct text *out)
{
	row_head(out, metric_info(metric)->title);
	sides(out, e, metric);
	text_add(out, "<td class=\"l\" data-l=\"\">%s</td></tr>\n", report_note(e, metric));
}

static void other_metrics(const struct comparison *c, const struct finding *f, struct text *out)
{
	const struct dataset *d = c->dataset;
	unsigned complete = f->effect[d->primary].complete;

	text_add(out, "<details><summary>");
	html_name(out, d->cell[f->cell].name);
	text_add(out, ", ");
	html_name(out, d->variant[f->variant]);
	text_add(out, " against ");
	html_name(out, d->variant[d->baseline]);
	if (d->paired)
		text_add(out, ", %u of %u block%s", complete, d->nblocks, d->nblocks == 1 ? "" : "s");
	else
		text_add(out, ", %u and %u runs", f->effect[d->primary].runs[1], f->effect[d->primary].runs[0]);
	text_add(out, "</summary>\n");
	if (complete == 0) {
		text_add(out, "<p>no complete block</p></details>\n");
		return;
	}
	text_add(out, "<div class=\"scroll\"><table>\n<thead><tr><th class=\"l\" scope=\"col\">metric</th><th scope=\"col\">baseline"
		 "</th><th scope=\"col\">candidate</th><th scope=\"col\">ratio [95 %% interval]</th><th class=\"l\" scope=\"col\">"
		 "</th></tr></thead>\n<tbody>\n");
	for (int m = 0; m < METRICS; m++)
		if (m != (int)d->primary && f->effect[m].kind != EFFECT_NO_DATA)
			other_row(&f->effect[m], (enum metric)m, out);
	text_add(out, "</tbody></table></div></details>\n");
}

void html_tables(const struct comparison *c, struct text *out)
{
	const struct dataset *d = c->dataset;
	struct text words = { 0 };

	if (c->nfindings == 0)
		return;
	text_add(out, "<h2>Tables</h2>\n");
	for (unsigned v = 0; v < d->nvariants; v++)
		if (v != d->baseline)
			primary_table(c, v, out);
	report_how_to_read(c, &words);
	text_add(out, "<p class=\"soft\">");
	escape_xml(out, text_get(&words));
	text_add(out, "</p>\n<h3>Other metrics and cost: intervals, no verdict</h3>\n");
	text_free(&words);
	for (size_t i = 0; i < c->nfindings; i++)
		other_metrics(c, &c->finding[i], out);
}
