/* Simulated cells whose truth is known, and the two ways to judge them. */
#ifndef KB_SIMULATION_CELLS_H
#define KB_SIMULATION_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "guest/offsets.h" /* random64 */
#include "host/stats.h"
#include "host/stats_welch.h"

enum { REPEATS = 5, MOST_BLOCKS = 20 };

/* Log-normal noise: deviations of the logs. */
struct noise {
	double block;   /* shared by both sides of a block, when paired; else each boot has its own */
	double boot[2]; /* of the boots of each side */
	double repeat;
	bool paired;
};

struct cell {
	double sample[2][MOST_BLOCKS][REPEATS]; /* baseline, candidate; one boot for each block */
};

/* n blocks, or runs of each side, that are alike but for their noise. */
void cell_draw(struct cell *c, size_t n, const struct noise *noise, struct random64 *random);

/* The candidate's first n blocks become that much larger. */
void cell_improve(struct cell *c, size_t n, double ratio);

/* What compare tests: one value per boot, for which its repeats are added up; log of candidate over baseline. */
void cell_log_ratios(const struct cell *c, size_t n, double *out);
void judge_paired(const struct cell *c, size_t n, struct stats_paired *out);
void judge_unpaired(const struct cell *c, size_t nbaseline, size_t ncandidate, struct stats_welch *out);

/* The naive judge's quantiles depend on n alone and are the same thousands of times. */
struct naive {
	size_t n;
	double df, t95, t90;
};
void naive_prepare(struct naive *naive, size_t n);

/* Student's pooled two-sample t on the logs of all samples, whichever boot they are from. Fills mean, p, ratio, limits. */
void judge_naive(const struct naive *naive, const struct cell *c, struct stats_paired *out);

#endif
