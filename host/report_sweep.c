#include "host/report_sweep.h"

#include <string.h>

#include "host/escape.h"
#include "host/report_csv.h"
#include "host/report_layout.h"
#include "host/report_text.h"
#include "host/sweep.h"

/* How many runs a value comes from is only worth a table when it is not as planned. */
static bool shown(const struct sweep *s, enum sweep_table table)
{
	return table != SWEEP_RUNS || s->short_of_runs;
}

/* ---- text ---- */

static int value_width(const struct sweep *s)
{
	size_t width = 7;

	for (size_t c = 0; c < s->ncolumns; c++)
		width = layout_width(s->column[c]) > width ? layout_width(s->column[c]) : width;
	return -(int)(width + 1);
}

static void text_table(const struct sweep *s, enum sweep_table table, int width, struct text *out)
{
	text_add(out, "%s\n", sweep_title(s, table));
	if (!sweep_has(s, table)) {
		text_add(out, "  -  (not measured)\n\n");
		return;
	}
	for (size_t c = 0; c < s->ncolumns; c++)
		layout_pad(out, s->column[c], width);
	text_add(out, "  <- ");
	layout_pad(out, *s->key ? s->key : "no option varies", 0);
	text_add(out, "\n");
	for (size_t r = 0; r < s->nrows; r++) {
		if (s->row[r].new_group)
			text_add(out, "-\n");
		for (size_t c = 0; c < s->ncolumns; c++) {
			char value[METRIC_TEXT_SIZE];

			sweep_text(sweep_value(s, table, r, c), table, value);
			layout_pad(out, value, width);
		}
		text_add(out, "  ");
		layout_pad(out, s->row[r].label, 0);
		text_add(out, "\n");
	}
	text_add(out, "\n");
}

static void sentences(const char *label, char *const *s, size_t n, struct text *out)
{
	for (size_t i = 0; i < n; i++)
		layout_wrap(out, label, 6, s[i]);
}

int report_sweep_text(const struct comparison *c, struct text *out, struct error *e)
{
	const struct dataset *d = c->dataset;
	struct sweep *s;

	if (sweep_make(d, &s, e))
		return -1;
	for (unsigned v = 0; v < d->nvariants; v++) {
		struct text line = { 0 };

		if (v == d->baseline)
			continue;
		report_headline(c, v, &line);
		layout_wrap(out, "", 0, text_get(&line));
		text_free(&line);
	}
	sentences("Mind:", c->warning, c->nwarnings, out);
	sentences("Next:", c->advice, c->nadvice, out);
	layout_wrap(out, "", 0, "Values are geometric means over the runs of each variant; verdicts, ratios and intervals are in "
				"the layout cells.");
	text_add(out, "\n");
	for (int table = 0; table < SWEEP_TABLES; table++)
		if (shown(s, (enum sweep_table)table))
			text_table(s, (enum sweep_table)table, value_width(s), out);
	report_what_ran(d, out);
	report_trials(d, out);
	sweep_free(s);
	return 0;
}

/* ---- Markdown ---- */

static void markdown_table(const struct sweep *s, enum sweep_table table, struct text *out)
{
	text_add(out, "#### %s\n\n", sweep_title(s, table));
	if (!sweep_has(s, table)) {
		text_add(out, "Not measured.\n\n");
		return;
	}
	text_add(out, "| ");
	escape_markdown(out, *s->key ? s->key : "no option varies");
	text_add(out, " |");
	for (size_t c = 0; c < s->ncolumns; c++) {
		text_add(out, " ");
		escape_markdown(out, s->column[c]);
		text_add(out, " |");
	}
	text_add(out, "\n|---|");
	for (size_t c = 0; c < s->ncolumns; c++)
		text_add(out, "---:|");
	text_add(out, "\n");
	for (size_t r = 0; r < s->nrows; r++) {
		for (size_t c = 0; s->row[r].new_group && c <= s->ncolumns; c++)
			text_add(out, c < s->ncolumns ? "| " : "| |\n");
		text_add(out, "| ");
		escape_markdown(out, s->row[r].label);
		text_add(out, " |");
		for (size_t c = 0; c < s->ncolumns; c++) {
			char value[METRIC_TEXT_SIZE];

			sweep_text(sweep_value(s, table, r, c), table, value);
			text_add(out, " %s |", value);
		}
		text_add(out, "\n");
	}
	text_add(out, "\n");
}

int report_sweep_markdown(const struct comparison *c, struct text *out, struct error *e)
{
	struct sweep *s;

	if (sweep_make(c->dataset, &s, e))
		return -1;
	for (int table = 0; table < SWEEP_TABLES; table++)
		if (shown(s, (enum sweep_table)table))
			markdown_table(s, (enum sweep_table)table, out);
	sweep_free(s);
	return 0;
}

/* ---- CSV ---- */

static void csv_row(const struct sweep *s, enum sweep_table table, size_t r, struct text *out)
{
	const char *const field[] = { sweep_name(s, table), sweep_unit(table), s->row[r].block_size, s->row[r].guest,
				      s->row[r].workload, s->row[r].variant };

	for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++) {
		text_add(out, i ? "," : "");
		escape_csv(out, field[i]);
	}
	for (size_t c = 0; c < s->ncolumns; c++) {
		text_add(out, ",");
		report_csv_number(out, sweep_value(s, table, r, c));
	}
	text_add(out, "\r\n");
}

int report_sweep_csv(const struct comparison *c, struct text *out, struct error *e)
{
	struct sweep *s;

	if (sweep_make(c->dataset, &s, e))
		return -1;
	text_add(out, "quantity,unit,block_size,guest,workload,variant");
	for (size_t i = 0; i < s->ncolumns; i++) {
		struct text name = { 0 };

		text_add(&name, "%s%s%s", s->key, *s->key ? "=" : "", s->column[i]);
		text_add(out, ",");
		escape_csv(out, text_get(&name));
		text_free(&name);
	}
	text_add(out, "\r\n");
	for (int table = 0; table < SWEEP_TABLES; table++)
		for (size_t r = 0; r < s->nrows; r++)
			csv_row(s, (enum sweep_table)table, r, out);
	sweep_free(s);
	return 0;
}
