/* A matrix for a terminal and a mail. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/matrix_words.h"
#include "host/report_layout.h"

enum { LABEL = 14, NUMBER = 4, STATUS = 9, SECONDS = 8 };
enum { MOST_LINES = 12 }; /* of what a check's evidence says in lines */

/* ---- the table ---- */

struct heading {
	char *words; /* of the column's head: its name, or less of it */
	size_t width, values;
};

/* "write_cache": "wc"; "qemu.indirect_desc": "qid"; "transport": "tra". */
static char *shortened(const char *name, size_t least)
{
	bool parts = strpbrk(name, "_.-") != NULL, begins = true;
	size_t length = least < 3 ? 3 : least;
	struct text t = { 0 };

	if (!parts)
		return strndup(name, length);
	for (const char *p = name; *p; p++) {
		if (begins)
			text_add_bytes(&t, p, 1);
		begins = strchr("_.-", *p) != NULL;
	}
	return t.data;
}

static void measure(const struct matrix_table *t, size_t k, struct heading *h)
{
	for (size_t i = 0; i < t->ncells; i++) {
		size_t wide = layout_width(matrix_table_value(t, i, k));

		h->values = wide > h->values ? wide : h->values;
	}
	h->width = layout_width(h->words);
	h->width = h->values > h->width ? h->values : h->width;
}

static size_t total(const struct matrix_table *t, const struct heading *h)
{
	size_t n = NUMBER + STATUS + SECONDS + 2;

	for (size_t k = 0; k < t->ncolumns; k++)
		n += t->column[k].varies ? h[k].width + 2 : 0;
	return n;
}

static bool taken(const struct matrix_table *t, const struct heading *h, const char *words)
{
	for (size_t k = 0; k < t->ncolumns; k++)
		if (strcmp(h[k].words, words) == 0)
			return true;
	return false;
}

/* Make the name shorter that gains most by it. False: none does. */
static bool shorten_one(const struct matrix_table *t, struct heading *h)
{
	size_t best = 0, gain = 0;
	char *words;

	for (size_t k = 0; k < t->ncolumns; k++)
		if (t->column[k].varies && h[k].width - h[k].values > gain && strcmp(h[k].words, t->column[k].name) == 0) {
			best = k;
			gain = h[k].width - h[k].values;
		}
	words = gain ? shortened(t->column[best].name, h[best].values) : NULL;
	if (words && taken(t, h, words)) {
		free(words); /* two that look alike would be worse than a long line: the column's number */
		words = malloc(24);
		if (words)
			snprintf(words, 24, "o%zu", best + 1);
	}
	if (!words || layout_width(words) >= h[best].width) {
		free(words);
		return false;
	}
	free(h[best].words);
	h[best].words = words;
	measure(t, best, &h[best]);
	return true;
}

static void free_headings(struct heading *h, size_t n)
{
	for (size_t k = 0; h && k < n; k++)
		free(h[k].words);
	free(h);
}

static struct heading *headings(const struct matrix_table *t)
{
	struct heading *h = calloc(t->ncolumns + 1, sizeof(*h));

	for (size_t k = 0; h && k < t->ncolumns; k++) {
		h[k].words = strdup(t->column[k].name);
		if (!h[k].words) {
			free_headings(h, t->ncolumns);
			return NULL;
		}
		measure(t, k, &h[k]);
	}
	while (h && total(t, h) > REPORT_COLUMNS && shorten_one(t, h))
		;
	return h;
}

static void status_word(enum cell_status status, int width, bool color, struct text *out)
{
	const char *code = matrix_bad(status) ? "31;1" : status == CELL_PASS ? "32" : "33";

	if (color)
		text_add(out, "\033[%sm", code);
	text_add(out, "%s", matrix_word(status));
	if (color)
		text_add(out, "\033[m");
	if (width > 0)
		layout_pad(out, "", width - (int)strlen(matrix_word(status)));
}

static void seconds_of(const struct matrix_folder *f, size_t i, struct text *out)
{
	const json_t *record = matrix_cell_record(f, i);

	if (record)
		text_add(out, "%.1f", json_number_value(json_object_get(record, "seconds")));
	else
		text_add(out, "-");
}

static void one_row(const struct matrix_folder *f, const struct matrix_table *t, const struct heading *h, size_t i, bool color,
		    struct text *out)
{
	struct text s = { 0 };

	text_add(out, "%*u  ", NUMBER, matrix_cell_number(f, i));
	for (size_t k = 0; k < t->ncolumns; k++)
		if (t->column[k].varies)
			layout_pad(out, matrix_table_value(t, i, k), (int)h[k].width + 2);
	status_word(t->status[i], STATUS, color, out);
	seconds_of(f, i, &s);
	layout_pad(out, text_get(&s), -SECONDS);
	text_add(out, "\n");
	text_free(&s);
}

static void legend(const struct matrix_table *t, const struct heading *h, struct text *out)
{
	struct text words = { 0 };

	for (size_t k = 0; k < t->ncolumns; k++)
		if (strcmp(h[k].words, t->column[k].name) != 0)
			text_add(&words, "%s%s = %s", words.length ? ", " : "", h[k].words, t->column[k].name);
	if (words.length)
		layout_wrap(out, "", 2, text_get(&words));
	text_reset(&words);
	for (size_t k = 0; t->ncells && k < t->ncolumns; k++)
		if (!t->column[k].varies)
			text_add(&words, "%s%s=%s", words.length ? ", " : "", t->column[k].name, matrix_table_value(t, 0, k));
	if (words.length)
		layout_wrap(out, "  every cell:", 14, text_get(&words));
	text_free(&words);
}

static int table(const struct matrix_folder *f, const struct matrix_table *t, bool color, struct text *out, struct error *e)
{
	struct heading *h = headings(t);

	if (!h)
		return error_set(e, STATUS_HOST, "out of memory");
	text_add(out, "%*s  ", NUMBER, "cell");
	for (size_t k = 0; k < t->ncolumns; k++)
		if (t->column[k].varies)
			layout_pad(out, h[k].words, (int)h[k].width + 2);
	text_add(out, "%-*s%*s\n", STATUS, "status", SECONDS, "seconds");
	for (size_t i = 0; i < t->ncells; i++)
		one_row(f, t, h, i, color, out);
	legend(t, h, out);
	text_add(out, "\n");
	free_headings(h, t->ncolumns);
	return 0;
}

/* ---- cells that did not pass ---- */

static const char *text_in(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : "";
}

struct said {
	struct text *out;
	int left; /* lines that may still be shown; below 0: how many were not */
};

/* A kernel's line stays one: what does not fit is cut, the console's file has it whole. */
static void said_line(void *context, const char *line)
{
	struct said *s = context;
	size_t bytes = strlen(line);
	struct text part = { 0 };

	if (s->left-- <= 0)
		return;
	if (layout_width(line) > REPORT_COLUMNS - LABEL - 2) {
		bytes = 0;
		for (size_t n = 0; n < REPORT_COLUMNS - LABEL - 3 || ((unsigned char)line[bytes] & 0xc0) == 0x80; bytes++)
			n += ((unsigned char)line[bytes] & 0xc0) != 0x80;
	}
	text_add_bytes(&part, line, bytes);
	text_add(&part, "%s", line[bytes] ? "\342\200\246" : "");
	layout_pad(s->out, "", LABEL);
	layout_pad(s->out, "| ", 0);
	layout_pad(s->out, text_get(&part), 0);
	text_add(s->out, "\n");
	text_free(&part);
}

static void one_check(const json_t *check, struct text *out)
{
	const char *message = text_in(check, "message");
	struct said s = { out, MOST_LINES };
	struct text words = { 0 };

	text_add(&words, "%s: %s", text_in(check, "name"), matrix_word(matrix_check_status(check)));
	if (*message)
		text_add(&words, ": %s", message);
	layout_wrap(out, "  check", LABEL, text_get(&words));
	text_reset(&words);
	matrix_evidence(check, &words);
	if (words.length)
		layout_wrap(out, "", LABEL, text_get(&words));
	matrix_evidence_lines(check, said_line, &s);
	if (s.left < 0) {
		text_reset(&words);
		text_add(&words, "and %d more lines", -s.left);
		layout_wrap(out, "", LABEL, text_get(&words));
	}
	text_free(&words);
}

/* A cell's reason is one of its checks', which is told in full. */
static bool is_of_check(const json_t *checks, const char *reason)
{
	const json_t *check;
	size_t i;

	json_array_foreach(checks, i, check) {
		const char *name = text_in(check, "name"), *message = text_in(check, "message");

		if (matrix_bad(matrix_check_status(check)) &&
		    (strncmp(reason, name, strlen(name)) == 0 || (*message && strstr(reason, message))))
			return true;
	}
	return false;
}

/* Something to copy is not broken, whatever its width. */
static void line_of(const char *label, const char *before, const char *s, struct text *out)
{
	if (!*s)
		return;
	layout_pad(out, label, LABEL);
	layout_pad(out, before, 0);
	layout_pad(out, s, 0);
	text_add(out, "\n");
}

static void bad_cell(const struct matrix_folder *f, size_t i, enum cell_status status, bool color, struct text *out)
{
	const json_t *record = matrix_cell_record(f, i), *checks = json_object_get(record, "checks"), *check;
	const char *reason = matrix_cell_text(f, i, "reason");
	struct text word = { 0 }, folder = { 0 };
	size_t k;

	text_add(&word, "Cell %u", matrix_cell_number(f, i));
	layout_pad(out, text_get(&word), LABEL);
	status_word(status, 0, color, out);
	text_add(out, "\n");
	if (*reason && !is_of_check(checks, reason))
		layout_wrap(out, "  reason", LABEL, reason);
	json_array_foreach(checks, k, check)
		if (matrix_bad(matrix_check_status(check)))
			one_check(check, out);
	text_add(&folder, "%s/", f->path);
	line_of("  console", text_get(&folder), matrix_cell_text(f, i, "console"), out);
	line_of("  again", "", matrix_cell_text(f, i, "reproduce"), out);
	text_add(out, "\n");
	text_free(&word);
	text_free(&folder);
}

struct group {
	const struct matrix_folder *f;
	const struct matrix_table *t;
	enum cell_status status;
	const char *reason;
};

static bool in_group(void *context, size_t i)
{
	const struct group *g = context;

	return g->t->status[i] == g->status && strcmp(matrix_cell_text(g->f, i, "reason"), g->reason) == 0;
}

/* Cells of one status and reason: a paragraph. */
static void group_of(struct group g, const char *label, struct text *out)
{
	struct text words = { 0 };

	matrix_cell_list(g.f, in_group, &g, &words);
	if (*g.reason)
		text_add(&words, ": %s", g.reason);
	layout_wrap(out, label, LABEL, text_get(&words));
	text_free(&words);
}

static void unchecked(void *context, const char *label, const char *words)
{
	(void)label;
	layout_wrap(context, "Unchecked", LABEL, words);
}

static void not_tried(const struct matrix_folder *f, const struct matrix_table *t, struct text *out)
{
	size_t before = out->length;

	for (size_t i = 0; i < t->ncells; i++) {
		struct group g = { f, t, CELL_SKIPPED, matrix_cell_text(f, i, "reason") };
		size_t first = 0;

		while (t->status[i] == CELL_SKIPPED && first < i && !in_group(&g, first))
			first++;
		if (t->status[i] == CELL_SKIPPED && first == i)
			group_of(g, "Skipped", out);
	}
	if (f->missing) {
		struct text again = { 0 };

		group_of((struct group){ f, t, CELL_MISSING, "" }, "Missing", out);
		text_add(&again, "kickbench regress --resume %s", f->path);
		line_of("  go on", "", text_get(&again), out);
		if (matrix_is_open(f))
			layout_wrap(out, "", LABEL, "(the last session did not say that it ended: it was killed, or is still at it)");
		text_free(&again);
	}
	matrix_unchecked(f, t, unchecked, out);
	if (out->length > before)
		text_add(out, "\n");
}

/* ---- all of it ---- */

static void fact(void *context, const char *label, const char *words)
{
	struct text line = { 0 };

	text_add(&line, "  %s", label);
	layout_wrap(context, text_get(&line), LABEL, words);
	text_free(&line);
}

static int write_all(const struct matrix_folder *f, const struct matrix_table *t, bool color, struct text *out, struct error *e)
{
	json_t *common = matrix_failures_words(t, e), *sentence;
	struct text line = { 0 };
	size_t i;

	if (!common)
		return -1;
	matrix_headline(f, t, &line);
	layout_wrap(out, "", 0, text_get(&line));
	text_free(&line);
	matrix_facts(f, t, fact, out);
	text_add(out, "\n");
	if (table(f, t, color, out, e)) {
		json_decref(common);
		return -1;
	}
	json_array_foreach(common, i, sentence)
		layout_wrap(out, "", 0, json_string_value(sentence));
	text_add(out, json_array_size(common) ? "\n" : "");
	json_decref(common);
	for (i = 0; i < t->ncells; i++)
		if (matrix_bad(t->status[i]))
			bad_cell(f, i, t->status[i], color, out);
	not_tried(f, t, out);
	matrix_counts(f, out);
	text_add(out, "\n");
	return out->failed ? error_set(e, STATUS_HOST, "out of memory") : 0;
}

int matrix_report_text(const struct matrix_folder *f, bool color, struct text *out, struct error *e)
{
	struct matrix_table t;
	int rc;

	if (matrix_table_make(f, &t, e))
		return -1;
	rc = write_all(f, &t, color, out, e);
	matrix_table_free(&t);
	return rc;
}
