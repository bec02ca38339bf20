#include "host/view.h"

#include <stdlib.h>
#include <string.h>

#include "guest/text.h"
#include "host/view_build.h"

/* ---- run.json of a view ---- */

static int find_variant(const struct dataset *d, const char *name, unsigned *out, struct error *e)
{
	struct text names = { 0 };

	for (size_t v = 0; v < d->nvariants; v++)
		if (strcmp(d->variant[v], name) == 0) {
			*out = (unsigned)v;
			return 0;
		}
	for (size_t v = 0; v < d->nvariants; v++)
		text_add(&names, "%s%s", v ? ", " : "", d->variant[v]);
	error_set(e, STATUS_USAGE, "%s has no variant \"%s\": it has %s", d->path, name, text_get(&names));
	text_free(&names);
	return -1;
}

/* A folder's run.json with other variants and cells (both taken over). */
static json_t *other_run(const struct dataset *d, json_t *variants, json_t *cells, const char *baseline)
{
	json_t *run = json_copy(d->run), *scenario = json_copy(json_object_get(d->run, "scenario"));

	json_object_set_new(scenario, "baseline", json_string(baseline));
	json_object_set_new(run, "scenario", scenario);
	json_object_set_new(run, "variants", variants);
	json_object_set_new(run, "cells", cells);
	return run;
}

static const json_t *variant_json(const struct dataset *d, unsigned variant)
{
	return json_array_get(json_object_get(d->run, "variants"), variant);
}

static const json_t *cell_json(const struct dataset *d, size_t cell)
{
	return json_array_get(json_object_get(d->run, "cells"), cell);
}

/* ---- two variants of one folder ---- */

int view_variants(const struct dataset *d, const char *baseline, const char *candidate, struct dataset **out,
		  struct error *e)
{
	struct view_origin *origin = calloc(2 * d->ncells, sizeof(*origin));
	struct view_parts parts = { .origin = origin, .paired = d->paired, .from = { d }, .nfrom = 1 };
	unsigned v[2];
	int rc = -1;

	*out = NULL;
	if (!origin) {
		error_set(e, STATUS_HOST, "out of memory");
		goto out;
	}
	if (find_variant(d, baseline, &v[0], e) || find_variant(d, candidate, &v[1], e))
		goto out;
	if (v[0] == v[1]) {
		error_set(e, STATUS_USAGE, "%s: %s against itself", d->path, baseline);
		goto out;
	}
	for (unsigned cell = 0; cell < d->ncells; cell++)
		for (unsigned side = 0; side < 2; side++)
			origin[2 * cell + side] = (struct view_origin){ d, cell, v[side], v[!side] };
	parts.run = other_run(d, json_pack("[O,O]", variant_json(d, v[0]), variant_json(d, v[1])),
			      json_incref(json_object_get(d->run, "cells")), baseline);
	parts.effective = json_pack("[O?,O?]", json_array_get(d->effective, v[0]), json_array_get(d->effective, v[1]));
	rc = view_build(&parts, out, e);
out:
	free(origin);
	return rc;
}

/* ---- guests or workloads of one folder ---- */

/* Names in order of their first appearance. */
struct names {
	json_t *index; /* {"name": place} */
	size_t count;
};

static size_t place_of(struct names *n, const char *name)
{
	json_t *at = json_object_get(n->index, name);

	if (at)
		return (size_t)json_integer_value(at);
	json_object_set_new(n->index, name, json_integer((json_int_t)n->count));
	return n->count++;
}

/* "randread numjobs=1": the point of a workload, whichever guest ran it. */
static void point_name(const struct dataset *d, size_t cell, struct text *out)
{
	const json_t *c = cell_json(d, cell);
	const char *workload = json_string_value(json_object_get(c, "workload"));
	const char *point = json_string_value(json_object_get(c, "point"));

	if (workload)
		text_add(out, "%s%s%s", workload, point && *point ? " " : "", point ? point : "");
	else
		text_add(out, "%s", d->cell[cell].name);
}

struct grouping {
	const struct dataset *d;
	bool by_guest;
	struct names side, other; /* what becomes variants; what is left of the cells */
	size_t *side_of, *other_of; /* by cell of d */
};

static void sort_cells(struct grouping *g)
{
	for (size_t cell = 0; cell < g->d->ncells; cell++) {
		struct text point = { 0 };
		size_t guest, workload;

		point_name(g->d, cell, &point);
		guest = place_of(g->by_guest ? &g->side : &g->other, g->d->cell[cell].guest);
		workload = place_of(g->by_guest ? &g->other : &g->side, text_get(&point));
		g->side_of[cell] = g->by_guest ? guest : workload;
		g->other_of[cell] = g->by_guest ? workload : guest;
		text_free(&point);
	}
}

static json_t *grouped_variants(const struct grouping *g)
{
	json_t *list = json_array(), *at;
	const char *name;

	json_object_foreach(g->side.index, name, at) /* in order: jansson keeps that of insertion */
		json_array_append_new(list, json_pack("{s:s}", "name", name));
	return list;
}

/* By what is left of the cells, then by the folder's variants. */
static json_t *grouped_cells(const struct grouping *g)
{
	json_t *list = json_array(), *at;
	const char *rest;

	json_object_foreach(g->other.index, rest, at)
		for (size_t v = 0; v < g->d->nvariants; v++) {
			struct text name = { 0 };

			if (g->other.count > 1 || g->d->nvariants == 1)
				text_add(&name, "%s", rest);
			if (g->d->nvariants > 1)
				text_add(&name, "%s%s", name.length ? ", " : "", g->d->variant[v]);
			json_array_append_new(list, json_pack("{s:s,s:s}", "name", text_get(&name), "guest",
							      g->by_guest ? "" : rest));
			text_free(&name);
		}
	return list;
}

/* Does any block hold two of the sides? */
static bool share_blocks(const struct view_origin *origin, size_t cells, size_t sides, size_t blocks)
{
	for (size_t cell = 0; cell < cells; cell++)
		for (size_t block = 0; block < blocks; block++) {
			unsigned there = 0;

			for (size_t side = 0; side < sides; side++) {
				const struct view_origin *o = &origin[cell * sides + side];

				there += o->d && dataset_candidate(o->d, o->cell, o->variant, block)->planned > 0;
			}
			if (there > 1)
				return true;
		}
	return false;
}

static int build_group(struct grouping *g, struct dataset **out, struct error *e)
{
	const struct dataset *d = g->d;
	size_t sides = g->side.count, cells = g->other.count * d->nvariants;
	struct view_origin *origin = calloc(sides * cells, sizeof(*origin));
	struct view_parts parts = { .origin = origin, .from = { d }, .nfrom = 1 };
	json_t *variants;
	int rc;

	if (!origin)
		return error_set(e, STATUS_HOST, "out of memory");
	for (unsigned cell = 0; cell < d->ncells; cell++)
		for (unsigned v = 0; v < d->nvariants; v++)
			origin[(g->other_of[cell] * d->nvariants + v) * sides + g->side_of[cell]] =
				(struct view_origin){ d, cell, v, d->baseline || d->nvariants == 1 ? 0 : 1 };
	parts.paired = d->paired && share_blocks(origin, cells, sides, d->nblocks);
	variants = grouped_variants(g);
	parts.run = other_run(d, variants, grouped_cells(g),
			      json_string_value(json_object_get(json_array_get(variants, 0), "name")));
	rc = view_build(&parts, out, e);
	free(origin);
	return rc;
}

int view_group(const struct dataset *d, enum view_group by, struct dataset **out, struct error *e)
{
	struct grouping g = { .d = d, .by_guest = by == VIEW_GUEST, .side.index = json_object(), .other.index = json_object(),
			      .side_of = calloc(d->ncells, sizeof(size_t)), .other_of = calloc(d->ncells, sizeof(size_t)) };
	int rc = -1;

	*out = NULL;
	if (!g.side.index || !g.other.index || !g.side_of || !g.other_of) {
		error_set(e, STATUS_HOST, "out of memory");
		goto out;
	}
	sort_cells(&g);
	if (g.side.count < 2)
		error_set(e, STATUS_USAGE, "%s has one %s: there is nothing to compare by", d->path,
			  g.by_guest ? "guest" : "workload point");
	else
		rc = build_group(&g, out, e);
out:
	json_decref(g.side.index);
	json_decref(g.other.index);
	free(g.side_of);
	free(g.other_of);
	return rc;
}
