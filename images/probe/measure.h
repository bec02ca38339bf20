/* The measurements. Times are counts of the machine's counter until they are told. */
#ifndef PROBE_MEASURE_H
#define PROBE_MEASURE_H

#include "guest/histogram.h"
#include "images/probe/blk.h"
#include "images/probe/job.h"

struct distribution {
	struct histogram ns;
	uint64_t n, sum, min, max; /* in counts */
};

struct measured {
	/* n = 0: not of this mode. Less the cost of the time stamps. */
	struct distribution kick;        /* the notify write */
	struct distribution done_poll;   /* notify to the used index (or flag) seen */
	struct distribution per_request; /* the same, by the requests of the kick */
	struct distribution done_irq;    /* notify to the first instruction of the handler that finds all done */
	struct distribution loop;        /* MEASURE_TURNS turns of arithmetic */
	struct distribution port_write;  /* to a port that nobody listens to */
	uint64_t total;                  /* requests, and kicks of an empty queue: what the job's costs are divided by */
	uint64_t early;                  /* done_irq: the handler ran before the notify; counted as 0 there */
	uint64_t requests, kicks, interrupts, elapsed; /* JOB_EVENTS */
	/*
	 * JOB_CPU: turns of the loop, and their times. And by kick: turns for a time while the requests were out, by the same
	 * just before, in millionths: a host that is away for a while spoils a sum, not the median of these.
	 */
	uint64_t turns_out, time_out, turns_idle, time_idle;
	struct histogram cpu_left;
};

#define MEASURE_TURNS 100

/* How fast a loop turned, in millionths of how fast it turned idle; 0 where there is nothing to compare with. */
uint64_t measure_share(uint64_t turns, uint64_t time, uint64_t turns_idle, uint64_t time_idle);

struct measure_hooks {
	void *context;
	void (*begin)(void *context); /* recording starts now */
	/* About once a second: so many requests (or samples) are done. False: give up. */
	bool (*progress)(void *context, uint64_t done);
	void (*end)(void *context);
	/* JOB_EVENTS, several times a second while no interrupt comes: shall one further request be put under way? */
	bool (*nudge)(void *context);
	/* It is under way, or why it cannot be; and it came back. */
	void (*nudged)(void *context, const char *problem, bool done);
};

/*
 * Run a job on a device that blk_start() has made ready (JOB_HEALTH wants none). *m is large: not for the stack.
 * Some unrecorded kicks come first. Every wait ends after MEASURE_SILENCE_S with an error, but for the recorded part of
 * JOB_EVENTS, which waits as drivers of operating systems do: until hooks->progress gives up.
 */
#define MEASURE_SILENCE_S 5
int measure(struct blk *b, const struct job *job, const struct measure_hooks *hooks, struct measured *m, struct error *e);

#endif
