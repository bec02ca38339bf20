/*
 * All-pairs covering: the fewest rows that a greedy search finds in which every value of every option meets every value
 * of every other one, but for the pairs that cannot be. A pure function of its arguments.
 */
#ifndef KB_COVERING_H
#define KB_COVERING_H

#include <stddef.h>
#include <stdint.h>

#include "guest/error.h"

struct covering_pair {
	unsigned a, value_a, b, value_b; /* options a < b */
};

struct covering {
	unsigned *value; /* by row, then by option */
	size_t nrows, noptions;
	size_t npairs;               /* that are possible */
	struct covering_pair *impossible; /* forbidden as such */
	size_t nimpossible;
	struct covering_pair *uncovered;  /* not forbidden, but no row can hold them, as other pairs are */
	size_t nuncovered;
};

/* Whether value_a of option a and value_b of option b (a < b) exclude each other. */
typedef int (*covering_forbids)(void *context, unsigned a, unsigned value_a, unsigned b, unsigned value_b);

/* nvalues: of each option, 1 at least. The same seed makes the same rows. -1: out of memory, or not a single row is possible. */
int covering_make(const unsigned *nvalues, size_t noptions, covering_forbids forbids, void *context, uint64_t seed,
		  struct covering *out, struct error *e);
void covering_free(struct covering *c);

#endif
