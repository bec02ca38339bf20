/*
 * Change points of the mean. Exact p: all 40320 orders of eight values walked through by a separate program, in Python, that
 * takes the pooled t of every split. Chances of the exact place: two random walks with normal steps of mean -d^2/2 and
 * deviation d never rise above 0, exp(-2 sum over n of P(step sums of n > 0)/n) (Spitzer 1956): 0.857 for a step of 3
 * deviations, 0.953 for 4; it holds for long known levels, and is a little less for estimated ones.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "guest/offsets.h"
#include "host/stats.h"
#include "host/stats_change.h"

#define MOST 64

static double normal(struct random64 *r)
{
	return stats_normal_quantile(((double)(random64_next(r) >> 11) + 0.5) / 9007199254740992.0);
}

static void p_is_that_of_all_orders(void **state)
{
	static const struct { double value[8], p; size_t at; } want[] = {
		{ { 5, 4, 6, 5, 9, 8, 10, 9.5 }, 1152 / 40320.0, 4 },
		{ { 1, 2, 1.5, 9, 8.5, 9.2, 9.9, 8.7 }, 1440 / 40320.0, 3 },
		{ { 0, 0, 0, 0, 1, 1, 1, 1 }, 1152 / 40320.0, 4 },
		{ { 3, 1, 4, 1.5, 5, 9, 2, 6 }, 9288 / 40320.0, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct stats_change c[2];
		size_t n;
		double error = sqrt(want[i].p * (1 - want[i].p) / 99999);

		assert_int_equal(stats_changes(want[i].value, 8, 0.5, 1, 99999, c, &n), 0);
		assert_int_equal(n, 1);
		assert_int_equal(c[0].at, want[i].at);
		if (fabs(c[0].p - want[i].p) > 3.5 * error)
			fail_msg("p of row %zu: %g instead of %g", i, c[0].p, want[i].p);
	}
}

static void two_steps_are_two_changes(void **state)
{
	double value[30];
	struct stats_change c[10];
	size_t n;

	(void)state;
	for (size_t i = 0; i < 30; i++)
		value[i] = (i < 10 ? 0 : i < 20 ? 5 : 8) + 0.3 * sin(7.0 * (double)i);
	assert_int_equal(stats_changes(value, 30, 0.05, 7, 9999, c, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(c[0].at, 10);
	assert_int_equal(c[1].at, 20);
	assert_true(c[0].p < 0.001 && c[1].p < 0.001);
	/* neither scale nor level of the values matters, and the same seed gives the same p */
	for (size_t i = 0; i < 30; i++)
		value[i] = 1000 - 64 * value[i];
	struct stats_change again[10];

	assert_int_equal(stats_changes(value, 30, 0.05, 7, 9999, again, &n), 0);
	assert_int_equal(n, 2);
	assert_true(again[0].at == 10 && again[1].at == 20);
	assert_true(again[0].p == c[0].p && again[1].p == c[1].p);
}

static void what_cannot_be_searched_has_none(void **state)
{
	double seven[7] = { 0, 0, 0, 9, 9, 9, 9 }, constant[12], gap[12];
	struct stats_change c[4];
	size_t n = 99;

	(void)state;
	assert_int_equal(stats_changes(seven, 7, 0.05, 1, 999, c, &n), 0);
	assert_int_equal(n, 0);
	for (size_t i = 0; i < 12; i++) {
		constant[i] = 0.1 + 0.2;
		gap[i] = i == 5 ? NAN : (double)(i / 6);
	}
	assert_int_equal(stats_changes(constant, 12, 0.05, 1, 999, c, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(stats_changes(gap, 12, 0.05, 1, 999, c, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(stats_changes(NULL, 0, 0.05, 1, 999, c, &n), 0);
	assert_int_equal(n, 0);
}

/* A single far value is no level: two lone ones next to an end are not, either. */
static void an_outlier_is_no_change(void **state)
{
	double value[16];
	struct stats_change c[5];
	size_t n;

	(void)state;
	for (size_t i = 0; i < 16; i++)
		value[i] = 0.1 * sin(5.0 * (double)i);
	value[8] = 50;
	assert_int_equal(stats_changes(value, 16, 0.05, 3, 9999, c, &n), 0);
	assert_int_equal(n, 0);
}

/* ---- simulated series ---- */

struct tally {
	unsigned any, exact, near, more; /* series: with a change; at the place; within one run of it; with more than one */
};

static struct tally simulate(unsigned series, size_t n, size_t at, double step, uint64_t seed)
{
	struct random64 r = { seed };
	struct tally t = { 0 };

	for (unsigned i = 0; i < series; i++) {
		double value[MOST];
		struct stats_change c[MOST / STATS_CHANGE_SIDE];
		size_t found;
		bool exact = false, near = false;

		for (size_t k = 0; k < n; k++)
			value[k] = normal(&r) + (k >= at ? step : 0);
		assert_int_equal(stats_changes(value, n, 0.05, i, 999, c, &found), 0);
		for (size_t k = 0; k < found; k++) {
			exact |= c[k].at == at;
			near |= c[k].at + 1 >= at && c[k].at <= at + 1;
		}
		t.any += found > 0;
		t.more += found > 1;
		t.exact += exact;
		t.near += near;
	}
	return t;
}

/* The share lies within low to high, give or take 3.5 Monte-Carlo standard errors. */
static void is_share(const char *what, unsigned count, unsigned of, double low, double high)
{
	double share = (double)count / of;

	print_message("%s: %.4f\n", what, share);
	if (share < low - 3.5 * sqrt(low * (1 - low) / of) || share > high + 3.5 * sqrt(high * (1 - high) / of))
		fail_msg("%s: %.4f is not within %.4f to %.4f", what, share, low, high);
}

static void no_change_raises_few_alarms(void **state)
{
	static const size_t lengths[] = { 8, 12, 20, 40 };

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct tally t = simulate(3000, lengths[i], 0, 0, 100 + i);

		is_share("false alarms", t.any, 3000, 0, 0.05);
		assert_true(lengths[i] < 12 || t.any > 3000 * 0.02); /* the level is used, too */
	}
}

static void a_step_is_found_at_its_place(void **state)
{
	struct tally t = simulate(3000, 24, 12, 3, 1);

	(void)state;
	is_share("step of 3 sd found", t.any, 3000, 0.999, 1);
	is_share("within one run", t.near, 3000, 0.95, 1);
	is_share("exactly there", t.exact, 3000, 0.83, 0.857);
	is_share("a second, false one", t.more, 3000, 0, 0.05);
	t = simulate(3000, 24, 12, 4, 2);
	is_share("step of 4 sd exactly there", t.exact, 3000, 0.93, 0.953);
	/* near an end, three quarters of the row on one side */
	t = simulate(3000, 24, 6, 3, 3);
	is_share("step of 3 sd, early, within one run", t.near, 3000, 0.93, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(p_is_that_of_all_orders),
		cmocka_unit_test(two_steps_are_two_changes),
		cmocka_unit_test(what_cannot_be_searched_has_none),
		cmocka_unit_test(an_outlier_is_no_change),
		cmocka_unit_test(no_change_raises_few_alarms),
		cmocka_unit_test(a_step_is_found_at_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
