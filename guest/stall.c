#include "guest/stall.h"

#include <errno.h>
#include <stdio.h>

#include "guest/flight.h"

int stall_open(struct crew *crew, struct error *e)
{
	for (unsigned i = 0; i < crew->count; i++) {
		struct clone *c = &crew->clone[i];
		unsigned depth = c->job->engine->synchronous ? 1 : c->job->iodepth;

		if (!c->job->stall_timeout_us)
			continue;
		c->flights = flights_open(depth + 1); /* the last one is for flushes */
		if (!c->flights)
			return error_errno(e, STATUS_FAILED, "stall_timeout");
	}
	return 0;
}

void stall_close(struct crew *crew)
{
	for (unsigned i = 0; i < crew->count && crew->clone; i++)
		flights_close(crew->clone[i].flights);
}

static void tell(struct crew *crew, struct clone *c, const struct flight *f, uint64_t age_ns, const struct run_hooks *hooks)
{
	static const char *const names[] = { "read", "write", "trim", "sync", "datasync" };
	struct note_sink sink = { hooks->note, hooks->context };
	struct failure *failure = &c->slot->result.failure;
	char why[sizeof(failure->text)];

	snprintf(why, sizeof(why), "%s at offset %llu in flight for %llu.%llu s", names[f->ddir],
		 (unsigned long long)f->offset, (unsigned long long)(age_ns / 1000000000),
		 (unsigned long long)(age_ns / 100000000 % 10));
	note_send(&sink, "kickio: stall: job %s, file %s: %s, length %u: longer than stall_timeout", c->job->name,
		  f->file < c->files.count ? c->files.file[f->file].path : "?", why, f->length);
	FAIL(failure, ETIMEDOUT, "stall");
	snprintf(failure->text, sizeof(failure->text), "%s", why);
	crew_give_up(crew, c);
}

void stall_check(struct crew *crew, unsigned wave, const struct run_hooks *hooks)
{
	for (unsigned i = 0; i < crew->count; i++) {
		struct clone *c = &crew->clone[i];
		uint64_t now = clock_monotonic_ns();
		struct flight f;

		if (c->wave != wave || !c->flights || !c->alive || clone_over(c) || !flights_oldest(c->flights, &f) ||
		    clock_elapsed(f.since_ns, now) / 1000 < c->job->stall_timeout_us)
			continue;
		tell(crew, c, &f, clock_elapsed(f.since_ns, now), hooks);
		/* The others share its device, more often than not; and nobody would read their numbers. */
		*crew->stop = *crew->stop ? *crew->stop : -1;
	}
}
