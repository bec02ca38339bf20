/* host/stats_checks.c against published examples, closed forms and scipy. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "guest/offsets.h" /* random64 */
#include "host/stats.h"
#include "host/stats_checks.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void close_to(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.12g, want %.12g +- %g", got, want, tolerance);
}

/* Fair draws of normal values miss it once in 16000 times. */
static void share_is(double got, double want, double draws)
{
	close_to(got, want, 4 * sqrt(want * (1 - want) / draws));
}

static double gauss(struct random64 *random)
{
	double u = ((double)(random64_next(random) >> 11) + 0.5) / 9007199254740992.0;

	return stats_normal_quantile(u);
}

/* ---- in time ---- */

/*
 * scipy 1.17.1: stats.linregress; numpy 2.4.6 for lag1; stats.beta for p_lag1, and beside it the share of 4 million
 * simulated normal series (numpy, seed 5) whose ratio is as far out.
 */
static void drift_upwards(void **state)
{
	static const double x[] = { 0.012, 0.015, 0.009, 0.021, 0.018, 0.026, 0.017, 0.030, 0.024, 0.035 };
	struct stats_drift d;

	(void)state;
	stats_drift(x, COUNT(x), &d);
	assert_int_equal(d.n, 10);
	close_to(d.slope, 0.0022484848484848486, 1e-15);
	close_to(d.p_slope, 0.0025548161195204687, 1e-12);
	close_to(d.lag1, 0.20384163730917634, 1e-12);
	close_to(d.p_lag1, 0.1268378593421303, 1e-10);
	close_to(d.p_lag1, 0.12706375, 5e-4);
}

static void values_that_alternate(void **state)
{
	static const double y[] = { 0.03, -0.02, 0.01, -0.03, 0.02, -0.01, 0.025, -0.015 };
	struct stats_drift d;

	(void)state;
	stats_drift(y, COUNT(y), &d);
	close_to(d.slope, -0.0011904761904761901, 1e-15);
	close_to(d.p_slope, 0.7627507937301663, 1e-12);
	close_to(d.lag1, -0.6928694158075601, 1e-12);
	close_to(d.p_lag1, 0.07577222725315984, 1e-10);
	close_to(d.p_lag1, 0.0757385, 5e-4);
}

/* 1 2 3: d = -1 0 1. A perfect line leaves no doubt; lag1 by hand. */
static void drift_of_few_values(void **state)
{
	static const double line[] = { 1, 2, 3, 4, 5, 6 }, flat[] = { 0.1, 0.1, 0.1, 0.1, 0.1, 0.1 };
	static const double gap[] = { 1, 2, NAN, 4, 5, 6 };
	struct stats_drift d;

	(void)state;
	stats_drift(line, 3, &d);
	close_to(d.slope, 1, 1e-12);
	close_to(d.p_slope, 0, 1e-6);
	close_to(d.lag1, 0, 1e-12);
	assert_true(isnan(d.p_lag1));
	stats_drift(line, 6, &d);
	close_to(d.lag1, (2.5 * 1.5 + 1.5 * 0.5 - 0.25 + 0.75 + 3.75) / 17.5, 1e-12);
	assert_true(d.p_lag1 > 0 && d.p_lag1 < 0.05);
	stats_drift(line, 2, &d);
	assert_true(isnan(d.slope) && isnan(d.p_slope) && isnan(d.lag1) && isnan(d.p_lag1));
	stats_drift(flat, 6, &d);
	assert_true(isnan(d.slope) && isnan(d.p_slope) && isnan(d.lag1) && isnan(d.p_lag1));
	stats_drift(gap, 6, &d);
	assert_true(isnan(d.slope) && isnan(d.p_slope) && isnan(d.lag1) && isnan(d.p_lag1));
	stats_drift(NULL, 0, &d);
	assert_true(isnan(d.slope));
}

static void drift_warns_as_often_as_it_says(void **state)
{
	enum { SERIES = 20000 };
	struct random64 random = { 11 };
	unsigned slope = 0, lag = 0;

	(void)state;
	for (int i = 0; i < SERIES; i++) {
		struct stats_drift d;
		double x[8];

		for (size_t k = 0; k < COUNT(x); k++)
			x[k] = gauss(&random);
		stats_drift(x, COUNT(x), &d);
		slope += d.p_slope < 0.05;
		lag += d.p_lag1 < 0.05;
	}
	share_is((double)slope / SERIES, 0.05, SERIES);
	share_is((double)lag / SERIES, 0.05, SERIES);
}

/* ---- between boots and within ---- */

/* scipy 1.17.1 stats.f_oneway for f and p; mean squares 0.2085256 and 0.0170833, n0 = 2.5 with numpy. */
static void variance_of_unbalanced_boots(void **state)
{
	static const double value[] = { 5.1, 4.6, 5.6, 5.0, 4.9, 5.3, 4.9, 5.4, 5.2, 5.2, 4.8, 5.1, 4.7 };
	static const unsigned boot[] = { 7, 2, 9, 4, 1000000, 7, 2, 9, 1000000, 7, 2, 1000000, 2 };
	struct stats_variance v;

	(void)state;
	assert_int_equal(stats_variance(value, boot, COUNT(value), &v), 0);
	assert_int_equal(v.groups, 5);
	assert_int_equal(v.values, 13);
	close_to(v.within_var, 0.017083333333333332, 1e-14);
	close_to(v.between_var, 0.07657692307692301, 1e-13);
	close_to(v.f, 12.206378986866774, 1e-10);
	close_to(v.p, 0.0017428634603786528, 1e-12);
}

/* Balanced, by hand: means 2, 4, 9 of {1,3} {3,5} {8,10}: MSB = 2 (9+1+16)/2 = 26, MSW = 2, (26-2)/2 = 12. */
static void variance_by_hand(void **state)
{
	static const double value[] = { 1, 3, 3, 5, 8, 10 }, alike[] = { 1, 3, 3, 1, 1, 3 };
	static const unsigned boot[] = { 0, 0, 1, 1, 2, 2 };
	struct stats_variance v;

	(void)state;
	stats_variance(value, boot, 6, &v);
	close_to(v.within_var, 2, 1e-12);
	close_to(v.between_var, 12, 1e-12);
	close_to(v.f, 13, 1e-12);
	close_to(v.p, pow(1 + 2 * 13.0 / 3, -1.5), 1e-12); /* closed form for 2 degrees of freedom above */
	close_to(stats_boot_variance(&v, 4), 12.5, 1e-12);
	/* Boots that agree better than chance: the estimate is below 0. */
	stats_variance(alike, boot, 6, &v);
	close_to(v.between_var, 0, 0);
	close_to(v.within_var, 2, 1e-12);
	close_to(v.f, 0, 1e-12);
	close_to(v.p, 1, 1e-12);
}

static void variance_says_when_it_has_no_answer(void **state)
{
	static const double value[] = { 1, 3, 3, 5 }, flat[] = { 0.1, 0.1, 0.1, 0.1 }, steps[] = { 1, 1, 2, 2 };
	static const double gap[] = { 1, NAN, 3, 5 };
	static const unsigned single[] = { 0, 1, 2, 3 }, one[] = { 5, 5, 5, 5 }, two[] = { 0, 0, 1, 1 };
	struct stats_variance v;

	(void)state;
	stats_variance(value, single, 4, &v);
	assert_int_equal(v.groups, 4);
	assert_true(isnan(v.within_var) && isnan(v.between_var) && isnan(v.f) && isnan(v.p));
	assert_true(isnan(stats_best_repeats(&v, 10, 1)));
	stats_variance(value, one, 4, &v);
	assert_int_equal(v.groups, 1);
	close_to(v.within_var, 8.0 / 3, 1e-12);
	assert_true(isnan(v.between_var) && isnan(v.f) && isnan(v.p));
	stats_variance(flat, two, 4, &v);
	assert_true(v.within_var == 0 && v.between_var == 0 && isnan(v.f) && isnan(v.p));
	assert_true(isnan(stats_best_repeats(&v, 10, 1)));
	stats_variance(steps, two, 4, &v);
	close_to(v.between_var, 0.5, 1e-12);
	assert_true(v.within_var == 0 && v.p == 0);
	close_to(stats_best_repeats(&v, 10, 1), 1, 0);
	stats_variance(gap, two, 4, &v);
	assert_true(isnan(v.within_var) && isnan(v.between_var) && isnan(v.f) && isnan(v.p));
	assert_int_equal(stats_variance(NULL, NULL, 0, &v), 0);
	assert_int_equal(v.groups, 0);
	assert_true(isnan(v.within_var));
}

/* Unbiased: the components of 4000 simulated experiments of 6 boots with 3, 3, 2, 2, 1, 1 repeats. */
static void variance_finds_what_was_put_in(void **state)
{
	static const unsigned boot[] = { 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5 };
	struct random64 random = { 3 };
	double within = 0, positive_between = 0;

	(void)state;
	for (int i = 0; i < 4000; i++) {
		double value[COUNT(boot)], effect[6];
		struct stats_variance v;

		for (size_t k = 0; k < 6; k++)
			effect[k] = 3 * gauss(&random);
		for (size_t k = 0; k < COUNT(boot); k++)
			value[k] = effect[boot[k]] + gauss(&random);
		stats_variance(value, boot, COUNT(boot), &v);
		within += v.within_var / 4000;
		positive_between += v.between_var / 4000;
	}
	/* Deviations of the two means: sqrt(2/6/4000) = 0.009 and about 9 sqrt(2/5/4000) = 0.09. */
	close_to(within, 1, 0.04);
	close_to(positive_between, 9, 0.4);
}

/* The advice against a search of all numbers of repeats. */
static void best_repeats_is_the_best(void **state)
{
	static const double boot_s[] = { 0, 1, 7, 30, 300 }, within[] = { 0.1, 1, 5, 80 };

	(void)state;
	for (size_t i = 0; i < COUNT(boot_s); i++)
		for (size_t k = 0; k < COUNT(within); k++) {
			struct stats_variance v = { .between_var = 1, .within_var = within[k] };
			double best = 1, least = HUGE_VAL;

			for (double r = 1; r < 1000; r++) {
				double cost = (v.between_var + v.within_var / r) * (boot_s[i] + 2 * r);

				if (cost < least - 1e-9) {
					best = r;
					least = cost;
				}
			}
			close_to(stats_best_repeats(&v, boot_s[i], 2), best, 0);
		}
	/* sqrt(32/2 1/1) = 4 */
	close_to(stats_best_repeats(&(struct stats_variance){ .between_var = 1, .within_var = 1 }, 32, 2), 4, 0);
	assert_true(isinf(stats_best_repeats(&(struct stats_variance){ .between_var = 0, .within_var = 1 }, 32, 2)));
	assert_true(isnan(stats_best_repeats(&(struct stats_variance){ .between_var = 1, .within_var = 1 }, 32, 0)));
	assert_true(isnan(stats_best_repeats(&(struct stats_variance){ .between_var = 1, .within_var = 1 }, -1, 1)));
}

/* ---- far from all others ---- */

/*
 * Rosner's example as the NIST/SEMATECH e-Handbook has it (section 1.3.5.17.3): 3 outliers at 5 %, although the
 * farthest alone (R = 3.118 against 3.158) does not exceed its critical value.
 */
static const double rosner[] = {
	-0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38, 1.43, 1.49, 1.49, 1.55, 1.56, 1.58, 1.65, 1.69, 1.70,
	1.76, 1.77, 1.81, 1.91, 1.94, 1.96, 1.99, 2.06, 2.09, 2.10, 2.14, 2.15, 2.23, 2.24, 2.26, 2.35, 2.37, 2.40,
	2.47, 2.54, 2.62, 2.64, 2.90, 2.92, 2.92, 2.93, 3.21, 3.26, 3.30, 3.59, 3.68, 4.30, 4.64, 5.34, 5.42, 6.01,
};

static void outliers_of_rosners_example(void **state)
{
	size_t index[COUNT(rosner)];

	(void)state;
	assert_int_equal(COUNT(rosner), 54);
	assert_int_equal(stats_outliers(rosner, COUNT(rosner), 0.05, index), 3);
	assert_int_equal(index[0], 53);
	assert_int_equal(index[1], 52);
	assert_int_equal(index[2], 51);
	assert_int_equal(stats_outliers(rosner, COUNT(rosner), 0.01, index), 0);
}

/*
 * Below 15 values Grubbs's test. With 8 values its critical value at 5 % is 2.126645 (Grubbs, Beck 1972: 2.126):
 * seven values around 0 and one at the distance that just reaches it.
 */
static void one_outlier_of_few(void **state)
{
	size_t index[8];
	double x[8] = { -1, 1, -1, 1, -1, 1, 0, 0 };
	double below = 0, above = 100;

	(void)state;
	for (int i = 0; i < 60; i++) {
		x[6] = (below + above) / 2;
		if (stats_outliers(x, 8, 0.05, index) == 1)
			above = x[6];
		else
			below = x[6];
	}
	assert_int_equal(stats_outliers((x[6] = above, x), 8, 0.05, index), 1);
	assert_int_equal(index[0], 6);
	/* deviate of one x[6] = a among seven values of mean 0 and squares 6: (7a/8) / sqrt((6 + 7a^2/8)/7) */
	close_to(7 * above / 8 / sqrt((6 + 7 * above * above / 8) / 7), 2.126645, 5e-6);
}

static void outliers_at_their_edges(void **state)
{
	static const double flat[] = { 1, 1, 1, 1, 1, 1 }, four[] = { 0, 0.001, -0.001, 1000 };
	static const double five[] = { 0, 0.001, -0.001, 0.002, 1000 };
	static double many[400];
	size_t index[400];

	(void)state;
	assert_int_equal(stats_outliers(NULL, 0, 0.05, index), 0);
	assert_int_equal(stats_outliers(flat, 6, 0.05, index), 0);
	assert_int_equal(stats_outliers(four, 4, 0.05, index), 0);
	assert_int_equal(stats_outliers(five, 5, 0.05, index), 1);
	assert_int_equal(index[0], 4);
	/* Every tenth is far out, on both sides. */
	for (size_t i = 0; i < COUNT(many); i++)
		many[i] = (i % 20 == 0 ? 1000.0 : i % 20 == 10 ? -1000.0 : 0) + (double)(i % 7);
	assert_int_equal(stats_outliers(many, COUNT(many), 0.05, index), 40);
	for (size_t i = 0; i < 40; i++)
		assert_int_equal(index[i] % 10, 0);
}

static void outliers_are_seldom_named_for_nothing(void **state)
{
	enum { SERIES = 3000 };
	struct random64 random = { 17 };
	unsigned few = 0, more = 0;

	(void)state;
	for (int i = 0; i < SERIES; i++) {
		double x[20];
		size_t index[COUNT(x)];

		for (size_t k = 0; k < COUNT(x); k++)
			x[k] = gauss(&random);
		few += stats_outliers(x, 8, 0.05, index) > 0;
		more += stats_outliers(x, 20, 0.05, index) > 0;
	}
	share_is((double)few / SERIES, 0.05, SERIES);
	assert_true((double)more / SERIES < 0.08);
	assert_true((double)more / SERIES > 0.03);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(drift_upwards),
		cmocka_unit_test(values_that_alternate),
		cmocka_unit_test(drift_of_few_values),
		cmocka_unit_test(drift_warns_as_often_as_it_says),
		cmocka_unit_test(variance_of_unbalanced_boots),
		cmocka_unit_test(variance_by_hand),
		cmocka_unit_test(variance_says_when_it_has_no_answer),
		cmocka_unit_test(variance_finds_what_was_put_in),
		cmocka_unit_test(best_repeats_is_the_best),
		cmocka_unit_test(outliers_of_rosners_example),
		cmocka_unit_test(one_outlier_of_few),
		cmocka_unit_test(outliers_at_their_edges),
		cmocka_unit_test(outliers_are_seldom_named_for_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
