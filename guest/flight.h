/*
 * Which units of a clone are in flight, where the runner can see it: only kept for jobs with stall_timeout.
 * The clone writes, the runner looks.
 */
#ifndef KB_FLIGHT_H
#define KB_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/engine.h"
#include "guest/clock.h"

struct flight {
	uint64_t since_ns; /* clock_monotonic_ns() when it was issued; 0: not in flight */
	uint64_t offset;
	uint32_t length;
	unsigned file;
	int ddir;
};

struct flights {
	unsigned count;
	struct flight unit[]; /* by io->index */
};

/* In memory shared with processes forked later. NULL (and errno) when there is none. */
struct flights *flights_open(unsigned count);
void flights_close(struct flights *f);

/* The one that has been in flight for longest. False: none is. */
bool flights_oldest(const struct flights *f, struct flight *oldest);

/* A unit is about to be handed to the engine. */
static inline void flight_begin(struct flights *f, const struct io *io)
{
	struct flight *u = &f->unit[io->index];

	u->offset = io->offset;
	u->length = io->length;
	u->file = io->file;
	u->ddir = io->ddir;
	__atomic_store_n(&u->since_ns, clock_monotonic_ns(), __ATOMIC_RELEASE);
}

/* It came back. */
static inline void flight_end(struct flights *f, const struct io *io)
{
	__atomic_store_n(&f->unit[io->index].since_ns, 0, __ATOMIC_RELEASE);
}

#endif
