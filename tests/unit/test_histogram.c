#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "guest/histogram.h"
#include "guest/latency.h"

/* The layout of the format description, by division instead of bit operations. */
static unsigned slow_index(uint64_t v)
{
	unsigned e = 0;

	if (v < 128)
		return (unsigned)v;
	while (v >> e >= 128)
		e++;
	return (e + 1) * 64 + (unsigned)(v / ((uint64_t)1 << e) % 64);
}

static void index_matches_the_description(void **state)
{
	uint64_t v = 1;

	(void)state;
	for (uint64_t i = 0; i < 5000; i++)
		assert_int_equal(histogram_index(i), slow_index(i));
	for (unsigned i = 0; i < 100000; i++) {
		v = v * 6364136223846793005u + 1442695040888963407u;
		assert_int_equal(histogram_index(v >> 30), slow_index(v >> 30));
	}
	assert_int_equal(histogram_index(17045651455u), HISTOGRAM_BUCKETS - 2);
	assert_int_equal(histogram_index(17045651456u), HISTOGRAM_BUCKETS - 1);
	assert_int_equal(histogram_index(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}

static void value_lies_in_its_bucket(void **state)
{
	(void)state;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		assert_int_equal(histogram_index(histogram_value(i)), i);
	assert_int_equal(histogram_value(127), 127);
	assert_int_equal(histogram_value(128), 129);
	assert_int_equal(histogram_value(HISTOGRAM_BUCKETS - 1), 17112760320u); /* fio's largest percentile */
	for (uint64_t v = 1; v < 17000000000u; v = v * 9 / 8 + 1) {
		int64_t off = (int64_t)(histogram_value(histogram_index(v)) - v);

		assert_true((uint64_t)llabs(off) * 128 <= v);
	}
}

static void percentiles(void **state)
{
	struct histogram *h = calloc(1, sizeof(*h)), *other = calloc(1, sizeof(*other));

	(void)state;
	assert_int_equal(histogram_percentile(h, 50), 0);
	for (uint64_t v = 1; v <= 100; v++)
		histogram_add(h, v);
	assert_int_equal(histogram_percentile(h, 1), 1);
	assert_int_equal(histogram_percentile(h, 50), 50);
	assert_int_equal(histogram_percentile(h, 50.5), 51);
	assert_int_equal(histogram_percentile(h, 99), 99);
	assert_int_equal(histogram_percentile(h, 100), 100);
	histogram_add(other, 100000);
	histogram_merge(h, other);
	assert_int_equal(histogram_total(h), 101);
	assert_int_equal(histogram_percentile(h, 100), histogram_value(histogram_index(100000)));
	assert_int_equal(histogram_percentile(h, 99), 100);
	free(h);
	free(other);
}

static void latency_classes(void **state)
{
	struct latency_table t;
	static const struct {
		uint64_t ns;
		unsigned class;
	} known[] = {
		{ 0, 0 }, { 1, 0 }, { 2, 1 }, { 9, 2 }, { 499, 7 }, { 500, 8 }, { 999, 9 },
		{ 1000, 10 }, { 1999, 10 }, { 2000, 11 }, { 3999, 11 }, { 4000, 12 }, { 99999, 15 }, { 100000, 16 },
		{ 999999, 19 }, { 1000000, 20 }, { 999999999, 29 }, { 1000000000, 30 }, { 1999999999, 30 },
		{ 2000000000, 31 }, { UINT64_MAX, 31 },
	};

	(void)state;
	latency_table_init(&t);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(latency_class(known[i].ns), known[i].class);
	/* The table never contradicts the exact rule, next to each bound in particular. */
	for (uint64_t v = 1; v < 5000000000u; v = v < 4000 ? v + 1 : v + v / 1000) {
		unsigned class = t.of_bucket[histogram_index(v)];

		assert_true(class == LATENCY_STRADDLES || class == latency_class(v));
	}
	assert_int_equal(t.of_bucket[histogram_index(10000)], LATENCY_STRADDLES);
	assert_int_equal(t.of_bucket[histogram_index(60000)], 15);
	assert_int_equal(t.of_bucket[HISTOGRAM_BUCKETS - 1], 31);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(index_matches_the_description),
		cmocka_unit_test(value_lies_in_its_bucket),
		cmocka_unit_test(percentiles),
		cmocka_unit_test(latency_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
