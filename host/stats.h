/*
 * The statistics behind the verdicts: pure functions of numbers, no knowledge of trials or metrics.
 *
 * The unit is the block: every function takes one log(candidate/baseline) per complete block. NAN is what a
 * function returns when there is no answer (too few blocks, no spread); it is never 0 in its place.
 */
#ifndef KB_STATS_H
#define KB_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* ---- distributions ---- */

/*
 * Regularised incomplete beta function I_x(a, b), a and b > 0, 0 <= x <= 1. Continued fraction of
 * Abramowitz & Stegun 26.5.8, evaluated by Lentz's method; relative error about 1e-14.
 */
double stats_beta(double a, double b, double x);

double stats_normal_cdf(double z);
double stats_normal_quantile(double p); /* 0 < p < 1, else NAN */

/* Student's t with df > 0 degrees of freedom (need not be whole). cdf by A&S 26.5.27. */
double stats_t_cdf(double t, double df);
double stats_t_two_sided(double t, double df); /* P(|T| >= |t|), exact in the far tails too */
double stats_t_quantile(double p, double df);  /* 0 < p < 1, else NAN */

/* Noncentral t: P(T <= t) where T = (Z + delta) / sqrt(chi2(df)/df). Absolute error below 1e-9. */
double stats_noncentral_t_cdf(double t, double df, double delta);

/* ---- one comparison ---- */

struct stats_paired {
	size_t n;               /* blocks */
	double mean, sd;        /* of the log ratios; sd: n-1 */
	double t, p;            /* p: two-sided, of mean == 0 */
	double ratio;           /* exp(mean) */
	double low95, high95;   /* 95 % interval of the ratio */
	double low90, high90;   /* 90 %: two one-sided tests at 5 % each */
};

/*
 * Paired t on log ratios. n == 0: all NAN. n == 1 or no spread at all: mean and ratio only, the rest NAN
 * (a deviation below 1e-12 is rounding, not noise).
 */
void stats_paired(const double *log_ratio, size_t n, struct stats_paired *out);

/*
 * Exact sign-flip (Fisher randomisation) p, two-sided: the share of the 2^n ways to flip the signs whose
 * |sum| is at least the observed one. Walks all of them in Gray code order. NAN for n == 0 and for
 * n > STATS_SIGN_FLIP_MAX, where the walk would get too long.
 */
#define STATS_SIGN_FLIP_MAX 20
double stats_sign_flip(const double *log_ratio, size_t n);

/* The smallest p that n blocks can reach there: 2/2^n (1 for n == 0). */
double stats_sign_flip_smallest(size_t n);

/*
 * Holm's step-down adjustment (Holm 1979) of n p-values: the k-th smallest times n-k+1, made monotone,
 * at most 1. An entry that is NAN belongs to the family as if it were the largest (so that what could not be
 * tested never makes the others look better) and stays NAN. Returns -1 when memory runs out.
 */
int stats_holm(const double *p, size_t n, double *adjusted);

/*
 * Two one-sided tests (Schuirmann 1987) at 5 % each: does the 90 % interval lie inside 1 +- margin?
 * False when there is no interval.
 */
bool stats_same(const struct stats_paired *s, double margin);

/* ---- design ---- */

/*
 * Power of the two-sided paired t test at level alpha with n blocks for an effect of `effect` (absolute
 * mean log ratio) and deviation sd, by the noncentral t; both tails counted. NAN for n < 2 or sd <= 0.
 */
double stats_power(size_t n, double effect, double sd, double alpha);

/*
 * The smallest effect, as a ratio above 1, that n blocks find with this power when the test has to pass at
 * alpha/cells: Holm's first step, the worst case. Its reciprocal is the smallest loss. NAN as above.
 */
double stats_detectable(size_t n, double sd, double alpha, double power, size_t cells);

/*
 * Blocks needed to find a mean log ratio of `effect` (its sign does not matter) with this power at
 * alpha/cells. 0 when more than STATS_BLOCKS_MAX would be needed, or when there is nothing to find.
 */
#define STATS_BLOCKS_MAX 10000
size_t stats_blocks_for_effect(double effect, double sd, double alpha, double power, size_t cells);

/*
 * Blocks needed for stats_same() to hold with this power when the true mean log ratio is `effect`:
 * n >= ((t(0.95, n-1) + t(q, n-1)) sd / d)^2, d the distance from the effect to the nearer limit, q = power,
 * or (1 + power)/2 where both limits threaten: for an effect within a fifth of the margin from the middle
 * (Julious 2004, with t for z). 0 when the effect is not inside the margin or n gets too large.
 */
size_t stats_blocks_for_same(double effect, double sd, double margin, double power);

#endif
