/* host/stats.c against published values, hand enumerations and simulated experiments. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/stats.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void close_to(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.12g, want %.12g +- %g", got, want, tolerance);
}

static void beta_has_its_closed_forms(void **state)
{
	(void)state;
	for (double x = 0.05; x < 1; x += 0.05) {
		close_to(stats_beta(1, 7, x), 1 - pow(1 - x, 7), 1e-13);
		close_to(stats_beta(2, 3, x), 6 * x * x - 8 * x * x * x + 3 * x * x * x * x, 1e-13);
	}
	close_to(stats_beta(30.5, 30.5, 0.5), 0.5, 1e-13);
	assert_true(stats_beta(2, 3, 0) == 0 && stats_beta(2, 3, 1) == 1);
	assert_true(isnan(stats_beta(0, 1, 0.5)));
}

/* Cauchy for one degree of freedom, an algebraic function for two. */
static void t_cdf_has_its_closed_forms(void **state)
{
	(void)state;
	for (double t = -30; t <= 30; t += 1.5) {
		close_to(stats_t_cdf(t, 1), 0.5 + atan(t) / acos(-1), 1e-13);
		close_to(stats_t_cdf(t, 2), 0.5 + t / (2 * sqrt(2 + t * t)), 1e-13);
	}
	close_to(stats_t_cdf(1.3, 1e7), stats_normal_cdf(1.3), 1e-7);
}

/* Table of percentage points, Abramowitz & Stegun 26.10 and any textbook. */
static void t_quantiles_are_the_published(void **state)
{
	static const struct { double p, df, t; } table[] = {
		{ 0.975, 1, 12.706205 }, { 0.975, 2, 4.302653 }, { 0.975, 5, 2.570582 }, { 0.975, 7, 2.364624 },
		{ 0.975, 10, 2.228139 }, { 0.975, 30, 2.042272 }, { 0.95, 7, 1.894579 }, { 0.95, 9, 1.833113 },
		{ 0.995, 10, 3.169273 }, { 0.9995, 5, 6.868827 }, { 0.90, 3, 1.637744 }, { 0.75, 4, 0.740697 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		close_to(stats_t_quantile(table[i].p, table[i].df), table[i].t, 6e-7);
		close_to(stats_t_quantile(1 - table[i].p, table[i].df), -table[i].t, 6e-7);
	}
	assert_true(stats_t_quantile(0.5, 3) == 0);
	assert_true(isnan(stats_t_quantile(0, 3)) && isnan(stats_t_quantile(1, 3)));
}

static void normal_quantiles_are_the_published(void **state)
{
	(void)state;
	close_to(stats_normal_quantile(0.975), 1.959963984540054, 1e-12);
	close_to(stats_normal_quantile(0.9), 1.2815515655446004, 1e-12);
	close_to(stats_normal_quantile(0.001), -3.090232306167813, 1e-12);
	assert_true(isnan(stats_normal_quantile(1)));
}

/* Student's sleep data (Biometrika 6, 1908), as R's t.test(paired = TRUE) reports them. */
static void paired_t_of_students_sleep_data(void **state)
{
	static const double d[] = { 1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4 };
	struct stats_paired s;

	(void)state;
	stats_paired(d, COUNT(d), &s);
	close_to(s.mean, 1.58, 1e-12);
	close_to(s.sd, 1.229995, 1e-6);
	close_to(s.t, 4.0621, 5e-5);
	close_to(s.p, 0.002833, 5e-7);
	close_to(log(s.low95), 0.7001142, 5e-8);
	close_to(log(s.high95), 2.4598858, 5e-8);
	close_to(log(s.high90), 1.58 + 1.833113 * 1.229995 / sqrt(10), 1e-5);
	close_to(s.ratio, exp(1.58), 1e-12);
}

static void paired_t_says_when_it_has_no_answer(void **state)
{
	static const double one[] = { 0.25 }, flat[] = { 0.1, 0.1, 0.1 };
	struct stats_paired s;

	(void)state;
	stats_paired(NULL, 0, &s);
	assert_true(isnan(s.ratio) && isnan(s.p));
	stats_paired(one, 1, &s);
	close_to(s.ratio, exp(0.25), 1e-12);
	assert_true(isnan(s.sd) && isnan(s.p) && isnan(s.low95));
	stats_paired(flat, 3, &s);
	close_to(s.ratio, exp(0.1), 1e-12);
	assert_true(isnan(s.p) && isnan(s.low95) && isnan(s.high90));
	assert_false(stats_same(&s, 0.5));
}

static void sign_flips_by_hand(void **state)
{
	static const double a[] = { 1, 2, 3 }, b[] = { 1, -2, 3 }, c[] = { 1, 1, 1, -1 };
	static const double up[] = { 0.1, 0.2, 0.1, 0.3, 0.2, 0.4, 0.1, 0.2 };

	(void)state;
	close_to(stats_sign_flip(a, 3), 2.0 / 8, 1e-12);  /* |sums| 6 4 2 0, twice each; seen 6 */
	close_to(stats_sign_flip(b, 3), 6.0 / 8, 1e-12);  /* the same; seen 2 */
	close_to(stats_sign_flip(c, 4), 10.0 / 16, 1e-12); /* |sums| 4 twice, 2 eight times, 0 six times; seen 2 */
	close_to(stats_sign_flip(up, 8), 2.0 / 256, 1e-12);
	close_to(stats_sign_flip_smallest(8), 2.0 / 256, 1e-12);
	close_to(stats_sign_flip_smallest(6), 0.03125, 1e-12);
	close_to(stats_sign_flip(a, 1), 1, 0);
	assert_true(isnan(stats_sign_flip(a, 0)) && isnan(stats_sign_flip(a, STATS_SIGN_FLIP_MAX + 1)));
}

/*
 * Darwin's maize, as Fisher worked it (The Design of Experiments, 1935, section 21): of the 2^15 ways 863
 * give a total of 314 or more, and t is 2.148.
 */
static void sign_flips_of_darwins_maize(void **state)
{
	static const double d[] = { 49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48 };
	struct stats_paired s;

	(void)state;
	close_to(stats_sign_flip(d, COUNT(d)), 2 * 863 / 32768.0, 1e-12);
	stats_paired(d, COUNT(d), &s);
	close_to(s.t, 2.148, 5e-4);
	close_to(s.p, 0.0497, 5e-5);
}

static void sign_flips_at_their_limit(void **state)
{
	double d[STATS_SIGN_FLIP_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT(d); i++)
		d[i] = 0.01 + 0.001 * (double)i;
	close_to(stats_sign_flip(d, COUNT(d)), ldexp(2, -STATS_SIGN_FLIP_MAX), 1e-18);
}

static void holm_by_hand(void **state)
{
	static const double p[] = { 0.01, 0.04, 0.03, 0.005 }, want[] = { 0.03, 0.06, 0.06, 0.02 };
	static const double gap[] = { 0.01, NAN, 0.6, 0.02 };
	double adjusted[4];

	(void)state;
	assert_int_equal(stats_holm(p, 4, adjusted), 0);
	for (size_t i = 0; i < 4; i++)
		close_to(adjusted[i], want[i], 1e-12);
	assert_int_equal(stats_holm(gap, 4, adjusted), 0);
	close_to(adjusted[0], 0.04, 1e-12); /* still a family of four */
	close_to(adjusted[3], 0.06, 1e-12);
	close_to(adjusted[2], 1, 1e-12);
	assert_true(isnan(adjusted[1]));
}

/* R's power.t.test examples and G*Power's paired example (dz 0.5, n 34: power 0.8077775). */
static void noncentral_t_is_the_published(void **state)
{
	double critical = stats_t_quantile(0.975, 38);

	(void)state;
	close_to(1 - stats_noncentral_t_cdf(critical, 38, sqrt(10)), 0.8689528, 5e-8);
	close_to(stats_power(34, 0.5, 1, 0.05), 0.8077775, 5e-8);
	close_to(stats_power(34, -0.5, 1, 0.05), 0.8077775, 5e-8);
	for (int df = 1; df < 200; df += 3) {
		close_to(stats_noncentral_t_cdf(0, df, 1.5), stats_normal_cdf(-1.5), 1e-9);
		close_to(stats_noncentral_t_cdf(2, df, 0), stats_t_cdf(2, df), 1e-9);
	}
	close_to(stats_power(8, 0, 0.02, 0.0125), 0.0125, 1e-9);
	assert_true(isnan(stats_power(1, 1, 1, 0.05)) && isnan(stats_power(8, 1, 0, 0.05)));
}

static void designs(void **state)
{
	double ratio;

	(void)state;
	assert_int_equal(stats_blocks_for_effect(0.5, 1, 0.05, 0.8, 1), 34);
	assert_int_equal(stats_blocks_for_effect(-0.5, 1, 0.05, 0.8, 1), 34);
	assert_int_equal(stats_blocks_for_effect(1e-6, 1, 0.05, 0.8, 1), 0);
	assert_int_equal(stats_blocks_for_effect(0, 1, 0.05, 0.8, 1), 0);
	assert_int_equal(stats_blocks_for_effect(100, 1, 0.05, 0.9, 1), 2);
	ratio = stats_detectable(8, 0.02, 0.05, 0.9, 4);
	close_to(stats_power(8, log(ratio), 0.02, 0.0125), 0.9, 1e-9);
	assert_true(ratio > stats_detectable(8, 0.02, 0.05, 0.9, 1));
	assert_true(ratio > stats_detectable(16, 0.02, 0.05, 0.9, 4));
	assert_true(isnan(stats_detectable(1, 0.02, 0.05, 0.9, 4)));
	/* ((1.7709 + 1.7709) 0.03 / 0.029559)^2 = 12.9 <= 14; with 13: 13.1 */
	assert_int_equal(stats_blocks_for_same(0, 0.03, 0.03, 0.9), 14);
	assert_int_equal(stats_blocks_for_same(0.04, 0.03, 0.03, 0.9), 0);
	assert_true(stats_blocks_for_same(0.02, 0.03, 0.03, 0.9) > 14);
}

static void same_needs_the_whole_interval(void **state)
{
	struct stats_paired s = { .low90 = 0.98, .high90 = 1.02 };

	(void)state;
	assert_true(stats_same(&s, 0.03));
	s.high90 = 1.031;
	assert_false(stats_same(&s, 0.03));
	s.low90 = 0.969;
	s.high90 = 1.01;
	assert_false(stats_same(&s, 0.03));
}

/* ---- simulated experiments ---- */

static uint64_t next(uint64_t *seed) /* splitmix64 */
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static double gauss(uint64_t *seed) /* Box-Muller */
{
	double u = ((double)(next(seed) >> 11) + 0.5) / 9007199254740992.0;
	double v = ((double)(next(seed) >> 11) + 0.5) / 9007199254740992.0;

	return sqrt(-2 * log(u)) * cos(2 * acos(-1) * v);
}

enum { BLOCKS = 8, CELLS = 4, EXPERIMENTS = 2000 };

struct tally {
	unsigned alarms, covered, cells, found;
};

/* One experiment: log-normal boots whose noise has a part that a block's variants share. */
static void experiment(uint64_t *seed, double effect, struct tally *tally)
{
	double p[CELLS], adjusted[CELLS], d[BLOCKS];
	struct stats_paired s;
	unsigned alarm = 0;

	for (int cell = 0; cell < CELLS; cell++) {
		for (int block = 0; block < BLOCKS; block++) {
			double shared = 0.1 * gauss(seed);
			double baseline = 8 + shared + 0.02 * gauss(seed);
			double candidate = 8 + shared + 0.02 * gauss(seed) + effect;

			d[block] = candidate - baseline;
		}
		stats_paired(d, BLOCKS, &s);
		p[cell] = s.p;
		tally->covered += log(s.low95) <= effect && effect <= log(s.high95);
		tally->cells++;
	}
	stats_holm(p, CELLS, adjusted);
	for (int cell = 0; cell < CELLS; cell++)
		alarm |= adjusted[cell] < 0.05;
	tally->alarms += alarm;
	tally->found += p[0] < 0.05 / CELLS;
}

static void within(double share, double want, double n)
{
	close_to(share, want, 3.3 * sqrt(want * (1 - want) / n)); /* a fair draw is outside once in 1000 */
}

static void false_alarms_and_coverage(void **state)
{
	struct tally tally = { 0 };
	uint64_t seed = 20260131;

	(void)state;
	for (int i = 0; i < EXPERIMENTS; i++)
		experiment(&seed, 0, &tally);
	/* With independent cells Holm's family-wise rate under the null is exactly 1 - (1 - 0.05/4)^4. */
	within((double)tally.alarms / EXPERIMENTS, 1 - pow(1 - 0.05 / CELLS, CELLS), EXPERIMENTS);
	within((double)tally.covered / tally.cells, 0.95, tally.cells);
}

static void power_is_what_was_promised(void **state)
{
	double sd = 0.02 * sqrt(2);
	double effect = log(stats_detectable(BLOCKS, sd, 0.05, 0.9, CELLS));
	struct tally tally = { 0 };
	uint64_t seed = 7;

	(void)state;
	for (int i = 0; i < EXPERIMENTS; i++)
		experiment(&seed, effect, &tally);
	within((double)tally.found / EXPERIMENTS, 0.9, EXPERIMENTS);
	within((double)tally.covered / tally.cells, 0.95, tally.cells);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beta_has_its_closed_forms),
		cmocka_unit_test(t_cdf_has_its_closed_forms),
		cmocka_unit_test(t_quantiles_are_the_published),
		cmocka_unit_test(normal_quantiles_are_the_published),
		cmocka_unit_test(paired_t_of_students_sleep_data),
		cmocka_unit_test(paired_t_says_when_it_has_no_answer),
		cmocka_unit_test(sign_flips_by_hand),
		cmocka_unit_test(sign_flips_of_darwins_maize),
		cmocka_unit_test(sign_flips_at_their_limit),
		cmocka_unit_test(holm_by_hand),
		cmocka_unit_test(noncentral_t_is_the_published),
		cmocka_unit_test(designs),
		cmocka_unit_test(same_needs_the_whole_interval),
		cmocka_unit_test(false_alarms_and_coverage),
		cmocka_unit_test(power_is_what_was_promised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
