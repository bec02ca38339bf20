#include "host/regress_file.h"

#include <stdlib.h>
#include <string.h>

#include "host/run_file.h"
#include "host/version.h"

static json_t *strings(const char *const *list, size_t count)
{
	return run_file_strings((char *const *)list, count);
}

static json_t *options_json(const struct matrix *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->noptions; i++)
		json_array_append_new(list, json_pack("{s:s,s:o}", "name", m->option[i].name, "values",
						      run_file_strings(m->option[i].value, m->option[i].nvalues)));
	return list;
}

static json_t *cells_json(const struct matrix *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->ncells; i++) {
		const struct matrix_cell *c = &m->cell[i];
		json_t *options = json_object();

		for (size_t k = 0; k < m->noptions; k++)
			json_object_set_new(options, m->option[k].name, json_string(m->option[k].value[c->value[k]]));
		json_array_append_new(list, json_pack("{s:i,s:s,s:o}", "cell", (int)c->number, "name", c->name, "options", options));
	}
	return list;
}

static json_t *pair_json(const struct matrix *m, const struct covering_pair *p, bool with_reason)
{
	struct text words = { 0 };
	const char *reason = with_reason ? matrix_forbids(m, p->a, p->value_a, p->b, p->value_b) : NULL;
	json_t *value;

	matrix_pair_text(m, p, &words);
	value = with_reason ? json_pack("{s:s,s:s}", "pair", text_get(&words), "reason", reason ? reason : "") :
			      json_string(text_get(&words));
	text_free(&words);
	return value;
}

static json_t *pairs_json(const struct matrix *m, const struct covering_pair *pair, size_t count, bool with_reason)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, pair_json(m, &pair[i], with_reason));
	return list;
}

static json_t *guest_json(const struct regress *r)
{
	const struct prepared *p = &r->x.prepared[0];
	const struct guest *g = &r->x.scenario->guest[0];
	struct text source = { 0 }, words = { 0 };
	json_t *guest;

	guest_source(g, &source);
	machine_json(&p->machine, &words);
	guest = json_pack("{s:s,s:s,s:s?,s:o}", "name", g->name, "image", text_get(&source), "kernel",
			  run_file_said(p->image.kernel_version), "machine", json_loads(text_get(&words), 0, NULL));
	text_free(&source);
	text_free(&words);
	return guest;
}

json_t *regress_file_make(const struct regress *r)
{
	const struct matrix *m = r->matrix;
	const struct accel_outcome *a = &r->x.prepared[0].accel;
	char now[32];

	run_file_time(now);
	return json_pack("{s:s,s:s,s:s,s:{s:s,s:s,s:s},s:o,s:I,s:o,s:o,s:o,s:o,s:I,s:o,s:{s:s,s:s,s:s?},s:{s:s,s:s?,s:s?},s:o,s:O,s:[]}",
			 "schema", REGRESS_SCHEMA, "kickbench", KICKBENCH_VERSION, "started", now, "scenario", "name",
			 m->scenario->name ? m->scenario->name : "regress", "file", m->scenario->file, "matrix", m->name, "set",
			 strings(r->line.set, r->line.nset), "seed", (json_int_t)m->seed, "only", strings(r->only, r->nonly), "options",
			 options_json(m), "impossible", pairs_json(m, m->covering.impossible, m->covering.nimpossible, true), "uncovered",
			 pairs_json(m, m->covering.uncovered, m->covering.nuncovered, false), "pairs", (json_int_t)m->covering.npairs,
			 "cells", cells_json(m), "accel", "used", run_file_accel(a->used), "why", a->why, "qemu_version",
			 run_file_said(a->qemu_version), "versions", "hypervisor", r->x.version.hypervisor, "library",
			 run_file_said(r->x.version.library), "emulator", run_file_said(r->x.version.emulator), "guest", guest_json(r),
			 "environment", r->x.facts, "sessions");
}

/* What a matrix is of: its cells would not be of one otherwise. */
static int same_parties(const struct regress *r, const json_t *kept, struct error *e)
{
	const struct prepared *p = &r->x.prepared[0];
	const json_t *accel = json_object_get(kept, "accel"), *guest = json_object_get(kept, "guest");
	const struct {
		const char *then, *now, *what_decides;
	} party[] = {
		{ json_string_value(json_object_get(accel, "used")), run_file_accel(p->accel.used), "accel = in [guest]" },
		{ json_string_value(json_object_get(accel, "qemu_version")), run_file_said(p->accel.qemu_version),
		  "emulator = in [guest]" },
		{ json_string_value(json_object_get(guest, "kernel")), run_file_said(p->image.kernel_version),
		  "kernel = or image = in [guest]" },
	};

	for (size_t i = 0; i < sizeof(party) / sizeof(*party); i++) {
		const char *then = party[i].then ? party[i].then : "nothing", *now = party[i].now ? party[i].now : "nothing";

		if (strcmp(then, now))
			return error_set(e, STATUS_HOST, "the matrix began under %s and would go on under %s (%s decides): begin a new one, "
					 "kickbench compare holds them against each other", then, now, party[i].what_decides);
	}
	return 0;
}

int regress_file_same(const struct regress *r, const json_t *kept, struct error *e)
{
	json_t *now = cells_json(r->matrix);
	int status;

	if (json_equal(now, json_object_get(kept, "cells")))
		status = same_parties(r, kept, e);
	else
		status = error_set(e, STATUS_USAGE, "%s/scenario.ini is no longer the matrix that was run, or this kickbench understands it "
				   "otherwise: its cells are others", store_path(r->store));
	json_decref(now);
	return status;
}

static int list(const json_t *array, const char ***out, size_t *count, struct error *e)
{
	size_t n = json_array_size(array);

	*out = calloc(n + 1, sizeof(**out));
	if (!*out)
		return error_set(e, STATUS_HOST, "out of memory");
	for (*count = 0; *count < n; ++*count) {
		(*out)[*count] = json_string_value(json_array_get(array, *count));
		if (!(*out)[*count])
			return error_set(e, STATUS_USAGE, "run.json: a list of texts holds something else");
	}
	return 0;
}

int regress_file_line(const json_t *run, struct regress_file_line *out, struct error *e)
{
	const json_t *seed = json_object_get(run, "seed");

	*out = (struct regress_file_line){ .which = json_string_value(json_object_get(json_object_get(run, "scenario"), "matrix")) };
	if (!out->which || !json_is_integer(seed))
		return error_set(e, STATUS_USAGE, "run.json: it does not say which matrix, or its seed");
	out->seed = (uint64_t)json_integer_value(seed);
	if (list(json_object_get(run, "set"), &out->set, &out->nset, e) || list(json_object_get(run, "only"), &out->only, &out->nonly, e)) {
		regress_file_line_free(out);
		return -1;
	}
	return 0;
}

void regress_file_line_free(struct regress_file_line *line)
{
	free(line->set);
	free(line->only);
	line->set = line->only = NULL;
}
