/* The clones of a run as processes or threads: started together, let go together, buried one by one. */
#ifndef KB_CREW_H
#define KB_CREW_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "guest/worker.h"

struct clone {
	const struct job *job;
	unsigned jobnum, index, wave;
	uint64_t seed;
	struct file_set files;
	struct slot *slot; /* in shared memory */
	bool doomed;       /* failed before it could be started */
	uint64_t delay_ns; /* of its startdelay */

	struct crew *crew;
	bool thread;
	bool alive; /* its process or thread has not been waited for */
	pid_t pid;
	pthread_t handle;
	int killed_by;
	struct flights *flights; /* NULL: no stall_timeout */
	bool abandoned; /* hangs in the system and will not be waited for; its memory has to stay */

	/* The monitor's: what the last sample saw, the samples, how many bytes of notes were passed on. */
	struct sampler {
		uint64_t at_ns, count[DDIRS];
		struct samples samples[DDIRS];
	} bw, iops;
	uint64_t moved_ns, moved_ios; /* when it was last seen to get on */
	bool exit_told;               /* exitall was looked at */
	size_t notes_seen;
	struct job_result *report; /* what a report in between is made of; copied: its own memory */
	bool report_copied;
	bool failure_told;
};

struct crew {
	struct clone *clone;
	unsigned count;
	const struct clock *clock;
	struct verify_store *verify; /* NULL: no job verifies */
	volatile int *stop; /* in shared memory */
	unsigned reports;   /* snapshots asked for so far */
	pid_t runner;
	uint64_t born_ns; /* when the first clones were started, by clock_monotonic_ns: startdelay counts from here */
	int wake[2]; /* clones write a byte when their phase changed */
	int go[2];   /* clones wait for its end of file */
	int gone;    /* waves let go; by slot_load and slot_store */
};

int crew_open(struct crew *crew, struct error *e);
void crew_close(struct crew *crew);

/* Start the clones of a wave and wait until each is ready or has failed. */
int crew_start(struct crew *crew, unsigned wave, struct error *e);

/* Let the started ones go. */
void crew_go(struct crew *crew);

/* Sleep until a clone says something, at most that long. */
void crew_wait(struct crew *crew, uint64_t ns);

/* Notice the processes that died before their end. Does not block. */
void crew_check(struct crew *crew, unsigned wave);

/* Let the clones of a group end early, all but one. */
void crew_stop_group(struct crew *crew, unsigned groupid, const struct clone *but);

/*
 * A clone that hangs in the system: a process is killed, and abandoned when even that does not end it soon; a thread
 * is abandoned at once. Its counts are settled.
 */
void crew_give_up(struct crew *crew, struct clone *c);

/* Something was abandoned: nothing that a clone may touch can be given back. */
bool crew_abandoned(const struct crew *crew);

/* Wait for all of the wave, which are at their end. */
void crew_join(struct crew *crew, unsigned wave);

static inline bool clone_over(const struct clone *c)
{
	return c->doomed || c->abandoned || slot_load(&c->slot->phase) >= PHASE_DONE;
}

#endif
