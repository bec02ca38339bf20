/* The jobs of events: what they are, how one is run with something in its middle, what is asked behind it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/action.h"
#include "host/clock.h"
#include "host/event_disk.h"
#include "host/event_private.h"
#include "host/stall.h"

#define PART_MOST (2ull << 20)
/* What is waited for at most costs nothing where it comes: busy hosts under TCG are slow. */
#define STALL_S 30.0
#define FIND_S 120.0 /* a disk that was brought back is seen by then */
#define ASK_S 60.0
#define SLOWER 5

/* ---- jobs ---- */

struct event_area event_area_of(uint64_t bytes)
{
	uint64_t part = bytes / EVENT_CLONES < PART_MOST ? bytes / EVENT_CLONES : PART_MOST;

	part -= part % (64u << 10);
	return (struct event_area){ .part = part, .place = part / 2 + EVENT_BLOCK };
}

void event_job_add(struct event_job *job, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(job->word[job->argc], sizeof(job->word[0]), fmt, ap);
	va_end(ap);
	job->argv[job->argc] = job->word[job->argc];
	job->argc++;
}

static void begin_job(struct event_job *job, const struct event_area *area, bool is_linux, unsigned clones)
{
	job->argc = 0;
	event_job_add(job, "--name=event");
	event_job_add(job, "--size=%llu", (unsigned long long)area->part);
	if (clones > 1) {
		event_job_add(job, "--numjobs=%u", clones);
		event_job_add(job, "--offset_increment=%llu", (unsigned long long)area->part);
	}
	event_job_add(job, "--verify=crc32c");
	if (is_linux) /* raw devices of the others have no cache */
		event_job_add(job, "--direct=1");
}

void event_job_once(struct event_job *job, const struct event_area *area, bool is_linux, const char *rw, unsigned clones)
{
	begin_job(job, area, is_linux, clones);
	event_job_add(job, "--rw=%s", rw);
	event_job_add(job, "--bs=%u", EVENT_BLOCK);
	event_job_add(job, "--ioengine=psync");
}

void event_job_timed(struct event_job *job, const struct event_area *area, bool is_linux, unsigned seconds)
{
	begin_job(job, area, is_linux, EVENT_CLONES);
	event_job_add(job, "--rw=randrw");
	event_job_add(job, "--bssplit=4k/60:16k/30:64k/10");
	event_job_add(job, "--ioengine=%s", is_linux ? "libaio" : "psync");
	if (is_linux)
		event_job_add(job, "--iodepth=8");
	event_job_add(job, "--time_based=1");
	event_job_add(job, "--runtime=%u", seconds);
}

/* ---- one event ---- */

void event_begin(struct event_try *t, struct boot *b, const struct matrix_cell *cell, struct cell_result *result, bool *gone)
{
	const char *os = json_string_value(json_object_get(b->hello, "os"));

	*t = (struct event_try){ .b = b, .cell = cell, .result = result, .gone = gone, .area = event_area_of(cell->bytes) };
	t->is_linux = os && !strcmp(os, "Linux");
	*gone = false;
}

double event_waits(const struct event_try *t)
{
	return clock_s() - t->since;
}

void event_step(struct event_try *t, unsigned step)
{
	t->step = step;
	t->since = clock_s();
	t->ios_then = t->ios;
}

int event_gives_up(struct event_try *t, struct error *e)
{
	snprintf(t->problem, sizeof(t->problem), "%.240s", e->text);
	error_clear(e);
	event_step(t, EVENT_GAVE_UP);
	return 0;
}

int event_check_came(struct event_try *t, const struct event_job *job, unsigned last_step, struct error *e)
{
	const char *why = t->step == EVENT_GAVE_UP ? t->problem : t->trial->message;

	if (t->step == last_step)
		return 0;
	return event_check(t, CELL_FAIL, job, NULL, e, "it comes about", "the job ended %s%s%s", t->step ? "in its middle" : "before it",
			   *why ? ": " : "", why) ? -1 : 1;
}

int event_check(struct event_try *t, enum cell_status status, const struct event_job *job, json_t *evidence, struct error *e,
		const char *name, const char *fmt, ...)
{
	struct cell_check check = { .status = status, .evidence = evidence };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(check.message, sizeof(check.message), fmt, ap);
	va_end(ap);
	snprintf(check.name, sizeof(check.name), "%s: %s", t->cell->event, name);
	check.seconds = t->trial ? t->trial->seconds : 0;
	if (job)
		check.argv = json_array();
	for (size_t i = 0; job && i < job->argc; i++)
		json_array_append_new(check.argv, json_string(job->argv[i]));
	return cell_add(t->result, &check, e);
}

static int on_tick(void *context, const struct trial_progress *p, struct trial *trial, struct error *e)
{
	struct event_try *t = context;

	t->trial = trial;
	t->ios = p->ios;
	return t->act ? t->act(t, p, e) : 0;
}

static int on_message(void *context, const struct message *m, struct trial *trial, struct error *e)
{
	struct event_try *t = context;

	(void)trial;
	(void)e;
	return t->hear ? t->hear(t, m) : 0;
}

/* What cannot be found out leaves the stall what it is. */
static int on_stall(void *context, struct trial *trial, struct error *e)
{
	struct event_try *t = context;
	enum stall_cause cause = STALL_UNKNOWN;
	char before[sizeof(trial->message)];
	const char *why;

	(void)e;
	if (stall_explain(t->b, 0, trial->ios, &cause, &trial->stall, &(struct error){ 0 }))
		return 0;
	why = json_string_value(json_object_get(trial->stall, "why"));
	snprintf(before, sizeof(before), "%s", trial->message);
	snprintf(trial->message, sizeof(trial->message), "%s%s%.200s (%.200s)", stall_cause_name(cause), why ? ": " : "", why ? why : "",
		 before);
	return 0;
}

static bool interrupted(const struct event_try *t)
{
	return t->b->request.interrupted && *t->b->request.interrupted;
}

/* What a guest last said, for a check's evidence. */
static json_t *console_of(const struct event_try *t)
{
	struct text tail = { 0 };
	json_t *evidence;

	link_console_tail(&t->b->link, &tail);
	evidence = json_pack("{s:s,s:s}", "state", hv_state_words(t->b->ops->state(t->b->guest)), "console", text_get(&tail));
	text_free(&tail);
	return evidence;
}

int event_run_job(struct event_try *t, const struct event_job *job, unsigned tolerated, struct trial *trial, struct error *e)
{
	const struct guest *guest = t->b->request.guest;
	double stall = guest && guest->stall_timeout > STALL_S ? guest->stall_timeout : STALL_S;
	struct trial_request request = { .id = "event", .argv = job->argv, .argc = job->argc, .stall_timeout = stall,
					 .tick = on_tick, .message = on_message, .stalled = on_stall, .tolerated = tolerated, .context = t };
	int status = trial_run(t->b, &request, trial, e);
	const char *why;

	t->trial = trial;
	if (status && interrupted(t))
		return -1;
	if (!status && trial->status != TRIAL_STALLED)
		return 0;
	*t->gone = true;
	why = status ? e->text : trial->message; /* its first line: the end of a console follows */
	status = event_check(t, status ? CELL_FAIL : CELL_STALLED, job, trial->stall ? json_incref(trial->stall) : console_of(t),
			     &(struct error){ 0 }, "the guest lives through it", "%.*s", (int)strcspn(why, "\n"), why);
	error_clear(e);
	return status ? error_set(e, STATUS_HOST, "out of memory") : 1;
}

int event_run_timed(struct event_try *t, struct event_job *job, unsigned seconds, unsigned tolerated, struct trial *trial, struct error *e)
{
	for (unsigned turn = 0;; turn++) {
		int status;

		event_job_timed(job, &t->area, t->is_linux, turn ? SLOWER * seconds : seconds);
		status = event_run_job(t, job, tolerated, trial, e);
		if (status || turn || t->step || trial->status != TRIAL_OK)
			return status;
		trial_free(trial);
	}
}

int event_check_well(struct event_try *t, const struct event_job *job, const struct trial *trial, const char *name, struct error *e)
{
	enum cell_status status = trial->status == TRIAL_OK ? CELL_PASS : trial->status == TRIAL_CORRUPT ? CELL_CORRUPT : CELL_FAIL;

	return event_check(t, status, job, NULL, e, name, "%s", trial->message);
}

int event_check_disk(struct event_try *t, const struct trial *trial, bool cut, const char *name, struct error *e)
{
	const char *image = t->b->request.source[0];
	struct event_disk disk = { 0 };
	int status;

	if (t->b->request.elsewhere)
		return event_check(t, CELL_SKIPPED, NULL, NULL, e, name, "its image lies on another host");
	if (!trial->maps || map_copy_empty(trial->maps))
		return event_check(t, CELL_FAIL, NULL, NULL, e, name, "the guest has told of nothing that it wrote");
	if (event_disk_look(trial->maps, image, cut, &disk, e))
		return -1;
	if (!disk.blocks)
		status = event_check(t, CELL_FAIL, NULL, NULL, e, name, "the guest has told of nothing that it wrote");
	else if (disk.bad)
		status = event_check(t, CELL_CORRUPT, NULL, NULL, e, name, "%llu of %llu blocks are wrong; %s", (unsigned long long)disk.bad,
				     (unsigned long long)disk.blocks, text_get(&disk.first));
	else
		status = event_check(t, CELL_PASS, NULL, json_pack("{s:I}", "blocks", (json_int_t)disk.blocks), e, name, "%s", "");
	text_free(&disk.first);
	return status;
}

int event_check_works(struct event_try *t, uint64_t offset, const char *name, struct error *e)
{
	struct event_job job;
	struct trial trial = { 0 };
	int status;

	begin_job(&job, &t->area, t->is_linux, 1);
	event_job_add(&job, "--offset=%llu", (unsigned long long)offset);
	event_job_add(&job, "--rw=write");
	event_job_add(&job, "--bs=16k");
	event_job_add(&job, "--ioengine=psync");
	t->act = NULL;
	t->hear = NULL;
	status = event_run_job(t, &job, 0, &trial, e);
	if (!status)
		status = event_check_well(t, &job, &trial, name, e);
	t->trial = NULL;
	trial_free(&trial);
	return status;
}

int event_await_disk(struct event_try *t, uint64_t bytes, struct error *e)
{
	double end = clock_s() + FIND_S;
	struct error why = { 0 };
	struct text console = { 0 };

	while (clock_s() < end) {
		json_t *reply = NULL, *disk, *disks;
		uint64_t have = 0;
		size_t i;

		if (action_call(t->b, "disks", NULL, -1, ASK_S, &reply, e))
			break;
		disks = json_object_get(reply, "disks");
		error_clear(&why);
		boot_find_disks(t->b, disks, &why);
		json_array_foreach(disks, i, disk)
			if (!why.status && !strcmp(json_string_value(json_object_get(disk, "path")) ?: "", t->b->disk_path[0]))
				have = (uint64_t)json_integer_value(json_object_get(disk, "bytes"));
		json_decref(reply);
		if (!why.status && (!bytes || have == bytes)) {
			text_free(&console);
			return 0;
		}
		if (!why.status)
			error_set(&why, STATUS_INCOMPLETE, "the guest's disk has %llu bytes, and not %llu", (unsigned long long)have,
				  (unsigned long long)bytes);
		text_reset(&console);
		if (link_listen(&t->b->link, 100, &console, e))
			break;
	}
	text_free(&console);
	return e->status ? -1 : error_set(e, STATUS_INCOMPLETE, "%s", why.text);
}
