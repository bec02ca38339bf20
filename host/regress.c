#include "host/regress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/dirs.h"
#include "host/hosts.h"
#include "host/regress_disk.h"
#include "host/regress_file.h"
#include "host/run_file.h"

#define CELL_S 14.0 /* what one takes, until the first ones have told */

/* ---- before the first cell ---- */

static int find_kickio(struct regress *r, struct error *e)
{
	dirs_kickio(r->session->dirs.data, X_OK, r->kickio, sizeof(r->kickio));
	return access(r->kickio, X_OK) ? error_errno(e, STATUS_HOST, "the second opinion needs kickio: %s", r->kickio) : 0;
}

/* What a run has of host, image and accelerator, for the one guest and its base. */
static int prepare_host(struct regress *r, void (*say)(const char *), struct error *e)
{
	struct experiment *x = &r->x;
	struct hv *hv = r->session->hv;

	*x = (struct experiment){ .scenario = r->matrix->scenario, .set = r->line.set, .nset = r->line.nset, .dirs = &r->session->dirs,
				  .driver = r->session->driver, .ops = r->session->ops, .store = r->store, .interrupted = r->interrupted };
	if (hosts_make(x, &r->line.connect, &hv, 1, e))
		return -1;
	if (!x->host.here)
		return error_set(e, STATUS_USAGE, "regress makes disks and reads them again: it needs the hypervisor of this host, not of %s",
				 x->host.name);
	if (x->ops->version(x->hv, &x->version, e))
		return -1;
	if (!experiment_prepare_machines(x, say, e))
		return 0;
	/* A guest that does not boot, or whose disk does not work, is what a driver's bug may look like: as in a cell. */
	if (x->prepared && x->prepared[0].accel.guest_failed && !*r->interrupted)
		e->status = STATUS_FAILED;
	return -1;
}

static int add_session(struct regress *r, struct error *e)
{
	char now[32];

	run_file_time(now);
	json_array_append_new(json_object_get(r->x.run, "sessions"),
			      json_pack("{s:s,s:n,s:s,s:n}", "started", now, "ended", "status", "running", "message"));
	return store_write_json(r->store, "run.json", r->x.run, e);
}

static int record(struct regress *r, struct error *e)
{
	const struct scenario *s = r->matrix->scenario;

	if (hosts_facts(&r->x, image_memory(&r->x.prepared[0].image, &r->x.prepared[0].machine), e))
		return -1;
	r->x.run = regress_file_make(r);
	if (!r->x.run)
		return error_set(e, STATUS_HOST, "run.json cannot be made: a name in the scenario is no valid UTF-8, or memory ran out");
	return store_write(r->store, "scenario.ini", s->source, strlen(s->source), e) || add_session(r, e) ? -1 : 0;
}

static int take_up(struct regress *r, struct error *e)
{
	if (store_read_json(r->store, "run.json", REGRESS_SCHEMA, &r->x.run, e) || regress_file_same(r, r->x.run, e))
		return -1;
	return add_session(r, e);
}

int regress_prepare(struct regress *r, bool resume, void (*say)(const char *line), struct error *e)
{
	regress_disk_sweep(r->matrix, r->session->dirs.state);
	if (find_kickio(r, e) || prepare_host(r, say, e))
		return -1;
	return resume ? take_up(r, e) : record(r, e);
}

/* ---- the cells ---- */

static json_t *record_of(const struct regress *r, const struct matrix_cell *cell, const struct cell_result *result)
{
	struct text again = { 0 };
	json_t *record;

	regress_reproduce(&r->line, cell->name, &again);
	record = again.failed ? NULL : cell_json(r->matrix, cell, result, text_get(&again));
	text_free(&again);
	return record;
}

static int store_cell(struct regress *r, const struct matrix_cell *cell, const struct cell_result *result, struct error *e)
{
	json_t *record = record_of(r, cell, result);
	char name[32];
	int status;

	snprintf(name, sizeof(name), "cells/%06u.json", cell->number);
	status = record ? store_write_json(r->store, name, record, e) : error_set(e, STATUS_HOST, "out of memory");
	json_decref(record);
	return status;
}

static void say_cell(struct regress *r, const struct matrix_cell *cell, const struct cell_result *result)
{
	struct text line = { 0 };

	text_add(&line, "cell %zu/%zu  %-7s %5.1f s  %s", r->view.done, r->view.total, cell_status_name(result->status), result->seconds,
		 cell->name);
	if (*result->reason)
		text_add(&line, "\n    %s", result->reason);
	progress_line(&r->view, text_get(&line));
	text_free(&line);
}

static int one_cell(struct regress *r, const struct matrix_cell *cell, struct error *e)
{
	struct cell_result result;
	double began = clock_s();
	int status = regress_cell(r, cell, &result, e);

	result.seconds = clock_s() - began;
	if (status == 0)
		status = store_cell(r, cell, &result, e);
	if (status == 0) {
		r->view.done++;
		say_cell(r, cell, &result);
	} else {
		error_context(e, "cell %u (%s)", cell->number, cell->name);
	}
	cell_result_free(&result);
	return status;
}

static bool is_stored(const struct regress *r, const struct matrix_cell *cell)
{
	char name[32];

	snprintf(name, sizeof(name), "cells/%06u.json", cell->number);
	return store_has(r->store, name);
}

int regress_run(struct regress *r, struct error *e)
{
	struct error ignored = { 0 };
	int status = 0;

	progress_open(&r->view, stderr, r->matrix->ncells, CELL_S * (double)r->matrix->ncells);
	for (size_t i = 0; i < r->matrix->ncells; i++)
		if (is_stored(r, &r->matrix->cell[i]))
			progress_skip(&r->view, 1);
	for (size_t i = 0; i < r->matrix->ncells && status == 0; i++)
		if (!is_stored(r, &r->matrix->cell[i]))
			status = one_cell(r, &r->matrix->cell[i], e);
	progress_clear(&r->view);
	run_file_end(&r->x, status ? e->text : NULL, status ? e : &ignored);
	return status;
}

void regress_free(struct regress *r)
{
	experiment_free_machines(&r->x);
	json_decref(r->x.run);
	json_decref(r->x.facts);
	store_close(r->store);
}
