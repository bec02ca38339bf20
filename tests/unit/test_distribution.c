#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "guest/distribution.h"

#define DRAWS 200000
#define MOST 1000

/*
 * Draw and compare with the expected shares by chi-square, where each class has at least 10 expected; the
 * rest is one class. It must lie within 5 of its own standard deviations, sqrt(2 df).
 */
static void fits(const struct distribution *law, unsigned n, const double *expected)
{
	struct random64 random = random64_stream(7, n);
	unsigned seen[MOST] = {0}, classes = 0;
	double chi = 0, rest = 0, rest_seen = 0;
	struct drawer d;

	drawer_init(&d, law, n, &random);
	for (unsigned i = 0; i < DRAWS; i++) {
		uint64_t k = drawer_rank(&d, &random);

		assert_true(k < n);
		seen[k]++;
	}
	for (unsigned k = 0; k < n; k++) {
		double e = expected[k] * DRAWS;

		if (e < 10) {
			rest += e;
			rest_seen += seen[k];
			continue;
		}
		chi += (seen[k] - e) * (seen[k] - e) / e;
		classes++;
	}
	if (rest >= 10)
		chi += (rest_seen - rest) * (rest_seen - rest) / rest;
	else
		assert_true(rest_seen < 40);
	if (classes > 1 && chi > classes + 5 * sqrt(2.0 * classes))
		fail_msg("chi-square %g with %u classes (n %u, parameter %g)", chi, classes, n, law->parameter);
}

static void zipf_is_exact(void **state)
{
	static const double thetas[] = { 0.2, 0.8, 0.999999999, 1.1, 1.2, 2, 3.5 };
	static const unsigned sizes[] = { 1, 2, 3, 10, 1000 };

	(void)state;
	for (size_t i = 0; i < sizeof(thetas) / sizeof(thetas[0]); i++)
		for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
			struct distribution law = { .kind = DISTRIBUTION_ZIPF, .parameter = thetas[i] };
			double expected[MOST], sum = 0;

			for (unsigned k = 0; k < sizes[j]; k++)
				sum += expected[k] = pow(k + 1, -thetas[i]);
			for (unsigned k = 0; k < sizes[j]; k++)
				expected[k] /= sum;
			fits(&law, sizes[j], expected);
		}
}

static void pareto_is_exact(void **state)
{
	static const double hs[] = { 0.1, 0.2, 0.5, 0.9 };

	(void)state;
	for (size_t i = 0; i < sizeof(hs) / sizeof(hs[0]); i++) {
		struct distribution law = { .kind = DISTRIBUTION_PARETO, .parameter = hs[i] };
		double power = log(1 - hs[i]) / log(hs[i]), expected[MOST], before = 0;

		for (unsigned k = 0; k < MOST; k++) {
			double now = pow((k + 1) / (double)MOST, power);

			expected[k] = now - before;
			before = now;
		}
		fits(&law, MOST, expected);
	}
}

/* The name-giving property: of h = 0.2, 80 percent of the I/Os go to 20 percent of the blocks. */
static void pareto_eighty_twenty(void **state)
{
	struct distribution law = { .kind = DISTRIBUTION_PARETO, .parameter = 0.2 };
	struct random64 random = { 1 };
	unsigned hot = 0;
	struct drawer d;

	(void)state;
	drawer_init(&d, &law, 100000, &random);
	for (unsigned i = 0; i < DRAWS; i++)
		hot += drawer_rank(&d, &random) < 20000;
	assert_in_range(hot, (unsigned)(0.795 * DRAWS), (unsigned)(0.805 * DRAWS));
}

static void normal_has_its_deviation(void **state)
{
	static const double given[] = { 0, 2, 10 }, wanted[] = { 100.0 / 12, 2, 10 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct distribution law = { .kind = DISTRIBUTION_NORMAL, .parameter = given[i] };
		struct random64 random = { 3 };
		double sum = 0, squares = 0, n = 1e9;
		struct drawer d;

		drawer_init(&d, &law, (uint64_t)n, &random);
		for (unsigned k = 0; k < DRAWS; k++) {
			double x = (double)drawer_rank(&d, &random) / n * 100;

			sum += x;
			squares += (x - 50) * (x - 50);
		}
		/* Five standard errors: of the mean sd / sqrt(N), of the deviation sd / sqrt(2 N). */
		assert_true(fabs(sum / DRAWS - 50) < 5 * wanted[i] / sqrt(DRAWS));
		assert_true(fabs(sqrt(squares / DRAWS) - wanted[i]) < 5 * wanted[i] / sqrt(2.0 * DRAWS));
	}
}

static void zones(void **state)
{
	struct distribution law = { .kind = DISTRIBUTION_ZONED, .nzones = 3,
				    .zone = { { 60, 10 }, { 30, 20 }, { 10, 70 } } };
	double expected[MOST];

	(void)state;
	for (unsigned k = 0; k < MOST; k++)
		expected[k] = k < 100 ? 0.6 / 100 : k < 300 ? 0.3 / 200 : 0.1 / 700;
	fits(&law, MOST, expected);
	/* Zones of less than a block stay inside. */
	expected[0] = 1;
	fits(&law, 1, expected);
}

/* Each rank has a block of its own, the same every time, and the hot ones do not lie side by side. */
static void ranks_are_scattered(void **state)
{
	struct distribution law = { .kind = DISTRIBUTION_ZIPF, .parameter = 1.2 };
	unsigned seen[MOST] = {0}, hot = 0, hottest = 0, distinct = 0;
	struct random64 keys = { 11 };
	struct drawer d;

	(void)state;
	drawer_init(&d, &law, MOST, &keys);
	for (unsigned i = 0; i < DRAWS; i++)
		seen[drawer_next(&d, &keys)]++;
	for (unsigned k = 0; k < MOST; k++) {
		distinct += seen[k] > 0;
		if (seen[k] > seen[hottest])
			hottest = k;
	}
	assert_true(distinct > 950);
	for (unsigned k = 0; k < 10; k++)
		hot += seen[k] > DRAWS / 100;
	assert_true(hot < 5);
	assert_true(seen[hottest] > DRAWS / 5);
}

/* All of it at sizes beyond what a double holds exactly. */
static void huge_numbers(void **state)
{
	struct distribution law = { .kind = DISTRIBUTION_RANDOM };
	struct random64 keys = { 12 };
	struct drawer d;

	(void)state;
	for (unsigned kind = 0; kind <= DISTRIBUTION_ZONED; kind++) {
		law = (struct distribution){ .kind = (enum distribution_kind)kind, .nzones = 1, .zone = { { 100, 100 } } };
		law.parameter = kind == DISTRIBUTION_ZIPF ? 1.1 : kind == DISTRIBUTION_PARETO ? 0.2 : 5;
		drawer_init(&d, &law, ((uint64_t)1 << 63) - 1, &keys);
		for (unsigned i = 0; i < 10000; i++)
			assert_true(drawer_next(&d, &keys) < d.n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zipf_is_exact), cmocka_unit_test(pareto_is_exact),
		cmocka_unit_test(pareto_eighty_twenty), cmocka_unit_test(normal_has_its_deviation),
		cmocka_unit_test(zones), cmocka_unit_test(ranks_are_scattered), cmocka_unit_test(huge_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
