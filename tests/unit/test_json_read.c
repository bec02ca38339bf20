#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guest/json_read.h"

static void check_string(const char *json, const char *key, const char *want)
{
	struct error e = {0};
	char *value;

	if (json_read_string(json, key, &value, &e) < 0)
		fail_msg("%s: %s", json, e.text);
	if (want)
		assert_string_equal(value, want);
	else
		assert_null(value);
	free(value);
}

static void refuse_string(const char *json, const char *why)
{
	struct error e = {0};
	char *value = (char *)"unset";

	if (json_read_string(json, "a", &value, &e) == 0)
		fail_msg("%s was accepted", json);
	assert_null(value);
	if (!strstr(e.text, why))
		fail_msg("%s: '%s' does not say '%s'", json, e.text, why);
}

static void test_strings(void **state)
{
	(void)state;
	check_string("{\"a\":\"x\"}", "a", "x");
	check_string(" { \"b\" : 1 , \"a\" : \"x y\" } \n", "a", "x y");
	check_string("{}", "a", NULL);
	check_string("{\"a\":null}", "a", NULL);
	check_string("{\"b\":{\"a\":\"inner\"},\"a\":\"outer\"}", "a", "outer");
	check_string("{\"b\":[1,-2.5e+3,true,false,null,[],{}],\"a\":\"\"}", "a", "");
	check_string("{\"\\u0061\":\"escaped key\"}", "a", "escaped key");
}

static void test_escapes(void **state)
{
	(void)state;
	check_string("{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "a", "\"\\/\b\f\n\r\t");
	check_string("{\"a\":\"\\u0041\\u00e4\\u20aC\"}", "a", "A\xc3\xa4\xe2\x82\xac");
	check_string("{\"a\":\"\\ud83d\\ude00\"}", "a", "\xf0\x9f\x98\x80");
	check_string("{\"a\":\"\xc3\xa4\"}", "a", "\xc3\xa4");
	refuse_string("{\"a\":\"\\u0000\"}", "u0000");
	refuse_string("{\"a\":\"\\ud83d\"}", "surrogate");
	refuse_string("{\"a\":\"\\ud83d\\u0041\"}", "surrogate");
	refuse_string("{\"a\":\"\\ude00\"}", "surrogate");
	refuse_string("{\"a\":\"\\u12g4\"}", "hexadecimal");
	refuse_string("{\"a\":\"\\x\"}", "unknown escape");
	refuse_string("{\"a\":\"x\ny\"}", "control character");
}

static void test_damaged(void **state)
{
	(void)state;
	refuse_string("", "object expected");
	refuse_string("[]", "object expected");
	refuse_string("{", "string expected");
	refuse_string("{\"a\"", "':' expected");
	refuse_string("{\"a\":", "digit expected");
	refuse_string("{\"a\":\"x", "without an end");
	refuse_string("{\"a\":\"x\\", "unknown escape");
	refuse_string("{\"a\":\"x\"", "'}' expected");
	refuse_string("{\"a\":\"x\",}", "string expected");
	refuse_string("{\"a\":\"x\"}}", "behind the object");
	refuse_string("{\"a\":\"x\" \"b\":1}", "'}' expected");
	refuse_string("{\"a\":\"x\",\"a\":\"y\"}", "twice");
	refuse_string("{\"a\":7}", "string expected");
	refuse_string("{\"a\":\"x\",\"b\":01}", "expected");
	refuse_string("{\"a\":\"x\",\"b\":1.}", "digit expected");
	refuse_string("{\"a\":\"x\",\"b\":tru}", "digit expected");
	refuse_string("{\"a\":\"x\",\"b\":[1,]}", "digit expected");
	refuse_string("{\"a\":\"x\",\"b\":[1}", "end of an array");
	refuse_string("{\"a\":\"x\",\"b\":"
		      "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}", "deeply");
}

static void test_numbers(void **state)
{
	struct error e = {0};
	uint64_t v;

	(void)state;
	assert_int_equal(json_read_number("{\"seq\":0}", "seq", &v, &e), 0);
	assert_int_equal(v, 0);
	assert_int_equal(json_read_number("{\"seq\": 18446744073709551615 }", "seq", &v, &e), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(json_read_number("{\"seq\":18446744073709551616}", "seq", &v, &e), -1);
	assert_non_null(strstr(e.text, "too large"));
	error_clear(&e);
	assert_int_equal(json_read_number("{\"seq\":-1}", "seq", &v, &e), -1);
	error_clear(&e);
	assert_int_equal(json_read_number("{\"seq\":1.0}", "seq", &v, &e), -1);
	error_clear(&e);
	assert_int_equal(json_read_number("{\"seq\":\"1\"}", "seq", &v, &e), -1);
	error_clear(&e);
	assert_int_equal(json_read_number("{\"no\":1}", "seq", &v, &e), -1);
	assert_non_null(strstr(e.text, "\"seq\" is missing"));
}

static void test_string_arrays(void **state)
{
	struct error e = {0};
	char **values;
	size_t count;

	(void)state;
	assert_int_equal(json_read_strings("{\"argv\":[]}", "argv", &values, &count, &e), 0);
	assert_int_equal(count, 0);
	assert_null(values[0]);
	json_free_strings(values);
	assert_int_equal(json_read_strings("{\"argv\":[\"--name=x\", \"--rw\\u003dread\"]}", "argv", &values, &count,
					   &e), 0);
	assert_int_equal(count, 2);
	assert_string_equal(values[0], "--name=x");
	assert_string_equal(values[1], "--rw=read");
	assert_null(values[2]);
	json_free_strings(values);
	assert_int_equal(json_read_strings("{\"argv\":[\"x\",1]}", "argv", &values, &count, &e), -1);
	assert_null(values);
	error_clear(&e);
	assert_int_equal(json_read_strings("{\"argv\":\"x\"}", "argv", &values, &count, &e), -1);
	error_clear(&e);
	assert_int_equal(json_read_strings("{}", "argv", &values, &count, &e), -1);
	json_free_strings(NULL);
}

/* No prefix of a good document is one. */
static void test_every_prefix(void **state)
{
	const char *whole = "{\"id\":\"0\\u00411\",\"argv\":[\"--name=x\",\"y\"],\"n\":{\"a\":[1.5e3,null]}}";

	(void)state;
	for (size_t n = 0; n < strlen(whole); n++) {
		char *part = strndup(whole, n), *value;
		struct error e = {0};

		assert_int_equal(json_read_string(part, "id", &value, &e), -1);
		free(part);
	}
	check_string(whole, "id", "0A1");
}

static void test_numbers_that_may_be_missing(void **state)
{
	static const struct { const char *json; int ret; bool found; uint64_t value; } rows[] = {
		{"{\"cpu\":0}", 0, true, 0},
		{"{\"cpu\":18446744073709551615}", 0, true, UINT64_MAX},
		{"{\"cpu\":null}", 0, false, 0},
		{"{\"disk\":\"cpu\"}", 0, false, 0},
		{"{}", 0, false, 0},
		{"{\"cpu\":-1}", -1, false, 0},
		{"{\"cpu\":1.5}", -1, false, 0},
		{"{\"cpu\":\"1\"}", -1, false, 0},
		{"{\"cpu\":1", -1, false, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error e = {0};
		uint64_t value = 0;
		bool found = false;
		int ret = json_read_number_if(rows[i].json, "cpu", &value, &found, &e);

		assert_int_equal(ret, rows[i].ret);
		if (ret < 0)
			assert_int_equal(e.status, STATUS_FAILED);
		else
			assert_int_equal(found, rows[i].found);
		assert_int_equal(value, rows[i].value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_numbers_that_may_be_missing),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_string_arrays),
		cmocka_unit_test(test_every_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
