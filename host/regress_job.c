/* One job of a cell: run, watched, and made a check of. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/regress_private.h"
#include "host/run_file.h"
#include "host/stall.h"

#define JOB_LIMIT_S 300 /* of jobs that go on and on, each request in time */
#define NOT_THERE "Function not implemented"

struct watching {
	struct cell_run *c;
	const char *name;
	double end;
};

int cell_run_note(struct cell_run *c, const char *name, enum cell_status status, const char *message, struct error *e)
{
	struct cell_check check = { .status = status };

	snprintf(check.name, sizeof(check.name), "%s", name);
	snprintf(check.message, sizeof(check.message), "%s", message);
	return cell_add(c->result, &check, e);
}

/* One line: the first of a message that goes on with the end of a console. */
static void first_line(const char *text, char *out, size_t room)
{
	snprintf(out, room, "%.*s", (int)strcspn(text, "\n"), text);
}

static json_t *texts(const char *key, const char *value, const struct link *link)
{
	struct text tail = { 0 };
	json_t *object = json_object();

	if (value && *value)
		json_object_set_new(object, key, json_string(value));
	if (link)
		link_console_tail(link, &tail);
	if (tail.length)
		json_object_set_new(object, "console", json_string(text_get(&tail)));
	text_free(&tail);
	return object;
}

int cell_run_lost(struct cell_run *c, const char *name, json_t *argv, struct error *e)
{
	struct cell_check check = { .status = CELL_FAIL, .argv = argv };
	struct hv_version version;
	struct error now = { 0 };

	boot_kill(&c->boot);
	c->up = false;
	if (*c->r->interrupted || c->r->session->ops->version(c->r->session->hv, &version, &now)) {
		json_decref(argv);
		return -1;
	}
	snprintf(check.name, sizeof(check.name), "%s", name);
	first_line(e->text, check.message, sizeof(check.message));
	check.evidence = texts("error", e->text, NULL);
	error_clear(e);
	return cell_add(c->result, &check, e);
}

static int on_tick(void *context, const struct trial_progress *p, struct trial *trial, struct error *e)
{
	struct watching *w = context;

	(void)p;
	(void)e;
	if (clock_s() < w->end)
		return 0;
	trial->status = TRIAL_STALLED;
	snprintf(trial->message, sizeof(trial->message), "the job has not ended within %d s", JOB_LIMIT_S);
	return 1;
}

static void on_progress(void *context, const struct trial_progress *p)
{
	struct watching *w = context;
	char line[256];

	snprintf(line, sizeof(line), "cell %u: %s, %llu requests", w->c->cell->number, w->name, (unsigned long long)p->ios);
	progress_show(&w->c->r->view, line);
}

/* What cannot be found out leaves the stall what it is. */
static int on_stall(void *context, struct trial *trial, struct error *e)
{
	const struct watching *w = context;
	struct error problem = { 0 };

	if (stall_of_trial(&w->c->boot, 0, trial, &problem) && *w->c->r->interrupted)
		return error_set(e, problem.status, "%s", problem.text);
	return 0;
}

static enum cell_status status_of(const struct trial *t)
{
	static const enum cell_status of[] = { CELL_PASS, CELL_FAIL, CELL_STALLED, CELL_CORRUPT }; /* by enum trial_status */

	/* An engine that the guest does not have; a request that came back so is another matter. */
	return t->status == TRIAL_FAILED && strstr(t->message, NOT_THERE) && !strstr(t->message, "io_u error") ? CELL_SKIPPED : of[t->status];
}

static json_t *evidence_of(struct cell_run *c, const struct trial *t)
{
	if (t->status == TRIAL_OK)
		return NULL;
	if (t->stall)
		return json_incref(t->stall);
	return texts("notes", json_string_value(json_object_get(t->result, "notes")), &c->boot.link);
}

struct cell_map *cell_run_map(struct cell_run *c, const char *where)
{
	struct cell_map *map = &c->map[c->nmaps++];

	snprintf(map->path, sizeof(map->path), "%s/cells/%06u-%zu.map", store_path(c->r->store), c->cell->number, c->nmaps);
	map->where = where;
	return map;
}

void cell_run_forget(struct cell_map *map, bool keep_file)
{
	json_decref(map->fio);
	if (*map->path && !keep_file)
		unlink(map->path);
	*map = (struct cell_map){ .fio = NULL };
}

static void no_map(struct cell_map *map, enum cell_status status, const char *why)
{
	*map->path = '\0';
	map->without = status;
	snprintf(map->why, sizeof(map->why), "%s", why);
}

/* Also of a job that has found its data bad: whether they are so on the disk, the host will tell. */
static int keep_map(const struct trial *t, struct cell_map *map, struct error *e)
{
	map->fio = json_incref(json_object_get(t->result, "fio"));
	unlink(map->path);
	if (t->status != TRIAL_OK && t->status != TRIAL_CORRUPT)
		no_map(map, CELL_SKIPPED, "the job that it would look at did not come to its end");
	else if (!t->maps || map_copy_empty(t->maps))
		no_map(map, CELL_FAIL, "the guest has told of nothing that it wrote");
	else
		return map_copy_save(t->maps, map->path, e);
	return 0;
}

/* Also asked behind the first job: earlier the answers are incomplete. */
static void verify(struct cell_run *c)
{
	json_t *mismatch, *row;
	struct text why = { 0 };
	size_t i;

	if (c->result->effective || !c->up)
		return;
	c->result->effective = boot_verify(&c->boot, 0);
	mismatch = json_object_get(c->result->effective, "mismatch");
	json_array_foreach(mismatch, i, row)
		text_add(&why, "%s%s (wanted %s, is %s)", i ? ", " : "not effective: ",
			 json_string_value(json_object_get(row, "key")) ?: "?", json_string_value(json_object_get(row, "want")) ?: "?",
			 json_string_value(json_object_get(row, "have")) ?: "?");
	if (why.length)
		cell_skip(c->result, text_get(&why));
	text_free(&why);
}

/* Tool "check" tells of each thing that it has asked. *failed: some were not as they should be. */
static int add_rows(struct cell_run *c, const json_t *rows, bool *failed, struct error *e)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		const char *status = json_string_value(json_object_get(row, "status")) ?: "";
		struct cell_check check = { .status = CELL_FAIL };

		if (json_is_true(json_object_get(row, "corrupt")))
			check.status = CELL_CORRUPT;
		else if (!strcmp(status, "pass"))
			check.status = CELL_PASS;
		else if (!strcmp(status, "skipped"))
			check.status = CELL_SKIPPED;
		snprintf(check.name, sizeof(check.name), "disk: %.80s", json_string_value(json_object_get(row, "name")) ?: "?");
		if (check.status != CELL_PASS)
			snprintf(check.message, sizeof(check.message), "%s", json_string_value(json_object_get(row, "message")) ?: "");
		*failed = *failed || check.status > CELL_SKIPPED;
		if (cell_add(c->result, &check, e))
			return -1;
	}
	return 0;
}

/* What ended well, and showed nothing. */
static bool is_empty(const struct cell_task *task, const struct trial *t, const json_t *rows, char *why, size_t room)
{
	if (t->status != TRIAL_OK)
		return false;
	if (task->bytes)
		return !regress_job_did(json_object_get(t->result, "fio"), task->bytes, task->writes, why, room);
	if (!task->tool || json_array_size(rows))
		return false;
	snprintf(why, room, "the guest has told of nothing that it asked the disk for");
	return true;
}

static int add_check(struct cell_run *c, const struct cell_task *task, json_t *argv, const struct trial *t, struct error *e)
{
	struct cell_check check = { .status = status_of(t), .seconds = t->seconds, .argv = argv };
	const json_t *rows = json_object_get(json_object_get(t->result, "check"), "checks");
	bool failed = false;

	if (add_rows(c, rows, &failed, e)) {
		json_decref(argv);
		return -1;
	}
	snprintf(check.name, sizeof(check.name), "%s", task->name);
	if (failed) /* said in its rows, each for itself */
		check.status = CELL_PASS;
	else if (is_empty(task, t, rows, check.message, sizeof(check.message)))
		check.status = CELL_FAIL;
	else
		snprintf(check.message, sizeof(check.message), "%s", t->message);
	check.evidence = failed ? NULL : evidence_of(c, t);
	return cell_add(c->result, &check, e);
}

int cell_run_job(struct cell_run *c, const struct cell_task *task, struct error *e)
{
	struct watching w = { .c = c, .name = task->name, .end = clock_s() + JOB_LIMIT_S };
	json_t *list = run_file_strings(task->argv, task->argc);
	char id[24];
	struct trial_request request = {
		.id = id, .argv = task->argv, .argc = task->argc, .tool = task->tool, .stall_timeout = c->r->x.scenario->guest[0].stall_timeout,
		.progress = on_progress, .tick = on_tick, .stalled = on_stall, .context = &w,
	};
	struct trial trial = { 0 };
	int status;

	snprintf(id, sizeof(id), "%06u-%u", c->cell->number, ++c->jobs);
	on_progress(&w, &(struct trial_progress){ 0 });
	if (trial_run(&c->boot, &request, &trial, e)) {
		status = cell_run_lost(c, task->name, list, e);
	} else {
		status = add_check(c, task, list, &trial, e);
		if (trial.status == TRIAL_STALLED) {
			boot_kill(&c->boot);
			c->up = false;
		}
		verify(c);
	}
	if (task->map && !status)
		status = keep_map(&trial, task->map, e);
	trial_free(&trial);
	return status;
}

int cell_run_check(struct cell_run *c, struct error *e)
{
	struct regress_jobs jobs;
	int status;

	if (!c->up)
		return 0;
	if (regress_jobs_check(c->r->matrix, c->cell, boot_serials[0], &jobs, e))
		return -1;
	status = cell_run_job(c, &(struct cell_task){ .name = jobs.job[0].name, .tool = "check", .argv = jobs.job[0].argv,
						       .argc = jobs.job[0].argc }, e);
	regress_jobs_free(&jobs);
	return status;
}
