#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "guest/result.h"

#define assert_close(a, b) \
	do { \
		double a_ = (a), b_ = (b); \
		if (!(fabs(a_ - b_) <= 1e-9 * fabs(b_) + 1e-12)) \
			fail_msg("%s is %.17g, expected %.17g", #a, a_, b_); \
	} while (0)

static void moments_of_few(void **state)
{
	struct moments m = {0};

	(void)state;
	assert_close(moments_mean(&m), 0);
	assert_close(moments_stdev(&m), 0);
	moments_add(&m, 1000);
	assert_close(moments_mean(&m), 1000);
	assert_close(moments_stdev(&m), 0);
	moments_add(&m, 996);
	moments_add(&m, 1010);
	assert_int_equal(m.min, 996);
	assert_int_equal(m.max, 1010);
	assert_close(moments_mean(&m), 1002);
	assert_close(moments_stdev(&m), sqrt((4 + 36 + 64) / 2.0));
}

/* Two passes in long double over all values at once. */
static void moments_merge_is_pooling(void **state)
{
	static const uint64_t v[] = { 12000000, 5, 7, 90000000000u, 33, 12, 8000000, 81, 5000 };
	const size_t n = sizeof(v) / sizeof(v[0]);
	long double sum = 0, squares = 0;

	(void)state;
	for (size_t i = 0; i < n; i++)
		sum += v[i];
	for (size_t i = 0; i < n; i++)
		squares += (v[i] - sum / n) * (v[i] - sum / n);
	for (size_t cut = 0; cut <= n; cut++) {
		struct moments a = {0}, b = {0};

		for (size_t i = 0; i < n; i++)
			moments_add(i < cut ? &a : &b, v[i]);
		moments_merge(&a, &b);
		assert_int_equal(a.n, n);
		assert_int_equal(a.min, 5);
		assert_int_equal(a.max, 90000000000u);
		assert_close(moments_mean(&a), (double)(sum / n));
		assert_close(moments_stdev(&a), (double)sqrtl(squares / (n - 1)));
	}
}

static void samples_are_added(void **state)
{
	struct samples a = {0}, b = {0};

	(void)state;
	samples_add(&a, 10);
	samples_add(&a, 14);
	samples_add(&b, 100);
	samples_add(&b, 104);
	samples_add(&b, 102);
	assert_close(a.mean, 12);
	assert_close(samples_stdev(&a), sqrt(8));
	samples_sum(&a, &b);
	assert_int_equal(a.n, 5);
	assert_int_equal(a.min, 110);
	assert_int_equal(a.max, 118);
	assert_close(a.mean, 114);
	assert_close(samples_stdev(&a), sqrt((8 + 8) / 4.0));
}

static void jobs_merge_by_their_rules(void **state)
{
	struct job_result *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));

	(void)state;
	a->members = b->members = 1;
	a->pid = 7;
	a->dir[DDIR_READ] = (struct direction){ .ios = 3, .bytes = 300, .runtime_us = 50 };
	b->dir[DDIR_READ] = (struct direction){ .ios = 4, .bytes = 500, .runtime_us = 80, .short_ios = 1 };
	a->runtime_ms = a->total_runtime_ms = 5;
	b->runtime_ms = b->total_runtime_ms = 8;
	b->failure.error = 5;
	a->lat_ms[LAT_MS_CLASSES - 1] = 1;
	b->lat_ms[LAT_MS_CLASSES - 1] = 2;
	b->started = true;
	job_result_merge(a, b);
	assert_int_equal(a->members, 2);
	assert_int_equal(a->pid, 7);
	assert_int_equal(a->dir[DDIR_READ].ios, 7);
	assert_int_equal(a->dir[DDIR_READ].bytes, 800);
	assert_int_equal(a->dir[DDIR_READ].runtime_us, 80);
	assert_int_equal(a->dir[DDIR_READ].short_ios, 1);
	assert_int_equal(a->runtime_ms, 8);
	assert_int_equal(a->total_runtime_ms, 13);
	assert_int_equal(a->failure.error, 5);
	assert_int_equal(a->lat_ms[LAT_MS_CLASSES - 1], 3);
	assert_true(a->started);
	free(a);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moments_of_few),
		cmocka_unit_test(moments_merge_is_pooling),
		cmocka_unit_test(samples_are_added),
		cmocka_unit_test(jobs_merge_by_their_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
