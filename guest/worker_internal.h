/* What the two halves of the worker share: worker_open.c prepares, worker.c runs. */
#ifndef KB_WORKER_INTERNAL_H
#define KB_WORKER_INTERNAL_H

#include <stdbool.h>
#include <sys/resource.h>

#include "guest/latency.h"
#include "guest/offsets.h"
#include "guest/worker.h"

/* One file as the loop sees it. */
struct place {
	struct offsets offsets;
	int fd;
};

/* What the loop touches comes first and together: after every system call it has to be fetched again. */
struct worker {
	const volatile int *stop;
	const struct engine *engine;
	void *engine_state;
	struct place *place; /* one per file */
	unsigned next_file, last_file;
	uint64_t bytes_left, ios_left;
	struct io io;
	uint32_t length[DDIRS];
	uint32_t read_below; /* of a 32-bit draw; mixed jobs only */
	bool mixed, never_reads;
	enum ddir only; /* of jobs that do not mix */
	unsigned fsync_every, writes_until_sync;
	struct random64 random;
	struct clock clock;
	uint64_t class_count[LATENCY_CLASSES];

	struct worker_setup setup;
	struct rusage usage;
	struct note_sink notes;
	struct latency_table classes;
};

#define WORKER_FAIL(w, error, ...) FAIL(&(w)->setup.slot->result.failure, error, __VA_ARGS__)

static inline void worker_set_limits(struct worker *w)
{
	const struct job *job = w->setup.job;

	w->bytes_left = job->time_based ? UINT64_MAX : w->setup.files->limit;
	w->ios_left = job->time_based || !job->number_ios ? UINT64_MAX : job->number_ios;
}

#endif
