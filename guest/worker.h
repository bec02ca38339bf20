/*
 * One clone of a job: opens its files, does its I/O, fills its result. Runs in a process or thread of its
 * own; everything that others look at meanwhile is in its slot.
 */
#ifndef KB_WORKER_H
#define KB_WORKER_H

#include <stdint.h>

#include "guest/clock.h"
#include "guest/files.h"
#include "guest/job.h"
#include "guest/latency.h"
#include "guest/result.h"

enum phase {
	PHASE_NONE,   /* not started */
	PHASE_SETUP,  /* opening files */
	PHASE_READY,  /* waiting to be let go */
	PHASE_RAMP,   /* I/O that is not recorded */
	PHASE_RUN,    /* I/O that is recorded */
	PHASE_FLUSH,  /* end_fsync */
	PHASE_VERIFY, /* reading back what was written */
	PHASE_DONE,   /* no more I/O; the result is complete */
	PHASE_REAPED, /* its process or thread is gone */
};

/*
 * What a clone shares with the runner. The clone writes, the runner reads: single words through
 * slot_load and slot_store, all else only from PHASE_DONE on.
 */
struct slot {
	int phase;
	int stop;              /* non-zero: the runner wants this clone to end early */
	unsigned report_asked; /* counts the snapshots that the runner wanted; beside stop, which the loop looks at */
	unsigned files;        /* open ones */
	uint64_t recording_ns; /* clock_monotonic_ns() when recording began; valid from PHASE_RUN on */
	char notes[4096];      /* lines for the user, each ended by a newline */
	uint64_t class_count[LATENCY_CLASSES]; /* of clat; latency_store() puts them into a result */
	struct job_result result;

	/* What the clone makes of its result when asked; complete when `reported` says so. */
	unsigned reported;
	struct job_result snapshot;
};

/* Release and acquire, so that what was written before a phase is seen with it. */
#define slot_store(place, value) __atomic_store_n((place), (value), __ATOMIC_RELEASE)
#define slot_load(place) __atomic_load_n((place), __ATOMIC_ACQUIRE)

struct flights;
struct verify_store;
struct worker;

struct worker_setup {
	const struct job *job;
	unsigned index;          /* of the clone within the whole run, from 0 */
	uint64_t seed;           /* of the job; each clone makes its own of it */
	bool thread;             /* shares its process with others: count the thread's resources */
	struct file_set *files;  /* sized and laid out; the worker opens and closes them */
	const struct clock *clock;
	const volatile int *stop; /* becomes non-zero when the run is to end */
	struct slot *slot;
	struct verify_store *verify; /* generation maps of the run; NULL: no job verifies */
	struct flights *flights;     /* where to publish what is in flight; NULL: nowhere */
};

/* Everything that must not happen while others measure. NULL on failure, which the slot's result tells. */
struct worker *worker_open(const struct worker_setup *setup);

/* Ramp, recording, end_fsync. Ends in PHASE_DONE, well or with a failure in the result. */
void worker_run(struct worker *w);

void worker_close(struct worker *w);

/*
 * Fill in what follows from the counts of a clone, so that the loop need not keep it: runtimes, lat and depths of
 * synchronous engines, the classes of latencies. Also for a copy of a result whose clone goes on, or was killed.
 */
void worker_complete_result(struct job_result *r, const uint64_t class_count[LATENCY_CLASSES], uint64_t elapsed_ns);

#endif
