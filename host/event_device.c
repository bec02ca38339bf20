/* Events in which the device changes, or goes and comes back. */
#include <stdio.h>
#include <string.h>

#include "host/action.h"
#include "host/event_plug.h"
#include "host/event_private.h"

#define JOB_S 4
#define GONE_JOB_S 20 /* it ends with its first errors */
#define GROWN (8ull << 20) /* what is added to a disk */
#define ALIGNED (64u << 10)
#define LET_GO_S 120.0
#define BIND_S 120.0

/* ---- another size ---- */

static int resize(struct event_try *t, uint64_t bytes, struct error *e)
{
	char node[64];

	if (event_plug_node(t->b, node, sizeof(node), e))
		return -1;
	return event_qmp(t->b, json_pack("{s:s,s:{s:s,s:I}}", "execute", "block_resize", "arguments", "node-name", node, "size",
					 (json_int_t)bytes), NULL, e);
}

static int act_resize(struct event_try *t, const struct trial_progress *p, struct error *e)
{
	if (t->step || !p->ios)
		return 0;
	if (resize(t, t->cell->bytes + GROWN, e))
		return event_gives_up(t, e);
	event_step(t, 1);
	return 0;
}

static bool interrupted(const struct event_try *t)
{
	return t->b->request.interrupted && *t->b->request.interrupted;
}

/* Something that is asked for behind the job: its error is the check's message, unless we were interrupted. 1: it failed. */
static int check_outcome(struct event_try *t, int outcome, const char *name, struct error *e)
{
	struct error why = *e;

	if (outcome && interrupted(t))
		return -1;
	error_clear(e);
	if (event_check(t, outcome ? CELL_FAIL : CELL_PASS, NULL, NULL, e, name, "%.480s", outcome ? why.text : ""))
		return -1;
	return outcome ? 1 : 0;
}

/* The size is given back: the file is others', too. */
static int check_sizes(struct event_try *t, struct error *e)
{
	uint64_t beyond = t->cell->bytes + GROWN - t->area.part;
	int status = check_outcome(t, event_await_disk(t, t->cell->bytes + GROWN, e), "the guest sees the new size", e);

	if (!status)
		status = event_check_works(t, beyond - beyond % ALIGNED, "I/O beyond the old end", e);
	if (status < 0 || *t->gone)
		return status;
	status = check_outcome(t, resize(t, t->cell->bytes, e), "the disk shrinks to what it was", e);
	return status ? status : check_outcome(t, event_await_disk(t, t->cell->bytes, e), "the guest sees the old size again", e);
}

int event_run_resize(struct boot *b, const struct matrix_cell *cell, struct cell_result *result, bool *gone, struct error *e)
{
	struct event_try t;
	struct event_job job;
	struct trial trial = { 0 };
	int status;

	event_begin(&t, b, cell, result, gone);
	t.act = act_resize;
	status = event_run_timed(&t, &job, JOB_S, 0, &trial, e);
	if (!status)
		status = event_check_came(&t, &job, 1, e);
	if (!status)
		status = event_check_well(&t, &job, &trial, "the job ends well", e) ||
			 event_check_disk(&t, &trial, false, "all that was written is on the disk", e) ? -1 : 0;
	t.trial = NULL;
	trial_free(&trial);
	if (!status)
		status = check_sizes(&t, e);
	return status < 0 ? -1 : 0;
}

/* ---- gone and back ---- */

/* A job whose disk goes has to end, and not well; data that came back wrong are another matter. */
static int check_ended(struct event_try *t, const struct event_job *job, const struct trial *trial, struct error *e)
{
	enum cell_status status = trial->status == TRIAL_FAILED ? CELL_PASS : trial->status == TRIAL_CORRUPT ? CELL_CORRUPT : CELL_FAIL;

	return event_check(t, status, job, json_pack("{s:s}", "ended", trial->message), e, "the job gets errors and ends", "%s",
			   status == CELL_PASS ? "" : status == CELL_CORRUPT ? trial->message : "it ended as if its disk had been there");
}

/* The job; then the way back; then what is there. */
static int run_gone(struct event_try *t, int (*bring_back)(struct event_try *t, void *context, struct error *e), void *context,
		    const char *name, struct error *e)
{
	struct event_job job;
	struct trial trial = { 0 };
	int status;

	status = event_run_timed(t, &job, GONE_JOB_S, 0, &trial, e);
	if (!status)
		status = event_check_came(t, &job, 1, e);
	if (!status)
		status = check_ended(t, &job, &trial, e);
	if (!status)
		status = check_outcome(t, bring_back(t, context, e), name, e);
	if (!status)
		status = event_check_disk(t, &trial, true, "nothing that was completed before is lost", e);
	t->trial = NULL;
	trial_free(&trial);
	if (!status)
		status = event_check_works(t, 0, "the disk works afterwards", e);
	return status < 0 ? -1 : 0;
}

static int act_unplug(struct event_try *t, const struct trial_progress *p, struct error *e)
{
	if (t->step || !p->ios || !t->trial->maps || map_copy_empty(t->trial->maps))
		return 0;
	if (event_plug_out(t->b, e))
		return event_gives_up(t, e);
	event_step(t, 1);
	return 0;
}

static int plug_in(struct event_try *t, void *context, struct error *e)
{
	return event_plug_await_out(t->b, LET_GO_S, e) || event_plug_in(t->b, context, e) || event_await_disk(t, 0, e) ? -1 : 0;
}

int event_run_unplug(struct boot *b, const struct matrix_cell *cell, struct cell_result *result, bool *gone, struct error *e)
{
	struct event_try t;
	struct event_plug plug;
	int status;

	event_begin(&t, b, cell, result, gone);
	if (!t.is_linux)
		return event_check(&t, CELL_SKIPPED, NULL, NULL, e, "the disk is unplugged", "only Linux guests are asked to");
	if (event_plug_look(b, &plug, e)) {
		status = check_outcome(&t, -1, "the disk is unplugged", e);
		return status < 0 ? -1 : 0;
	}
	t.act = act_unplug;
	status = run_gone(&t, plug_in, &plug, "plugged again it is there", e);
	event_plug_free(&plug);
	return status;
}

static int act_unbind(struct event_try *t, const struct trial_progress *p, struct error *e)
{
	if (t->step || !p->ios || !t->trial->maps || map_copy_empty(t->trial->maps))
		return 0;
	if (action_send(t->b, "unbind", t->b->disk_path[0], -1, &t->action, e))
		return event_gives_up(t, e);
	event_step(t, 1);
	return 0;
}

static int hear_unbind(struct event_try *t, const struct message *m)
{
	const char *problem;
	struct error e = { 0 };

	if (!action_answers(m, t->action, &problem) || !problem)
		return 0;
	error_set(&e, STATUS_INCOMPLETE, "%s", problem);
	return event_gives_up(t, &e);
}

static int bind_again(struct event_try *t, void *context, struct error *e)
{
	(void)context;
	return action_call(t->b, "bind", t->b->disk_path[0], -1, BIND_S, NULL, e) || event_await_disk(t, 0, e) ? -1 : 0;
}

int event_run_rebind(struct boot *b, const struct matrix_cell *cell, struct cell_result *result, bool *gone, struct error *e)
{
	struct event_try t;

	event_begin(&t, b, cell, result, gone);
	if (!t.is_linux)
		return event_check(&t, CELL_SKIPPED, NULL, NULL, e, "the driver is unbound", "only Linux guests can");
	t.act = act_unbind;
	t.hear = hear_unbind;
	return run_gone(&t, bind_again, NULL, "bound again it is there", e);
}
