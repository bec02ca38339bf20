/* A matrix as one page: the head, the table of cells, what failing cells share, pairs, every cell. */
#include "host/matrix_html.h"

#include "host/escape.h"
#include "host/report_html_parts.h"

/* On a phone the table of pairs stays a table and is scrolled: as cards it would be a thousand lines. */
static void style(struct text *out)
{
	text_add(out, ".pass{color:var(--good)}.fail{color:var(--bad)}.stop{color:var(--stop)}.skip{color:var(--even)}.gone{color:var(--open)}\n"
		      "td .badge{margin:0}td a,th a{color:inherit}\n"
		      "@media (min-width:44.01rem){table.matrix th[scope=row],table.matrix td.l{min-width:0;white-space:nowrap}"
		      "table.matrix th,table.matrix td{padding:.3em .35em}table.matrix th[scope=col]{white-space:normal}}\n"
		      "table.pairs{width:auto;font-size:.8rem}table.pairs th,table.pairs td{padding:.15em .4em;text-align:center;"
		      "border:1px solid var(--line);white-space:nowrap;min-width:0}table.pairs th[scope=row]{text-align:left}\n"
		      "table.pairs thead th{writing-mode:vertical-rl;text-align:right;vertical-align:bottom}\n"
		      "table.pairs td.fail{background:var(--band);font-weight:600}"
		      "table.pairs td.all{outline:2px solid currentColor;outline-offset:-2px}table.pairs td.none{color:var(--soft)}\n"
		      "@media (max-width:44rem){table.pairs{display:table}table.pairs thead{display:table-header-group;position:static;"
		      "clip-path:none;width:auto;height:auto}table.pairs tbody{display:table-row-group}table.pairs tr{display:table-row}"
		      "table.pairs td,table.pairs th[scope=row]{display:table-cell}table.pairs td::before{content:none}}\n");
}

void matrix_html_badge(enum cell_status status, struct text *out)
{
	static const struct { const char *class, *sign; } look[CELL_STATUSES + 1] = {
		[CELL_PASS] = { "pass", "\342\234\223" },    [CELL_SKIPPED] = { "skip", "\342\200\223" }, [CELL_FAIL] = { "fail", "\342\234\227" },
		[CELL_STALLED] = { "stop", "\342\226\240" }, [CELL_CORRUPT] = { "stop", "!" },            [CELL_MISSING] = { "gone", "?" },
	};

	text_add(out, "<span class=\"badge %s\">%s %s</span>", look[status].class, look[status].sign, matrix_word(status));
}

static void fact(void *context, const char *label, const char *words)
{
	struct text *out = context;

	text_add(out, "<dt>%s</dt><dd>", label);
	escape_xml(out, words);
	text_add(out, "</dd>\n");
}

static void paragraph(const char *class, const char *words, struct text *out)
{
	text_add(out, "<p class=\"%s\">", class);
	escape_xml(out, words);
	text_add(out, "</p>\n");
}

static void one_row(const struct matrix_folder *f, const struct matrix_table *t, size_t i, struct text *out)
{
	unsigned number = matrix_cell_number(f, i);
	const json_t *record = matrix_cell_record(f, i);

	text_add(out, "<tr><th scope=\"row\"><a href=\"#cell-%u\">%u</a></th>", number, number);
	text_add(out, "<td class=\"l\" data-l=\"status\">");
	matrix_html_badge(t->status[i], out);
	text_add(out, "</td>");
	for (size_t k = 0; k < t->ncolumns; k++) {
		if (!t->column[k].varies)
			continue;
		text_add(out, "<td class=\"l\" data-l=\"");
		escape_xml(out, t->column[k].name);
		text_add(out, "\">");
		escape_xml(out, matrix_table_value(t, i, k));
		text_add(out, "</td>");
	}
	text_add(out, "<td data-l=\"seconds\">");
	if (record)
		text_add(out, "%.1f", json_number_value(json_object_get(record, "seconds")));
	text_add(out, "</td></tr>\n");
}

static void table(const struct matrix_folder *f, const struct matrix_table *t, struct text *out)
{
	text_add(out, "<h2>Matrix</h2>\n<div class=\"scroll\"><table class=\"matrix\">\n<thead><tr><th class=\"l\" scope=\"col\">cell</th>"
		      "<th class=\"l\" scope=\"col\">status</th>");
	for (size_t k = 0; k < t->ncolumns; k++) {
		if (!t->column[k].varies)
			continue;
		text_add(out, "<th class=\"l\" scope=\"col\">");
		escape_xml(out, t->column[k].name);
		text_add(out, "</th>");
	}
	text_add(out, "<th scope=\"col\">seconds</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < t->ncells; i++)
		one_row(f, t, i, out);
	text_add(out, "</tbody></table></div>\n");
}

static int write_all(const struct matrix_folder *f, const struct matrix_table *t, struct text *out, struct error *e)
{
	const char *name = json_string_value(json_object_get(json_object_get(f->run, "scenario"), "name"));
	json_t *common = matrix_failures_words(t, e), *sentence;
	struct text words = { 0 };
	size_t i;

	if (!common)
		return -1;
	html_head(out, name ? name : "regress", "kickbench regression matrix", style);
	matrix_counts(f, &words);
	paragraph("headline", text_get(&words), out);
	text_reset(&words);
	matrix_headline(f, t, &words);
	paragraph("soft", text_get(&words), out);
	text_free(&words);
	json_array_foreach(common, i, sentence)
		paragraph("note", json_string_value(sentence), out);
	json_decref(common);
	table(f, t, out);
	matrix_html_pairs(f, t, out);
	text_add(out, "<h2>What ran</h2>\n<dl>\n");
	matrix_facts(f, t, fact, out);
	matrix_unchecked(f, t, fact, out);
	text_add(out, "</dl>\n");
	matrix_html_cells(f, t, out);
	html_end(out);
	return out->failed ? error_set(e, STATUS_HOST, "out of memory") : 0;
}

int matrix_report_html(const struct matrix_folder *f, struct text *out, struct error *e)
{
	struct matrix_table t;
	int rc;

	if (matrix_table_make(f, &t, e))
		return -1;
	rc = write_all(f, &t, out, e);
	matrix_table_free(&t);
	return rc;
}
