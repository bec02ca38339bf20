/*
 * Block numbers below n that are not all equally likely: fio's random_distribution. Constant memory and
 * time, whatever n is. zipf and pareto give the rank of a block; which block has which rank is a keyed
 * permutation, so that the hot blocks lie scattered over the whole file (fio hashes the rank, with collisions;
 * here every block has its own). Laws, for rank k = 0 .. n-1:
 *	zipf:theta   P(k) proportional to (k + 1)^-theta
 *	pareto:h     P(rank <= k) = ((k + 1) / n)^(log(1 - h) / log(h)): the share 1-h of I/Os goes to h of the blocks
 *	normal:dev   around the middle; deviation dev percent of n (0: n / 12), then scattered, as fio does
 *	zoned        zones in order from the start; a zone by its share of access, even within it
 */
#ifndef KB_DISTRIBUTION_H
#define KB_DISTRIBUTION_H

#include <stdint.h>

#include "guest/job.h"
#include "guest/offsets.h"

struct drawer {
	uint64_t n;
	const struct distribution *law; /* kept, not owned */
	double exponent;                /* of pareto; of zipf 1 - theta */
	double head, tail, threshold;   /* zipf: ends of the integral, and where a draw needs no second look */
	struct permutation scatter;
};

/* n > 0. */
void drawer_init(struct drawer *d, const struct distribution *law, uint64_t n, struct random64 *keys);

/* Before scattering: a rank (zipf, pareto) or a place (the others). */
uint64_t drawer_rank(const struct drawer *d, struct random64 *random);

uint64_t drawer_next(const struct drawer *d, struct random64 *random);

#endif
