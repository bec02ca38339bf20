#include "host/matrix_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/dirs.h"

#define MOST_EVIDENCE 160      /* bytes: a line or two */
#define MOST_CONSOLE (8 << 10) /* bytes of a console that are looked at for its last lines */

static const char *string_in(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : "";
}

/* ---- the head ---- */

void matrix_headline(const struct matrix_folder *f, const struct matrix_table *t, struct text *out)
{
	const char *name = string_in(json_object_get(f->run, "scenario"), "matrix");
	struct matrix_coverage c = matrix_coverage_of(f, t);

	text_add(out, "%s: %zu cell%s, %zu of %zu pairs of %zu option%s", *name ? name : "matrix", t->ncells,
		 t->ncells == 1 ? "" : "s", c.covered, c.possible, t->ncolumns, t->ncolumns == 1 ? "" : "s");
	if (c.tried < c.covered)
		text_add(out, ", %zu tried", c.tried);
}

static void options_row(const struct matrix_table *t, matrix_row row, void *context)
{
	struct text words = { 0 };

	for (size_t k = 0; k < t->ncolumns; k++) {
		const struct matrix_column *c = &t->column[k];

		text_add(&words, "%s%s ", k ? "; " : "", c->name);
		for (unsigned v = 0; v < c->nvalues; v++)
			text_add(&words, "%s%s", v ? ", " : "", c->value[v]);
	}
	row(context, "options", text_get(&words));
	text_free(&words);
}

static void list_row(const json_t *list, const char *label, const char *between, matrix_row row, void *context)
{
	struct text words = { 0 };
	const json_t *value;
	size_t i;

	json_array_foreach(list, i, value)
		if (json_is_string(value))
			text_add(&words, "%s%s", words.length ? between : "", json_string_value(value));
	if (words.length)
		row(context, label, text_get(&words));
	text_free(&words);
}

/* A reason once, with all pairs that it is the reason for. */
static void impossible_row(const struct matrix_folder *f, matrix_row row, void *context)
{
	const json_t *list = json_object_get(f->run, "impossible"), *at, *other;
	json_t *said = json_object();
	struct text words = { 0 };
	size_t i, k;

	json_array_foreach(list, i, at) {
		const char *reason = string_in(at, "reason"), *between = "";

		if (json_object_get(said, reason))
			continue;
		json_object_set_new(said, reason, json_true());
		text_add(&words, "%s", words.length ? "; " : "");
		json_array_foreach(list, k, other) {
			if (strcmp(string_in(other, "reason"), reason) != 0)
				continue;
			text_add(&words, "%s%s", between, string_in(other, "pair"));
			between = ", ";
		}
		if (*reason)
			text_add(&words, " (%s)", reason);
	}
	if (words.length)
		row(context, "impossible", text_get(&words));
	json_decref(said);
	text_free(&words);
}

/* Where run.json says what the cells say, too. */
static const char *of_run(const struct matrix_folder *f, const char *key)
{
	static const struct { const char *key, *object, *member; } where[] = {
		{ "accel", "accel", "used" }, { "qemu_version", "versions", "emulator" }, { "qemu_version", "versions", "hypervisor" },
		{ "guest_kernel", "guest", "kernel" },
	};

	for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
		const char *s = string_in(json_object_get(f->run, where[i].object), where[i].member);

		if (strcmp(where[i].key, key) == 0 && *s)
			return s;
	}
	return "";
}

void matrix_fact(const struct matrix_folder *f, const char *key, struct text *out)
{
	size_t before = out->length;
	json_t *said = json_object();

	for (size_t i = 0; i < json_array_size(f->cells); i++) {
		const char *s = matrix_cell_text(f, i, key);

		if (!*s || json_object_get(said, s))
			continue;
		json_object_set_new(said, s, json_true());
		text_add(out, "%s%s", out->length > before ? " and " : "", s);
	}
	json_decref(said);
	if (out->length == before)
		text_add(out, "%s", of_run(f, key));
}

static void fact_row(const struct matrix_folder *f, const char *key, const char *label, const char *before, const char *why,
		     matrix_row row, void *context)
{
	struct text words = { 0 };
	size_t empty;

	text_add(&words, "%s", before);
	empty = words.length;
	matrix_fact(f, key, &words);
	if (words.length > empty && *why)
		text_add(&words, " (%s)", why);
	if (words.length)
		row(context, label, text_get(&words));
	text_free(&words);
}

void matrix_facts(const struct matrix_folder *f, const struct matrix_table *t, matrix_row row, void *context)
{
	const json_t *seed = json_object_get(f->run, "seed");
	const char *guest = string_in(json_object_get(f->run, "guest"), "name");
	struct text words = { 0 };

	options_row(t, row, context);
	list_row(json_object_get(f->run, "only"), "only", "; ", row, context);
	list_row(json_object_get(f->run, "set"), "set", "; ", row, context);
	impossible_row(f, row, context);
	list_row(json_object_get(f->run, "uncovered"), "uncovered", ", ", row, context);
	text_add(&words, "%s%s", guest, *guest ? ", kernel " : "");
	fact_row(f, "guest_kernel", "guest", text_get(&words), "", row, context);
	fact_row(f, "qemu_version", "emulator", "", "", row, context);
	fact_row(f, "accel", "accelerator", "", string_in(json_object_get(f->run, "accel"), "why"), row, context);
	text_reset(&words);
	if (json_is_integer(seed))
		text_add(&words, "%llu, ", (unsigned long long)json_integer_value(seed));
	text_add(&words, "kickbench %s, started %s", string_in(f->run, "kickbench"), string_in(f->run, "started"));
	row(context, "seed", text_get(&words));
	text_free(&words);
}

/* ---- what failing cells have in common ---- */

enum { MOST_PAIRS = 6, MOST_OF_ONE = 3, MOST_SENTENCES = 4 };

static void factor_words(const struct matrix_table *t, const struct matrix_factor *f, struct text *out)
{
	text_add(out, "%s=%s", t->column[f->a].name, t->column[f->a].value[f->value_a]);
	if (f->pair)
		text_add(out, " and %s=%s", t->column[f->b].name, t->column[f->b].value[f->value_b]);
}

static void add_line(json_t *lines, struct text *line)
{
	json_array_append_new(lines, json_string(text_get(line)));
	text_reset(line);
}

/* Each is in all of them: which of several it is, these cells cannot tell. */
static void in_all(const struct matrix_table *t, const struct matrix_common *c, struct text *line)
{
	size_t most = MOST_PAIRS;

	if (c->nfactors == 1 && c->failed > 1) {
		text_add(line, "Every cell with ");
		factor_words(t, &c->factor[0], line);
		text_add(line, " fails (%u), and no other does.", c->failed);
		return;
	}
	if (c->failed == 1) { /* each pair that it alone has is as likely as any other */
		most = MOST_OF_ONE;
		text_add(line, "%s has, and no passing cell has: ",
			 c->nfactors == 1 ? "The failing cell" : "One failing cell does not tell why. What it");
	} else if (c->failed == 2) {
		text_add(line, "Both failing cells have, and no passing cell has: ");
	} else {
		text_add(line, "All %u failing cells have, and no passing cell has: ", c->failed);
	}
	for (size_t i = 0; i < c->nfactors && i < most; i++) {
		text_add(line, i ? "; " : "");
		factor_words(t, &c->factor[i], line);
	}
	if (c->nfactors > most)
		text_add(line, "; and %zu more", c->nfactors - most);
	text_add(line, ".");
}

static void in_some(const struct matrix_table *t, const struct matrix_common *c, json_t *lines, struct text *line)
{
	for (size_t i = 0; i < c->nfactors && i < MOST_SENTENCES; i++) {
		text_add(line, "Every cell with ");
		factor_words(t, &c->factor[i], line);
		text_add(line, " fails: %u of the %u that do.", c->factor[i].cells, c->failed);
		add_line(lines, line);
	}
	if (c->nfactors == 0) {
		text_add(line, "No value of an option, and no pair of values, is in all %u failing cells and in no passing one.", c->failed);
		add_line(lines, line);
	}
}

json_t *matrix_common_words(const struct matrix_table *t, const enum matrix_outcome *outcome, struct error *e)
{
	struct matrix_common c;
	struct text line = { 0 };
	json_t *lines = json_array();

	if (!lines || matrix_common_find(t->value, outcome, t->ncells, t->ncolumns, &c, e)) {
		json_decref(lines);
		error_set(e, STATUS_HOST, "out of memory");
		return NULL;
	}
	if (c.failed > 1 && c.passed == 0) {
		text_add(&line, "No cell passes: nothing tells good values from bad ones.");
		add_line(lines, &line);
	} else if (c.all) {
		in_all(t, &c, &line);
		add_line(lines, &line);
	} else if (c.failed > 1 && c.passed) {
		in_some(t, &c, lines, &line);
	} else if (c.failed == 1 && c.passed) {
		text_add(&line, "Every two values of the failing cell are in a passing one, too: it takes three together, or does not happen "
			 "every time.");
		add_line(lines, &line);
	}
	text_free(&line);
	matrix_common_free(&c);
	return lines;
}

json_t *matrix_failures_words(const struct matrix_table *t, struct error *e)
{
	enum matrix_outcome *outcome = calloc(t->ncells + 1, sizeof(*outcome));
	json_t *lines;

	if (!outcome) {
		error_set(e, STATUS_HOST, "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < t->ncells; i++)
		outcome[i] = matrix_outcome_of(t->status[i]);
	lines = matrix_common_words(t, outcome, e);
	free(outcome);
	return lines;
}

bool matrix_is_open(const struct matrix_folder *f)
{
	const json_t *sessions = json_object_get(f->run, "sessions"), *last = json_array_get(sessions, json_array_size(sessions) - 1);

	return json_is_object(last) && !json_is_string(json_object_get(last, "ended"));
}

/* ---- a cell ---- */

static void plain_value(const char *key, const json_t *value, struct text *out)
{
	struct text name = { 0 };

	text_add(&name, "%s", key);
	for (char *p = name.data; p && *p; p++)
		*p = *p == '_' ? ' ' : *p;
	if (json_is_string(value))
		text_add(out, "%s%s %s", out->length ? ", " : "", text_get(&name), json_string_value(value));
	else if (json_is_integer(value))
		text_add(out, "%s%s %lld", out->length ? ", " : "", text_get(&name), (long long)json_integer_value(value));
	else if (json_is_real(value))
		text_add(out, "%s%s %g", out->length ? ", " : "", text_get(&name), json_real_value(value));
	else if (json_is_boolean(value))
		text_add(out, "%s%s %s", out->length ? ", " : "", text_get(&name), json_is_true(value) ? "yes" : "no");
	text_free(&name);
}

/* A message may be cut where the evidence goes on. */
static bool is_said(const json_t *check, const char *words)
{
	const char *message = string_in(check, "message");

	return *message && ((strlen(words) > 7 && strstr(message, words)) || strncmp(words, message, strlen(message)) == 0);
}

void matrix_evidence(const json_t *check, struct text *out)
{
	const json_t *evidence = json_object_get(check, "evidence"), *value;
	const char *cause = string_in(evidence, "cause"), *why = string_in(evidence, "why"), *key;
	struct text values = { 0 };

	if (*why && strstr(string_in(check, "message"), why))
		return; /* it has been said */
	if (*cause || *why) {
		text_add(out, "%s%s%s", cause, *cause && *why ? ": " : "", why);
		return;
	}
	json_object_foreach((json_t *)evidence, key, value) {
		if (strcmp(key, "console") == 0 || values.length > MOST_EVIDENCE)
			continue; /* many lines; what the console said has a place of its own */
		if (json_is_string(value) && (strchr(json_string_value(value), '\n') || is_said(check, json_string_value(value))))
			continue;
		plain_value(key, value, &values);
	}
	text_add(out, "%s", text_get(&values));
	text_free(&values);
}

static void lines_of(const json_t *check, const char *text, matrix_line line, void *context)
{
	while (*text) {
		size_t n = strcspn(text, "\n"), skip = strspn(text, " \t");
		struct text one = { 0 };

		if (skip < n && text[skip] == '|')
			skip += 1 + strspn(text + skip + 1, " ");
		if (skip < n)
			text_add_bytes(&one, text + skip, n - skip);
		if (one.length && !is_said(check, text_get(&one)))
			line(context, text_get(&one));
		text_free(&one);
		text += n + (text[n] == '\n');
	}
}

void matrix_evidence_lines(const json_t *check, matrix_line line, void *context)
{
	const json_t *evidence = json_object_get(check, "evidence"), *value;
	const char *key;

	json_object_foreach((json_t *)evidence, key, value)
		if (strcmp(key, "console") != 0 && json_is_string(value) && strchr(json_string_value(value), '\n'))
			lines_of(check, json_string_value(value), line, context);
}

size_t matrix_cell_list(const struct matrix_folder *f, bool (*wanted)(void *context, size_t cell), void *context, struct text *out)
{
	size_t ncells = json_array_size(f->cells), n = 0, seen = 0;

	for (size_t i = 0; i < ncells; i++)
		n += wanted(context, i);
	text_add(out, n == 1 ? "cell " : "cells ");
	for (size_t i = 0; i < ncells; i++)
		if (wanted(context, i))
			text_add(out, "%s%u", seen++ == 0 ? "" : seen == n ? " and " : ", ", matrix_cell_number(f, i));
	return n;
}

/* A record's path leads nowhere out of its folder. */
static bool within(const char *path)
{
	return *path && *path != '/' && !strstr(path, "..");
}

char *matrix_console_tail(const struct matrix_folder *f, size_t cell, size_t lines)
{
	const char *name = matrix_cell_text(f, cell, "console");
	char *path = within(name) ? dirs_join(f->path, name) : NULL, *bytes = NULL, *at;
	FILE *in = path ? fopen(path, "r") : NULL;
	size_t n;

	free(path);
	if (!in)
		return NULL;
	if (fseek(in, -MOST_CONSOLE, SEEK_END))
		rewind(in); /* it is shorter */
	bytes = malloc(MOST_CONSOLE + 1);
	n = bytes ? fread(bytes, 1, MOST_CONSOLE, in) : 0;
	fclose(in);
	if (n == 0) {
		free(bytes);
		return NULL;
	}
	bytes[n] = '\0';
	for (size_t i = 0; i < n; i++) /* noise of a serial line */
		bytes[i] = bytes[i] ? bytes[i] : ' ';
	while (n && bytes[n - 1] == '\n')
		bytes[--n] = '\0';
	at = bytes + n;
	while (at > bytes && (at[-1] != '\n' || --lines > 0))
		at--;
	memmove(bytes, at, strlen(at) + 1);
	return bytes;
}
