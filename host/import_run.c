/* The run folder of an import: begun, taken up, written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/text.h"
#include "host/dirs.h"
#include "host/import_cell.h"
#include "host/import_private.h"
#include "host/run_file.h"
#include "host/version.h"

/* ---- counters by name ---- */

json_int_t import_count(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

void import_set_count(json_t *object, const char *key, json_int_t value)
{
	json_object_set_new(object, key, json_integer(value));
}

struct slot import_slot(json_int_t cell, const char *variant, json_int_t block, json_int_t boot)
{
	struct slot s;

	snprintf(s.cell_variant, sizeof(s.cell_variant), "%lld %.500s", (long long)cell, variant);
	snprintf(s.with_block, sizeof(s.with_block), "%s %lld", s.cell_variant, (long long)block);
	snprintf(s.cell_boot, sizeof(s.cell_boot), "%lld %lld", (long long)cell, (long long)boot);
	return s;
}

json_int_t import_occupy(struct import *i, json_int_t cell, const char *variant, json_int_t block, json_int_t boot)
{
	struct slot s = import_slot(cell, variant, block, boot);
	json_int_t repeat = import_count(i->repeats, s.cell_boot) + 1;

	if (block > import_count(i->highest, s.cell_variant))
		import_set_count(i->highest, s.cell_variant, block);
	import_set_count(i->boot_of, s.with_block, boot);
	import_set_count(i->repeats, s.cell_boot, repeat);
	return repeat;
}

/* ---- what is there already ---- */

json_t *import_boots(const struct import *i)
{
	return json_object_get(json_object_get(i->run, "plan"), "boots");
}

void import_index_boot(struct import *i, json_t *boot)
{
	char key[32];

	snprintf(key, sizeof(key), "%lld", (long long)json_integer_value(json_object_get(boot, "boot")));
	json_object_set(i->boot_index, key, boot);
}

static int index_cells(struct import *i, struct error *e)
{
	const json_t *cell;
	struct text key = { 0 };
	size_t k;

	json_array_foreach(json_object_get(i->run, "cells"), k, cell) {
		const char *name = json_string_value(json_object_get(cell, "name"));

		if (!name || !json_is_string(json_object_get(cell, "workload")) ||
		    !json_is_string(json_object_get(cell, "guest"))) {
			text_free(&key);
			return error_set(e, STATUS_USAGE, "cells[%zu] has no name, workload or guest", k);
		}
		import_cell_key(cell, &key);
		json_object_set_new(i->names, name, json_true());
		import_set_count(i->cell_index, text_get(&key), (json_int_t)k);
	}
	text_free(&key);
	return 0;
}

static void index_plan(struct import *i)
{
	json_t *boot, *trial;
	size_t b, t;

	json_array_foreach(import_boots(i), b, boot) {
		json_int_t number = json_integer_value(json_object_get(boot, "boot")),
			   block = json_integer_value(json_object_get(boot, "block"));

		import_index_boot(i, boot);
		i->last_boot = number > i->last_boot ? number : i->last_boot;
		json_array_foreach(json_object_get(boot, "trials"), t, trial) {
			const char *variant = json_string_value(json_object_get(trial, "variant")),
				   *digest = json_string_value(json_object_get(trial, "digest"));
			json_int_t n = json_integer_value(json_object_get(trial, "trial"));

			import_occupy(i, json_integer_value(json_object_get(trial, "cell")), variant ? variant : "",
				      block, number);
			i->last_trial = n > i->last_trial ? n : i->last_trial;
			if (digest)
				import_set_count(i->digests, digest, n);
		}
	}
}

static json_t *new_run(const struct import_request *r)
{
	char now[32];

	run_file_time(now);
	return json_pack("{s:s,s:s,s:s,s:b,s:[],s:{s:s,s:s,s:i,s:i,s:s,s:s,s:f,s:f,s:f,s:[]},s:[],s:[],s:[],s:{s:[]},s:"
			 "{},s:[]}",
			 "schema", "kickbench-run/1", "kickbench", KICKBENCH_VERSION, "started", now, "imported", 1,
			 "files", "scenario", "name", "import", "baseline", r->variant, "blocks", 1, "repeats", 1,
			 "pairing", r->block ? "boots" : "none", "primary", "iops", "margin", 0.03, "fail_margin", 0.0,
			 "alpha", 0.05, "fail_on", "guests", "variants", "cells", "plan", "boots", "environment",
			 "sessions");
}

/* With blocks or without: what a run without one would be paired with is not known. */
static int check_pairing(const struct import *i, struct error *e)
{
	const char *pairing = json_string_value(json_object_get(json_object_get(i->run, "scenario"), "pairing"));
	bool blocks = pairing && strcmp(pairing, "boots") == 0;

	if (blocks && !i->r->block)
		return error_set(e, STATUS_USAGE,
				 "%s pairs its runs by blocks: say with --block N which one these belong to",
				 i->r->folder);
	if (!blocks && i->r->block)
		return error_set(e, STATUS_USAGE,
				 "%s was begun without --block: its runs are not paired, and cannot be any more",
				 i->r->folder);
	return 0;
}

static int take_up(struct import *i, struct error *e)
{
	if (store_open(i->r->folder, &i->store, e) ||
	    store_read_json(i->store, "run.json", "kickbench-run/1", &i->run, e))
		return -1;
	if (!json_is_true(json_object_get(i->run, "imported")))
		return error_set(e, STATUS_USAGE,
				 "%s holds a run that was measured, not imported: choose another folder", i->r->folder);
	if (!json_is_array(import_boots(i)) || !json_is_array(json_object_get(i->run, "cells")) ||
	    !json_is_array(json_object_get(i->run, "variants")) || !json_is_array(json_object_get(i->run, "files")) ||
	    !json_is_object(json_object_get(i->run, "scenario")))
		return error_set(e, STATUS_USAGE,
				 "%s/run.json is damaged: plan, cells, variants, files or scenario are missing",
				 i->r->folder);
	if (index_cells(i, e))
		return error_context(e, "%s/run.json", i->r->folder);
	index_plan(i);
	return check_pairing(i, e);
}

/* Whether a run lies there already. */
static bool holds_run(const char *folder)
{
	char *path = dirs_join(folder, "run.json");
	struct stat st;
	bool there = path && stat(path, &st) == 0;

	free(path);
	return there;
}

static void add_variant(struct import *i)
{
	json_t *variants = json_object_get(i->run, "variants"), *variant;
	size_t k;

	json_array_foreach(variants, k, variant) {
		const char *name = json_string_value(json_object_get(variant, "name"));

		if (name && strcmp(name, i->r->variant) == 0)
			return;
	}
	json_array_append_new(variants, json_pack("{s:s}", "name", i->r->variant));
}

int import_open(const struct import_request *r, struct import **out, struct error *e)
{
	struct import *i = calloc(1, sizeof(*i));

	*out = NULL;
	if (!i)
		return error_set(e, STATUS_HOST, "out of memory");
	i->r = r;
	i->names = json_object();
	i->cell_index = json_object();
	i->highest = json_object();
	i->boot_of = json_object();
	i->repeats = json_object();
	i->boot_index = json_object();
	i->digests = json_object();
	i->trials = json_array();
	if (r->folder && holds_run(r->folder)) {
		if (take_up(i, e))
			goto failed;
	} else {
		i->run = new_run(r);
	}
	if (!i->run || !i->trials || !i->digests) {
		error_set(e, STATUS_USAGE, "the name of the variant is no valid UTF-8, or memory ran out");
		goto failed;
	}
	add_variant(i);
	*out = i;
	return 0;
failed:
	import_free(i);
	return -1;
}

void import_free(struct import *i)
{
	if (!i)
		return;
	store_close(i->store);
	json_decref(i->run);
	json_decref(i->names);
	json_decref(i->cell_index);
	json_decref(i->highest);
	json_decref(i->boot_of);
	json_decref(i->repeats);
	json_decref(i->boot_index);
	json_decref(i->digests);
	json_decref(i->trials);
	free(i);
}

int import_store(struct import *i, const char **path, struct error *e)
{
	bool fresh = !i->store;
	const json_t *trial;
	char name[40];
	size_t k;

	if (i->r->baseline)
		json_object_set_new(json_object_get(i->run, "scenario"), "baseline", json_string(i->r->variant));
	if (fresh && store_create(i->r->folder, "results", "import", STORE_RUN, &i->store, e))
		return -1;
	json_array_foreach(i->trials, k, trial) {
		snprintf(name, sizeof(name), "trials/%06lld.json",
			 (long long)json_integer_value(json_object_get(trial, "trial")));
		if (store_write_json(i->store, name, trial, e))
			return -1;
	}
	*path = store_path(i->store);
	return store_write_json(i->store, "run.json", i->run, e);
}
