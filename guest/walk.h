/*
 * Where the I/Os of one job go within one file, and how long they are, for jobs that ask for more than
 * offsets.h does: sizes that vary, distributions, an alignment of offsets, a share of sequential I/Os.
 * Memory does not grow with the file. No OS calls in here.
 */
#ifndef KB_WALK_H
#define KB_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/distribution.h"
#include "guest/job.h"
#include "guest/sizes.h"

struct walk {
	enum order order;
	uint64_t start, bytes;    /* the region */
	uint64_t left;            /* bytes of this pass, all directions; without repeats only */
	uint64_t position[DDIRS]; /* where the next sequential I/O goes */
	unsigned map_of[DDIRS];   /* directions with equal sizes share a mosaic */
	uint64_t align[DDIRS];
	uint64_t random_percent[DDIRS];
	struct sizes sizes[DDIRS];
	struct mosaic mosaic[DDIRS];
	struct drawer drawer[DDIRS];
	struct random64 random;
};

/* Does the job ask for anything that needs this? */
bool walk_needed(const struct job *job);

/* job is kept, not owned. A region that holds no block of a direction never gets an I/O of that one. */
void walk_init(struct walk *w, const struct job *job, enum order order, uint64_t start, uint64_t bytes,
	       uint64_t seed, uint64_t stream);

/* False when the pass is complete (or has no room for this direction). One with repeats has no end. */
bool walk_next(struct walk *w, enum ddir ddir, uint64_t *offset, uint32_t *length);

/* Begin a new pass: sequences from the start, new cuts and keys, draws go on. */
void walk_restart(struct walk *w);

#endif
