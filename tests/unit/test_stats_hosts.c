#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "host/stats_hosts.h"

static void near(double value, double wanted, double within)
{
	if (!(fabs(value - wanted) <= within))
		fail_msg("%.12g is not %.12g", value, wanted);
}

/*
 * Two hosts: F is the square of Student's t of two samples. By hand: means 0.1 and 0.3, squares within 0.02 each, so
 * s^2 = 0.04/4 = 0.01, t = 0.2/sqrt(0.01 * 2/3) = sqrt(6), F = 6. With 4 degrees of freedom
 * P(|T| >= t) = 1 - (3/2) s + s^3/2 with s = t/sqrt(t^2 + 4) = sqrt(0.6): the closed form of A&S 26.7.4 for 4 degrees.
 */
static void two_hosts_by_hand(void **state)
{
	static const double ratio[] = { 0.0, 0.2, 0.1, 0.3, 0.2, 0.4 };
	static const unsigned host[] = { 0, 1, 0, 1, 0, 1 };
	double s = sqrt(0.6);
	struct stats_hosts h;

	(void)state;
	assert_int_equal(stats_hosts(ratio, host, 6, &h), 0);
	assert_int_equal(h.blocks, 6);
	assert_int_equal(h.hosts, 2);
	near(h.df1, 1, 0);
	near(h.df2, 4, 0);
	near(h.f, 6, 1e-12);
	near(h.p, 1 - 1.5 * s + s * s * s / 2, 1e-12);
	assert_int_equal(h.low, 0);
	assert_int_equal(h.high, 1);
	near(h.low_mean, 0.1, 1e-12);
	near(h.high_mean, 0.3, 1e-12);
	assert_int_equal(h.low_blocks, 3);
}

/*
 * Three hosts of unequal size, by hand: values {1,3}, {5,7,9}, {2}: grand mean 4.5, group means 2, 7, 2; squares between
 * 2*6.25 + 3*6.25 + 6.25 = 37.5 with 2 degrees, within 2 + 8 = 10 with 3: F = 18.75/(10/3) = 5.625. With 2 degrees above,
 * P(F) = (1 + 2 F / df2)^(-df2/2) = 4.75^-1.5.
 */
static void three_hosts_by_hand(void **state)
{
	static const double ratio[] = { 1, 5, 2, 3, 7, NAN, 9 };
	static const unsigned host[] = { 0, 1, 2, 0, 1, 2, 1 };
	struct stats_hosts h;

	(void)state;
	assert_int_equal(stats_hosts(ratio, host, 7, &h), 0);
	assert_int_equal(h.blocks, 6);
	assert_int_equal(h.hosts, 3);
	near(h.df1, 2, 0);
	near(h.df2, 3, 0);
	near(h.f, 5.625, 1e-12);
	near(h.p, pow(4.75, -1.5), 1e-12);
	assert_int_equal(h.high, 1);
	assert_int_equal(h.high_blocks, 3);
}

static void no_answer(void **state)
{
	static const double ratio[] = { 1, 2, 3, 4 }, same[] = { 1, 1, 1, 1 };
	static const unsigned one[] = { 0, 0, 0, 0 }, each[] = { 0, 1, 2, 3 }, two[] = { 0, 1, 0, 1 };
	struct stats_hosts h;

	(void)state;
	assert_int_equal(stats_hosts(ratio, one, 4, &h), 0);
	assert_true(isnan(h.f) && isnan(h.p));
	assert_int_equal(stats_hosts(ratio, each, 4, &h), 0);
	assert_true(isnan(h.f) && isnan(h.p));
	assert_int_equal(stats_hosts(same, two, 4, &h), 0);
	assert_true(isnan(h.p));
	assert_int_equal(stats_hosts(ratio, one, 0, &h), 0);
	assert_true(isnan(h.p) && h.blocks == 0 && h.hosts == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_hosts_by_hand),
		cmocka_unit_test(three_hosts_by_hand),
		cmocka_unit_test(no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
