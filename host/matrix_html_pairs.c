#include <stdlib.h>

#include "host/escape.h"
#include "host/matrix_html.h"

enum { MOST_VALUES = 60 }; /* more make no table that anybody reads */

/* A value of an option that varies: a row and a column of the table. */
struct place {
	size_t option;
	unsigned value;
};

static void name_of(const struct matrix_table *t, const struct place *p, struct text *out)
{
	escape_xml(out, t->column[p->option].name);
	text_add(out, "=");
	escape_xml(out, t->column[p->option].value[p->value]);
}

static void title(const struct matrix_table *t, const struct place *row, const struct place *column, struct text *out)
{
	text_add(out, " title=\"");
	name_of(t, row, out);
	text_add(out, " with ");
	name_of(t, column, out);
	text_add(out, "\">");
}

static void one_pair(const struct matrix_folder *f, const struct matrix_table *t, const struct place *row, const struct place *column,
		     struct text *out)
{
	struct matrix_pair p;

	if (row->option == column->option) {
		text_add(out, "<td></td>");
		return;
	}
	p = matrix_pair_of(t, row->option, row->value, column->option, column->value);
	if (p.passed + p.failed) {
		text_add(out, "<td class=\"%s\"", !p.failed ? "pass" : p.passed ? "fail" : "fail all");
		title(t, row, column, out);
		if (p.failed)
			text_add(out, "%u/%u</td>", p.passed, p.failed);
		else
			text_add(out, "%u</td>", p.passed);
		return;
	}
	text_add(out, "<td class=\"none\"");
	title(t, row, column, out);
	text_add(out, p.untried ? "?</td>" :
		 matrix_pair_impossible(f, t, row->option, row->value, column->option, column->value) ? "\342\200\223</td>" : "\302\267</td>");
}

static size_t places(const struct matrix_table *t, struct place *out)
{
	size_t n = 0;

	for (size_t k = 0; k < t->ncolumns; k++)
		for (unsigned v = 0; t->column[k].varies && v < t->column[k].nvalues; v++, n++)
			if (out)
				out[n] = (struct place){ k, v };
	return n;
}

/* The lower half: rows from the second option on, columns up to the last but one. */
void matrix_html_pairs(const struct matrix_folder *f, const struct matrix_table *t, struct text *out)
{
	size_t n = places(t, NULL);
	struct place *place = n && n <= MOST_VALUES ? calloc(n, sizeof(*place)) : NULL;

	if (!place)
		return;
	places(t, place);
	if (place[0].option == place[n - 1].option) /* one option alone has no pairs */
		goto out;
	text_add(out, "<h2>Pairs of values</h2>\n<p class=\"soft\">How many cells with both values passed; of those in which one failed, "
		      "stalled or was corrupt: passed/failed, in a frame where none passed. ? not tried, \342\200\223 impossible, \302\267 in no cell.</p>\n"
		      "<div class=\"scroll\"><table class=\"pairs\">\n<thead><tr><td></td>");
	for (size_t c = 0; c < n && place[c].option != place[n - 1].option; c++) {
		text_add(out, "<th scope=\"col\">");
		name_of(t, &place[c], out);
		text_add(out, "</th>");
	}
	text_add(out, "</tr></thead>\n<tbody>\n");
	for (size_t r = 0; r < n; r++) {
		if (place[r].option == place[0].option)
			continue;
		text_add(out, "<tr><th scope=\"row\">");
		name_of(t, &place[r], out);
		text_add(out, "</th>");
		for (size_t c = 0; c < n && place[c].option < place[r].option; c++)
			one_pair(f, t, &place[r], &place[c], out);
		text_add(out, "</tr>\n");
	}
	text_add(out, "</tbody></table></div>\n");
out:
	free(place);
}
