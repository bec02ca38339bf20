/*
 * Two sides that are not paired: imported outputs, two run folders. The unit is the run, as the block is in
 * stats.h: one log of a value per run, never one per sample within a run. NAN: no answer.
 */
#ifndef KB_STATS_WELCH_H
#define KB_STATS_WELCH_H

#include <stdbool.h>
#include <stddef.h>

struct stats_welch {
	size_t n[2];          /* runs: baseline, candidate; so in the arrays below */
	double mean[2], sd[2]; /* of the logs; sd: n-1, NAN for a single run */
	double diff;          /* mean log of the candidate minus that of the baseline */
	double se, df;        /* of diff; df need not be whole */
	double t, p;          /* p: two-sided, of diff == 0 */
	double p_cautious;    /* the same with the degrees of freedom of the smaller side, see below */
	double ratio;         /* exp(diff) */
	double low95, high95; /* 95 % interval of the ratio */
	double low90, high90; /* 90 %: two one-sided tests at 5 % each */
};

/*
 * Welch's test (Welch 1947) with Satterthwaite's degrees of freedom (Satterthwaite 1946): the sides may differ in
 * their spread. A side without a run: no ratio. Fewer than two runs on a side: ratio only, since single runs say
 * nothing about their spread. No spread on both sides (a standard error below 1e-12 is rounding): ratio only.
 *
 * p is close to its level at 5 %, but too small in the far tail that Holm's adjustment asks for when the sides are
 * uneven: with 12 cells at 5 %, 4 runs against 8 of half the spread raise a false alarm in 11 % of families, 2
 * against 8 in 43 %; from 6 against 6 on, spreads within a factor of 2, it is 5 % (simulated); where one side spreads 3
 * to 5 times as much it is 7 % with 6 runs each, 9 % with 50 cells, 6 % with 8 runs each. p_cautious
 * counts min(n) - 1 degrees of freedom and never exceeds its level, whatever the spreads (Mickey, Brown, Annals of
 * Mathematical Statistics 37, 1966), at the price of power: it is what to adjust for uneven or few runs.
 */
void stats_welch(const double *baseline_log, size_t nb, const double *candidate_log, size_t nc,
		 struct stats_welch *out);

/* stats_same() of these intervals. */
bool stats_welch_same(const struct stats_welch *s, double margin);

/*
 * Power of the two-sided test at level alpha with n runs per side for a difference of `effect` in the logs whose
 * deviations are sd0 and sd1: by the noncentral t with the degrees of freedom that belong to these deviations.
 * Exact for the pooled test (sd0 == sd1), close for Welch's, which has to estimate its degrees of freedom.
 * NAN for n < 2, a negative deviation or none at all.
 */
double stats_welch_power(size_t n, double effect, double sd0, double sd1, double alpha);

/*
 * The smallest effect, as a ratio above 1, that n runs per side find with this power at alpha/cells (Holm's first
 * step) when both sides have the deviation sd. NAN as above.
 */
double stats_welch_detectable(size_t n, double sd, double alpha, double power, size_t cells);

/*
 * Runs per side needed to find a difference of `effect` (its sign does not matter) with this power at alpha/cells.
 * 0 when more than STATS_BLOCKS_MAX would be needed, or when there is nothing to find.
 */
size_t stats_welch_runs_for_effect(double effect, double sd0, double sd1, double alpha, double power,
				   size_t cells);

#endif
