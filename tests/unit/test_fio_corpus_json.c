/*
 * JSON and terse outputs of real systems, fio 2.0 to 3.42: every one is read, and its sums are those that another
 * JSON library computed (EXPECT.tsv). The outputs are not part of the project: skipped when they are not there.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/fio_json.h"
#include "host/fio_terse.h"

struct file {
	char *bytes;
	size_t length;
};

static const char *corpus(void)
{
	const char *folder = getenv("KICKBENCH_CORPUS");

	return folder && *folder ? folder : "../shared/corpus";
}

static FILE *open_or_skip(const char *name)
{
	char path[1024];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", corpus(), name);
	f = fopen(path, "r");
	if (!f) {
		print_message("skipped: there is no %s (KICKBENCH_CORPUS says where)\n", path);
		skip();
	}
	return f;
}

static struct file load(const char *name)
{
	FILE *f = open_or_skip(name);
	struct file file = { .bytes = malloc(1 << 20) };

	file.length = fread(file.bytes, 1, 1 << 20, f);
	assert_true(feof(f));
	fclose(f);
	return file;
}

static struct fio_import read_with(int (*reader)(char *, size_t, struct fio_import *, struct error *), const char *name,
				   size_t *left)
{
	struct file file = load(name); /* first: it may skip the test */
	struct fio_import into = { json_array(), json_array() };
	struct error e = { 0 };

	if (reader(file.bytes, file.length, &into, &e))
		fail_msg("%s: %s", name, e.text);
	*left = 0;
	for (size_t i = 0; i < file.length; i++)
		*left += file.bytes[i] != ' ' && file.bytes[i] != '\n';
	free(file.bytes);
	return into;
}

static void release(struct fio_import *into)
{
	json_decref(into->outputs);
	json_decref(into->notes);
}

static const json_t *jobs_of(const struct fio_import *into, size_t document)
{
	return json_object_get(json_array_get(into->outputs, document), "jobs");
}

/* Of all jobs; absent: nothing added. */
static double sum(const struct fio_import *into, const char *direction, const char *key)
{
	const json_t *document, *job;
	double total = 0;
	size_t i, k;

	json_array_foreach(into->outputs, i, document)
		json_array_foreach(json_object_get(document, "jobs"), k, job)
			total += json_number_value(json_object_get(json_object_get(job, direction), key));
	return total;
}

static void same_sum(const char *file, const struct fio_import *into, const char *direction, const char *key,
		     const char *want, double scale)
{
	double have = sum(into, direction, key), number = strcmp(want, "-") ? atof(want) * scale : 0;

	if (fabs(have - number) > 0.0006 * (double)json_array_size(jobs_of(into, 0)))
		fail_msg("%s: %s %s is %.3f, not %.3f", file, direction, key, have, number);
}

/* A file whose printed numbers do not agree: total_ios or io_bytes were edited by those who published it. */
static const char edited[] = "26-edited-short-drop.json";

static void test_sums(void **state)
{
	char line[1024], *cell[16];
	FILE *f = open_or_skip("json/EXPECT.tsv");
	unsigned files = 0;

	(void)state;
	while (fgets(line, sizeof(line), f)) {
		struct fio_import into;
		char name[256], *save = line;
		double kib = 1;
		size_t n = 0, left;
		const json_t *job;
		int error = 0;
		bool have_error = false;

		if (*line == '#' || strncmp(line, "file\t", 5) == 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		while (n < 13 && (cell[n] = strsep(&save, "\t")))
			n++;
		assert_true(n >= 12);
		if (n > 12 && strstr(cell[12], "KiB"))
			kib = 1024;
		snprintf(name, sizeof(name), "json/%s", cell[0]);
		into = read_with(fio_json_read, name, &left);
		if (json_array_size(into.outputs) != (size_t)atoi(cell[2]) || json_array_size(into.notes))
			fail_msg("%s: %zu outputs, %s", name, json_array_size(into.outputs), json_dumps(into.notes, 0));
		assert_string_equal(json_string_value(json_object_get(json_array_get(into.outputs, 0), "fio version")),
				    cell[3]);
		if (json_array_size(jobs_of(&into, 0)) !=
		    (size_t)atoi(cell[4]) - (strstr(n > 12 ? cell[12] : "", "All clients") != NULL))
			fail_msg("%s: %zu jobs", name, json_array_size(jobs_of(&into, 0)));
		assert_string_equal(json_string_value(json_object_get(json_array_get(jobs_of(&into, 0), 0), "jobname")),
				    cell[6]);
		json_array_foreach(jobs_of(&into, 0), n, job) {
			const json_t *it = json_object_get(job, "error");

			have_error = have_error || it;
			error = error ? error : (int)json_integer_value(it);
			if (strcmp(cell[0], edited) && json_object_get(job, "marks"))
				fail_msg("%s: %s", name, json_dumps(job, 0));
		}
		assert_int_equal(have_error, strcmp(cell[7], "absent") != 0);
		assert_int_equal(error, atoi(cell[7]));
		same_sum(name, &into, "read", "iops", cell[8], 1);
		same_sum(name, &into, "read", "io_bytes", cell[9], kib);
		same_sum(name, &into, "write", "iops", cell[10], 1);
		same_sum(name, &into, "write", "io_bytes", cell[11], kib);
		release(&into);
		files++;
	}
	fclose(f);
	print_message("%u files\n", files);
	assert_true(files >= 20);
}

/* What is left of a file is what was no JSON of fio's: a log's own object, prose, the text report of the same run. */
static void test_left(void **state)
{
	static const struct { const char *file; bool some; } want[] = {
		{ "json/07-fio3.14-read.json", false }, { "json/10-junk-three-lines-error22.json", true },
		{ "json/32-json-then-normal-3.42.txt", true }, { "json/34-k8s-log-other-json-first-3.28.txt", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		size_t left;
		struct fio_import into = read_with(fio_json_read, want[i].file, &left);

		if ((left > 0) != want[i].some)
			fail_msg("%s: %zu bytes left", want[i].file, left);
		release(&into);
	}
}

static const char *status_of(const struct fio_import *into, size_t job)
{
	return json_string_value(json_object_get(json_array_get(jobs_of(into, 0), job), "status"));
}

static void test_particulars(void **state)
{
	struct fio_import into;
	const json_t *job;
	size_t left;

	(void)state;
	into = read_with(fio_json_read, "json/10-junk-three-lines-error22.json", &left);
	assert_string_equal(status_of(&into, 0), "failed");
	assert_null(json_object_get(json_array_get(jobs_of(&into, 0), 0), "write"));
	release(&into);
	/* keys that somebody removed stay away */
	into = read_with(fio_json_read, "json/35-keys-removed-by-author-3.22.json", &left);
	job = json_array_get(jobs_of(&into, 0), 0);
	assert_null(json_object_get(job, "error"));
	assert_null(json_object_get(json_object_get(job, "read"), "clat_ns"));
	assert_int_equal(json_integer_value(json_object_get(job, "members")), 8);
	release(&into);
	/* gtod_reduce: no latency was measured */
	into = read_with(fio_json_read, "json/34-k8s-log-other-json-first-3.28.txt", &left);
	job = json_array_get(jobs_of(&into, 0), 0);
	assert_null(json_object_get(json_object_get(job, "read"), "clat_ns"));
	assert_string_equal(json_string_value(json_object_get(json_object_get(job, "job options"), "ioengine")),
			    "libaio"); /* a global option */
	release(&into);
	/* 2.x: us; clat mean of 75182.616192 and 99 % of 509952 are printed, "0.00" is no percentile */
	into = read_with(fio_json_read, "json/02-fio2.18-read-5-disks.json", &left);
	job = json_object_get(json_object_get(json_array_get(jobs_of(&into, 0), 0), "read"), "clat_ns");
	assert_true(fabs(json_number_value(json_object_get(job, "mean")) - 75182616.192) < 0.01);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(job, "percentile"), "99.000000")), 509952000);
	assert_int_equal(json_object_size(json_object_get(job, "percentile")), 17);
	assert_int_equal(json_array_size(json_object_get(json_array_get(into.outputs, 0), "disk_util")), 5);
	release(&into);
}

/* The line says 132160 KiB in 10005 ms, 3302 IOPS; the report of the same run below it is left to its own reader. */
static void test_terse(void **state)
{
	static const struct {
		const char *file, *job;
		double read_iops, write_iops, read_bytes, write_bytes, write_clat_ns;
	} want[] = {
		{ "terse/01-fio2.0.15-rw-xvda1.terse", "16k-1-read", 487, 478, 77968, 76640, 1345434.656 },
		{ "terse/02-fio3.32-read-terse-and-normal.txt", "name", 3302, 0, 132160, 0, 0 },
		{ "terse/04-fio3.32-rw-line.terse", "name", 1639, 1639, 65592, 65572, 260127.496 },
		{ "terse/05-fio3.8-client-status-line.terse", "job1", 0, 23580, 0, 1886832, 165280.554 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		size_t left;
		struct fio_import into = read_with(fio_terse_read, want[i].file, &left);
		const json_t *job = json_array_get(jobs_of(&into, 0), 0);

		assert_int_equal(json_array_size(into.outputs), 1);
		assert_int_equal(json_array_size(into.notes), 0);
		assert_string_equal(json_string_value(json_object_get(job, "jobname")), want[i].job);
		assert_true(sum(&into, "read", "iops") == want[i].read_iops &&
			    sum(&into, "write", "iops") == want[i].write_iops);
		assert_true(sum(&into, "read", "io_bytes") == 1024 * want[i].read_bytes);
		assert_true(sum(&into, "write", "io_bytes") == 1024 * want[i].write_bytes);
		if (want[i].write_clat_ns > 0)
			assert_true(fabs(json_number_value(json_object_get(
						 json_object_get(json_object_get(job, "write"), "clat_ns"), "mean")) -
					 want[i].write_clat_ns) < 0.01);
		assert_int_equal(json_array_size(json_object_get(json_array_get(into.outputs, 0), "disk_util")), 1);
		assert_int_equal(left > 0, i == 1);
		release(&into);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_particulars),
		cmocka_unit_test(test_terse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
