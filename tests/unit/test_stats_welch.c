/* host/stats_welch.c against published values, closed forms and scipy. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/stats.h"
#include "host/stats_welch.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void close_to(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.12g, want %.12g +- %g", got, want, tolerance);
}

/*
 * Student's sleep data as R's manual has them, t.test(extra ~ group): t = -1.8608, df = 17.776, p = 0.07939, 95 %
 * interval -3.3654832 to 0.2054832. R takes group 1 minus group 2; here that is candidate minus baseline. The
 * 90 % interval: scipy 1.17.1, stats.ttest_ind(equal_var=False).confidence_interval(0.9).
 */
static void welch_of_students_sleep_data(void **state)
{
	static const double one[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0 };
	static const double two[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 };
	struct stats_welch w;

	(void)state;
	stats_welch(two, COUNT(two), one, COUNT(one), &w);
	assert_int_equal(w.n[0], 10);
	assert_int_equal(w.n[1], 10);
	close_to(w.mean[0], 2.33, 1e-12);
	close_to(w.mean[1], 0.75, 1e-12);
	close_to(w.diff, -1.58, 1e-12);
	close_to(w.ratio, exp(-1.58), 1e-12);
	close_to(w.t, -1.8608, 5e-5);
	close_to(w.df, 17.776, 5e-4);
	close_to(w.p, 0.07939, 5e-6);
	close_to(w.p, 0.0793941401873583, 1e-12);
	close_to(log(w.low95), -3.3654832307117104, 1e-9);
	close_to(log(w.high95), 0.20548323071171137, 1e-9);
	close_to(log(w.low90), -3.053381497331607, 1e-9);
	close_to(log(w.high90), -0.10661850266839323, 1e-9);
}

/* scipy 1.17.1, stats.ttest_ind(candidate, baseline, equal_var=False). */
static void welch_of_unequal_sides(void **state)
{
	static const double baseline[] = { 4.1, 4.3, 3.9, 4.0, 4.4 };
	static const double candidate[] = { 4.6, 5.2, 4.1, 4.9, 3.7, 5.6, 4.8, 5.0, 4.4 };
	struct stats_welch w, back;

	(void)state;
	stats_welch(baseline, COUNT(baseline), candidate, COUNT(candidate), &w);
	close_to(w.t, 2.624039224026873, 1e-12);
	close_to(w.df, 10.96922263233614, 1e-11);
	close_to(w.p, 0.023706462441907265, 1e-12);
	close_to(w.p_cautious, 0.05855081232777225, 1e-12); /* 2 * stats.t.sf(t, 4) */
	close_to(log(w.low95), 0.09012373373856741, 1e-9);
	close_to(log(w.high95), 1.0298762662614354, 1e-9);
	close_to(log(w.low90), 0.17663919897868197, 1e-9);
	close_to(log(w.high90), 0.9433608010213206, 1e-9);
	stats_welch(candidate, COUNT(candidate), baseline, COUNT(baseline), &back);
	close_to(back.t, -w.t, 1e-12);
	close_to(back.p, w.p, 1e-15);
	close_to(back.low95 * w.high95, 1, 1e-12);
}

/* Spread on one side only: that side's degrees of freedom. Here t = 0.9/0.1 with one: p = 1 - 2 atan(9)/pi. */
static void one_side_without_spread(void **state)
{
	static const double baseline[] = { 1.0, 1.2 }, candidate[] = { 2, 2, 2 };
	struct stats_welch w;

	(void)state;
	stats_welch(baseline, 2, candidate, 3, &w);
	close_to(w.df, 1, 1e-12);
	close_to(w.t, 9, 1e-12);
	close_to(w.p, 1 - 2 * atan(9) / acos(-1), 1e-12);
}

/* As many runs on both sides, with the same spread: the pooled t, df = 2 (n - 1). */
static void equal_sides_are_the_pooled_t(void **state)
{
	static const double baseline[] = { 1, 2, 3, 4 }, candidate[] = { 3.5, 6.5, 5.5, 4.5 };
	struct stats_welch w;

	(void)state;
	stats_welch(baseline, 4, candidate, 4, &w);
	close_to(w.df, 6, 1e-12);
	close_to(w.se, sqrt(5.0 / 3 / 2), 1e-12);
	close_to(w.t, 2.5 / sqrt(5.0 / 3 / 2), 1e-12);
}

static void welch_says_when_it_has_no_answer(void **state)
{
	static const double one[] = { 0.25 }, two[] = { 0.5, 0.7 }, flat[] = { 0.1, 0.1, 0.1 };
	struct stats_welch w;

	(void)state;
	stats_welch(NULL, 0, two, 2, &w);
	assert_true(isnan(w.ratio) && isnan(w.p) && isnan(w.mean[0]));
	close_to(w.mean[1], 0.6, 1e-12);
	stats_welch(one, 1, one, 1, &w);
	close_to(w.ratio, 1, 0);
	assert_true(isnan(w.p) && isnan(w.low95) && isnan(w.sd[0]));
	stats_welch(one, 1, two, 2, &w);
	close_to(w.ratio, exp(0.35), 1e-12);
	assert_true(isnan(w.se) && isnan(w.df) && isnan(w.t) && isnan(w.p) && isnan(w.p_cautious) && isnan(w.high95) && isnan(w.low90));
	close_to(w.sd[1], 0.1 * sqrt(2), 1e-12);
	assert_false(stats_welch_same(&w, 0.9));
	stats_welch(flat, 3, flat, 3, &w);
	close_to(w.ratio, 1, 0);
	assert_true(isnan(w.p) && isnan(w.low95));
	assert_false(stats_welch_same(&w, 0.9));
}

static void same_needs_the_whole_interval(void **state)
{
	struct stats_welch w = { .low90 = 0.98, .high90 = 1.02 };

	(void)state;
	assert_true(stats_welch_same(&w, 0.03));
	w.high90 = 1.031;
	assert_false(stats_welch_same(&w, 0.03));
	w = (struct stats_welch){ .low90 = 0.969, .high90 = 1.01 };
	assert_false(stats_welch_same(&w, 0.03));
}

/*
 * R's power.t.test(n = 20, delta = 1, sd = 1) is 0.8689528 without the far tail, 0.8689530 with it; its
 * power.t.test(power = 0.90, delta = 1) asks for n = 22.02110. The others: scipy 1.17.1, stats.nct with
 * Satterthwaite's df of the true deviations, stepped or solved (scipy.optimize.brentq) for the wanted power.
 */
static void power_is_the_published(void **state)
{
	(void)state;
	close_to(stats_welch_power(20, 1, 1, 1, 0.05), 0.8689530277239897, 1e-9);
	close_to(stats_welch_power(20, -1, 1, 1, 0.05), 0.8689530277239897, 1e-9);
	close_to(stats_welch_power(9, 0.03, 0.02, 0.02, 0.01), 0.6085110810493244, 1e-9);
	/* 5.6 degrees of freedom */
	close_to(stats_welch_power(6, 0.05, 0.01, 0.04, 0.0125), 0.375910451598997, 1e-7);
	close_to(stats_welch_power(8, 0, 0.02, 0.02, 0.0125), 0.0125, 1e-9);
	close_to(stats_welch_power(8, 1e6, 0.02, 0.02, 0.0125), 1, 0);
	assert_true(isnan(stats_welch_power(1, 1, 1, 1, 0.05)) && isnan(stats_welch_power(8, 1, 0, 0, 0.05)));
	assert_true(isnan(stats_welch_power(8, 1, -1, 1, 0.05)) && isnan(stats_welch_power(8, 1, 1, NAN, 0.05)));
}

static void designs(void **state)
{
	(void)state;
	assert_int_equal(stats_welch_runs_for_effect(1, 1, 1, 0.05, 0.9, 1), 23);
	assert_int_equal(stats_welch_runs_for_effect(-0.5, 1, 1, 0.05, 0.8, 1), 64);
	assert_int_equal(stats_welch_runs_for_effect(0.05, 0.01, 0.04, 0.05, 0.9, 4), 13);
	assert_int_equal(stats_welch_runs_for_effect(0.05, 0.04, 0.01, 0.05, 0.9, 4), 13);
	assert_int_equal(stats_welch_runs_for_effect(0.02, 0.02, 0.03, 0.05, 0.9, 12), 59);
	assert_int_equal(stats_welch_runs_for_effect(1e-6, 1, 1, 0.05, 0.8, 1), 0);
	assert_int_equal(stats_welch_runs_for_effect(0, 1, 1, 0.05, 0.8, 1), 0);
	assert_int_equal(stats_welch_runs_for_effect(1, 0, 0, 0.05, 0.8, 1), 0);
	assert_int_equal(stats_welch_runs_for_effect(1000, 1, 1, 0.05, 0.9, 1), 2);
	close_to(stats_welch_detectable(8, 0.02, 0.05, 0.9, 4), 1.0436256290244383, 1e-8);
	assert_true(stats_welch_detectable(8, 0.02, 0.05, 0.9, 4) > stats_welch_detectable(16, 0.02, 0.05, 0.9, 4));
	assert_true(isnan(stats_welch_detectable(1, 0.02, 0.05, 0.9, 4)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(welch_of_students_sleep_data),
		cmocka_unit_test(welch_of_unequal_sides),
		cmocka_unit_test(one_side_without_spread),
		cmocka_unit_test(equal_sides_are_the_pooled_t),
		cmocka_unit_test(welch_says_when_it_has_no_answer),
		cmocka_unit_test(same_needs_the_whole_interval),
		cmocka_unit_test(power_is_the_published),
		cmocka_unit_test(designs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
