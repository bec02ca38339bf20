/* host/parse.c: what values may look like, and their limits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/parse.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void numbers(void **state)
{
	static const char *const bad[] = { "", " 1", "-1", "+1", "1 ", "0x10", "18446744073709551616", "1.0", "a" };
	uint64_t v;

	(void)state;
	assert_int_equal(parse_u64("0", &v), 0);
	assert_int_equal(v, 0);
	assert_int_equal(parse_u64("18446744073709551615", &v), 0);
	assert_true(v == UINT64_MAX);
	for (size_t i = 0; i < COUNT(bad); i++)
		if (parse_u64(bad[i], &v) == 0)
			fail_msg("\"%s\" was taken as %llu", bad[i], (unsigned long long)v);
}

static void sizes(void **state)
{
	static const struct { const char *text; uint64_t bytes; } good[] = {
		{ "512", 512 }, { "64k", 65536 }, { "64K", 65536 }, { "256M", 268435456 }, { "1G", 1073741824 },
		{ "2T", 2199023255552 }, { "1p", 1125899906842624 }, { "1MiB", 1048576 }, { "1MB", 1048576 },
		{ "1Mi", 1048576 }, { "16383p", UINT64_C(16383) << 50 }, { "0", 0 },
	};
	static const char *const bad[] = { "", "k", "1x", "1.5G", "1kk", "1kib", "-1", "16384p", "99999999999999999999",
					   "1 k", "1e3", "512B" };
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		assert_int_equal(parse_size(good[i].text, &v), 0);
		assert_true(v == good[i].bytes);
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		if (parse_size(bad[i], &v) == 0)
			fail_msg("\"%s\" was taken as %llu", bad[i], (unsigned long long)v);
}

static void durations(void **state)
{
	static const struct { const char *text; double seconds; } good[] = {
		{ "2", 2 }, { "2s", 2 }, { "500ms", 0.5 }, { "20us", 2e-5 }, { "5m", 300 }, { "5min", 300 }, { "1h", 3600 },
		{ "1.5", 1.5 }, { "0", 0 },
	};
	static const char *const bad[] = { "", "s", "-1", ".5", "1d", "1 s", "0x10", "1e3", "1e400", "inf", "nan", "1.2.3",
					   "1,5" };
	double v;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		assert_int_equal(parse_duration(good[i].text, &v), 0);
		assert_true(fabs(v - good[i].seconds) < 1e-12);
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		if (parse_duration(bad[i], &v) == 0)
			fail_msg("\"%s\" was taken as %g", bad[i], v);
}

static void fractions(void **state)
{
	static const struct { const char *text; double value; } good[] = {
		{ "3%", 0.03 }, { "0.03", 0.03 }, { "0", 0 }, { "0%", 0 }, { "99.9%", 0.999 },
	};
	static const char *const bad[] = { "", "%", "1", "100%", "-3%", "3 %", "3%%", "5e-2", "0x0.1", "nan" };
	double v;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		assert_int_equal(parse_fraction(good[i].text, &v), 0);
		assert_true(fabs(v - good[i].value) < 1e-12);
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		if (parse_fraction(bad[i], &v) == 0)
			fail_msg("\"%s\" was taken as %g", bad[i], v);
}

static void booleans(void **state)
{
	static const char *const yes[] = { "on", "yes", "true", "1" }, *const no[] = { "off", "no", "false", "0" };
	bool v;

	(void)state;
	for (size_t i = 0; i < COUNT(yes); i++) {
		v = false;
		assert_int_equal(parse_bool(yes[i], &v), 0);
		assert_true(v);
		assert_int_equal(parse_bool(no[i], &v), 0);
		assert_false(v);
	}
	assert_int_equal(parse_bool("ON", &v), -1);
	assert_int_equal(parse_bool("", &v), -1);
	assert_int_equal(parse_bool("2", &v), -1);
}

static void cpu_lists(void **state)
{
	static const char *const good[] = { "0", "0,2-3", "1-1", "4095", "3,1" };
	static const char *const bad[] = { "", ",", "0,", ",0", "2-1", "4096", "0-", "-1", "a", "0 ,1", "1-2-3", "0,,1",
					   "99999999999999999999999" };

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		if (!parse_cpulist(good[i]))
			fail_msg("\"%s\" was refused", good[i]);
	for (size_t i = 0; i < COUNT(bad); i++)
		if (parse_cpulist(bad[i]))
			fail_msg("\"%s\" was taken", bad[i]);
}

static void words(void **state)
{
	static const char *const list[] = { "a", "bc", NULL };

	(void)state;
	assert_int_equal(parse_word("a", list), 0);
	assert_int_equal(parse_word("bc", list), 1);
	assert_int_equal(parse_word("b", list), -1);
	assert_int_equal(parse_word("", list), -1);
}

static void sizes_are_written_back(void **state)
{
	static const struct { uint64_t bytes; const char *text; } table[] = {
		{ 0, "0" }, { 512, "512" }, { 1024, "1K" }, { 1536, "1536" }, { (uint64_t)1 << 20, "1M" }, { (uint64_t)3 << 30, "3G" },
		{ (uint64_t)1 << 40, "1T" }, { (uint64_t)1 << 50, "1024T" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct text t = { 0 };
		uint64_t again;

		parse_size_back(table[i].bytes, &t);
		assert_string_equal(text_get(&t), table[i].text);
		assert_int_equal(parse_size(text_get(&t), &again), 0);
		assert_int_equal(again, table[i].bytes);
		text_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers), cmocka_unit_test(sizes), cmocka_unit_test(durations), cmocka_unit_test(fractions),
		cmocka_unit_test(booleans), cmocka_unit_test(cpu_lists), cmocka_unit_test(words),
		cmocka_unit_test(sizes_are_written_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
