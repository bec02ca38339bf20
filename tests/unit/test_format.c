#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "guest/format.h"

struct row {
	uint64_t value;
	unsigned digits;
	int binary;
	const char *unit, *expected;
};

static void check(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char out[FORMAT_SIZE];

		format_number(out, rows[i].value, rows[i].digits, rows[i].binary, rows[i].unit);
		assert_string_equal(out, rows[i].expected);
	}
}

/* Figures that fio 3.33 printed, or that its documented procedure gives by hand. */
static void numbers(void **state)
{
	static const struct row rows[] = {
		{ 0, 4, 0, "", "0" },
		{ 9715, 4, 0, "", "9715" },
		{ 9999, 4, 1, "", "9999" },
		{ 9999, 4, 0, "", "9999" },
		{ 9999, 6, 0, "", "9999" },
		{ 10000, 4, 1, "", "9.77Ki" },
		{ 10000, 4, 0, "", "10.0k" },
		{ 10000, 6, 0, "", "10000" },
		{ 13100, 4, 1, "", "12.8Ki" },
		{ 13100, 4, 0, "", "13.1k" },
		{ 13100, 6, 0, "", "13100" },
		{ 131072, 4, 1, "", "128Ki" },
		{ 131072, 4, 0, "", "131k" },
		{ 131072, 6, 0, "", "131072" },
		{ 999500, 4, 1, "", "976Ki" },
		{ 999500, 4, 0, "", "1000k" },
		{ 999500, 6, 0, "", "999500" },
		{ 1048576, 4, 1, "", "1024Ki" },
		{ 1048576, 4, 0, "", "1049k" },
		{ 1048576, 6, 0, "", "1048.6k" },
		{ 41900000, 4, 1, "", "40.0Mi" },
		{ 41900000, 4, 0, "", "41.9M" },
		{ 41900000, 6, 0, "", "41900k" },
		{ 4096, 4, 1, "B", "4096B" },
		{ 16384, 4, 1, "B", "16.0KiB" },
		{ 65536, 4, 1, "B", "64.0KiB" },
		{ 4194304, 4, 1, "B", "4096KiB" },
		/* the carry that is missing in fio 2.17 to 3.25 */
		{ 99960, 4, 0, "B/s", "100.0kB/s" },
		{ 10235, 4, 1, "B/s", "10.00KiB/s" },
		{ 9999999, 4, 0, "B/s", "10000kB/s" },
		{ 999999, 4, 0, "B/s", "1000kB/s" },
		/* lines of one fio 3.33 report belong together */
		{ 524288000, 4, 1, "B/s", "500MiB/s" },
		{ 524288000, 4, 0, "B/s", "524MB/s" },
		{ 128000, 4, 0, "", "128k" },
		{ 2037900, 6, 0, "", "2037.9k" },
		{ 1107500, 6, 0, "", "1107.5k" },
		{ 99917499, 6, 0, "", "99917k" },
		{ 18446744073709551615ull, 4, 1, "B", "16.0EiB" },
		{ 18446744073709551615ull, 4, 0, "B", "18.4EB" },
	};

	(void)state;
	check(rows, sizeof(rows) / sizeof(rows[0]));
}

/* Each condition must hold by itself. */
static void units(void **state)
{
	(void)state;
	assert_string_equal(format_latency_unit(2001, 100000, 1000.1)->name, "usec");
	assert_string_equal(format_latency_unit(2000, 100000, 1000.1)->name, "nsec");
	assert_string_equal(format_latency_unit(2001, 99999, 1000.1)->name, "nsec");
	assert_string_equal(format_latency_unit(2001, 100000, 1000.0)->name, "nsec");
	assert_string_equal(format_latency_unit(2000001, 100000000, 1000000.5)->name, "msec");
	assert_string_equal(format_latency_unit(2000000, 100000000, 1000000.5)->name, "usec");
	assert_string_equal(format_latency_unit(2000001, 99999999, 1000000.5)->name, "usec");
	assert_string_equal(format_latency_unit(2000001, 100000000, 1000000.0)->name, "usec");
	assert_string_equal(format_percentile_unit(2001, 100000)->name, "usec");
	assert_string_equal(format_percentile_unit(2000, 100000)->name, "nsec");
	assert_string_equal(format_percentile_unit(2000001, 100000000)->name, "msec");
	assert_string_equal(format_percentile_unit(2000001, 99999999)->name, "usec");
}

static void percentile_rounding(void **state)
{
	const struct latency_unit *ns = format_percentile_unit(0, 0), *us = format_percentile_unit(2001, 100000);
	const struct latency_unit *ms = format_percentile_unit(2000001, 100000000);

	(void)state;
	assert_int_equal(format_percentile(1234567, ns), 1234567);
	assert_int_equal(format_percentile(1234000, us), 1234);
	assert_int_equal(format_percentile(1234001, us), 1235);
	/* up twice: 1234001 ns are 1235 us are 2 ms */
	assert_int_equal(format_percentile(1234001, ms), 2);
	assert_int_equal(format_percentile(1000001, ms), 2);
	assert_int_equal(format_percentile(1000000, ms), 1);
}

static void digits(void **state)
{
	(void)state;
	assert_int_equal(format_digits(0), 1);
	assert_int_equal(format_digits(9), 1);
	assert_int_equal(format_digits(10), 2);
	assert_int_equal(format_digits(18446744073709551615ull), 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(units),
		cmocka_unit_test(percentile_rounding),
		cmocka_unit_test(digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
