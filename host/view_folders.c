/* Two folders, or two files' worth of imported outputs, against each other. */
#include <stdlib.h>
#include <string.h>

#include "guest/text.h"
#include "host/view.h"
#include "host/view_build.h"
#include "host/view_differ.h"
#include "host/view_match.h"

#define MOST_NAMED 4 /* cells, in a sentence */

struct joining {
	const struct view_side *side;
	unsigned *variant[2]; /* pairs of them */
	size_t npairs;
	const char *label[2];
	size_t *match; /* by A's cell: 1 + B's */
	size_t nmatched;
	json_t *notes;
};

static const struct dataset *of(const struct joining *j, unsigned side)
{
	return j->side[side].d;
}

/* ---- variants ---- */

static size_t find(const struct dataset *d, const char *name)
{
	size_t v = 0;

	while (v < d->nvariants && strcmp(d->variant[v], name) != 0)
		v++;
	return v;
}

static void list_variants(const struct dataset *d, struct text *out)
{
	for (size_t v = 0; v < d->nvariants; v++)
		text_add(out, "%s%s", v ? ", " : "", d->variant[v]);
}

static int no_pair(const struct joining *j, struct error *e)
{
	struct text names[2] = { { 0 }, { 0 } };

	for (unsigned s = 0; s < 2; s++)
		list_variants(of(j, s), &names[s]);
	error_set(e, STATUS_USAGE, "%s and %s have no variant in common (%s; %s): choose one of either, as FOLDER:VARIANT",
		  of(j, 0)->path, of(j, 1)->path, text_get(&names[0]), text_get(&names[1]));
	text_free(&names[0]);
	text_free(&names[1]);
	return -1;
}

static void pair(struct joining *j, size_t a, size_t b)
{
	j->variant[0][j->npairs] = (unsigned)a;
	j->variant[1][j->npairs++] = (unsigned)b;
}

/* One variant is named on a side: the other side's namesake, or its only one. */
static int pair_named(struct joining *j, struct error *e)
{
	size_t v[2];

	for (unsigned s = 0; s < 2; s++) {
		const struct dataset *d = of(j, s);
		const char *name = j->side[s].variant;

		v[s] = name ? find(d, name) : d->nvariants == 1 ? 0 : find(d, j->side[!s].variant);
		if (name && v[s] == d->nvariants) {
			struct text names = { 0 };

			list_variants(d, &names);
			error_set(e, STATUS_USAGE, "%s has no variant \"%s\": it has %s", d->path, name, text_get(&names));
			text_free(&names);
			return -1;
		}
		if (v[s] == d->nvariants)
			return no_pair(j, e);
	}
	pair(j, v[0], v[1]);
	return 0;
}

/* Variants without a namesake, in a note. */
static void note_unpaired(struct joining *j, unsigned side)
{
	struct text t = { 0 };

	for (size_t v = 0; v < of(j, side)->nvariants; v++) {
		bool paired = false;

		for (size_t i = 0; i < j->npairs; i++)
			paired |= j->variant[side][i] == v;
		if (paired)
			continue;
		if (t.length)
			text_add(&t, ", %s", of(j, side)->variant[v]);
		else
			text_add(&t, "only %s has the variant %s", j->label[side], of(j, side)->variant[v]);
	}
	if (t.length)
		json_array_append_new(j->notes, json_string(t.data));
	text_free(&t);
}

static int pair_variants(struct joining *j, struct error *e)
{
	const struct dataset *a = of(j, 0), *b = of(j, 1);

	if (j->side[0].variant || j->side[1].variant)
		return pair_named(j, e);
	for (size_t v = 0; v < a->nvariants; v++)
		if (find(b, a->variant[v]) < b->nvariants)
			pair(j, v, find(b, a->variant[v]));
	if (j->npairs == 0 && a->nvariants == 1 && b->nvariants == 1)
		pair(j, 0, 0);
	return j->npairs ? 0 : no_pair(j, e);
}

/* Two names where one variant each is compared; else A and B, whose variants are then named by the cells. */
static void label(struct joining *j)
{
	const char *name[2] = { of(j, 0)->variant[j->variant[0][0]], of(j, 1)->variant[j->variant[1][0]] };
	bool named = j->npairs == 1 && strcmp(name[0], name[1]) != 0;

	j->label[0] = named ? name[0] : "A";
	j->label[1] = named ? name[1] : "B";
}

/* ---- cells ---- */

static void list_cells(const struct dataset *d, const bool *left_out, struct text *out)
{
	size_t n = 0;

	for (size_t cell = 0; cell < d->ncells; cell++)
		if (!left_out[cell] && n++ < MOST_NAMED)
			text_add(out, "%s%s", n > 1 ? "; " : "", d->cell[cell].name);
	if (n > MOST_NAMED)
		text_add(out, "; and %zu more", n - MOST_NAMED);
}

static int match_cells(struct joining *j, struct error *e)
{
	const struct dataset *a = of(j, 0), *b = of(j, 1);
	bool *matched[2] = { calloc(a->ncells, sizeof(bool)), calloc(b->ncells, sizeof(bool)) };
	struct text words[2] = { { 0 }, { 0 } };
	int rc = -1;

	j->match = calloc(a->ncells, sizeof(*j->match));
	if (!matched[0] || !matched[1] || !j->match) {
		error_set(e, STATUS_HOST, "out of memory");
		goto out;
	}
	if (view_match(a, b, j->match, e))
		goto out;
	for (size_t cell = 0; cell < a->ncells; cell++)
		if (j->match[cell]) {
			matched[0][cell] = matched[1][j->match[cell] - 1] = true;
			j->nmatched++;
		}
	for (unsigned s = 0; s < 2; s++)
		list_cells(of(j, s), matched[s], &words[s]);
	if (j->nmatched == 0) {
		error_set(e, STATUS_USAGE, "no cell in common. %s has: %s. %s has: %s", a->path, text_get(&words[0]), b->path,
			  text_get(&words[1]));
		goto out;
	}
	for (unsigned s = 0; s < 2; s++) {
		struct text t = { 0 };

		text_add(&t, "only %s has: %s", j->label[s], text_get(&words[s]));
		if (words[s].length)
			json_array_append_new(j->notes, json_string(t.data));
		text_free(&t);
	}
	rc = 0;
out:
	for (unsigned s = 0; s < 2; s++) {
		free(matched[s]);
		text_free(&words[s]);
	}
	return rc;
}

/* ---- what may not be pooled, and what differs ---- */

static int check_accel(const struct joining *j, struct error *e)
{
	const char *used[2] = { view_accel(of(j, 0)->run), view_accel(of(j, 1)->run) };

	if (used[0] && used[1] && strcmp(used[0], used[1]) != 0)
		return error_set(e, STATUS_USAGE, "%s ran under %s and %s under %s: these have nothing in common, and are not compared",
				 of(j, 0)->path, used[0], of(j, 1)->path, used[1]);
	return 0;
}

/* What the matched cells did. Out of memory: nothing is said of it. */
static void differ_in_cells(const struct joining *j, json_t *lines, struct text *names)
{
	struct view_cells *pair = calloc(j->nmatched, sizeof(*pair));
	bool imported = false;
	size_t n = 0;

	for (unsigned s = 0; s < 2; s++)
		imported |= json_is_true(json_object_get(of(j, s)->run, "imported"));
	for (size_t cell = 0; pair && cell < of(j, 0)->ncells; cell++)
		if (j->match[cell]) {
			pair[n].cell[0] = json_array_get(json_object_get(of(j, 0)->run, "cells"), cell);
			pair[n++].cell[1] = json_array_get(json_object_get(of(j, 1)->run, "cells"), j->match[cell] - 1);
		}
	view_differ_cells(pair, n, imported, j->label, lines, names);
	free(pair);
}

static json_t *differences(struct joining *j)
{
	const json_t *run[2] = { of(j, 0)->run, of(j, 1)->run };
	struct text names = { 0 }, t = { 0 };
	json_t *lines = json_array();

	view_differ(run, j->label, lines, &names);
	differ_in_cells(j, lines, &names);
	for (size_t i = 0; i < j->npairs; i++) {
		const char *name = of(j, 0)->variant[j->variant[0][i]];

		if (strcmp(name, of(j, 1)->variant[j->variant[1][i]]) == 0) /* else it is the difference that is meant */
			view_differ_settings(run, j->label, name, lines, &names);
	}
	if (names.length) {
		text_add(&t, "%s and %s differ in %s: each of these may be the reason for a difference", j->label[0], j->label[1],
			 names.data);
		json_array_append_new(j->notes, json_string(text_get(&t)));
	}
	text_free(&names);
	text_free(&t);
	return lines;
}

/* ---- the view ---- */

static json_t *text_json(const char *s)
{
	json_t *value = json_string(s);

	return value ? value : json_string("(a name that is no UTF-8)");
}

static json_t *joined_cells(const struct joining *j)
{
	const struct dataset *a = of(j, 0);
	json_t *list = json_array();

	for (size_t cell = 0; cell < a->ncells; cell++)
		for (size_t p = 0; j->match[cell] && p < j->npairs; p++) {
			json_t *c = json_copy(json_array_get(json_object_get(a->run, "cells"), cell));
			struct text name = { 0 };

			text_add(&name, "%s", a->cell[cell].name);
			if (j->npairs > 1)
				text_add(&name, ", %s", a->variant[j->variant[0][p]]);
			json_object_set_new(c, "name", json_string(text_get(&name)));
			json_array_append_new(list, c);
			text_free(&name);
		}
	return list;
}

/* A variant's settings, where one of each side is compared. */
static json_t *joined_variants(const struct joining *j)
{
	json_t *list = json_array();

	for (unsigned s = 0; s < 2; s++) {
		json_t *from = json_array_get(json_object_get(of(j, s)->run, "variants"), j->variant[s][0]);
		json_t *v = json_pack("{s:s}", "name", j->label[s]), *settings = json_object_get(from, "settings");

		if (j->npairs == 1 && settings)
			json_object_set(v, "settings", settings);
		json_array_append_new(list, v);
	}
	return list;
}

static json_t *joined_run(struct joining *j)
{
	const struct dataset *a = of(j, 0), *b = of(j, 1);
	json_t *scenario = json_copy(json_object_get(a->run, "scenario")), *sources = json_array();
	struct text name = { 0 };

	text_add(&name, "%s", a->name);
	if (strcmp(a->name, b->name) != 0)
		text_add(&name, ", %s", b->name);
	json_object_set_new(scenario, "name", json_string(text_get(&name)));
	json_object_set_new(scenario, "baseline", json_string(j->label[0]));
	json_object_set_new(scenario, "pairing", json_string("none"));
	json_object_del(scenario, "file");
	text_free(&name);
	for (unsigned s = 0; s < 2; s++)
		json_array_append_new(sources, json_pack("{s:s,s:o,s:O}", "label", j->label[s], "path", text_json(of(j, s)->path),
							 "run", of(j, s)->run));
	return json_pack("{s:s,s:O?,s:o,s:O?,s:o,s:o,s:o,s:o,s:O}", "schema", "kickbench-run/1", "kickbench",
			 json_object_get(a->run, "kickbench"), "scenario", scenario, "seed", json_object_get(a->run, "seed"),
			 "variants", joined_variants(j), "cells", joined_cells(j), "sources", sources, "differ", differences(j),
			 "notes", j->notes);
}

/* What was in force, where one variant of each side is compared. */
static json_t *joined_effective(const struct joining *j)
{
	json_t *list = json_array();

	for (unsigned s = 0; j->npairs == 1 && s < 2; s++) {
		json_t *seen = json_array_get(of(j, s)->effective, j->variant[s][0]);

		json_array_append_new(list, seen ? json_incref(seen) : json_object());
	}
	return list;
}

static int join(struct joining *j, struct dataset **out, struct error *e)
{
	struct view_origin *origin = calloc(2 * j->nmatched * j->npairs, sizeof(*origin)), *at = origin;
	struct view_parts parts = { .origin = origin, .from = { of(j, 0), of(j, 1) }, .nfrom = 2 };
	int rc;

	if (!origin)
		return error_set(e, STATUS_HOST, "out of memory");
	for (unsigned cell = 0; cell < of(j, 0)->ncells; cell++)
		for (size_t p = 0; j->match[cell] && p < j->npairs; p++) {
			*at++ = (struct view_origin){ of(j, 0), cell, j->variant[0][p], ANY_PARTNER };
			*at++ = (struct view_origin){ of(j, 1), (unsigned)j->match[cell] - 1, j->variant[1][p], ANY_PARTNER };
		}
	parts.run = joined_run(j);
	parts.effective = joined_effective(j);
	rc = view_build(&parts, out, e);
	free(origin);
	return rc;
}

int view_folders(const struct view_side side[2], struct dataset **out, struct error *e)
{
	struct joining j = { .side = side, .notes = json_array() };
	int rc = -1;

	*out = NULL;
	for (unsigned s = 0; s < 2; s++)
		j.variant[s] = calloc(side[0].d->nvariants, sizeof(*j.variant[s]));
	if (!j.variant[0] || !j.variant[1] || !j.notes) {
		error_set(e, STATUS_HOST, "out of memory");
		goto out;
	}
	if (pair_variants(&j, e))
		goto out;
	label(&j);
	if (!side[0].variant && !side[1].variant) {
		note_unpaired(&j, 0);
		note_unpaired(&j, 1);
	}
	if (check_accel(&j, e) || match_cells(&j, e))
		goto out;
	rc = join(&j, out, e);
out:
	free(j.variant[0]);
	free(j.variant[1]);
	free(j.match);
	json_decref(j.notes);
	return rc;
}
