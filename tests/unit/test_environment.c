/* host/environment.c on made-up /proc and /sys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host/environment.h"
#include "tests/unit/scratch.h"

#define MIB (UINT64_C(1) << 20)

static void write_host(struct scratch *s, const char *governor, const char *load, unsigned available_kib, unsigned swap_free_kib)
{
	char text[512];

	scratch_text(s, "proc/cpuinfo", "processor\t: 0\nmodel name\t: Made Up CPU @ 2.00GHz\nmicrocode\t: 0x2b\n"
		     "model name\t: Second\n");
	scratch_text(s, "proc/stat", "cpu  1 2 3\ncpu0 1 2 3\ncpu1 1 2 3\ncpu10 1 2 3\nintr 5\n");
	scratch_text(s, "etc/os-release", "NAME=\"Made\"\nPRETTY_NAME=\"Made Up Linux 12\"\n");
	scratch_text(s, "sys/devices/system/cpu/smt/control", "on\n");
	if (governor)
		scratch_text(s, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor);
	scratch_text(s, "proc/loadavg", load);
	snprintf(text, sizeof(text), "MemTotal:        4194304 kB\nMemAvailable:    %u kB\nSwapTotal:       1048576 kB\n"
		 "SwapFree:        %u kB\n", available_kib, swap_free_kib);
	scratch_text(s, "proc/meminfo", text);
}

static const char *string(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static void a_quiet_host_has_no_warnings(void **state)
{
	struct scratch *s = *state;
	json_t *o;

	write_host(s, "performance\n", "0.10 0.20 0.30 1/100 4242\n", 2097152, 1048576);
	o = environment_take(s->folder, 256 * MIB);
	assert_non_null(o);
	assert_string_equal(string(o, "cpu"), "Made Up CPU @ 2.00GHz");
	assert_string_equal(string(o, "microcode"), "0x2b");
	assert_string_equal(string(o, "os"), "Made Up Linux 12");
	assert_string_equal(string(o, "smt"), "on");
	assert_string_equal(string(o, "governor"), "performance");
	assert_int_equal(json_integer_value(json_object_get(o, "cpus")), 3);
	assert_true(json_real_value(json_object_get(o, "load1")) == 0.10);
	assert_int_equal(json_integer_value(json_object_get(o, "memory_bytes")), 4096 * MIB);
	assert_int_equal(json_integer_value(json_object_get(o, "available_bytes")), 2048 * MIB);
	assert_int_equal(json_integer_value(json_object_get(o, "swap_used_bytes")), 0);
	assert_non_null(string(o, "kernel"));
	assert_int_equal(json_array_size(json_object_get(o, "warnings")), 0);
	json_decref(o);
}

static void one_warning(struct scratch *s, uint64_t needed, const char *piece)
{
	json_t *o = environment_take(s->folder, needed), *list = json_object_get(o, "warnings");

	assert_int_equal(json_array_size(list), 1);
	holds(json_string_value(json_array_get(list, 0)), piece);
	json_decref(o);
}

static void what_spoils_measurements_is_named(void **state)
{
	struct scratch *s = *state;
	json_t *o;

	write_host(s, "performance\n", "0.51 0 0 1/1 1\n", 2097152, 1048576);
	one_warning(s, 256 * MIB, "load average 0.51");
	write_host(s, "powersave\n", "0.49 0 0 1/1 1\n", 2097152, 1048576);
	one_warning(s, 256 * MIB, "governor is powersave");
	write_host(s, "performance\n", "0.49 0 0 1/1 1\n", 511 * 1024, 1048576);
	one_warning(s, 256 * MIB, "511 MiB are available, the guests take 256 MiB");
	write_host(s, "performance\n", "0.49 0 0 1/1 1\n", 2097152, 1048576 - 65 * 1024);
	one_warning(s, 256 * MIB, "65 MiB are swapped out");
	write_host(s, "powersave\n", "9 0 0 1/1 1\n", 1024, 0);
	o = environment_take(s->folder, 256 * MIB);
	assert_int_equal(json_array_size(json_object_get(o, "warnings")), 4);
	json_decref(o);
}

/* A virtual machine has no governor and often no microcode: null, and no warning for it. */
static void what_is_not_there_is_null(void **state)
{
	struct scratch *s = *state;
	json_t *o;

	write_host(s, NULL, "0 0 0 1/1 1\n", 2097152, 1048576);
	scratch_text(s, "proc/cpuinfo", "processor\t: 0\n");
	unlink(scratch_path(s, "sys/devices/system/cpu/smt/control"));
	o = environment_take(s->folder, 0);
	assert_true(json_is_null(json_object_get(o, "cpu")));
	assert_true(json_is_null(json_object_get(o, "microcode")));
	assert_true(json_is_null(json_object_get(o, "governor")));
	assert_true(json_is_null(json_object_get(o, "smt")));
	assert_int_equal(json_array_size(json_object_get(o, "warnings")), 0);
	json_decref(o);
}

static void this_host_can_be_looked_at(void **state)
{
	json_t *o = environment_take("", 1);

	(void)state;
	assert_non_null(o);
	assert_true(json_integer_value(json_object_get(o, "cpus")) >= 1);
	assert_true(json_integer_value(json_object_get(o, "memory_bytes")) > 0);
	json_decref(o);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_open, scratch_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_quiet_host_has_no_warnings), TEST(what_spoils_measurements_is_named), TEST(what_is_not_there_is_null),
		TEST(this_host_can_be_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
