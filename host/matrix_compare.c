/* Two matrices held against each other, cell by cell of one name. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/matrix_words.h"
#include "host/report_layout.h"
#include "host/view_differ.h"

enum { LABEL = 14 };
enum { ABSENT = CELL_STATUSES + 1 }; /* the other folder has no such cell */

static const char *const label[2] = { "A", "B" };

/* A cell of either folder; SIZE_MAX where it has none of the name. */
struct pair {
	size_t at[2];
	unsigned status[2]; /* enum cell_status, or ABSENT */
};

struct sides {
	const struct matrix_folder *folder[2];
	struct matrix_table table[2];
	struct pair *pair; /* of all cells of B, then those of A alone */
	size_t npairs;
};

enum kind { NEW_FAILURE, STILL, FIXED, NO_MORE, SKIPPED_NOW, TRIED_NOW, OTHER_REASON, NEW_CELL, GONE_CELL, ALIKE, KINDS };

static bool bad(unsigned status)
{
	return status < CELL_STATUSES && matrix_bad((enum cell_status)status);
}

static bool tried(unsigned status)
{
	return bad(status) || status == CELL_PASS;
}

static enum kind kind_of(unsigned before, unsigned after)
{
	if (bad(after))
		return bad(before) ? STILL : NEW_FAILURE;
	if (after == ABSENT)
		return GONE_CELL;
	if (before == ABSENT)
		return NEW_CELL;
	if (bad(before))
		return after == CELL_PASS ? FIXED : NO_MORE;
	if (tried(before) != tried(after))
		return tried(after) ? TRIED_NOW : SKIPPED_NOW;
	return ALIKE;
}

static const char *reason(const struct sides *s, const struct pair *p, unsigned side)
{
	return p->at[side] == SIZE_MAX ? "" : matrix_cell_text(s->folder[side], p->at[side], "reason");
}

/* Skipped twice is as before only when it is for the same reason: what it says now may be what keeps all from being tried. */
static enum kind kind_of_pair(const struct sides *s, const struct pair *p)
{
	enum kind kind = kind_of(p->status[0], p->status[1]);

	if (kind == ALIKE && !tried(p->status[1]) &&
	    (p->status[0] != p->status[1] || strcmp(reason(s, p, 0), reason(s, p, 1)) != 0))
		return OTHER_REASON;
	return kind;
}

static void words_of(const struct pair *p, struct text *out)
{
	if (p->status[1] != ABSENT)
		text_add(out, "%s", matrix_word((enum cell_status)p->status[1]));
	if (p->status[0] != p->status[1] && p->status[0] != ABSENT)
		text_add(out, "%swas %s", p->status[1] != ABSENT ? ", " : "", matrix_word((enum cell_status)p->status[0]));
}

/* ---- which cell is which ---- */

static size_t find(const struct matrix_folder *f, size_t ncells, const char *name)
{
	for (size_t i = 0; i < ncells; i++)
		if (strcmp(matrix_cell_name(f, i), name) == 0)
			return i;
	return SIZE_MAX;
}

static void add_pair(struct sides *s, size_t a, size_t b)
{
	s->pair[s->npairs++] = (struct pair){ { a, b }, { a == SIZE_MAX ? ABSENT : (unsigned)s->table[0].status[a],
							  b == SIZE_MAX ? ABSENT : (unsigned)s->table[1].status[b] } };
}

static int match(struct sides *s, struct error *e)
{
	size_t n[2] = { s->table[0].ncells, s->table[1].ncells };

	s->pair = calloc(n[0] + n[1] + 1, sizeof(*s->pair));
	if (!s->pair)
		return error_set(e, STATUS_HOST, "out of memory");
	for (size_t b = 0; b < n[1]; b++)
		add_pair(s, find(s->folder[0], n[0], matrix_cell_name(s->folder[1], b)), b);
	for (size_t a = 0; a < n[0]; a++)
		if (find(s->folder[1], n[1], matrix_cell_name(s->folder[0], a)) == SIZE_MAX)
			add_pair(s, a, SIZE_MAX);
	return 0;
}

/* ---- the head ---- */

/* As view_differ() wants it of a run: it knows a list of guests, and what cells saw is not in run.json. */
static json_t *facts_of(const struct matrix_folder *f)
{
	json_t *run = json_copy(f->run), *guest = json_object_get(run, "guest");
	struct text kernel = { 0 }, emulator = { 0 };
	json_t *versions = json_copy(json_object_get(run, "versions"));

	matrix_fact(f, "guest_kernel", &kernel);
	matrix_fact(f, "qemu_version", &emulator);
	guest = guest ? json_copy(guest) : json_object();
	versions = versions ? versions : json_object();
	if (kernel.length)
		json_object_set_new(guest, "kernel", json_string(text_get(&kernel)));
	if (emulator.length)
		json_object_set_new(versions, "emulator", json_string(text_get(&emulator)));
	json_object_set_new(run, "guests", json_pack("[o]", guest));
	json_object_set_new(run, "versions", versions);
	text_free(&kernel);
	text_free(&emulator);
	return run;
}

static void values_of(const json_t *values, struct text *out)
{
	const json_t *value;
	size_t i;

	json_array_foreach(values, i, value)
		text_add(out, "%s%s", i ? ", " : "", json_string_value(value));
}

static const json_t *option_of(const struct matrix_folder *f, const char *name)
{
	const json_t *option;
	size_t i;

	json_array_foreach(json_object_get(f->run, "options"), i, option)
		if (strcmp(json_string_value(json_object_get(option, "name")), name) == 0)
			return option;
	return NULL;
}

static void differing_options(const struct sides *s, struct text *out)
{
	for (unsigned side = 0; side < 2; side++) {
		const struct matrix_table *t = &s->table[side];

		for (size_t k = 0; k < t->ncolumns; k++) {
			const json_t *here = option_of(s->folder[side], t->column[k].name), *there = option_of(s->folder[!side], t->column[k].name);
			struct text words = { 0 };

			if (there && (side || json_equal(json_object_get(here, "values"), json_object_get(there, "values"))))
				continue; /* told with A's, when it differs */
			text_add(&words, "option %s: %s ", t->column[k].name, label[side]);
			values_of(json_object_get(here, "values"), &words);
			text_add(&words, there ? ", %s " : ", %s does not have it", label[!side]);
			if (there)
				values_of(json_object_get(there, "values"), &words);
			layout_wrap(out, "  differs", LABEL, text_get(&words));
			text_free(&words);
		}
	}
}

static void head(const struct sides *s, struct text *out)
{
	json_t *run[2] = { facts_of(s->folder[0]), facts_of(s->folder[1]) }, *lines = json_array(), *line;
	struct text words = { 0 };
	size_t i;

	for (unsigned side = 0; side < 2; side++) {
		text_reset(&words);
		text_add(&words, "%s: ", s->folder[side]->path);
		matrix_headline(s->folder[side], &s->table[side], &words);
		text_add(&words, "; ");
		matrix_counts(s->folder[side], &words);
		layout_wrap(out, label[side], 3, text_get(&words));
	}
	text_reset(&words);
	view_differ((const json_t *const *)run, label, lines, &words);
	json_array_foreach(lines, i, line)
		layout_wrap(out, "  differs", LABEL, json_string_value(line));
	differing_options(s, out);
	if (!json_equal(json_object_get(run[0], "seed"), json_object_get(run[1], "seed")))
		layout_wrap(out, "  differs", LABEL, "seed: other cells were chosen to cover the pairs");
	text_add(out, "\n");
	json_decref(run[0]);
	json_decref(run[1]);
	json_decref(lines);
	text_free(&words);
}

/* ---- the cells ---- */

static void one_cell(const struct sides *s, const struct pair *p, struct text *out)
{
	unsigned side = p->at[1] != SIZE_MAX;
	const char *again = side ? matrix_cell_text(s->folder[1], p->at[1], "reproduce") : "";
	struct text words = { 0 };

	words_of(p, &words);
	for (size_t k = 0; k < s->table[side].ncolumns; k++)
		text_add(&words, "%s%s=%s", k ? ", " : ": ", s->table[side].column[k].name, matrix_table_value(&s->table[side], p->at[side], k));
	layout_wrap(out, "", 2, text_get(&words));
	for (unsigned i = 0; i < 2; i++) /* of both where they differ: another fault, perhaps */
		if (*reason(s, p, i) && (i == 1 || strcmp(reason(s, p, 0), reason(s, p, 1)) != 0)) {
			struct text who = { 0 };

			text_add(&who, "      %s", label[i]);
			layout_wrap(out, text_get(&who), LABEL, reason(s, p, i));
			text_free(&who);
		}
	if (bad(p->status[1]) && *again) {
		layout_pad(out, "      again", LABEL);
		layout_pad(out, again, 0);
		text_add(out, "\n");
	}
	text_free(&words);
}

/* What the cells of B that fail newly share, against those that pass; what failed before is left out of it. */
static int common(const struct sides *s, struct text *out, struct error *e)
{
	enum matrix_outcome *outcome = calloc(s->npairs + 1, sizeof(*outcome));
	json_t *lines, *line;
	size_t i;

	if (!outcome)
		return error_set(e, STATUS_HOST, "out of memory");
	for (i = 0; i < s->table[1].ncells; i++) { /* these come first among the pairs */
		enum kind kind = kind_of_pair(s, &s->pair[i]);

		outcome[i] = kind == NEW_FAILURE ? MATRIX_FAILED : kind == STILL ? MATRIX_UNTRIED : matrix_outcome_of(s->table[1].status[i]);
	}
	lines = matrix_common_words(&s->table[1], outcome, e);
	free(outcome);
	if (!lines)
		return -1;
	json_array_foreach(lines, i, line)
		layout_wrap(out, "", 2, json_string_value(line));
	json_decref(lines);
	return 0;
}

static int section(const struct sides *s, enum kind kind, struct text *out, struct error *e)
{
	static const char *const title[KINDS] = {
		[NEW_FAILURE] = "NEW FAILURES", [STILL] = "STILL FAILING", [FIXED] = "FIXED", [NO_MORE] = "FAILED, AND NOT TRIED NOW",
		[SKIPPED_NOW] = "PASSED, AND NOT TRIED NOW", [TRIED_NOW] = "PASS, AND WERE NOT TRIED BEFORE",
		[OTHER_REASON] = "NOT TRIED EITHER TIME, FOR ANOTHER REASON NOW", [NEW_CELL] = "NEW CELLS",
		[GONE_CELL] = "GONE CELLS",
	};
	size_t n = 0;

	for (size_t i = 0; i < s->npairs; i++)
		if (kind_of_pair(s, &s->pair[i]) == kind && n++ == 0)
			text_add(out, "%s\n", title[kind]);
	for (size_t i = 0; n && i < s->npairs; i++)
		if (kind_of_pair(s, &s->pair[i]) == kind)
			one_cell(s, &s->pair[i], out);
	if (n && kind == NEW_FAILURE && common(s, out, e))
		return -1;
	text_add(out, n ? "\n" : "");
	return 0;
}

static void last_line(const struct sides *s, unsigned *worse, struct text *out)
{
	unsigned count[KINDS] = { 0 };
	struct text words = { 0 };

	for (size_t i = 0; i < s->npairs; i++)
		count[kind_of_pair(s, &s->pair[i])]++;
	*worse = count[NEW_FAILURE];
	text_add(&words, "%u new failure%s, %u still failing, %u fixed, %u not tried now, %u tried now, ",
		 count[NEW_FAILURE], count[NEW_FAILURE] == 1 ? "" : "s", count[STILL], count[FIXED], count[NO_MORE] + count[SKIPPED_NOW],
		 count[TRIED_NOW]);
	if (count[OTHER_REASON])
		text_add(&words, "%u not tried for another reason, ", count[OTHER_REASON]);
	text_add(&words, "%u new, %u gone, %u as before", count[NEW_CELL], count[GONE_CELL], count[ALIKE]);
	layout_wrap(out, "", 0, text_get(&words));
	text_free(&words);
}

int matrix_compare_text(const struct matrix_folder *before, const struct matrix_folder *after, struct text *out, unsigned *worse,
			struct error *e)
{
	struct sides s = { .folder = { before, after } };
	int rc = -1;

	if (matrix_table_make(before, &s.table[0], e) || matrix_table_make(after, &s.table[1], e) || match(&s, e))
		goto out;
	head(&s, out);
	for (int kind = 0; kind < ALIKE; kind++)
		if (section(&s, (enum kind)kind, out, e))
			goto out;
	last_line(&s, worse, out);
	rc = out->failed ? error_set(e, STATUS_HOST, "out of memory") : 0;
out:
	matrix_table_free(&s.table[0]);
	matrix_table_free(&s.table[1]);
	free(s.pair);
	return rc;
}
