/* host/stats_resample.c against complete enumerations that were made elsewhere. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/stats.h"
#include "host/stats_resample.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void close_to(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.12g, want %.12g +- %g", got, want, tolerance);
}

/* A share of draws: right is what a fair generator exceeds once in 16000 times. */
static void share_is(double got, double want, double draws)
{
	close_to(got, want, 4 * sqrt(want * (1 - want) / draws) + 1 / draws);
}

/* Darwin's maize: 2 * 863 of 2^15 (Fisher, The Design of Experiments, section 21). */
static void sampled_sign_flips_approach_the_exact(void **state)
{
	static const double d[] = { 49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48 };
	const double exact = 2 * 863 / 32768.0;
	double error, p = stats_sign_flip_sampled(d, COUNT(d), 1, 100000, &error);

	(void)state;
	share_is(p, exact, 100000);
	close_to(error, sqrt(exact * (1 - exact) / 100000), 2e-5);
	close_to(stats_sign_flip_sampled(d, COUNT(d), 1, 100000, NULL), p, 0);
	assert_true(stats_sign_flip_sampled(d, COUNT(d), 2, 100000, NULL) != p);
}

/*
 * More blocks than the walk takes: 1618440 of the 2^24 sign patterns have |sum| >= 186 (counted in Python by adding
 * one value after the other to a table of sums). And more than 64, where one word of signs is not enough: nearly
 * equal sizes, so that the sum is close to normal.
 */
static void sampled_sign_flips_of_many_blocks(void **state)
{
	static const double y[] = { 12, -5, 33, 8, -14, 21, 5, 47, -2, 16, 9, -21,
				    28, 3, 14, 61, -8, 19, 7, -40, 13, -17, 6, -9 };
	double many[150];
	struct stats_paired s;

	(void)state;
	assert_true(COUNT(y) > STATS_SIGN_FLIP_MAX);
	share_is(stats_sign_flip_sampled(y, COUNT(y), 3, 200000, NULL), 1618440.0 / 16777216, 200000);
	for (size_t i = 0; i < COUNT(many); i++)
		many[i] = i % 7 < 4 ? 1 + 0.001 * (double)i : -1;
	stats_paired(many, COUNT(many), &s);
	close_to(stats_sign_flip_sampled(many, COUNT(many), 3, 100000, NULL), s.p, 0.006);
}

static void sampled_sign_flips_at_their_edges(void **state)
{
	double up[40], error = 1;

	(void)state;
	for (size_t i = 0; i < COUNT(up); i++)
		up[i] = 0.1 + 0.01 * (double)i;
	/* Never 0: the observed signs are one of the draws. */
	close_to(stats_sign_flip_sampled(up, COUNT(up), 1, 999, &error), 0.001, 1e-12);
	close_to(error, 0.001, 1e-6);
	close_to(stats_sign_flip_sampled(up, 1, 1, 999, NULL), 1, 1e-12);
	assert_true(isnan(stats_sign_flip_sampled(up, 0, 1, 999, &error)) && isnan(error));
	error = 1;
	assert_true(isnan(stats_sign_flip_sampled(up, COUNT(up), 1, 0, &error)) && isnan(error));
	up[7] = NAN;
	assert_true(isnan(stats_sign_flip_sampled(up, COUNT(up), 1, 999, NULL)));
	up[7] = INFINITY;
	assert_true(isnan(stats_sign_flip_sampled(up, COUNT(up), 1, 999, NULL)));
}

/*
 * The values are whole thousandths, so that the distribution of all 20^20 resampled means can be had exactly, by
 * convolution (numpy 2.4.6): z0 = 0.066149, acceleration 0.064404; 95 % limits at its percentiles 5.242 and
 * 99.172: 0.00750 and 0.03465; 90 %: 0.00880 and 0.03130. scipy 1.17.1 stats.bootstrap(method="BCa") with 400000
 * draws: 0.0075 and 0.0345. Plain percentiles would give 0.00585 and 0.03105.
 */
static const double skewed[] = { 0.012, -0.005, 0.033, 0.008, -0.014, 0.021, 0.005, 0.047, -0.002, 0.016,
				 0.009, -0.021, 0.028, 0.003, 0.014, 0.061, -0.008, 0.019, 0.007, 0.112 };

static void bootstrap_of_skewed_blocks(void **state)
{
	double low, high, again, mirrored[COUNT(skewed)];

	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		assert_int_equal(stats_bootstrap(skewed, COUNT(skewed), seed, 100000, 0.95, &low, &high), 0);
		close_to(log(low), 0.00750, 2e-4);
		close_to(log(high), 0.03465, 5e-4);
		assert_int_equal(stats_bootstrap(skewed, COUNT(skewed), seed, 100000, 0.9, &low, &high), 0);
		close_to(log(low), 0.00880, 2e-4);
		close_to(log(high), 0.03130, 4e-4);
	}
	again = low;
	assert_int_equal(stats_bootstrap(skewed, COUNT(skewed), 3, 100000, 0.9, &low, &high), 0);
	close_to(low, again, 0);
	for (size_t i = 0; i < COUNT(skewed); i++)
		mirrored[i] = -skewed[i];
	assert_int_equal(stats_bootstrap(mirrored, COUNT(mirrored), 1, 100000, 0.9, &low, &high), 0);
	close_to(log(high), -0.00880, 2e-4);
	close_to(log(low), -0.03130, 4e-4);
}

static void bootstrap_says_when_it_has_no_answer(void **state)
{
	double low = 1, high = 1, flat[30];

	(void)state;
	for (size_t i = 0; i < COUNT(flat); i++)
		flat[i] = 0.1;
	assert_int_equal(stats_bootstrap(flat, COUNT(flat), 1, 1000, 0.95, &low, &high), 0);
	assert_true(isnan(low) && isnan(high));
	low = high = 1;
	assert_int_equal(stats_bootstrap(skewed, STATS_BOOTSTRAP_MIN - 1, 1, 1000, 0.95, &low, &high), 0);
	assert_true(isnan(low) && isnan(high));
	low = high = 1;
	assert_int_equal(stats_bootstrap(skewed, COUNT(skewed), 1, 0, 0.95, &low, &high), 0);
	assert_true(isnan(low) && isnan(high));
	/* The 99.17th percentile is beyond the outermost of 60 draws, the 5.2nd is not. */
	assert_int_equal(stats_bootstrap(skewed, COUNT(skewed), 1, 60, 0.95, &low, &high), 0);
	assert_true(isfinite(low) && isnan(high));
	/* One draw is on one side of the mean: the bias has no answer. */
	assert_int_equal(stats_bootstrap(skewed, COUNT(skewed), 1, 1, 0.95, &low, &high), 0);
	assert_true(isnan(low) && isnan(high));
	flat[3] = NAN;
	assert_int_equal(stats_bootstrap(flat, COUNT(flat), 1, 1000, 0.95, &low, &high), 0);
	assert_true(isnan(low) && isnan(high));
}

/*
 * All ways counted in Python with whole numbers and fractions: 67 of 462 for the first five against six; 1555 of
 * 24310 for eight against nine. By hand: {1,2,3} against {4,5,6}: 2 of the 20 ways are as far apart.
 */
static const double few_a[] = { 4.1, 4.3, 3.9, 4.0, 4.4 }, few_b[] = { 4.6, 5.2, 4.1, 4.9, 3.7, 5.6 };
static const double many_a[] = { 4.1, 4.3, 3.9, 4.0, 4.4, 4.2, 4.6, 3.8 };
static const double many_b[] = { 4.6, 5.2, 4.1, 4.9, 3.7, 5.6, 4.3, 4.8, 4.4 };

static void permutations_walked_through(void **state)
{
	static const double low[] = { 1, 2, 3 }, high[] = { 4, 5, 6 };

	(void)state;
	close_to(stats_permutation(low, 3, high, 3, 1, 20), 2 / 20.0, 1e-12);
	close_to(stats_permutation(low, 1, high, 3, 1, 1000), 1 / 4.0, 1e-12);
	close_to(stats_permutation(low, 1, high, 1, 1, 1000), 1, 1e-12);
	close_to(stats_permutation(few_a, 5, few_b, 6, 1, 462), 67 / 462.0, 1e-12);
	close_to(stats_permutation(few_b, 6, few_a, 5, 2, 5000), 67 / 462.0, 1e-12);
	close_to(stats_permutation(many_a, 8, many_b, 9, 1, 24310), 1555 / 24310.0, 1e-12);
	close_to(stats_permutation(few_a, 5, few_a, 5, 1, 1000), 1, 1e-12);
}

static void permutations_drawn(void **state)
{
	double p = stats_permutation(few_a, 5, few_b, 6, 1, 461);

	(void)state;
	share_is(p, 67 / 462.0, 461);
	close_to(p * 462, round(p * 462), 1e-9);
	for (uint64_t seed = 1; seed <= 4; seed++) {
		share_is(stats_permutation(many_a, 8, many_b, 9, seed, 24309), 1555 / 24310.0, 24309);
		share_is(stats_permutation(many_b, 9, many_a, 8, seed, 24309), 1555 / 24310.0, 24309);
	}
	close_to(stats_permutation(many_a, 8, many_b, 9, 9, 1000), stats_permutation(many_a, 8, many_b, 9, 9, 1000), 0);
}

static void permutation_says_when_it_has_no_answer(void **state)
{
	static const double gap[] = { 1, NAN, 3 };

	(void)state;
	assert_true(isnan(stats_permutation(few_a, 0, few_b, 6, 1, 100)));
	assert_true(isnan(stats_permutation(few_a, 5, few_b, 0, 1, 100)));
	assert_true(isnan(stats_permutation(few_a, 5, few_b, 6, 1, 0)));
	assert_true(isnan(stats_permutation(few_a, 5, gap, 3, 1, 100)));
	assert_true(isnan(stats_permutation(few_a, 5, gap, 3, 1, 1)));
}

/* 3000 against 3000: the number of ways is beyond any number; it must neither overflow nor be walked. */
static void permutation_of_many(void **state)
{
	static double a[3000], b[3000];

	(void)state;
	for (size_t i = 0; i < COUNT(a); i++) {
		a[i] = (double)(i * 7919 % 3001);
		b[i] = a[i] + 100;
	}
	close_to(stats_permutation(a, COUNT(a), b, COUNT(b), 1, 99), 0.01, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sampled_sign_flips_approach_the_exact),
		cmocka_unit_test(sampled_sign_flips_of_many_blocks),
		cmocka_unit_test(sampled_sign_flips_at_their_edges),
		cmocka_unit_test(bootstrap_of_skewed_blocks),
		cmocka_unit_test(bootstrap_says_when_it_has_no_answer),
		cmocka_unit_test(permutations_walked_through),
		cmocka_unit_test(permutations_drawn),
		cmocka_unit_test(permutation_says_when_it_has_no_answer),
		cmocka_unit_test(permutation_of_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
