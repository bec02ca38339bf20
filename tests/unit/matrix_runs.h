/* Regress folders for tests, in the form that host/cell.h describes. Include after cmocka. */
#ifndef KB_TESTS_MATRIX_RUNS_H
#define KB_TESTS_MATRIX_RUNS_H

#include <jansson.h>

#include "host/matrix_report.h"
#include "tests/unit/scratch.h"

#define RUN_OPTIONS 8
#define RUN_CELLS 12

struct run_option {
	const char *name;
	const char *value[4]; /* NULL-ended */
};

struct run_cell {
	const char *value[RUN_OPTIONS]; /* in the order of the options */
	const char *status;             /* NULL: not stored */
	const char *reason;             /* NULL: none */
	const char *checks;             /* JSON; NULL: none */
	const char *console;            /* what the guest said; NULL: no file */
};

struct run {
	struct run_option option[RUN_OPTIONS];
	struct run_cell cell[RUN_CELLS];
	const char *impossible; /* JSON; NULL: none */
	const char *kernel;     /* NULL: 6.1.0 */
	int seed;
};

static inline void run_put(struct scratch *s, const char *folder, const char *name, json_t *value)
{
	char path[256], *text = json_dumps(value, JSON_INDENT(1));

	assert_non_null(text);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	scratch_text(s, path, text);
	free(text);
	json_decref(value);
}

static inline size_t run_options(const struct run *r)
{
	size_t n = 0;

	while (n < RUN_OPTIONS && r->option[n].name)
		n++;
	return n;
}

static inline json_t *run_cell_base(const struct run *r, size_t i)
{
	json_t *options = json_object();
	char name[512] = "";

	for (size_t k = 0; k < run_options(r); k++) {
		json_object_set_new(options, r->option[k].name, json_string(r->cell[i].value[k]));
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "%s%s=%s", k ? "," : "", r->option[k].name, r->cell[i].value[k]);
	}
	return json_pack("{s:i,s:s,s:o}", "cell", (int)i + 1, "name", name, "options", options);
}

static inline void run_put_cell(struct scratch *s, const char *folder, const struct run *r, size_t i)
{
	const struct run_cell *c = &r->cell[i];
	json_t *cell = run_cell_base(r, i);
	char name[64], again[600], path[256];

	snprintf(name, sizeof(name), "console/%06zu.log", i + 1);
	snprintf(again, sizeof(again), "kickbench regress --only %s", json_string_value(json_object_get(cell, "name")));
	json_object_set_new(cell, "schema", json_string(CELL_SCHEMA));
	json_object_set_new(cell, "status", json_string(c->status));
	json_object_set_new(cell, "reason", c->reason ? json_string(c->reason) : json_null());
	json_object_set_new(cell, "seconds", json_real(1.5));
	json_object_set_new(cell, "accel", json_string("tcg"));
	json_object_set_new(cell, "qemu_version", json_string("QEMU 7.2.22"));
	json_object_set_new(cell, "guest_kernel", json_string(r->kernel ? r->kernel : "6.1.0"));
	json_object_set_new(cell, "checks", c->checks ? json_loads(c->checks, 0, NULL) : json_array());
	json_object_set_new(cell, "console", json_string(name));
	json_object_set_new(cell, "reproduce", json_string(again));
	if (c->console) {
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		scratch_text(s, path, c->console);
	}
	snprintf(name, sizeof(name), "cells/%06zu.json", i + 1);
	run_put(s, folder, name, cell);
}

/* Make the folder; its path is valid until the next call for the scratch. */
static inline const char *run_make(struct scratch *s, const char *folder, const struct run *r)
{
	json_t *options = json_array(), *cells = json_array();

	for (size_t k = 0; k < run_options(r); k++) {
		json_t *values = json_array();

		for (size_t v = 0; v < 4 && r->option[k].value[v]; v++)
			json_array_append_new(values, json_string(r->option[k].value[v]));
		json_array_append_new(options, json_pack("{s:s,s:o}", "name", r->option[k].name, "values", values));
	}
	for (size_t i = 0; i < RUN_CELLS && r->cell[i].value[0]; i++) {
		json_array_append_new(cells, run_cell_base(r, i));
		if (r->cell[i].status)
			run_put_cell(s, folder, r, i);
	}
	run_put(s, folder, "run.json",
		json_pack("{s:s,s:s,s:s,s:{s:s,s:s},s:i,s:o,s:o,s:o,s:[],s:{s:s,s:s}}", "schema", REGRESS_SCHEMA, "kickbench", "0.1.0", "started",
			  "2026-01-31T12:00:00Z", "scenario", "name", "regress", "matrix", "quick", "seed", r->seed ? r->seed : 7,
			  "options", options, "cells", cells, "impossible", r->impossible ? json_loads(r->impossible, 0, NULL) : json_array(),
			  "uncovered", "accel", "used", "tcg", "why", "no KVM"));
	return scratch_path(s, folder);
}

static inline struct matrix_folder run_read(struct scratch *s, const char *folder, const struct run *r)
{
	struct matrix_folder f;
	struct error e = { 0 };

	if (matrix_folder_read(run_make(s, folder, r), &f, &e))
		fail_msg("%s", e.text);
	return f;
}

/*
 * 2 + 2 + 2 values: 3 x 4 pairs, of which one is impossible: 11. Cell 6 alone has legacy with queues=1, and it is skipped. Only the
 * failing cell has ring=packed with queues=2; modern, packed and 2 are each in a cell that passes, and so are the other pairs.
 */
#define RUN_SMALL \
	.option = { { "transport", { "modern", "legacy" } }, { "ring", { "split", "packed" } }, { "queues", { "1", "2" } } }, \
	.impossible = "[{\"pair\":\"ring=packed with transport=legacy\",\"reason\":\"no packed ring in legacy devices\"}]"

#define RUN_LOST_WRITE "[{\"name\":\"size\",\"status\":\"pass\",\"message\":null,\"seconds\":0.1}," \
	"{\"name\":\"verify randwrite\",\"status\":\"corrupt\",\"message\":\"block 17 is old\",\"seconds\":2," \
	"\"evidence\":{\"offset\":69632,\"expected_generation\":7,\"console\":\"many lines\",\"nested\":{\"a\":1}}}]"

static const struct run run_small = {
	RUN_SMALL, .cell = {
		{ { "modern", "split", "1" }, .status = "pass" },
		{ { "modern", "packed", "2" }, .status = "corrupt", .reason = "block 17 is old", .checks = RUN_LOST_WRITE,
		  .console = "first\nsecond\nthe end\n\n" },
		{ { "legacy", "split", "2" }, .status = "pass" },
		{ { "modern", "split", "2" }, .status = "pass" },
		{ { "modern", "packed", "1" }, .status = "pass" },
		{ { "legacy", "split", "1" }, .status = "skipped", .reason = "no such device" },
	},
};

#endif
