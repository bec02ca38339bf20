/*
 * How long the I/Os of one direction are: one size, a range, or a mix of sizes by weight. The sizes and
 * their shares are fio's: a range of lo-hi is drawn from [lo, lo + hi), rounded down to a multiple of lo
 * (unless unaligned) and cut off at hi; so is each size of a mix. Fixed memory, no OS calls.
 */
#ifndef KB_SIZES_H
#define KB_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/job.h"
#include "guest/offsets.h"

struct sizes {
	uint64_t lo, hi; /* equal: one size; 0: the direction is not used */
	unsigned shift; /* lo is 1 << shift; 64: no power of two */
	bool unaligned;
	struct bssplit split; /* count 0: a range */
};

void sizes_init(struct sizes *s, const struct job *job, enum ddir ddir);

/* Both describe the same sizes. */
bool sizes_same(const struct sizes *a, const struct sizes *b);

/* A size of at most room bytes. room is at least lo. */
uint64_t sizes_draw(const struct sizes *s, struct random64 *random, uint64_t room);

/*
 * A region cut into pieces of drawn sizes, which are visited in random order, each once per pass. Memory
 * does not grow with the region: where the cuts are is drawn again, from the same seeds, whenever a piece
 * is looked up. For this the region consists of tiles of some pieces each; no piece crosses a tile.
 */
struct mosaic {
	struct sizes sizes;
	uint64_t units;      /* of lo bytes: the region */
	uint64_t tile;       /* units of a tile */
	uint64_t longest;    /* units of the longest piece */
	uint64_t slots;      /* the most pieces that a tile is cut into */
	uint64_t left, seed; /* slots still to look at; of this pass's cuts */
	struct permutation order;
};

/* bytes: at least one lo. Begins a pass; call it again for each further one. */
void mosaic_init(struct mosaic *m, const struct sizes *sizes, uint64_t bytes, struct random64 *keys);

/* The next piece, offset from the start of the region. False: all have been visited. */
bool mosaic_next(struct mosaic *m, uint64_t *offset, uint64_t *length);

#endif
