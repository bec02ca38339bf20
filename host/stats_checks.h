/*
 * What the comparison takes for granted, looked at: values that drift or depend on the one before, boots that
 * differ more than their repeats, values far from all others. Checks warn and advise; they change no verdict and
 * drop no value. NAN: no answer, as for values that are not finite.
 */
#ifndef KB_STATS_CHECKS_H
#define KB_STATS_CHECKS_H

#include <stddef.h>

/* ---- in time ---- */

struct stats_drift {
	size_t n;
	double slope;   /* least squares, per step: log units per block for log ratios */
	double p_slope; /* t test with n-2 degrees of freedom, two-sided */
	double lag1;    /* autocorrelation: sum of d[i] d[i+1] over sum of d[i]^2, d from the mean; about -1/n is none */
	double p_lag1;
};

/*
 * Values in the order of time. n < 3 or no spread (below 1e-12): all NAN.
 * p_lag1 is two-sided, of von Neumann's ratio (1941) V = sum of squared steps / sum of d^2, which corrects lag1 at
 * both ends: C = 1 - V/2 has the mean 0 and, for normal values, the variance (n-2)/(n^2-1) (Young 1941). Its
 * distribution is taken as the symmetric beta on -1..1 with that variance: p < 0.01 came in 0.98 % of a million
 * simulated series of 10 values, in 0.80 % of 6 (with the usual normal approximation in 0.35 % of 10). n < 6: NAN.
 * A drift raises lag1, too: read p_slope first.
 */
void stats_drift(const double *values_in_time_order, size_t n, struct stats_drift *out);

/* ---- between boots and within ---- */

struct stats_variance {
	size_t groups, values;
	double between_var, within_var; /* components; between: 0 where the estimate is negative */
	double f, p;                    /* of between == 0 */
};

/*
 * One-way random analysis of variance of n values, group[i] the boot of value[i] in any numbering and order. Groups
 * may differ in size: components by the ANOVA (Henderson I) estimators (Searle, Casella, McCulloch, Variance
 * Components, 1992, chapter 3). NAN where the data do not tell: within, without a group of two; between, f and
 * p, also with a single group. f and p are NAN without any spread. Returns -1 when memory runs out.
 */
int stats_variance(const double *value, const unsigned *group, size_t n, struct stats_variance *out);

/* Variance of the mean of a boot with that many repeats: between + within / repeats. */
double stats_boot_variance(const struct stats_variance *v, double repeats);

/*
 * Repeats per boot, a whole number of at least 1, that gives the smallest variance per second of experiment when a
 * boot costs boot_s and each repeat repeat_s: next to sqrt(boot_s/repeat_s within/between) (Cochran, Sampling
 * Techniques, 1977, chapter 10). INFINITY when boots do not differ: repeats are as good as boots then,
 * and cheaper. NAN for unknown components, costs below 0 or a repeat that costs nothing.
 */
double stats_best_repeats(const struct stats_variance *v, double boot_s, double repeat_s);

/* ---- far from all others ---- */

/*
 * Generalised extreme studentised deviate (Rosner 1983) at level alpha: writes the indices of the outliers, the
 * farthest first, into index, which has room for n, and returns their number. Looks for up to n/5 of them, at most
 * 50; for one (Grubbs's test) below 15 values, where Rosner's critical values for more are too small; for none
 * below 5 or without spread. What is named is shown, never dropped.
 */
size_t stats_outliers(const double *value, size_t n, double alpha, size_t *index);

#endif
