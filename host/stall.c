/* The judge: pure, over two snapshots and what a further request did. */
#include "host/stall.h"

#include <string.h>

const char *stall_cause_name(enum stall_cause cause)
{
	static const char *const names[] = { "unknown", "kick lost", "interrupt lost", "device holds it", "guest dead" };

	return names[cause];
}

/* ---- one queue ---- */

/* It was served between the two looks. */
static bool moved(const struct stall_queue *a, const struct stall_queue *b)
{
	return a->known && b->known && (a->last_avail != b->last_avail || a->used != b->used);
}

static bool waits(const struct stall_queue *q)
{
	return q->known && q->guest_known && (q->packed ? q->pending : q->avail != q->last_avail);
}

static bool unseen(const struct stall_queue *q)
{
	return q->known && q->seen_known && q->seen != q->used;
}

/* STALL_UNKNOWN: nothing of it waits. */
static enum stall_cause of_queue(const struct stall_queue *a, const struct stall_queue *b)
{
	if (moved(a, b))
		return STALL_UNKNOWN;
	if (a->known && b->known && a->inuse && b->inuse)
		return STALL_DEVICE_HOLDS;
	if (waits(a) && waits(b))
		return STALL_KICK_LOST;
	if (unseen(a) && unseen(b))
		return STALL_INTERRUPT_LOST;
	return STALL_UNKNOWN;
}

/* The later look at a queue that stands still and is not empty, NULL: there is none. */
static const struct stall_queue *at_fault(const struct stall_snapshot *first, const struct stall_snapshot *second,
					  enum stall_cause *cause)
{
	for (size_t i = 0; i < first->nqueues; i++)
		for (size_t k = 0; k < second->nqueues; k++)
			if (first->queue[i].number == second->queue[k].number &&
			    (*cause = of_queue(&first->queue[i], &second->queue[k])) != STALL_UNKNOWN)
				return &second->queue[k];
	*cause = STALL_UNKNOWN;
	return NULL;
}

int stall_queue_at_fault(const struct stall_snapshot *first, const struct stall_snapshot *second)
{
	enum stall_cause cause;
	const struct stall_queue *q = at_fault(first, second, &cause);

	return q ? (int)q->number : -1;
}

/* ---- words ---- */

static unsigned place(const struct stall_queue *q, uint16_t index)
{
	return q->packed ? index & ~STALL_WRAP : index;
}

static void say_kick(const struct stall_queue *q, struct text *why)
{
	if (q->packed)
		text_add(why, "queue %u: the guest has made the descriptor at place %u available, and the device, which looks there next, "
			 "has not looked", q->number, place(q, q->last_avail));
	else
		text_add(why, "queue %u: the guest has made requests available up to %u, the device has looked up to %u", q->number,
			 q->avail, q->last_avail);
}

static void say_held(const struct stall_queue *q, struct text *why)
{
	text_add(why, "queue %u: the device has taken %u %s%s up to %u, has given back up to %u, and gives back no more", q->number,
		 q->inuse, q->packed ? "descriptor" : "request", q->inuse == 1 ? "" : "s", place(q, q->last_avail), place(q, q->used));
	if (waits(q) && q->packed)
		text_add(why, ", and has not looked at more that are available");
	else if (waits(q))
		text_add(why, ", and has not looked at %u more", (unsigned)(uint16_t)(q->avail - q->last_avail));
}

static void say_unseen(const struct stall_queue *q, struct text *why)
{
	text_add(why, "queue %u: the device is done up to %u, the guest has seen up to %u", q->number, place(q, q->used),
		 place(q, q->seen));
	if (q->signalled_known && q->signalled == place(q, q->used))
		text_add(why, " (the device has dealt with interrupts for all of it)");
	else if (q->signalled_known)
		text_add(why, " (the device has dealt with interrupts up to %u)", q->signalled);
}

static void say_queue(const struct stall_queue *q, enum stall_cause cause, struct text *why)
{
	(cause == STALL_KICK_LOST ? say_kick : cause == STALL_DEVICE_HOLDS ? say_held : say_unseen)(q, why);
}

static void say_nudge(const struct stall_nudge *n, struct text *why)
{
	if (!n->sent)
		return;
	text_add(why, n->resumed ? n->completed ? "; a further request came back, and the job went on" : "; with a further request the job went on" :
		 n->completed ? "; a further request came back, the job stands" : "; a further request does not come back either");
}

/* ---- the guest ---- */

static void say_vcpus(const struct stall_snapshot *first, const struct stall_snapshot *second, struct text *why)
{
	if (!first->vcpu_known || !second->vcpu_known || second->at_ns <= first->at_ns || second->vcpu_ns < first->vcpu_ns)
		return;
	text_add(why, ", its vCPUs used %.0f %% of a CPU meanwhile", 100.0 * (double)(second->vcpu_ns - first->vcpu_ns) /
		 (double)(second->at_ns - first->at_ns));
}

static enum stall_cause dead(const struct stall_snapshot *first, const struct stall_snapshot *second, struct text *why)
{
	enum stall_cause cause;
	const struct stall_queue *q = at_fault(first, second, &cause);

	text_add(why, "the guest %s and does not answer", hv_state_words(second->state));
	say_vcpus(first, second, why);
	if (*second->last_words)
		text_add(why, "; its console: %s", second->last_words);
	if (q) {
		text_add(why, "; besides, ");
		say_queue(q, cause, why);
	}
	return STALL_GUEST_DEAD;
}

/* ---- no queue stands still with something in it ---- */

struct looked {
	size_t moved, known, guest_known, seen_known;
};

static struct looked look(const struct stall_snapshot *first, const struct stall_snapshot *second)
{
	struct looked l = { 0 };

	for (size_t i = 0; i < second->nqueues; i++) {
		const struct stall_queue *q = &second->queue[i];

		l.known += q->known;
		l.guest_known += q->guest_known;
		l.seen_known += q->seen_known;
		for (size_t k = 0; k < first->nqueues; k++)
			l.moved += first->queue[k].number == q->number && moved(&first->queue[k], q);
	}
	return l;
}

static enum stall_cause by_nudge(const struct stall_snapshot *first, const struct stall_snapshot *second,
				 const struct stall_nudge *nudge, struct text *why)
{
	struct looked l = look(first, second);
	enum stall_cause cause = STALL_UNKNOWN;

	if (!second->nqueues || !l.known)
		text_add(why, "this emulator does not tell how far its queues are");
	else if (l.moved)
		text_add(why, "the device goes on: it is slow, or the guest does not wait for this disk");
	else if (l.guest_known < second->nqueues)
		text_add(why, "the device has nothing in its hands; how far the guest is cannot be read");
	else if (l.seen_known == second->nqueues)
		text_add(why, "nothing is outstanding, and the guest has seen all that is done: it does not wait for this device");
	else if (nudge->sent && nudge->completed && !nudge->resumed)
		text_add(why, "nothing is outstanding, and interrupts arrive: the guest does not wait for this device");
	else {
		cause = STALL_INTERRUPT_LOST;
		text_add(why, "the device is done with all that the guest has made available, and the guest waits");
	}
	say_nudge(nudge, why);
	return cause;
}

enum stall_cause stall_judge(const struct stall_snapshot *first, const struct stall_snapshot *second,
			     const struct stall_nudge *nudge, struct text *why)
{
	const struct stall_queue *q;
	enum stall_cause cause;

	if (second->deaf) {
		text_add(why, "the emulator does not answer its monitor: it hangs itself, or was stopped");
		return STALL_DEVICE_HOLDS;
	}
	if (second->state == HV_PAUSED) {
		text_add(why, "the guest is paused");
		return STALL_UNKNOWN;
	}
	if (second->state == HV_IO_ERROR) {
		text_add(why, "the guest %s", hv_state_words(second->state));
		return STALL_DEVICE_HOLDS;
	}
	if (second->state != HV_RUNNING || (!first->talks && !second->talks))
		return dead(first, second, why);
	q = at_fault(first, second, &cause);
	if (!q)
		return by_nudge(first, second, nudge, why);
	say_queue(q, cause, why);
	say_nudge(nudge, why);
	return cause;
}
