/* What the two halves of the worker share: worker_open.c prepares, worker.c runs. */
#ifndef KB_WORKER_INTERNAL_H
#define KB_WORKER_INTERNAL_H

#include <stdbool.h>
#include <sys/resource.h>

#include "guest/generator.h"
#include "guest/latency.h"
#include "guest/worker.h"

/* What the loop touches comes first and together: after every system call it has to be fetched again. */
struct worker {
	const volatile int *stop;
	const struct engine *engine;
	void *engine_state;
	struct io io;
	struct generator generator;
	unsigned fsync_every, writes_until_sync;
	struct clock clock;
	uint64_t class_count[LATENCY_CLASSES];

	struct worker_setup setup;
	struct rusage usage;
	struct note_sink notes;
	struct latency_table classes;
};

#define WORKER_FAIL(w, error, ...) FAIL(&(w)->setup.slot->result.failure, error, __VA_ARGS__)

#endif
