/*
 * One I/O engine: how a unit is handed to the system and how its end is learned.
 * engines.c holds the table of all; a new engine is a file and a line there.
 */
#ifndef KB_ENGINE_H
#define KB_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/error.h"

/* What counts per direction comes before DDIRS; the two kinds of flush move no data. */
enum ddir { DDIR_READ, DDIR_WRITE, DDIR_TRIM, DDIRS, DDIR_SYNC = DDIRS, DDIR_DATASYNC };

static inline bool ddir_flushes(enum ddir ddir) { return ddir >= DDIR_SYNC; }

struct job;

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
	const struct job *job; /* for the engine's own options */
	unsigned depth;
	const int *fds; /* by file: io->fd == fds[io->file] */
	unsigned nfds;
	struct io *ios;         /* depth units, buffers set; one more for flushes follows them */
	uint32_t buffer_length; /* of every unit */
};

struct engine {
	const char *name;
	const char *help;
	bool diskless;    /* does not touch files: none is made or opened */
	bool synchronous; /* queue() always returns ENGINE_DONE; commit and reap are NULL */

	/* Per job state; NULL-able when the engine needs none. Called in the job's own thread. */
	int (*open)(void **state, const struct engine_setup *setup, struct error *e);
	enum engine_queued (*queue)(void *state, struct io *io);
	/*
	 * Hand what is queued to the system, in the order of queueing, with one system call: returns how many
	 * units it took, or -errno. 0: it takes none now, reap first. NULL: queue() does it itself.
	 */
	int (*commit)(void *state);
	/*
	 * Wait for at least min units, take at most max: their count, or -errno. Fewer than min, even 0, after a
	 * signal. A unit whose error the system told when it was handed over comes back here as well.
	 */
	int (*reap)(void *state, unsigned min, unsigned max, struct io **done);
	void (*close)(void *state);
};

/* The engines of this build, ended by NULL. */
extern const struct engine *const engines[];

const struct engine *engine_find(const char *name); /* NULL when this build has none of that name */

#endif
