#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above */
#include <cmocka.h>
#include <jansson.h>
#include <string.h>

#include "host/hostcount.h"

static void stat_lines(void **state)
{
	uint64_t ticks = 0;

	(void)state;
	assert_int_equal(0, hostcount_parse_stat("12 (CPU 0/TCG) S 1 2 3 0 -1 4194304 5 6 7 8 250 17 9 10 20 0 4 0 99 1 2", &ticks));
	assert_int_equal(267, ticks);
	/* a name with blanks, parentheses and what looks like fields of its own */
	assert_int_equal(0, hostcount_parse_stat("12 (a) R 1 (b) c) R 1 2 3 0 -1 4194304 5 6 7 8 40 2 9 10 20 0 4 0 99", &ticks));
	assert_int_equal(42, ticks);
	assert_int_equal(0, hostcount_parse_stat("12 () S 1 2 3 0 -1 0 5 6 7 8 18446744073709551614 1 9", &ticks));
	assert_true(ticks == UINT64_MAX);
	assert_int_equal(-1, hostcount_parse_stat("12 (cut) S 1 2 3 0 -1 0 5", &ticks));
	assert_int_equal(-1, hostcount_parse_stat("no parentheses", &ticks));
	assert_int_equal(-1, hostcount_parse_stat("", &ticks));
}

static void schedstat_lines(void **state)
{
	uint64_t ns = 0;

	(void)state;
	assert_int_equal(0, hostcount_parse_schedstat("2379123456 1234 56\n", &ns));
	assert_true(ns == 2379123456u);
	assert_int_equal(-1, hostcount_parse_schedstat("", &ns));
	assert_int_equal(-1, hostcount_parse_schedstat("x 1 2", &ns));
}

static json_t *differences(const struct hostcount *begin, const struct hostcount *end)
{
	struct text out = {0};
	json_t *root;

	hostcount_json(begin, end, &out);
	root = json_loads(text_get(&out), 0, NULL);
	assert_non_null(root);
	text_free(&out);
	return root;
}

static double number(const json_t *root, const char *group, const char *key)
{
	const json_t *value = json_object_get(json_object_get(root, group), key);

	assert_true(json_is_number(value));
	return json_number_value(value);
}

static void everything_known(void **state)
{
	struct hostcount a = { .at_ns = 1000, .have_threads = true, .vcpu_ns = 5000, .iothread_ns = 700, .main_ns = 90,
			       .other_ns = 8, .have_block = true, .block = { 1, 4096, 300, 4, 5, 6, 7, 8 }, .nkvm = 2,
			       .kvm = { { "exits", 10 }, { "halt_exits", 5 } } };
	struct hostcount b = { .at_ns = 2500, .have_threads = true, .vcpu_ns = 12500, .iothread_ns = 1700, .main_ns = 590,
			       .other_ns = 3, .have_block = true, .block = { 11, 45056, 1300, 5, 7, 9, 11, 13 }, .nkvm = 3,
			       .kvm = { { "halt_exits", 6 }, { "exits", 110 }, { "only_later", 1 } } };
	json_t *root = differences(&a, &b);
	double got;

	(void)state;
	assert_int_equal(1500, json_integer_value(json_object_get(root, "span_ns")));
	got = number(root, "cpu", "vcpu_us") * 1000;
	assert_int_equal(7500, (int)(got + 0.5));
	got = number(root, "cpu", "iothread_us") * 1000;
	assert_int_equal(1000, (int)(got + 0.5));
	got = number(root, "cpu", "main_us") * 1000;
	assert_int_equal(500, (int)(got + 0.5));
	got = number(root, "cpu", "other_us"); /* went backwards: no negative cost */
	assert_int_equal(0, (int)got);
	assert_int_equal(10, (int)number(root, "block", "rd_reqs"));
	assert_int_equal(40960, (int)number(root, "block", "rd_bytes"));
	assert_int_equal(1000, (int)number(root, "block", "rd_times_ns"));
	assert_int_equal(1, (int)number(root, "block", "wr_reqs"));
	assert_int_equal(2, (int)number(root, "block", "wr_bytes"));
	assert_int_equal(3, (int)number(root, "block", "wr_times_ns"));
	assert_int_equal(4, (int)number(root, "block", "fl_reqs"));
	assert_int_equal(5, (int)number(root, "block", "fl_times_ns"));
	assert_int_equal(100, (int)number(root, "kvm", "exits"));
	assert_int_equal(1, (int)number(root, "kvm", "halt_exits"));
	assert_int_equal(2, json_object_size(json_object_get(root, "kvm")));
	json_decref(root);
}

static void nothing_known(void **state)
{
	struct hostcount a = { .at_ns = 1, .have_threads = true }, b = { .at_ns = 2, .have_block = true };
	json_t *root = differences(&a, &b);

	(void)state;
	assert_true(json_is_null(json_object_get(root, "cpu")));
	assert_true(json_is_null(json_object_get(root, "block")));
	assert_true(json_is_null(json_object_get(root, "kvm")));
	json_decref(root);
}

/* A hypervisor that answers from a table: what is sent and how replies are read, without a guest. */
static int fake_qmp(struct hv_guest *guest, const char *command, struct text *reply, struct error *e)
{
	(void)guest;
	if (strstr(command, "query-cpus-fast"))
		text_add(reply, "{\"return\":[{\"thread-id\":101,\"cpu-index\":0},{\"thread-id\":102,\"cpu-index\":1}]}");
	else if (strstr(command, "query-iothreads"))
		text_add(reply, "{\"return\":[{\"id\":\"iothread1\",\"thread-id\":103}]}");
	else if (strstr(command, "query-stats"))
		text_add(reply, "{\"return\":[{\"provider\":\"kvm\",\"stats\":[{\"name\":\"exits\",\"value\":3},"
				"{\"name\":\"hist\",\"value\":[1,2]}]},{\"stats\":[{\"name\":\"exits\",\"value\":4}]}]}");
	else
		return error_set(e, STATUS_HOST, "unexpected %s", command);
	return 0;
}

static pid_t fake_pid(struct hv_guest *guest)
{
	return guest ? 100 : -1;
}

static int no_block(struct hv_guest *guest, unsigned disk, struct hv_block *stats, struct error *e)
{
	(void)guest;
	(void)disk;
	(void)stats;
	return error_set(e, STATUS_HOST, "none");
}

static const struct hv_ops fake = { .qmp = fake_qmp, .pid = fake_pid, .block = no_block };

static void threads_and_statistics(void **state)
{
	struct hostcount_threads t;
	struct hostcount count;
	struct error e = {0};
	int here = 0;

	(void)state;
	assert_int_equal(0, hostcount_threads(&fake, (struct hv_guest *)&here, &t, &e));
	assert_int_equal(100, t.pid);
	assert_int_equal(2, t.nvcpus);
	assert_int_equal(102, t.vcpu[1]);
	assert_int_equal(1, t.niothreads);
	assert_int_equal(103, t.iothread[0]);
	assert_int_equal(0, hostcount_threads(&fake, NULL, &t, &e)); /* elsewhere: nothing, and no error */
	assert_int_equal(0, t.nvcpus);
	hostcount_take(&fake, NULL, &t, 0, true, &count);
	assert_false(count.have_threads);
	assert_false(count.have_block);
	assert_int_equal(1, count.nkvm); /* summed over vCPUs, histograms left out */
	assert_string_equal("exits", count.kvm[0].name);
	assert_int_equal(7, count.kvm[0].value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stat_lines),
		cmocka_unit_test(schedstat_lines),
		cmocka_unit_test(everything_known),
		cmocka_unit_test(nothing_known),
		cmocka_unit_test(threads_and_statistics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
