#include "host/run_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "guest/frame.h"
#include "host/drivers.h"
#include "host/hosts.h"
#include "host/version.h"

void run_file_time(char out[32])
{
	time_t now = time(NULL);
	struct tm tm;

	strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
}

/* ---- run.json ---- */

static json_t *scenario_json(const struct scenario *s)
{
	json_t *fail = json_array();
	struct text words = { 0 };
	char *save = NULL;

	fail_on_text(s->fail_on, &words);
	for (char *w = strtok_r(words.data, ", ", &save); w; w = strtok_r(NULL, ", ", &save))
		if (strcmp(w, "none"))
			json_array_append_new(fail, json_string(w));
	text_free(&words);
	return json_pack("{s:s,s:s,s:s,s:i,s:i,s:s,s:s,s:s,s:f,s:f,s:f,s:o}", "name", s->name, "file", s->file, "baseline",
			 s->variant[s->baseline].name, "blocks", (int)s->blocks, "repeats", (int)s->repeats, "pairing",
			 s->pairing == PAIRING_DISKS ? "disks" : "boots", "fresh_boot",
			 s->fresh_boot == FRESH_BOOT_PER_TRIAL ? "per-trial" : "per-boot", "primary", s->primary, "margin", s->margin,
			 "fail_margin", s->fail_margin, "alpha", s->alpha, "fail_on", fail);
}

static json_t *machine_object(const struct machine *m)
{
	struct text words = { 0 };
	json_t *object;

	machine_json(m, &words);
	object = json_loads(text_get(&words), 0, NULL);
	text_free(&words);
	return object;
}

/* Tells a domain's definition from another: a run that goes on must find the same. */
static json_t *definition(const struct own_domain *own)
{
	return json_sprintf("%08x", (unsigned)frame_crc32(0, own->xml, strlen(own->xml)));
}

static json_t *guests_json(const struct experiment *x)
{
	json_t *list = json_array();

	for (size_t i = 0; i < x->scenario->nguests; i++) {
		const struct guest *g = &x->scenario->guest[i];

		const struct image *image = &experiment_prepared(x, i, x->scenario->baseline)->image;
		struct text source = { 0 };
		json_t *guest;

		guest_source(g, &source);
		guest = json_pack("{s:s,s:s,s:i,s:I,s:s?,s:s?,s:o}", "name", g->name, "image", text_get(&source), "vcpus",
				  (int)image_vcpus(image, &g->machine), "memory_bytes", (json_int_t)image_memory(image, &g->machine),
				  "kernel", image->kernel_version && *image->kernel_version ? image->kernel_version : NULL,
				  "arguments", image->arguments, "machine", machine_object(&g->machine));
		if (image->own)
			json_object_set_new(guest, "definition", definition(image->own));
		if (g->tool == TOOL_FIO)
			json_object_set_new(guest, "tool", json_string("fio"));
		json_array_append_new(list, guest);
		text_free(&source);
	}
	return list;
}

/*
 * Keys of the machine in which variants differ stand among the settings of all, as what holds for the first guest: so
 * whoever looks for the difference between variants finds it.
 */
static void add_machine(const struct experiment *x, size_t variant, json_t *settings)
{
	const struct scenario *s = x->scenario;
	json_t *all = json_array(), *keys = json_object(), *object, *value;
	const char *key;
	size_t v;

	for (v = 0; v < s->nvariants; v++) {
		object = machine_object(scenario_machine(s, 0, v));
		json_object_update(keys, object);
		json_array_append_new(all, object);
	}
	json_object_foreach(keys, key, value) {
		json_t *mine = json_object_get(json_array_get(all, variant), key);
		bool same = true;

		json_array_foreach(all, v, object) {
			json_t *other = json_object_get(object, key);

			same = same && (mine == other || json_equal(mine, other));
		}
		if (!same)
			json_object_set_new(settings, key, mine ? json_incref(mine) : json_string(""));
	}
	json_decref(keys);
	json_decref(all);
}

const char *run_file_accel(enum accel accel)
{
	return accel == ACCEL_AUTO ? "unknown" : accel_name(accel);
}

static json_t *variants_json(const struct experiment *x)
{
	json_t *list = json_array();

	for (size_t i = 0; i < x->scenario->nvariants; i++) {
		struct text settings = { 0 };
		json_t *all;

		settings_json(&x->settings[i], &settings);
		all = json_loads(text_get(&settings), 0, NULL);
		add_machine(x, i, all);
		json_array_append_new(list, json_pack("{s:s,s:o}", "name", x->scenario->variant[i].name, "settings", all));
		text_free(&settings);
	}
	return list;
}

json_t *run_file_machines(const struct experiment *x)
{
	json_t *list = json_array();

	for (size_t g = 0; g < x->scenario->nguests; g++)
		for (size_t v = 0; v < x->scenario->nvariants; v++) {
			const struct prepared *p = experiment_prepared(x, g, v);

			json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s,s:s,s:s?,s:b}", "guest", x->scenario->guest[g].name, "variant",
							      x->scenario->variant[v].name, "accel", run_file_accel(p->accel.used), "why",
							      p->accel.why, "qemu_version", p->accel.qemu_version, "kernel",
							      p->image.kernel_version, "virtio_status", p->accel.virtio_status));
		}
	return list;
}

json_t *run_file_strings(char *const *list, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_string(list[i]));
	return array;
}

static json_t *cells_json(const struct experiment *x)
{
	json_t *list = json_array();

	for (size_t i = 0; i < x->plan->ncells; i++) {
		const struct cell *c = &x->plan->cell[i];

		json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s,s:o}", "name", c->name, "guest",
						      x->scenario->guest[c->guest].name, "workload",
						      x->scenario->workload[c->workload].name, "point", c->point, "argv",
						      run_file_strings(c->argv, c->argc)));
	}
	return list;
}

static json_t *plan_json(const struct experiment *x)
{
	json_t *boots = json_array();

	for (size_t i = 0; i < x->plan->nboots; i++) {
		const struct plan_boot *b = &x->plan->boot[i];
		json_t *variants = json_array(), *trials = json_array();

		for (unsigned d = 0; d < b->ndisks; d++)
			json_array_append_new(variants, json_string(x->scenario->variant[b->variant[d]].name));
		for (unsigned k = 0; k < b->ntrials; k++) {
			const struct plan_trial *t = &x->plan->trial[b->first_trial + k];

			json_array_append_new(trials, json_pack("{s:i,s:i,s:s,s:i}", "trial", (int)t->number, "cell",
								(int)t->cell, "variant", x->scenario->variant[t->variant].name,
								"repeat", (int)t->repeat + 1));
		}
		json_array_append_new(boots, json_pack("{s:i,s:i,s:s,s:o,s:o}", "boot", (int)b->number, "block",
						       (int)b->block + 1, "guest", x->scenario->guest[b->guest].name, "variants",
						       variants, "trials", trials));
		if (x->nhosts > 1)
			json_object_set_new(json_array_get(boots, i), "host", json_integer(b->block % x->nhosts + 1));
	}
	return json_pack("{s:f,s:o}", "expected_seconds", x->expected_s, "boots", boots);
}

static int add_session(struct experiment *x, struct error *e)
{
	json_t *sessions = json_object_get(x->run, "sessions");
	char now[32];

	run_file_time(now);
	json_array_append_new(sessions, json_pack("{s:s,s:n,s:s,s:n}", "started", now, "ended", "status", "running", "message"));
	return store_write_json(x->store, "run.json", x->run, e);
}

/* Which variants' disks stand in one domain: boot number b as the plan has it. */
static int write_domains(struct experiment *x, struct error *e)
{
	for (size_t g = 0; g < x->scenario->nguests; g++) {
		const struct own_domain *own = experiment_prepared(x, g, 0)->image.own;
		char name[128];

		snprintf(name, sizeof(name), "domains/%s.original.xml", x->scenario->guest[g].name);
		if (own && store_write(x->store, name, own->xml, strlen(own->xml), e))
			return -1;
	}
	for (unsigned v = 0; v < x->scenario->nvariants; v++) {
		const struct prepared *p = experiment_prepared(x, 0, v);
		struct boot_request r = {
			.name = x->scenario->variant[v].name, .variant = x->scenario->variant[v].name, .guest = &x->scenario->guest[0], .machine = &p->machine,
			.accel = p->accel.used, .image = &p->image, .settings = { &x->settings[v] }, .source = { x->disk[x->disk_of[v][0]].path },
			.ndisks = 1,
		};
		struct text xml = { 0 };
		char name[128], overlays[1100];
		const struct driver *d = driver_get(r.guest->driver, e);
		int status;

		if (!d)
			return -1;
		experiment_overlays(x, overlays, sizeof(overlays));
		r.overlay_dir = overlays;
		snprintf(name, sizeof(name), "domains/%s.%s", x->scenario->variant[v].name, d->suffix);
		status = boot_xml(&r, &xml, e) || store_write(x->store, name, text_get(&xml), xml.length, e) ? -1 : 0;
		text_free(&xml);
		if (status)
			return -1;
	}
	return 0;
}

const char *run_file_said(const char *text)
{
	return text && *text ? text : NULL;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

int experiment_record(struct experiment *x, struct error *e)
{
	const struct accel_outcome *a = &experiment_prepared(x, 0, x->scenario->baseline)->accel;
	json_t *set, *hosts;
	uint64_t memory = 0;
	char now[32];

	for (size_t i = 0; i < x->scenario->nguests; i++)
		for (size_t v = 0; v < x->scenario->nvariants; v++)
			memory = most(memory, image_memory(&experiment_prepared(x, i, v)->image, scenario_machine(x->scenario, i, v)));
	if (hosts_facts(x, memory, e))
		return -1;
	set = json_array();
	for (size_t i = 0; i < x->nset; i++)
		json_array_append_new(set, json_string(x->set[i]));
	run_file_time(now);
	x->run = json_pack("{s:s,s:s,s:s,s:o,s:o,s:I,s:{s:s,s:s},s:o,s:{s:s,s:s?,s:s?},s:o,s:o,s:o,s:o,s:O,s:[]}", "schema",
			   "kickbench-run/1", "kickbench", KICKBENCH_VERSION, "started", now, "scenario",
			   scenario_json(x->scenario), "set", set, "seed", (json_int_t)x->plan->seed, "accel", "used",
			   run_file_accel(a->used), "why", a->why, "machines", run_file_machines(x), "versions", "hypervisor",
			   x->version.hypervisor, "library", run_file_said(x->version.library), "emulator",
			   run_file_said(x->version.emulator), "guests", guests_json(x),
			   "variants",
			   variants_json(x), "cells", cells_json(x), "plan", plan_json(x), "environment",
			   x->facts, "sessions");
	if (!x->run)
		return error_set(e, STATUS_HOST, "run.json cannot be made: a name in the scenario is no valid UTF-8, or memory ran out");
	hosts = hosts_json(x);
	if (hosts)
		json_object_set_new(x->run, "hosts", hosts);
	if (store_write(x->store, "scenario.ini", x->scenario->source, strlen(x->scenario->source), e) || write_domains(x, e))
		return -1;
	return add_session(x, e);
}

/* Numbers as the file keeps them. */
static bool same(const json_t *a, const json_t *b)
{
	const size_t how = JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12);
	char *x = a ? json_dumps(a, how) : NULL, *y = b ? json_dumps(b, how) : NULL;
	bool equal = x && y && !strcmp(x, y);

	free(x);
	free(y);
	return equal;
}

/*
 * The part of run.json that a resume must find again, or blocks of two experiments would be compared. Left
 * out: where the scenario lay, what is done with the verdicts, and the guest's kernel (a block has one for all its
 * variants, and the report warns of a mixture).
 */
static json_t *kept_part(const json_t *run)
{
	json_t *part = json_pack("{s:O?,s:O?,s:O?,s:O?,s:O?}", "scenario", json_object_get(run, "scenario"), "guests",
				 json_object_get(run, "guests"), "variants", json_object_get(run, "variants"), "cells",
				 json_object_get(run, "cells"), "plan", json_object_get(json_object_get(run, "plan"), "boots"));
	json_t *copy = json_deep_copy(part), *guest;
	size_t i;

	json_decref(part);
	json_object_del(json_object_get(copy, "scenario"), "file");
	json_object_del(json_object_get(copy, "scenario"), "fail_on");
	json_array_foreach(json_object_get(copy, "guests"), i, guest) {
		json_object_del(guest, "kernel");
		json_object_del(guest, "arguments");
	}
	return copy;
}

int run_file_same_experiment(const json_t *kept, const json_t *now, const char *folder, struct error *e)
{
	json_t *a = kept_part(kept), *b = kept_part(now), *value;
	const char *key;
	int status = a && b ? 0 : error_set(e, STATUS_HOST, "out of memory");

	json_object_foreach(b, key, value)
		if (status == 0 && !same(json_object_get(a, key), value))
			status = error_set(e, STATUS_USAGE, "%s/scenario.ini is no longer the scenario that was run, or this kickbench "
					   "understands it otherwise: they differ in \"%s\" of run.json", folder, key);
	json_decref(a);
	json_decref(b);
	return status;
}

static bool same_accelerators(const struct experiment *x)
{
	json_t *now = run_file_machines(x), *machine;
	bool same = true;
	size_t i;

	json_array_foreach(now, i, machine) {
		const json_t *kept = json_object_get(json_array_get(json_object_get(x->run, "machines"), i), "accel");

		same = same && json_equal(json_object_get(machine, "accel"), kept);
	}
	json_decref(now);
	return same;
}

/* Told apart from a scenario that has changed: the domain is not in the run folder's hands. */
static int same_definitions(const struct experiment *x, const json_t *guests, struct error *e)
{
	for (size_t g = 0; g < x->scenario->nguests; g++) {
		const struct own_domain *own = experiment_prepared(x, g, x->scenario->baseline)->image.own;
		const json_t *now = json_object_get(json_array_get(guests, g), "definition");
		const json_t *kept = json_object_get(json_array_get(json_object_get(x->run, "guests"), g), "definition");

		if (own && kept && !json_equal(now, kept))
			return error_set(e, STATUS_USAGE, "%s is no longer defined as it was when the run began (%s/domains/%s.original.xml)",
					 own->source, store_path(x->store), x->scenario->guest[g].name);
	}
	return 0;
}

int experiment_take_up(struct experiment *x, struct error *e)
{
	json_t *now;
	int status;

	if (store_read_json(x->store, "run.json", "kickbench-run/1", &x->run, e) || hosts_facts(x, 0, e) ||
	    hosts_same(x, x->run, e))
		return -1;
	now = json_pack("{s:o,s:o,s:o,s:o,s:o}", "scenario", scenario_json(x->scenario), "guests", guests_json(x), "variants",
			variants_json(x), "cells", cells_json(x), "plan", plan_json(x));
	status = same_definitions(x, json_object_get(now, "guests"), e) ||
		 run_file_same_experiment(x->run, now, store_path(x->store), e) ? -1 : 0;
	json_decref(now);
	if (status == 0 && !same_accelerators(x))
		status = error_set(e, STATUS_HOST, "the run began under another accelerator than this host uses now: results of KVM "
				   "and TCG are never mixed (accel = in [guest] decides)");
	return status ? -1 : add_session(x, e);
}

int run_file_end(struct experiment *x, const char *message, struct error *e)
{
	json_t *sessions = json_object_get(x->run, "sessions");
	json_t *last = json_array_get(sessions, json_array_size(sessions) - 1);
	char now[32];

	run_file_time(now);
	json_object_set_new(last, "ended", json_string(now));
	json_object_set_new(last, "status", json_string(!message ? "complete" : *x->interrupted ? "interrupted" : "stopped"));
	json_object_set_new(last, "message", message ? json_string(message) : json_null());
	return store_write_json(x->store, "run.json", x->run, e);
}
