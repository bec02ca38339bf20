/* Events in which the device itself fails one request: what the guest is to see of that, and what not. */
#include <string.h>

#include "host/event_private.h"

#define STOPPED_S 0.7 /* how long a guest that its device has stopped is left so */
#define FLUSH_EVERY 16

/* ---- an error that the guest sees ---- */

static int check_errors(struct event_try *t, const struct event_job *job, const struct trial *trial, const struct event_expected *x,
			struct error *e)
{
	struct event_errors errors;
	struct text why = { 0 };
	bool right;
	int status;

	event_errors_read(trial->result, x, &errors);
	right = event_errors_right(&errors, x, &why);
	status = event_check(t, right ? CELL_PASS : CELL_FAIL, job,
			     json_pack("{s:I,s:s}", "errors", (json_int_t)errors.counted, "line", errors.line), e,
			     !strcmp(x->kind, "sync") ? "EIO is seen once, by an fsync" : "EIO is seen at its place and nowhere else", "%s",
			     text_get(&why));
	text_reset(&why);
	if (!status) {
		right = event_went_on(&errors, x, &why);
		status = event_check(t, right ? CELL_PASS : CELL_FAIL, NULL, NULL, e, "the job goes on elsewhere", "%s", text_get(&why));
	}
	text_free(&why);
	return status;
}

/* tolerated: what kickio's continue_on_error= is to be. */
static int run_eio(struct event_try *t, struct event_job *job, const struct event_expected *x, const char *tolerated, struct error *e)
{
	struct trial trial = { 0 };
	int status;

	event_job_add(job, "--continue_on_error=%s", tolerated);
	status = event_run_job(t, job, 0, &trial, e);
	if (!status)
		status = event_check_well(t, job, &trial, "the job ends", e) || check_errors(t, job, &trial, x, e) ||
			 event_check_disk(t, &trial, false, "all that was written is on the disk", e) ||
			 event_check_works(t, 0, "the disk works afterwards", e) < 0 ? -1 : 0;
	trial_free(&trial);
	return status < 0 ? -1 : 0;
}

int event_run_eio_read(struct boot *b, const struct matrix_cell *cell, struct cell_result *result, bool *gone, struct error *e)
{
	struct event_try t;
	struct event_job job;
	struct event_expected x = { .kind = "read" };

	event_begin(&t, b, cell, result, gone);
	x.place = t.area.place;
	x.writes = x.reads = EVENT_CLONES * t.area.part / EVENT_BLOCK;
	event_job_once(&job, &t.area, t.is_linux, "write", EVENT_CLONES); /* it is read when it is read back */
	return run_eio(&t, &job, &x, "read", e);
}

int event_run_eio_write(struct boot *b, const struct matrix_cell *cell, struct cell_result *result, bool *gone, struct error *e)
{
	struct event_try t;
	struct event_job job;
	struct event_expected x = { .kind = "write" };

	event_begin(&t, b, cell, result, gone);
	x.place = t.area.place;
	x.writes = EVENT_CLONES * t.area.part / EVENT_BLOCK;
	event_job_once(&job, &t.area, t.is_linux, "randwrite", EVENT_CLONES);
	return run_eio(&t, &job, &x, "write", e);
}

/* One writer: flushes of several that wait at the same time are one to the device, and fail together. */
int event_run_eio_flush(struct boot *b, const struct matrix_cell *cell, struct cell_result *result, bool *gone, struct error *e)
{
	struct event_try t;
	struct event_job job;
	struct event_expected x = { .kind = "sync" };

	event_begin(&t, b, cell, result, gone);
	x.writes = t.area.part / EVENT_BLOCK;
	x.syncs = (x.writes - 1) / FLUSH_EVERY - 1; /* none before the first write; one fails and is not counted */
	event_job_once(&job, &t.area, t.is_linux, "randwrite", 1);
	event_job_add(&job, "--fsync=%d", FLUSH_EVERY);
	return run_eio(&t, &job, &x, "write", e);
}

/* ---- an error that stops the guest, which sees nothing of it ---- */

static int act_stop(struct event_try *t, const struct trial_progress *p, struct error *e)
{
	json_t *status;

	(void)p;
	if (t->step == 0 && t->b->link.news.state == HV_IO_ERROR) {
		if (event_qmp(t->b, json_pack("{s:s}", "execute", "query-status"), &status, e))
			return event_gives_up(t, e);
		t->seen = !strcmp(json_string_value(json_object_get(status, "status")) ?: "", "io-error");
		json_decref(status);
		event_step(t, 1);
	} else if (t->step == 1 && event_waits(t) > STOPPED_S) {
		if (event_qmp(t->b, json_pack("{s:s}", "execute", "cont"), NULL, e))
			return event_gives_up(t, e);
		event_step(t, 2);
	}
	return 0;
}

/* Whatever the error is: EIO with the policy "stop", ENOSPC with that for it. */
int event_run_stop(struct boot *b, const struct matrix_cell *cell, struct cell_result *result, bool *gone, struct error *e)
{
	struct event_try t;
	struct event_job job;
	struct trial trial = { 0 };
	int status;

	event_begin(&t, b, cell, result, gone);
	event_job_once(&job, &t.area, t.is_linux, "randwrite", EVENT_CLONES);
	t.act = act_stop;
	status = event_run_job(&t, &job, 1u << HV_IO_ERROR | 1u << HV_PAUSED, &trial, e);
	if (!status)
		status = event_check_came(&t, &job, 2, e);
	if (!status)
		status = event_check(&t, t.seen ? CELL_PASS : CELL_FAIL, NULL, NULL, e, "the emulator stops the guest", "%s",
				     t.seen ? "" : "the guest stood still, and not for an I/O error") ||
			 event_check_well(&t, &job, &trial, "the request is made again and the job ends well", e) ||
			 event_check_disk(&t, &trial, false, "all that was written is on the disk", e) ? -1 : 0;
	trial_free(&trial);
	return status < 0 ? -1 : 0;
}
