#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/dirs.h"
#include "host/matrix_report.h"
#include "host/store.h"

#define FAMILY "kickbench-regress/" /* of a newer form, too: that is refused as such */
#define MOST_CELLS 999999           /* six digits of a file's name */
#define CANNOT_TELL 125 /* what git bisect run takes for: skip this one */

bool matrix_folder_is(const char *path)
{
	char *file = dirs_join(path, "run.json");
	json_t *run = file ? json_load_file(file, 0, NULL) : NULL;
	const char *schema = json_string_value(json_object_get(run, "schema"));
	bool is = schema && strncmp(schema, FAMILY, strlen(FAMILY)) == 0;

	json_decref(run);
	free(file);
	return is;
}

/* ---- what is in the files, before anybody relies on it ---- */

static bool all_strings(const json_t *list)
{
	const json_t *value;
	size_t i;

	json_array_foreach(list, i, value)
		if (!json_is_string(value))
			return false;
	return json_is_array(list);
}

static int check_options(const json_t *options, const char *path, struct error *e)
{
	const json_t *option;
	size_t i;

	if (!json_is_array(options))
		return error_set(e, STATUS_USAGE, "%s/run.json: options are missing", path);
	json_array_foreach(options, i, option) {
		const json_t *values = json_object_get(option, "values");

		if (!json_is_string(json_object_get(option, "name")) || !all_strings(values) || json_array_size(values) == 0)
			return error_set(e, STATUS_USAGE, "%s/run.json: options[%zu] has no name, or no values", path, i);
	}
	return 0;
}

static int check_cell(const json_t *cell, const json_t *options, const char *path, size_t i, struct error *e)
{
	json_int_t number = json_integer_value(json_object_get(cell, "cell"));
	const json_t *option;
	size_t k;

	if (number < 1 || number > MOST_CELLS || !json_is_string(json_object_get(cell, "name")))
		return error_set(e, STATUS_USAGE, "%s/run.json: cells[%zu] has no name, or no number", path, i);
	json_array_foreach(options, k, option) {
		const char *name = json_string_value(json_object_get(option, "name"));

		if (!json_is_string(json_object_get(json_object_get(cell, "options"), name)))
			return error_set(e, STATUS_USAGE, "%s/run.json: cells[%zu] does not tell %s", path, i, name);
	}
	return 0;
}

static int check_run(const json_t *run, const char *path, struct error *e)
{
	const json_t *cells = json_object_get(run, "cells"), *cell;
	size_t i;

	if (check_options(json_object_get(run, "options"), path, e))
		return -1;
	if (!json_is_array(cells))
		return error_set(e, STATUS_USAGE, "%s/run.json: cells are missing", path);
	json_array_foreach(cells, i, cell)
		if (check_cell(cell, json_object_get(run, "options"), path, i, e))
			return -1;
	return 0;
}

static int check_status(const json_t *of, enum cell_status *out)
{
	const char *word = json_string_value(json_object_get(of, "status"));

	return word ? cell_status_parse(word, out) : -1;
}

static int check_record(const json_t *record, const json_t *planned, const char *file, enum cell_status *status, struct error *e)
{
	const json_t *checks = json_object_get(record, "checks"), *check;
	enum cell_status of_check;
	size_t i;

	if (!json_equal(json_object_get(record, "cell"), json_object_get(planned, "cell")) ||
	    !json_equal(json_object_get(record, "name"), json_object_get(planned, "name")))
		return error_set(e, STATUS_USAGE, "%s is of another cell than run.json has in its place", file);
	if (check_status(record, status))
		return error_set(e, STATUS_USAGE, "%s: status is none that this kickbench knows", file);
	if (checks && !json_is_array(checks))
		return error_set(e, STATUS_USAGE, "%s: checks are no list", file);
	json_array_foreach(checks, i, check)
		if (!json_is_string(json_object_get(check, "name")) || check_status(check, &of_check))
			return error_set(e, STATUS_USAGE, "%s: checks[%zu] has no name, or no status that this kickbench knows", file, i);
	return 0;
}

/* ---- reading ---- */

static int read_cell(const struct store *store, const json_t *planned, struct matrix_folder *f, struct error *e)
{
	json_t *record = NULL;
	enum cell_status status;
	char name[64];
	char *file;
	int rc;

	snprintf(name, sizeof(name), "cells/%06lld.json", (long long)json_integer_value(json_object_get(planned, "cell")));
	if (!store_has(store, name)) {
		f->missing++;
		return json_array_append_new(f->cells, json_null()) ? error_set(e, STATUS_HOST, "out of memory") : 0;
	}
	if (store_read_json(store, name, CELL_SCHEMA, &record, e))
		return -1;
	file = dirs_join(f->path, name);
	rc = file ? check_record(record, planned, file, &status, e) : error_set(e, STATUS_HOST, "out of memory");
	free(file);
	if (rc == 0)
		f->count[status]++;
	if (rc == 0 && json_array_append(f->cells, record))
		rc = error_set(e, STATUS_HOST, "out of memory");
	json_decref(record);
	return rc;
}

int matrix_folder_read(const char *path, struct matrix_folder *out, struct error *e)
{
	struct store *store = NULL;
	const json_t *planned;
	size_t i;

	*out = (struct matrix_folder){ .path = strdup(path), .cells = json_array() };
	if (!out->path || !out->cells) {
		error_set(e, STATUS_HOST, "out of memory");
		goto fail;
	}
	if (store_open(path, &store, e) || store_read_json(store, "run.json", REGRESS_SCHEMA, &out->run, e) ||
	    check_run(out->run, path, e))
		goto fail;
	json_array_foreach(json_object_get(out->run, "cells"), i, planned)
		if (read_cell(store, planned, out, e))
			goto fail;
	store_close(store);
	return 0;
fail:
	store_close(store);
	matrix_folder_free(out);
	return -1;
}

void matrix_folder_free(struct matrix_folder *f)
{
	free(f->path);
	json_decref(f->run);
	json_decref(f->cells);
	*f = (struct matrix_folder){ 0 };
}

int matrix_status(const struct matrix_folder *f, bool bisect)
{
	if (f->count[CELL_FAIL] || f->count[CELL_STALLED] || f->count[CELL_CORRUPT])
		return STATUS_FAILED;
	/* Where no cell could be tried nothing was found out: a CI must not take that for well. */
	if (f->missing || f->count[CELL_PASS] == 0)
		return bisect ? CANNOT_TELL : STATUS_INCOMPLETE;
	return STATUS_OK;
}
