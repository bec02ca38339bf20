/* The clock that latencies are taken with: option clocksource. Set up before jobs start, then only read. */
#ifndef KB_CLOCK_H
#define KB_CLOCK_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#include "guest/error.h"
#include "guest/job.h"

struct clock {
	enum clocksource source;
	uint64_t tsc_base;
	uint64_t tsc_scale; /* ns per tick, times 2^32 */
};

/*
 * Choose the source. CLOCK_CPU works where the processor says that its time stamp counter runs at one
 * speed (x86-64 only); it is then measured for 20 ms against CLOCK_MONOTONIC. Anything else is an error.
 */
int clock_init(struct clock *c, enum clocksource source, struct error *e);

static inline uint64_t clock_monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The sources that are not the default. */
uint64_t clock_other_ns(const struct clock *c);

/* Nanoseconds since some instant that all jobs of a run share. */
static inline uint64_t clock_ns(const struct clock *c)
{
	if (__builtin_expect(c->source == CLOCK_GETTIME, 1))
		return clock_monotonic_ns();
	return clock_other_ns(c);
}

/* gettimeofday can be set back, and time stamp counters of two processors may differ: no time then, not 584 years. */
static inline uint64_t clock_elapsed(uint64_t start, uint64_t now)
{
	return now > start ? now - start : 0;
}

#endif
