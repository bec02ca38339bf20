#include "guest/snapshot.h"

#include <time.h>

#define PATIENCE_NS 200000000u
#define POLL_NS 500000

static bool in_loop(const struct clone *c)
{
	int phase = slot_load(&c->slot->phase);

	return !c->doomed && (phase == PHASE_RAMP || phase == PHASE_RUN);
}

static bool all_answered(const struct crew *crew, unsigned serial)
{
	for (unsigned i = 0; i < crew->count; i++) {
		const struct clone *c = &crew->clone[i];

		if (in_loop(c) && slot_load(&c->slot->reported) != serial)
			return false;
	}
	return true;
}

static void complete(struct job_result *r, const struct clone *c)
{
	const struct job_result *last = &c->slot->snapshot;

	worker_complete_result(r, c->slot->class_count, clock_monotonic_ns() - slot_load(&c->slot->recording_ns));
	/* only the clone itself knows its processor time: that of its last answer */
	if (!slot_load(&c->slot->reported))
		return;
	r->user_us = last->user_us;
	r->system_us = last->system_us;
	r->context_switches = last->context_switches;
	r->major_faults = last->major_faults;
	r->minor_faults = last->minor_faults;
}

static int copy_silent(struct clone *c, struct error *e)
{
	struct job_result *r = job_result_copy(&c->slot->result);

	if (!r)
		return error_errno(e, STATUS_FAILED, "report");
	if (slot_load(&c->slot->phase) < PHASE_RUN)
		for (unsigned d = 0; d < DDIRS; d++)
			direction_reset(&r->dir[d]);
	else
		complete(r, c);
	c->report = r;
	c->report_copied = true;
	return 0;
}

int snapshot_take(struct crew *crew, struct error *e)
{
	unsigned serial = ++crew->reports;
	uint64_t until = clock_monotonic_ns() + PATIENCE_NS;

	for (unsigned i = 0; i < crew->count; i++)
		slot_store(&crew->clone[i].slot->report_asked, serial);
	while (!all_answered(crew, serial) && clock_monotonic_ns() < until)
		nanosleep(&(struct timespec){ .tv_nsec = POLL_NS }, NULL);
	for (unsigned i = 0; i < crew->count; i++) {
		struct clone *c = &crew->clone[i];
		int phase = slot_load(&c->slot->phase);

		/* its end first: whoever is at it no longer answers, but may have done so */
		if (c->doomed || phase >= PHASE_DONE || phase < PHASE_RAMP)
			c->report = &c->slot->result;
		else if (slot_load(&c->slot->reported) == serial)
			c->report = &c->slot->snapshot;
		else if (copy_silent(c, e) < 0)
			return -1;
	}
	return 0;
}

void snapshot_drop(struct crew *crew)
{
	for (unsigned i = 0; i < crew->count; i++) {
		struct clone *c = &crew->clone[i];

		if (c->report_copied)
			job_result_free(c->report);
		c->report = NULL;
		c->report_copied = false;
	}
}
