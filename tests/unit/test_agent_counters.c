/* What a result tells of a guest's counters: differences, and nothing where the disk was taken off in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>

#include "guest/agent_serving.h"
#include "guest/os.h"

static json_t *told(const struct os_counters *before, const struct os_counters *after)
{
	struct text t = { 0 };
	json_t *document, *counters;

	text_add(&t, "{");
	serving_add_counters(&t, before, after);
	text_add(&t, "}");
	document = json_loads(text_get(&t), 0, NULL);
	if (!document)
		fail_msg("no JSON: %s", text_get(&t));
	counters = json_incref(json_object_get(document, "counters"));
	json_decref(document);
	text_free(&t);
	return counters;
}

static json_int_t number(const json_t *of, const char *part, const char *key)
{
	return json_integer_value(json_object_get(part ? json_object_get(of, part) : of, key));
}

static const struct os_counters before = {
	.have_disk = true, .have_irq = true, .have_cpu = true, .reads = 10, .writes = 20, .read_ms = 7, .interrupts = 900,
	.cpu_user_us = 1000, .cpu_idle_us = 50000,
};

static void test_differences(void **state)
{
	struct os_counters after = before;
	json_t *have;

	(void)state;
	after.reads = 15;
	after.writes = 22;
	after.interrupts = 907;
	after.cpu_user_us = 4000;
	after.cpu_idle_us = 40000; /* it went back */
	have = told(&before, &after);
	assert_int_equal(number(have, "disk", "reads"), 5);
	assert_int_equal(number(have, "disk", "writes"), 2);
	assert_int_equal(number(have, NULL, "interrupts"), 7);
	assert_int_equal(number(have, "cpu", "user_us"), 3000);
	assert_int_equal(number(have, "cpu", "idle_us"), 0);
	json_decref(have);
}

static void test_taken_off(void **state)
{
	struct os_counters after = before;
	json_t *have;

	(void)state;
	after.interrupts = 1; /* the line of its configuration is all that is left */
	after.reads = 2;      /* another device by now */
	have = told(&before, &after);
	assert_true(json_is_null(json_object_get(have, "disk")));
	assert_true(json_is_null(json_object_get(have, "interrupts")));
	assert_true(json_is_object(json_object_get(have, "cpu")));
	json_decref(have);
}

/* Differences below zero would be numbers that no JSON reader takes. */
static void test_progress(void **state)
{
	struct os_counters now = before;
	struct progress p = { 0 };

	(void)state;
	now.reads = 14;
	now.write_bytes = 4096;
	serving_moved(&before, &now, &p);
	assert_int_equal(p.ios[DDIR_READ], 4);
	assert_int_equal(p.ios[DDIR_WRITE], 0);
	assert_int_equal(p.bytes[DDIR_WRITE], 4096);
	now.reads = 2; /* another device by now */
	serving_moved(&before, &now, &p);
	assert_int_equal(p.ios[DDIR_READ], 0);
	assert_int_equal(p.bytes[DDIR_WRITE], 0);
	now = (struct os_counters){ .have_disk = false };
	serving_moved(&before, &now, &p);
	assert_int_equal(p.ios[DDIR_WRITE], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_taken_off),
		cmocka_unit_test(test_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
