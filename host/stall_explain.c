/* A job stands still: looks, nudges, verdict, evidence. */
#include <stdio.h>
#include <string.h>

#include "host/action.h"
#include "host/clock.h"
#include "host/stall.h"

#define BETWEEN_S 1.0  /* two looks */
#define SILENCE_S 4.0  /* more, for a guest that has not said a word by then */
#define NUDGE_S 2.0    /* for the further request to come back */
#define RESUMED_S 2.5  /* guests tell how far they are about once a second */
#define MOST_NUDGES 8
#define SLICE_MS 200

/* What the guest says meanwhile. */
struct ear {
	struct boot *b;
	uint64_t ios;     /* how far the job was */
	bool spoke, resumed;
	bool lost;        /* nothing more can be heard; a guest that is gone, mostly */
	unsigned nudge;   /* the action that runs */
	bool issued, back, refused;
	json_t *nudges;   /* for the evidence */
	struct stall_nudge did;
};

static bool has_spoken(const struct ear *ear)
{
	return ear->spoke;
}

static bool nudge_is_issued(const struct ear *ear)
{
	return ear->issued || ear->refused;
}

static bool nudge_is_over(const struct ear *ear)
{
	return ear->back || ear->refused;
}

static bool has_resumed(const struct ear *ear)
{
	return ear->resumed;
}

static void take_answer(struct ear *ear, const struct message *m)
{
	json_t *told = json_array_get(ear->nudges, json_array_size(ear->nudges) - 1);
	const char *problem;

	if (!ear->nudge || !action_answers(m, ear->nudge, &problem))
		return;
	ear->issued |= !problem;
	ear->back |= !problem && action_done(m);
	ear->refused |= problem != NULL;
	json_object_set_new(told, "issued", json_boolean(ear->issued));
	json_object_set_new(told, "completed", json_boolean(ear->back));
	if (problem)
		json_object_set_new(told, "problem", json_string(problem));
	if (json_object_get(m->body, "us"))
		json_object_set(told, "us", json_object_get(m->body, "us"));
}

static void take(struct ear *ear, const struct message *m)
{
	const json_t *reads = json_object_get(m->body, "read_ios"), *writes = json_object_get(m->body, "write_ios");

	ear->spoke = true;
	if (m->type == FRAME_STATUS && reads)
		ear->resumed |= (uint64_t)json_integer_value(reads) + (uint64_t)json_integer_value(writes) > ear->ios;
	else if (m->type == FRAME_END || m->type == FRAME_RESULT)
		ear->resumed = true;
	else if (m->type == FRAME_ACTION)
		take_answer(ear, m);
}

/* A while, or until it is enough. -1: interrupted. */
static int listen_for(struct ear *ear, double seconds, bool (*enough)(const struct ear *ear), struct error *e)
{
	double end = clock_s() + seconds, left;
	struct link *l = &ear->b->link;
	struct error why = { 0 };
	struct message m;

	while (!ear->lost && !(enough && enough(ear)) && (left = end - clock_s()) > 0) {
		int status = link_receive(l, left * 1000 < SLICE_MS ? (int)(left * 1000) + 1 : SLICE_MS, &m, &why);

		if (status > 0) {
			take(ear, &m);
			json_decref(m.body);
		} else if (status < 0 && l->interrupted && *l->interrupted) {
			*e = why;
			return -1;
		} else if (status < 0) {
			ear->lost = true;
		}
	}
	return 0;
}

/* Look, and hear whether the guest says anything. */
static int look(struct ear *ear, size_t disk, struct stall_snapshot *s, double seconds, bool (*enough)(const struct ear *ear),
		struct error *e)
{
	struct error why = { 0 };
	unsigned id;

	if (stall_snapshot_take(ear->b, disk, s, e))
		return -1;
	if (s->deaf)
		return 0;
	ear->spoke = false;
	if (!ear->lost && (action_send(ear->b, "ping", NULL, -1, &id, &why) || link_nudge(&ear->b->link, &why)))
		ear->lost = true;
	if (listen_for(ear, seconds, enough, e))
		return -1;
	s->talks = ear->spoke;
	s->state = ear->b->ops->state(ear->b->guest); /* it may have ended meanwhile */
	return 0;
}

static int nudge_once(struct ear *ear, size_t disk, int cpu, struct error *e)
{
	json_t *told = json_pack("{s:o,s:b,s:b}", "cpu", cpu < 0 ? json_null() : json_integer(cpu), "issued", 0, "completed", 0);
	struct error why = { 0 };

	if (!told || json_array_append_new(ear->nudges, told))
		return error_set(e, STATUS_HOST, "out of memory");
	ear->issued = ear->back = ear->refused = false;
	if (action_send(ear->b, "nudge", ear->b->disk_path[disk], cpu, &ear->nudge, &why)) {
		ear->lost = true;
		return 0;
	}
	if (listen_for(ear, SILENCE_S, nudge_is_issued, e) || listen_for(ear, ear->issued ? NUDGE_S : 0, nudge_is_over, e))
		return -1;
	ear->did.sent |= ear->issued;
	ear->did.completed |= ear->back;
	return ear->issued ? listen_for(ear, RESUMED_S, has_resumed, e) : 0;
}

/*
 * On the CPU whose queue it is, where each CPU has one; else on one CPU behind the other, so that every queue gets one.
 * Those that none was found to be at fault with, too: what it brings on tells.
 */
static int nudge(struct ear *ear, size_t disk, const struct stall_snapshot *first, const struct stall_snapshot *second,
		 struct error *e)
{
	unsigned cpus = (unsigned)json_integer_value(json_object_get(ear->b->hello, "ncpus"));
	int queue = stall_queue_at_fault(first, second);

	if (cpus <= 1)
		return nudge_once(ear, disk, -1, e);
	if (queue >= 0 && second->nqueues == cpus)
		return nudge_once(ear, disk, queue, e);
	for (unsigned cpu = 0; cpu < cpus && cpu < MOST_NUDGES && !ear->lost && !ear->resumed; cpu++)
		if (nudge_once(ear, disk, (int)cpu, e))
			return -1;
	return 0;
}

static json_t *tell(struct ear *ear, const struct stall_snapshot *s, size_t n, enum stall_cause cause, const char *why)
{
	json_t *snapshots = json_array(), *evidence;
	struct text tail = { 0 };

	link_console_tail(&ear->b->link, &tail);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(snapshots, stall_snapshot_json(&s[i]));
	evidence = json_pack("{s:s,s:s,s:o,s:O,s:b,s:s}", "cause", stall_cause_name(cause), "why", why, "snapshots", snapshots,
			     "nudges", ear->nudges, "resumed", ear->did.resumed, "console", text_get(&tail));
	text_free(&tail);
	return evidence;
}

int stall_explain(struct boot *b, size_t disk, uint64_t ios, enum stall_cause *cause, json_t **evidence, struct error *e)
{
	struct ear ear = { .b = b, .ios = ios, .nudges = json_array() };
	struct stall_snapshot s[3] = { { 0 } };
	struct text why = { 0 };
	size_t n = 0;
	int status = -1;

	*evidence = NULL;
	*cause = STALL_UNKNOWN;
	if (!ear.nudges || look(&ear, disk, &s[n++], BETWEEN_S, NULL, e) ||
	    (!s[0].deaf && look(&ear, disk, &s[n++], SILENCE_S, has_spoken, e)))
		goto out;
	if (n > 1 && !s[1].deaf && (s[0].talks || s[1].talks)) {
		if (nudge(&ear, disk, &s[0], &s[1], e) || look(&ear, disk, &s[n++], SILENCE_S, has_spoken, e))
			goto out;
		ear.did.resumed = ear.resumed;
	}
	*cause = stall_judge(&s[0], &s[n > 1], &ear.did, &why);
	*evidence = why.failed ? NULL : tell(&ear, s, n, *cause, text_get(&why));
	status = *evidence ? 0 : -1;
out:
	if (status && !e->status)
		error_set(e, STATUS_HOST, "out of memory");
	for (size_t i = 0; i < n; i++)
		stall_snapshot_free(&s[i]);
	json_decref(ear.nudges);
	text_free(&why);
	return status;
}

int stall_of_trial(struct boot *b, size_t disk, struct trial *trial, struct error *e)
{
	size_t used = strlen(trial->message);
	enum stall_cause cause;
	json_t *evidence;

	if (stall_explain(b, disk, trial->ios, &cause, &evidence, e))
		return -1;
	json_decref(trial->stall);
	trial->stall = evidence;
	snprintf(trial->message + used, sizeof(trial->message) - used, "%s%s: %s", used ? "; " : "", stall_cause_name(cause),
		 json_string_value(json_object_get(evidence, "why")));
	return 0;
}
