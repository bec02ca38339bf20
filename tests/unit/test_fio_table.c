/* host/fio_table.c: sweeps that somebody wrote down by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "host/fio_table.h"

static struct fio_import read_text(const char *text, char **left)
{
	struct fio_import into = { json_array(), json_array() };
	struct error e = { 0 };

	*left = strdup(text);
	if (fio_table_read(*left, strlen(text), &into, &e))
		fail_msg("%s", e.text);
	return into;
}

static void release(struct fio_import *into, char *left)
{
	json_decref(into->outputs);
	json_decref(into->notes);
	free(left);
}

static const json_t *job_of(const struct fio_import *into, size_t document)
{
	return json_array_get(json_object_get(json_array_get(into->outputs, document), "jobs"), 0);
}

static const char *option(const json_t *job, const char *key)
{
	return json_string_value(json_object_get(json_object_get(job, "job options"), key));
}

static void equals(const json_t *object, const char *key, double want)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_number(value) || fabs(json_number_value(value) - want) > 1e-9 * fabs(want))
		fail_msg("%s is %s, not %g", key, value ? json_dumps(value, JSON_ENCODE_ANY) : "absent", want);
}

static void test_sweep(void **state)
{
	char *left;
	struct fio_import into = read_text("$ fio --rw=randwrite --bs=4k --iodepth=2 --name=a --size=1g\n"
					   "$ fio --rw=randwrite --bs=4k --iodepth=4 --name=a --size=1g\n"
					   "IOPS of fio\n1 8 <- njobs\n100 700.5 fio.8kb.raw.libaio\n-\n50 60 plain label\n"
					   "response time per fio - usecs\n  1 8 <-  njobs\n40.5 50 fio.8kb.raw.libaio\n"
					   "vmstat us+sy\n1 8 <- njobs\n3.5 99.9 fio.8kb.raw.libaio\n"
					   "cpu_usecs per operation\n1 8 <- njobs\n6 7 fio.8kb.raw.libaio\n"
					   "iostat w_await in msecs\r\n1 8 <- njobs\r\n0.5 0.75 fio.8kb.raw.libaio\r\n"
					   "iostat writes per query\n1 8 <- njobs\n~1 ~2.5 fio.8kb.raw.libaio\n"
					   "iostat wareq-sz in KB\n1 8 <- njobs\n8.0 7.5 fio.8kb.raw.libaio\nend\n", &left);
	const json_t *job = job_of(&into, 1), *write = json_object_get(job, "write"), *table = json_object_get(job, "table");

	(void)state;
	assert_int_equal(json_array_size(into.notes), 0);
	assert_int_equal(json_array_size(into.outputs), 4);
	assert_string_equal(json_string_value(json_object_get(job, "jobname")), "fio.8kb.raw.libaio");
	assert_int_equal(json_integer_value(json_object_get(job, "members")), 8);
	assert_int_equal(json_integer_value(json_object_get(job, "line")), 5);
	assert_string_equal(option(job, "rw"), "randwrite");
	assert_string_equal(option(job, "bs"), "8k"); /* the label's, not the command's */
	assert_string_equal(option(job, "ioengine"), "libaio");
	assert_string_equal(option(job, "numjobs"), "8");
	assert_null(option(job, "iodepth")); /* the command lines differ */
	equals(write, "iops", 700.5);
	equals(json_object_get(write, "clat_ns"), "mean", 50000);
	assert_null(json_object_get(write, "runtime"));
	assert_null(json_object_get(write, "total_ios"));
	equals(table, "guest_busy", 99.9);
	equals(table, "cpu_us_per_io", 7);
	equals(table, "await_us", 750);
	equals(table, "requests_per_io", 2.5);
	equals(table, "request_bytes", 7680);
	assert_string_equal(json_string_value(json_object_get(job_of(&into, 2), "jobname")), "plain label");
	assert_null(json_object_get(job_of(&into, 2), "table"));
	assert_string_equal(option(job_of(&into, 2), "bs"), "4k");
	assert_null(strstr(left, "700.5"));
	assert_non_null(strstr(left, "end\n"));
	release(&into, left);
}

/* The same quantity again is another sweep; a table of something unknown, and a row that does not fit, are named. */
static void test_odd(void **state)
{
	char *left;
	struct fio_import into = read_text("IOPs\n1 2 <- njobs\n10 20 a\n10 20 30 b\n10 c\nIOPs again\n1 2 <- njobs\n11 21 a\n"
					   "horses\n1 2 <- njobs\n5 6 a\n\n3 4 nothing\n", &left);

	(void)state;
	assert_int_equal(json_array_size(into.outputs), 4);
	equals(json_object_get(job_of(&into, 0), "read"), "iops", 10);
	equals(json_object_get(job_of(&into, 3), "read"), "iops", 21);
	assert_int_equal(json_array_size(json_object_get(job_of(&into, 0), "marks")), 1); /* nothing says that they are reads */
	assert_int_equal(json_array_size(into.notes), 3);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(into.notes, 0), "line")), 4);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(into.notes, 2), "line")), 10);
	assert_non_null(strstr(left, "3 4 nothing"));
	release(&into, left);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_sweep), cmocka_unit_test(test_odd) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
