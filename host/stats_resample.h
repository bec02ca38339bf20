/*
 * Tests and intervals by resampling: checks beside the t, which gate nothing. Seeded: the same arguments give the
 * same answer, on every machine. The unit is that of stats.h and stats_welch.h: a block, or a run. NAN: no answer, as for
 * a value that is not finite.
 */
#ifndef KB_STATS_RESAMPLE_H
#define KB_STATS_RESAMPLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * stats_sign_flip() for more blocks than it can walk through: two-sided p = (1 + hits) / (1 + draws), where the
 * observed signs count as one draw, so that p is a valid one for any number of draws (Phipson, Smyth 2010). Its
 * Monte-Carlo standard error goes to *error unless that is NULL. NAN for n == 0 or draws == 0.
 */
double stats_sign_flip_sampled(const double *log_ratio, size_t n, uint64_t seed, size_t draws, double *error);

/*
 * BCa bootstrap interval (Efron 1987) of exp(mean) with coverage `level`: bias-corrected and accelerated
 * percentiles of the means of `draws` samples drawn with replacement; acceleration by the jackknife; percentiles
 * interpolated between order statistics at (draws + 1) p.
 * Fewer than STATS_BOOTSTRAP_MIN blocks: no interval, as it would be too narrow; no spread: none either. A limit
 * whose percentile is beyond the outermost draw is NAN: more draws are needed, the outermost is not its stand-in.
 * Returns -1 when memory runs out.
 */
#define STATS_BOOTSTRAP_MIN 20
int stats_bootstrap(const double *log_ratio, size_t n, uint64_t seed, size_t draws, double level, double *low,
		    double *high);

/*
 * Permutation test for two sides that are not paired (Fisher, Pitman 1937), two-sided: the share of the ways to
 * deal the na + nb values out to the sides that have at least the observed |difference of means|. All ways are
 * walked through when they are no more than `draws`, else (1 + hits) / (1 + draws) of random ones. It asks whether
 * the sides have one distribution; sides that differ only in spread are not its case: that is Welch's.
 * NAN for an empty side, draws == 0, or when memory runs out.
 */
double stats_permutation(const double *a, size_t na, const double *b, size_t nb, uint64_t seed, size_t draws);

#endif
