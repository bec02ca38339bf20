/* host/fio_terse.c: lines of all versions. Field by field as fio 3.33 prints them with --terse-version=2 to 5. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/text.h"
#include "host/fio_terse.h"

/* A direction of 4000 KiB in 2000 ms, 500 IOPS; completion 10 to 90 us, mean 50.5; all of it 0 when idle. */
static void add_direction(struct text *t, bool idle, bool samples)
{
	text_add(t, idle ? ";0;0;0;0" : ";4000;2000;500;2000");
	text_add(t, ";0;0;0.000000;0.000000");
	text_add(t, idle ? ";0;0;0.000000;0.000000" : ";10;90;50.500000;1.500000");
	for (int i = 0; i < 17; i++)
		text_add(t, ";%d.000000%%=%d", i == 16 ? 99 : i + 1, idle ? 0 : 10 + i);
	text_add(t, ";0%%=0;0%%=0;0%%=0");
	text_add(t, idle ? ";0;0;0.000000;0.000000" : ";11;91;51.500000;1.500000");
	text_add(t, ";0;0;0.000000%%;0.000000;0.000000");
	if (samples)
		text_add(t, ";0;0;0;0.000000;0.000000;0");
}

static void add_line(struct text *t, int version, const char *job, int error, bool idle, const char *disks)
{
	if (version == 2)
		text_add(t, "2;%s;0;%d", job, error);
	else
		text_add(t, "%d;fio-3.33;%s;0;%d", version, job, error);
	add_direction(t, idle, version == 5);
	add_direction(t, true, version == 5);
	if (version != 3)
		add_direction(t, true, version == 5);
	text_add(t, ";1.500000%%;2.500000%%;77;1;2");
	for (int i = 0; i < 7; i++)
		text_add(t, ";%s", i ? "0.0%" : "100.0%");
	for (int i = 0; i < 22; i++)
		text_add(t, ";0.00%%");
	text_add(t, "%s\n", disks);
}

static struct fio_import read_text(struct text *t)
{
	struct fio_import into = { json_array(), json_array() };
	struct error e = { 0 };

	assert_false(t->failed);
	if (fio_terse_read(t->data, t->length, &into, &e))
		fail_msg("%s", e.text);
	return into;
}

static void release(struct fio_import *into, struct text *t)
{
	json_decref(into->outputs);
	json_decref(into->notes);
	text_free(t);
}

static const json_t *job_of(const struct fio_import *into, size_t document, size_t job)
{
	return json_array_get(json_object_get(json_array_get(into->outputs, document), "jobs"), job);
}

static double number(const json_t *object, const char *a, const char *b, const char *c)
{
	const json_t *value = json_object_get(json_object_get(object, a), b);

	value = c ? json_object_get(value, c) : value;
	if (!json_is_number(value))
		fail_msg("%s %s %s is no number", a, b, c ? c : "");
	return json_number_value(value);
}

static void test_versions(void **state)
{
	(void)state;
	for (int version = 2; version <= 5; version++) {
		struct text t = { 0 };
		struct fio_import into;
		const json_t *job;

		text_add(&t, "fio: a note\nprompt# ");
		add_line(&t, version, "a b", 0, false, version > 2 ? ";sda;1;2;3;4;5;6;7;8.50%" : "");
		text_add(&t, "behind\n");
		into = read_text(&t);
		job = job_of(&into, 0, 0);
		assert_int_equal(json_array_size(into.outputs), 1);
		assert_int_equal(json_array_size(into.notes), 0);
		assert_string_equal(json_string_value(json_object_get(job, "jobname")), "a b");
		assert_int_equal(json_integer_value(json_object_get(job, "line")), 2);
		assert_true(number(job, "read", "io_bytes", NULL) == 4096000 && number(job, "read", "bw_bytes", NULL) == 2048000);
		assert_true(number(job, "read", "iops", NULL) == 500 && number(job, "read", "runtime", NULL) == 2000);
		assert_true(number(job, "read", "clat_ns", "mean") == 50500 && number(job, "read", "clat_ns", "max") == 90000);
		assert_true(number(job, "read", "lat_ns", "min") == 11000);
		assert_true(number(json_object_get(job, "read"), "clat_ns", "percentile", "99.000000") == 26000);
		assert_null(json_object_get(json_object_get(job, "read"), "slat_ns"));
		assert_null(json_object_get(json_object_get(job, "read"), "total_ios")); /* not printed */
		assert_null(json_object_get(job, "write"));
		assert_int_equal(json_integer_value(json_object_get(job, "ctx")), 77);
		assert_int_equal(json_array_size(json_object_get(json_array_get(into.outputs, 0), "disk_util")), version > 2);
		assert_non_null(strstr(t.data, "prompt# "));
		assert_non_null(strstr(t.data, "\nbehind\n"));
		assert_null(strchr(t.data, ';'));
		release(&into, &t);
	}
}

/*
 * Jobs of one run follow each other. The same job again: a clone when the disks say so, another run when they differ,
 * and a run with a mark when there are none to tell.
 */
static void test_documents(void **state)
{
	static const char disk[] = ";sda;1;2;3;4;5;6;7;8.50%", other[] = ";sda;9;2;3;4;5;6;7;8.50%";
	struct text t = { 0 };
	struct fio_import into;

	(void)state;
	add_line(&t, 3, "a", 0, false, disk);
	add_line(&t, 3, "b", 5, false, disk);
	add_line(&t, 3, "b", 0, true, disk);
	add_line(&t, 3, "b", 0, false, other);
	text_add(&t, "between\n");
	add_line(&t, 3, "c", 0, false, "");
	add_line(&t, 3, "c", 0, false, "");
	into = read_text(&t);
	assert_int_equal(json_array_size(into.outputs), 4);
	assert_non_null(job_of(&into, 0, 2));
	assert_null(job_of(&into, 1, 1));
	assert_string_equal(json_string_value(json_object_get(job_of(&into, 0, 1), "status")), "failed");
	assert_string_equal(json_string_value(json_object_get(job_of(&into, 0, 2), "status")), "no data");
	assert_null(json_object_get(job_of(&into, 2, 0), "marks"));
	assert_int_equal(json_array_size(json_object_get(job_of(&into, 3, 0), "marks")), 1);
	release(&into, &t);
}

static void test_refused(void **state)
{
	struct text t = { 0 };
	struct fio_import into;

	(void)state;
	add_line(&t, 3, "a", 0, false, "");
	t.length -= 60; /* cut */
	t.data[t.length] = '\0';
	text_add(&t, "\n3;fio-3.33;x;0;0;1;2;3\n3;something else\n2;not;ours\n");
	add_line(&t, 4, "a;b", 0, false, ""); /* a semicolon in the name moves the fields */
	into = read_text(&t);
	assert_int_equal(json_array_size(into.outputs), 0);
	assert_int_equal(json_array_size(into.notes), 3);
	assert_non_null(strstr(t.data, "3;something else\n2;not;ours\n")); /* let be */
	release(&into, &t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
