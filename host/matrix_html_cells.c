#include <stdlib.h>
#include <string.h>

#include "host/escape.h"
#include "host/matrix_html.h"

enum { CONSOLE_LINES = 40, MOST_EVIDENCE = 16 << 10 };

/* Something long that is opened when it is wanted. */
static void folded(const char *title, const char *of, const char *text, struct text *out)
{
	text_add(out, "<details><summary>%s", title);
	escape_xml(out, of);
	text_add(out, "</summary>\n<pre>");
	escape_xml(out, text);
	text_add(out, "</pre></details>\n");
}

/* All of the evidence, for who has to believe it. */
static void evidence(const json_t *check, struct text *out)
{
	const json_t *value = json_object_get(check, "evidence");
	char *text = json_is_object(value) && json_object_size(value) ? json_dumps(value, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) : NULL;

	if (!text)
		return;
	if (strlen(text) > MOST_EVIDENCE)
		text[MOST_EVIDENCE] = '\0';
	folded("Evidence of ", json_string_value(json_object_get(check, "name")), text, out);
	free(text);
}

static void add_line(void *context, const char *line)
{
	struct text *out = context;

	text_add(out, "%s%s", out->length ? "\n" : "", line);
}

/* said: what is in lines, for behind the table. */
static void check_row(const json_t *check, struct text *out, struct text *said)
{
	const char *message = json_string_value(json_object_get(check, "message"));
	enum cell_status status = matrix_check_status(check);
	struct text decisive = { 0 };

	text_add(out, "<tr><th scope=\"row\">");
	escape_xml(out, json_string_value(json_object_get(check, "name")));
	text_add(out, "</th><td class=\"l\" data-l=\"status\">");
	matrix_html_badge(status, out);
	text_add(out, "</td><td data-l=\"seconds\">%.1f</td><td class=\"l\" data-l=\"\">",
		 json_number_value(json_object_get(check, "seconds")));
	escape_xml(out, message ? message : "");
	if (matrix_bad(status))
		matrix_evidence(check, &decisive);
	if (decisive.length) {
		text_add(out, "<br>");
		escape_xml(out, text_get(&decisive));
	}
	text_reset(&decisive);
	if (matrix_bad(status))
		matrix_evidence_lines(check, add_line, &decisive);
	text_add(out, "</td></tr>\n");
	if (decisive.length) { /* over the whole width: as a pre in the table it would make that wider than the page */
		text_add(said, "<pre>");
		escape_xml(said, text_get(&decisive));
		text_add(said, "</pre>\n");
	}
	text_free(&decisive);
}

static void checks_of(const json_t *record, struct text *out)
{
	const json_t *checks = json_object_get(record, "checks"), *check;
	struct text said = { 0 };
	size_t i;

	if (json_array_size(checks) == 0)
		return;
	text_add(out, "<div class=\"scroll\"><table>\n<thead><tr><th class=\"l\" scope=\"col\">check</th><th class=\"l\" scope=\"col\">status</th>"
		      "<th scope=\"col\">seconds</th><th class=\"l\" scope=\"col\">message</th></tr></thead>\n<tbody>\n");
	json_array_foreach(checks, i, check)
		check_row(check, out, &said);
	text_add(out, "</tbody></table></div>\n%s", text_get(&said));
	text_free(&said);
	json_array_foreach(checks, i, check)
		evidence(check, out);
}

/* "verified": {key: value}, "unverified", "mismatch", "features": [name]: a row each. */
static void settings_row(const json_t *effective, const char *key, const char *label, struct text *out)
{
	const json_t *set = json_object_get(effective, key), *value;
	struct text words = { 0 };
	const char *name;
	size_t i;

	json_object_foreach((json_t *)set, name, value) {
		char *dumped = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

		text_add(&words, "%s%s %s", words.length ? "; " : "", name, dumped ? dumped : json_string_value(value));
		free(dumped);
	}
	json_array_foreach(set, i, value)
		if (json_is_string(value))
			text_add(&words, "%s%s", words.length ? "; " : "", json_string_value(value));
	if (words.length) {
		text_add(out, "<dt>%s</dt><dd>", label);
		escape_xml(out, text_get(&words));
		text_add(out, "</dd>\n");
	}
	text_free(&words);
}

static void settings(const json_t *record, struct text *out)
{
	const json_t *effective = json_object_get(record, "effective");

	if (!json_is_object(effective))
		return;
	text_add(out, "<h4>Settings in force, as seen in the running guest</h4>\n<dl>\n");
	settings_row(effective, "mismatch", "mismatch", out);
	settings_row(effective, "verified", "verified", out);
	settings_row(effective, "unverified", "not verified", out);
	settings_row(effective, "features", "features", out);
	text_add(out, "</dl>\n");
}

static void one_cell(const struct matrix_folder *f, const struct matrix_table *t, size_t i, struct text *out)
{
	const json_t *record = matrix_cell_record(f, i);
	const char *reason = matrix_cell_text(f, i, "reason"), *again = matrix_cell_text(f, i, "reproduce");
	char *console = matrix_console_tail(f, i, CONSOLE_LINES);
	enum cell_status status = t->status[i];

	text_add(out, "<details id=\"cell-%u\"%s><summary>", matrix_cell_number(f, i), matrix_bad(status) ? " open" : "");
	matrix_html_badge(status, out);
	text_add(out, "<b>Cell %u</b> ", matrix_cell_number(f, i));
	for (size_t k = 0; k < t->ncolumns; k++) { /* with blanks, where a line may be broken */
		text_add(out, k ? ", " : "");
		escape_xml(out, t->column[k].name);
		text_add(out, "=");
		escape_xml(out, matrix_table_value(t, i, k));
	}
	text_add(out, "</summary>\n");
	if (!record)
		text_add(out, "<p>This cell has not been run.</p>\n");
	if (*reason) {
		text_add(out, "<p class=\"note\">");
		escape_xml(out, reason);
		text_add(out, "</p>\n");
	}
	checks_of(record, out);
	settings(record, out);
	if (console)
		folded("The console's last lines: ", matrix_cell_text(f, i, "console"), console, out);
	if (*again) {
		text_add(out, "<h4>Again</h4>\n<pre>");
		escape_xml(out, again);
		text_add(out, "</pre>\n");
	}
	text_add(out, "</details>\n");
	free(console);
}

/* What has to be looked at comes first. */
void matrix_html_cells(const struct matrix_folder *f, const struct matrix_table *t, struct text *out)
{
	text_add(out, "<h2>Cells</h2>\n");
	for (size_t i = 0; i < t->ncells; i++)
		if (matrix_bad(t->status[i]))
			one_cell(f, t, i, out);
	for (size_t i = 0; i < t->ncells; i++)
		if (!matrix_bad(t->status[i]))
			one_cell(f, t, i, out);
}
