/*
 * One I/O engine: how a unit is handed to the system and how its end is learned.
 * engines.c holds the table of all; a new engine is a file and a line there.
 */
#ifndef KB_ENGINE_H
#define KB_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/error.h"

enum ddir { DDIR_READ, DDIR_WRITE, DDIR_TRIM, DDIRS, DDIR_SYNC = DDIRS };

/* One unit of I/O. The worker owns it; an engine may keep it from queue() until it is reaped. */
struct io {
	void *buffer;
	uint64_t offset;
	uint32_t length;
	int fd;
	unsigned file; /* whose fd it is: 0.. within the job */
	enum ddir ddir;
	int error;      /* result: errno, 0 = fine */
	uint32_t moved; /* result: bytes transferred */
	uint64_t created_ns, issued_ns;
	void *engine_data;
	unsigned index; /* 0..depth-1 within the job */
};

enum engine_queued {
	ENGINE_DONE,   /* finished inside queue(); error and moved are set */
	ENGINE_QUEUED, /* in flight, or waiting for commit(); reap() returns it */
	ENGINE_BUSY,   /* nothing was taken: commit and reap first */
};

struct engine_setup {
	unsigned depth;
	const int *fds;
	unsigned nfds;
	struct io *ios; /* depth units, buffers set */
};

struct engine {
	const char *name;
	const char *help;
	bool synchronous; /* queue() always returns ENGINE_DONE; commit and reap are NULL */

	/* Per job state; NULL-able when the engine needs none. Called in the job's own thread. */
	int (*open)(void **state, const struct engine_setup *setup, struct error *e);
	enum engine_queued (*queue)(void *state, struct io *io);
	int (*commit)(void *state);                                            /* 0 or errno */
	int (*reap)(void *state, unsigned min, unsigned max, struct io **done); /* count or -errno */
	void (*close)(void *state);
};

/* The engines of this build, ended by NULL. */
extern const struct engine *const engines[];

const struct engine *engine_find(const char *name); /* NULL when this build has none of that name */

#endif
