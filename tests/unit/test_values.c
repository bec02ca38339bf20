#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "guest/values.h"

static void takes_number(const char *s, uint64_t expected)
{
	struct error e = {0};
	uint64_t n = 0;

	if (value_number(s, &n, &e))
		fail_msg("%s: %s", s, e.text);
	assert_int_equal(n, expected);
}

/* Refused, with these words in the message, and the result left alone. */
static void refuses_number(const char *s, const char *words)
{
	struct error e = {0};
	uint64_t n = 77;

	if (value_number(s, &n, &e) == 0)
		fail_msg("%s was taken for %llu", s, (unsigned long long)n);
	assert_int_equal(n, 77);
	if (!strstr(e.text, words))
		fail_msg("%s: \"%s\" lacks \"%s\"", s, e.text, words);
}

static void numbers(void **state)
{
	(void)state;
	takes_number("0", 0);
	takes_number("4096", 4096);
	takes_number("1k", 1024);
	takes_number("1K", 1024);
	takes_number("1kb", 1024);
	takes_number("1KB", 1024);
	takes_number("1ki", 1024);
	takes_number("3m", 3145728);
	takes_number("1g", 1073741824);
	takes_number("2t", 2199023255552);
	takes_number("1p", 1125899906842624);
	takes_number("1b", 1);
	takes_number("0x1000", 4096);
	takes_number("08", 8);
	takes_number(" 2", 2);
	takes_number("18446744073709551", 18446744073709551);
}

static void traps(void **state)
{
	(void)state;
	refuses_number("4kib", "fio would take this for 4000; write 4k for 4096");
	refuses_number("1MiB", "fio would take this for 1000000; write 1m for 1048576");
	refuses_number("1.5g", "fio would take this for 1; write 1536m for 1610612736");
	refuses_number("1.5", "fio would take this for 1");
	refuses_number("1e3", "fio would take this for 1; write 1000");
	refuses_number("4kx", "fio would take this for 4096");
	refuses_number("4xk", "fio would take this for 4");
	refuses_number(" 2m", "fio would take this for 2; write 2m");
	refuses_number("2 m", "fio would take this for 2; write 2m");
	refuses_number("0x10k", "fio would take this for 16");
	refuses_number("4k-8k", "one number");
	refuses_number("1,000", "one number");
	refuses_number("-5", "negative");
	refuses_number("", "not a number");
	refuses_number("k", "not a number");
	refuses_number("99999999999999999999", "too large");
	refuses_number("0x11112222333344445", "too large");
	refuses_number("99999999p", "too large");
}

static void extents(void **state)
{
	struct error e = {0};
	struct extent x;

	(void)state;
	assert_int_equal(value_extent("64m", &x, &e), 0);
	assert_int_equal(x.bytes, 67108864);
	assert_int_equal(x.percent, 0);
	assert_int_equal(value_extent("50%", &x, &e), 0);
	assert_int_equal(x.percent, 50);
	assert_int_equal(x.bytes, 0);
	assert_int_equal(value_extent("150%", &x, &e), 0);
	assert_int_equal(x.percent, 100);
	assert_int_equal(value_extent("0%", &x, &e), -1);
	error_clear(&e);
	assert_int_equal(value_extent("12.5%", &x, &e), -1);
	assert_non_null(strstr(e.text, "fio would take this for 12"));
}

static void takes_list(const char *s, uint64_t r, uint64_t w, uint64_t t)
{
	struct error e = {0};
	uint64_t n[DDIRS] = { 100, 200, 300 };

	if (value_directions(s, n, &e))
		fail_msg("%s: %s", s, e.text);
	assert_int_equal(n[DDIR_READ], r);
	assert_int_equal(n[DDIR_WRITE], w);
	assert_int_equal(n[DDIR_TRIM], t);
}

static void lists(void **state)
{
	uint64_t n[DDIRS] = { 1, 2, 3 };
	struct error e = {0};

	(void)state;
	takes_list("4k", 4096, 4096, 4096);
	takes_list("4k,8k", 4096, 8192, 8192);
	takes_list("4k:8k", 4096, 8192, 8192);
	takes_list("1k,2k,3k", 1024, 2048, 3072);
	takes_list(",8k", 100, 8192, 8192);
	takes_list("4k,", 4096, 200, 200);
	assert_int_equal(value_directions("4k-8k", n, &e), -1);
	assert_non_null(strstr(e.text, "no range"));
	error_clear(&e);
	assert_int_equal(value_directions("1,2,3,4", n, &e), -1);
	error_clear(&e);
	assert_int_equal(value_directions("4kib", n, &e), -1);
	assert_non_null(strstr(e.text, "4000"));
	error_clear(&e);
	assert_int_equal(value_directions("", n, &e), -1);
	assert_int_equal(n[0], 1);
	assert_int_equal(n[2], 3);
}

static void takes_time(const char *s, uint64_t expected)
{
	struct error e = {0};
	uint64_t us = 0;

	if (value_time(s, &us, &e))
		fail_msg("%s: %s", s, e.text);
	assert_int_equal(us, expected);
}

static void refuses_time(const char *s, const char *words)
{
	struct error e = {0};
	uint64_t us = 77;

	if (value_time(s, &us, &e) == 0)
		fail_msg("%s was taken for %llu us", s, (unsigned long long)us);
	assert_int_equal(us, 77);
	if (!strstr(e.text, words))
		fail_msg("%s: \"%s\" lacks \"%s\"", s, e.text, words);
}

static void times(void **state)
{
	(void)state;
	takes_time("10", 10000000);
	takes_time(" 10", 10000000);
	takes_time("10s", 10000000);
	takes_time("1m", 60000000);
	takes_time("1M", 60000000);
	takes_time("2h", 7200000000);
	takes_time("1d", 86400000000);
	takes_time("5ms", 5000);
	takes_time("5msec", 5000);
	takes_time("7us", 7);
	takes_time("7usec", 7);
	refuses_time("1min", "1 microsecond; write 60s");
	refuses_time("30sec", "30 microseconds; write 30s");
	refuses_time("1.5m", "1 second; write 90s");
	refuses_time("0.5s", "0 microseconds; write 500000us");
	refuses_time("10 s", "10 seconds; write 10s");
	refuses_time("0x10", "16 microseconds");
	refuses_time("1m30s", "1 microsecond;");
	refuses_time("1:2", "one time");
	refuses_time("5x", "5 microseconds");
	refuses_time("-1", "negative");
	refuses_time("s", "not a number");
	refuses_time("999999999999d", "too long");
	refuses_time("200000d", "too long"); /* fits in microseconds, not in nanoseconds */
}

static void booleans(void **state)
{
	struct error e = {0};
	bool b = false;

	(void)state;
	assert_int_equal(value_bool("1", &b, &e), 0);
	assert_true(b);
	assert_int_equal(value_bool("0", &b, &e), 0);
	assert_false(b);
	assert_int_equal(value_bool("2", &b, &e), -1);
	assert_string_equal(e.text, "max value out of range: 2 (1 max)");
	error_clear(&e);
	assert_int_equal(value_bool("true", &b, &e), -1);
	error_clear(&e);
	assert_int_equal(value_bool("1x", &b, &e), -1);
	error_clear(&e);
	assert_int_equal(value_bool("--size=1m", &b, &e), -1);
}

static void percentiles(void **state)
{
	static const char *const bad[] = { "", "0", "101", "-1", "1e1", "50:x", "99,50", "50:", ":50", ".",
					   "1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18:19:20:21",
					   "50.1234567890123" };
	struct percentile_list l = { .count = 0 };
	struct error e = {0};

	(void)state;
	assert_int_equal(value_percentiles("99.999:50:1.5", &l, &e), 0);
	assert_int_equal(l.count, 3);
	assert_int_equal(l.precision, 3);
	assert_true(l.percent[0] == 1.5 && l.percent[1] == 50 && l.percent[2] == 99.999);
	assert_int_equal(value_percentiles("100:50:0:99", &l, &e), 0);
	assert_int_equal(l.count, 2);
	assert_int_equal(l.precision, 0);
	assert_true(l.percent[0] == 50 && l.percent[1] == 100);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		error_clear(&e);
		if (value_percentiles(bad[i], &l, &e) == 0)
			fail_msg("\"%s\" was taken", bad[i]);
		assert_int_equal(l.count, 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),  cmocka_unit_test(traps),    cmocka_unit_test(extents),
		cmocka_unit_test(lists),    cmocka_unit_test(times),    cmocka_unit_test(booleans),
		cmocka_unit_test(percentiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
