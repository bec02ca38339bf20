/*
 * Where the I/Os of one job go within one file: in sequence, at random with every block once per pass,
 * or at random with repeats. The same seed gives the same offsets on every system. Memory does not grow
 * with the file: "every block once" is a keyed permutation of the block numbers. No OS calls in here.
 */
#ifndef KB_OFFSETS_H
#define KB_OFFSETS_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/engine.h"

/*
 * SplitMix64: a counter in steps of the golden ratio, scrambled by two multiply-xorshift rounds.
 * Source: Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014, figure 16
 * (the finalizer is Stafford's variant 13).
 */
struct random64 {
	uint64_t state;
};

static inline uint64_t random64_next(struct random64 *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* A whole number in [0, n) by multiply and shift; its bias is at most n / 2^64. n > 0. */
static inline uint64_t random64_below(struct random64 *r, uint64_t n)
{
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)(((wide)random64_next(r) * n) >> 64);
}

/* A generator of its own for (seed, stream): clones, files and purposes never share one. */
struct random64 random64_stream(uint64_t seed, uint64_t stream);

/* Walks the numbers 0..n-1 in a keyed order, each once. */
struct permutation {
	uint64_t n, mask;
	uint64_t at; /* next input; outputs of n and above are skipped */
	uint64_t multiplier[4], addend[4];
	unsigned shift;
};

void permutation_init(struct permutation *p, uint64_t n, struct random64 *keys);
/* Call at most n times after an init. */
uint64_t permutation_next(struct permutation *p);

/* Number x of the keyed order, x < n. Does not move the walk. */
uint64_t permutation_at(const struct permutation *p, uint64_t x);

enum order { ORDER_SEQUENTIAL, ORDER_ONCE, ORDER_REPEATS };

struct offsets_setup {
	enum order order;
	uint64_t start, bytes; /* the region; what is behind the last whole block is never touched */
	uint64_t bs[DDIRS];    /* 0: this direction is never asked for */
	uint64_t seed, stream;
};

struct offsets {
	enum order order;
	unsigned map_of[DDIRS]; /* directions with equal blocks share a map: each block once for both */
	uint64_t left;          /* bytes of this pass, all directions together */
	uint64_t start, bytes;
	uint64_t bs[DDIRS];
	struct permutation map[DDIRS];
	uint64_t position[DDIRS]; /* sequential: each direction has its own */
	uint64_t blocks[DDIRS];
	struct random64 random;
};

void offsets_init(struct offsets *o, const struct offsets_setup *setup);

/*
 * The offset of the next I/O. False when the pass is complete: then offsets_restart() begins another.
 * One with repeats has no end, as in fio: how much is enough the caller says.
 */
bool offsets_next(struct offsets *o, enum ddir ddir, uint64_t *offset);

/* Begin a new pass: sequences from the start, permutations with a new key, draws go on. */
void offsets_restart(struct offsets *o);

#endif
