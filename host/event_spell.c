/* Events in which all of the device or the guest is slow, away, or begins anew. */
#include <stdio.h>
#include <string.h>

#include "host/clock.h"
#include "host/event_private.h"

#define SPELL_S 2.0
#define PAUSE_S 1.5
#define SLOW_IOPS 20
#define RESET_AFTER_S 1.5 /* by then the guest has told what it wrote */
#define JOB_S 4
#define SLOW_JOB_S 6

/* ---- the end that they share ---- */

/* How a spell is judged: what it was to bring about, and what to say where it did not. */
struct spell {
	const char *name, *otherwise;
	unsigned seconds; /* of the job */
	unsigned steps, tolerated;
	bool moved; /* the device is another one: look whether it works */
};

static int run_spell(struct event_try *t, const struct spell *s, struct error *e)
{
	struct event_job job;
	struct trial trial = { 0 };
	json_t *evidence;
	int status;

	status = event_run_timed(t, &job, s->seconds, s->tolerated, &trial, e);
	if (!status)
		status = event_check_came(t, &job, s->steps, e);
	if (!status) {
		evidence = json_pack("{s:I,s:I,s:I,s:I}", "requests_before", (json_int_t)t->before, "requests_after", (json_int_t)t->after,
				     "ios_then", (json_int_t)t->ios_then, "ios", (json_int_t)t->ios);
		status = event_check(t, t->seen ? CELL_PASS : CELL_FAIL, NULL, evidence, e, s->name, "%s", t->seen ? "" : s->otherwise) ||
			 event_check_well(t, &job, &trial, "the job ends well", e) ||
			 event_check_disk(t, &trial, false, "all that was written is on the disk", e) ? -1 : 0;
	}
	trial_free(&trial);
	t->trial = NULL;
	if (!status && s->moved)
		status = event_check_works(t, 0, "the disk works afterwards", e);
	return status < 0 ? -1 : 0;
}

/* A spell that has begun is ended, and the job goes on without it. */
static int break_off(struct event_try *t, json_t *end, struct error *e)
{
	event_qmp(t->b, end, NULL, &(struct error){ 0 });
	return event_gives_up(t, e);
}

static json_t *go_on(void)
{
	return json_pack("{s:s}", "execute", "cont");
}

/* ---- a slow spell ---- */

static json_t *throttle(const struct event_try *t, unsigned iops)
{
	struct text id = { 0 };
	json_t *command;

	domain_virtio_path(t->b->request.machine, 0, &id);
	command = json_pack("{s:s,s:{s:s,s:i,s:i,s:i,s:i,s:i,s:i}}", "execute", "block_set_io_throttle", "arguments", "id", text_get(&id),
			    "bps", 0, "bps_rd", 0, "bps_wr", 0, "iops", (int)iops, "iops_rd", 0, "iops_wr", 0);
	text_free(&id);
	return command;
}

static int act_throttle(struct event_try *t, const struct trial_progress *p, struct error *e)
{
	if (t->step == 0 && p->ios) {
		if (event_qmp(t->b, throttle(t, SLOW_IOPS), NULL, e) || event_completed(t->b, &t->before, e))
			return event_gives_up(t, e);
		event_step(t, 1);
	} else if (t->step == 1 && event_waits(t) > SPELL_S) {
		double spell = event_waits(t);

		if (event_completed(t->b, &t->after, e) || event_qmp(t->b, throttle(t, 0), NULL, e))
			return event_gives_up(t, e);
		/* What was in flight comes on top. */
		t->seen = (double)(t->after - t->before) < SLOW_IOPS * spell * 2 + 64;
		event_step(t, 2);
	}
	return 0;
}

int event_run_throttle(struct boot *b, const struct matrix_cell *cell, struct cell_result *result, bool *gone, struct error *e)
{
	static const struct spell spell = { "the device is slow for a while", "it went on as fast as before", SLOW_JOB_S, 2, 0, false };
	struct event_try t;

	event_begin(&t, b, cell, result, gone);
	t.act = act_throttle;
	return run_spell(&t, &spell, e);
}

/* ---- the guest stands still ---- */

static int act_pause(struct event_try *t, const struct trial_progress *p, struct error *e)
{
	if (t->step == 0 && p->ios) {
		if (event_qmp(t->b, json_pack("{s:s}", "execute", "stop"), NULL, e) || event_completed(t->b, &t->before, e))
			return break_off(t, go_on(), e);
		event_step(t, 1);
	} else if (t->step == 1 && event_waits(t) > PAUSE_S) {
		bool paused = t->b->ops->state(t->b->guest) == HV_PAUSED;

		if (event_completed(t->b, &t->after, e) || event_qmp(t->b, go_on(), NULL, e))
			return break_off(t, go_on(), e);
		t->seen = paused && t->after == t->before;
		event_step(t, 2);
	}
	return 0;
}

int event_run_pause(struct boot *b, const struct matrix_cell *cell, struct cell_result *result, bool *gone, struct error *e)
{
	static const struct spell spell = { "nothing happens while the guest is paused", "the guest was not paused, or I/O went on", JOB_S, 2,
					    1u << HV_PAUSED, false };
	struct event_try t;

	event_begin(&t, b, cell, result, gone);
	t.act = act_pause;
	return run_spell(&t, &spell, e);
}

static int act_save(struct event_try *t, const struct trial_progress *p, struct error *e)
{
	struct text file = { 0 };
	pid_t before = t->b->ops->pid(t->b->guest);

	if (t->step || !p->ios)
		return 0;
	if (!t->b->ops->save_restore) {
		error_set(e, STATUS_HOST, "guests that commands start are not saved");
		return event_gives_up(t, e);
	}
	text_add(&file, "%s.saved", t->b->request.source[0]);
	if (t->b->ops->save_restore(t->b->guest, text_get(&file), e) || boot_settle_again(t->b, e))
		event_gives_up(t, e);
	else
		event_step(t, 1);
	t->seen = before <= 0 || t->b->ops->pid(t->b->guest) != before;
	text_free(&file);
	return 0;
}

int event_run_save(struct boot *b, const struct matrix_cell *cell, struct cell_result *result, bool *gone, struct error *e)
{
	static const struct spell spell = { "the guest goes on in another process", "its emulator is the one that it was", JOB_S, 1,
					    1u << HV_PAUSED, true };
	struct event_try t;

	event_begin(&t, b, cell, result, gone);
	t.act = act_save;
	return run_spell(&t, &spell, e);
}

/* ---- reset ---- */

static json_t *on_reboot(const char *action)
{
	return json_pack("{s:s,s:{s:s}}", "execute", "set-action", "arguments", "reboot", action);
}

static int act_reset(struct event_try *t, const struct trial_progress *p, struct error *e)
{
	if (p->elapsed_s < RESET_AFTER_S || !p->ios || !t->trial->maps || map_copy_empty(t->trial->maps))
		return 0;
	if (event_qmp(t->b, on_reboot("reset"), NULL, e) || event_qmp(t->b, json_pack("{s:s}", "execute", "system_reset"), NULL, e))
		return event_gives_up(t, e);
	event_step(t, 1);
	t->trial->status = TRIAL_OK;
	return 1;
}

/* Wait for the guest's new hello. A panic shall end it again. */
static int await_again(struct event_try *t, struct error *e)
{
	double start = clock_s();
	struct error why = { 0 };

	if (boot_greet_again(t->b, &why) || event_qmp(t->b, on_reboot("shutdown"), NULL, &why)) {
		*t->gone = true;
		if (t->b->request.interrupted && *t->b->request.interrupted)
			return error_set(e, STATUS_INCOMPLETE, "%s", why.text);
		return event_check(t, CELL_FAIL, NULL, NULL, e, "the guest starts again", "%.480s", why.text) ? -1 : 1;
	}
	return event_check(t, CELL_PASS, NULL, json_pack("{s:f}", "seconds", clock_s() - start), e, "the guest starts again", "%s", "");
}

int event_run_reset(struct boot *b, const struct matrix_cell *cell, struct cell_result *result, bool *gone, struct error *e)
{
	struct event_try t;
	struct event_job job;
	struct trial trial = { 0 };
	int status;

	event_begin(&t, b, cell, result, gone);
	if (!boot_greets_itself(b))
		return event_check(&t, CELL_SKIPPED, NULL, NULL, e, "the guest starts again", "its agent does not start by itself");
	t.act = act_reset;
	status = event_run_timed(&t, &job, SLOW_JOB_S, 0, &trial, e);
	if (!status)
		status = event_check_came(&t, &job, 1, e);
	if (!status)
		status = await_again(&t, e);
	if (!status)
		status = event_check_disk(&t, &trial, true, "nothing that was completed before the reset is lost", e);
	t.trial = NULL;
	trial_free(&trial);
	if (!status)
		status = event_check_works(&t, 0, "the disk works afterwards", e);
	return status < 0 ? -1 : 0;
}
