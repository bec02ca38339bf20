/*
 * The text reader on real outputs of fio, whose values were read by eye (NAME.expect.json, made independently of this
 * reader). The outputs are no part of the project: $KICKBENCH_CORPUS names their folder, ../shared/corpus if unset;
 * skipped when it is not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/fio_text.h"

/* Outputs without an expectation beside them: blocks of jobs with lines below their title, and part of a note. */
static const struct {
	const char *number;
	size_t blocks;
	const char *note; /* why nothing, or not all, could be read; NULL: no note at all */
} others[] = {
	{"031", 0, "latencies without a job's title"},     /* an excerpt: two percentile tables */
	{"041", 0, "direction line without a job's title"}, /* six headlines, titles snipped */
	{"043", 0, "direction line without a job's title"},
	{"044", 0, "output of fio without a job's block"}, /* the engine aborted */
	{"052", 15, NULL},                                 /* among other benchmarks' "IOPS=" */
	{"061", 5, NULL},
	{"064", 5, NULL},
	{"065", 5, NULL},
	{"067", 6, "output of fio without a job's block"}, /* the quoted seventh stops behind its header */
	{"068", 2, NULL},
	{"073", 2, NULL},
	{"082", 6, NULL}, /* and six titles alone, from a grep */
	{"088", 2, NULL},
	{"089", 1, NULL}, /* err=22 and nothing else: failed */
	{"091", 9, NULL},
	{"100", 0, "comparison (diff)"},
	{"small-server-sweep", 0, NULL}, /* a table by hand, no report */
};

/*
 * Expectations that hold a wrong print (or one that is rounded down), and what is right, computed from the line's other
 * numbers: 264 KiB / 3 ms; 16 x 2 KiB / 21 ms; 16 x 4 KiB / 2 ms; 12800 / 305 ms; 143539 x 128 KiB; 1048576 x 4 KiB / 293102 ms.
 */
static const struct {
	const char *number;
	size_t result;
	const char *direction, *member;
	double right, tolerance;
} wrong_prints[] = {
	{"001", 0, "read", "bw_bytes_per_s", 264 * 1024 / 0.003, 1024 / 0.003},
	{"004", 1, "read", "bw_bytes_per_s", 16 * 2048 / 0.021, 1},
	{"005", 0, "read", "bw_bytes_per_s", 16 * 4096 / 0.002, 1},
	{"020", 0, "read", "iops", 12800 / 0.305, 1e-6},
	{"110", 0, "read", "bytes", 143539.0 * 131072, 0},
	{"openbsd-kickfd-thread", 11, "write", "bw_bytes_per_s", 1048576.0 * 4096 / 293.102, 1},
};

static char *slurp(const char *path, size_t *length)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	char *bytes;

	if (!f)
		return NULL;
	assert_int_equal(fstat(fileno(f), &st), 0);
	/* Exactly as long as the file, for the sanitizer's sake. */
	bytes = malloc((size_t)st.st_size + !st.st_size);
	assert_non_null(bytes);
	*length = fread(bytes, 1, (size_t)st.st_size, f);
	fclose(f);
	return bytes;
}

static struct fio_import read_file(const char *path)
{
	struct fio_import in = {0};
	struct error e = {0};
	size_t length = 0;
	char *bytes = slurp(path, &length);

	assert_non_null(bytes);
	if (fio_text_read(bytes, length, &in, &e))
		fail_msg("%s: %s", path, e.text);
	free(bytes);
	return in;
}

static void release(struct fio_import *in)
{
	json_decref(in->outputs);
	json_decref(in->notes);
}

static double number(json_t *object, const char *key)
{
	json_t *v = json_object_get(object, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static double percentile(json_t *direction, const char *key)
{
	return number(json_object_get(json_object_get(direction, "clat_ns"), "percentile"), key);
}

/* Something stood below the title, or the title itself tells a failure. */
static bool has_body(json_t *job)
{
	return json_object_get(job, "usr_cpu") || strcmp(json_string_value(json_object_get(job, "status")), "no data");
}

/* All jobs with a body, each with its document's section as "section". */
static json_t *jobs_of(const struct fio_import *in)
{
	json_t *all = json_array(), *doc, *job;
	size_t i, k;

	json_array_foreach(in->outputs, i, doc) {
		json_array_foreach(json_object_get(doc, "jobs"), k, job) {
			if (!has_body(job))
				continue;
			if (json_object_get(doc, "section"))
				json_object_set(job, "section", json_object_get(doc, "section"));
			json_array_append(all, job);
		}
	}
	return all;
}

struct place {
	const char *number;
	size_t result;
	const char *direction;
};

static void compare(const struct place *at, const char *member, double found, double expected, double below, double above)
{
	for (size_t i = 0; i < sizeof(wrong_prints) / sizeof(*wrong_prints); i++)
		if (!strcmp(wrong_prints[i].number, at->number) && wrong_prints[i].result == at->result &&
		    !strcmp(wrong_prints[i].direction, at->direction) && !strcmp(wrong_prints[i].member, member)) {
			expected = wrong_prints[i].right;
			below = above = wrong_prints[i].tolerance;
		}
	if (!(found >= expected - below - 1e-9 * expected && found <= expected + above + 1e-9 * expected))
		fail_msg("%s, result %zu, %s %s: read %.6f, expected %.6f -%g +%g", at->number, at->result, at->direction, member,
			 found, expected, below, above);
}

/* Three significant digits, which every print has at least; whole numbers below 10000 are truncated. */
static double rounding(double v, bool whole)
{
	return whole && v < 10000 ? 1 : v * 0.005;
}

/*
 * "2106.2MB/s", "8289.3K" of fio before 2.17: what stands behind the point is no fraction, so that any value with
 * this integer part may have printed so.
 */
static bool old_decimals(const char *printed, double *low, double *high)
{
	double unit;
	char *end;

	if (!printed || !strchr(printed, '.'))
		return false;
	*low = floor(strtod(printed, &end));
	unit = !strcmp(end, "K")	? 1e3
	       : !strncmp(end, "KB", 2) ? 1024
	       : !strncmp(end, "MB", 2) ? 1048576
	       : !strncmp(end, "GB", 2) ? 1073741824
					: 0;
	*high = (*low + 1) * unit;
	*low *= unit;
	return unit > 0;
}

static void compare_direction(const struct place *at, json_t *found, json_t *expected)
{
	static const struct {
		const char *member, *tolerance, *printed, *key;
	} values[] = {
		{"iops", "iops_tol", "iops_printed", "iops"},
		{"iops_exact", NULL, NULL, "iops"},
		{"bw_bytes_per_s", "bw_tol", "bw_printed", "bw_bytes"},
		{"bytes", "bytes_tol", "bytes_printed", "io_bytes"},
		{"runtime_ms", NULL, NULL, "runtime"},
	};
	json_t *clat = json_object_get(found, "clat_ns");
	double v, tolerance, low, high;

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		v = number(expected, values[i].member);
		if (isnan(v))
			continue;
		tolerance = values[i].tolerance ? number(expected, values[i].tolerance) : 0;
		if (isnan(tolerance))
			tolerance = rounding(v, !strcmp(values[i].member, "iops"));
		if (!strcmp(values[i].member, "iops_exact"))
			tolerance = 1e-6;
		if (values[i].printed &&
		    old_decimals(json_string_value(json_object_get(expected, values[i].printed)), &low, &high)) {
			compare(at, values[i].member, number(found, values[i].key), v, v - low, high - v);
			continue;
		}
		/* fio truncates what it does not divide: up to one more than printed. */
		compare(at, values[i].member, number(found, values[i].key), v, tolerance, fmax(tolerance, i == 0 ? 1 : tolerance));
	}
	if (json_is_true(json_object_get(expected, "clat_mean_missing"))) {
		assert_null(clat); /* and the zeros that were printed as percentiles are none */
		return;
	}
	v = number(expected, "clat_mean_ns");
	if (!isnan(v))
		compare(at, "clat_mean_ns", number(clat, "mean"), v, 0, 1); /* some expectations were truncated to ns */
	v = number(expected, "clat_max_ns");
	if (!isnan(v))
		compare(at, "clat_max_ns", number(clat, "max"), v, 0, 0);
	v = number(expected, "clat_p50_ns");
	if (!isnan(v))
		compare(at, "clat_p50_ns", percentile(found, "50.000000"), v, 0, 0);
	v = number(expected, "clat_p99_ns");
	if (!isnan(v))
		compare(at, "clat_p99_ns", percentile(found, "99.000000"), v, 0, 0);
}

static void compare_job(struct place *at, json_t *job, json_t *expected)
{
	static const char *const directions[] = {"read", "write", "trim", "mixed", "file_operation"};
	json_t *section = json_object_get(expected, "section");

	assert_string_equal(json_string_value(json_object_get(job, "jobname")),
			    json_string_value(json_object_get(expected, "name")));
	assert_true(number(job, "groupid") == number(expected, "group"));
	assert_true(number(job, "members") == number(expected, "jobs"));
	assert_true(number(job, "error") == number(expected, "err"));
	if (number(job, "error") != 0)
		assert_string_equal(json_string_value(json_object_get(job, "status")), "failed");
	if (section)
		assert_true(json_equal(json_object_get(job, "section"), section));
	for (size_t i = 0; i < sizeof(directions) / sizeof(*directions); i++) {
		json_t *there = json_object_get(expected, directions[i]);

		at->direction = directions[i];
		if (!there) {
			assert_null(json_object_get(job, directions[i]));
			continue;
		}
		if (!json_object_get(job, directions[i]))
			fail_msg("%s, result %zu: no %s", at->number, at->result, directions[i]);
		compare_direction(at, json_object_get(job, directions[i]), there);
	}
}

static void check_known(const char *number_, const char *path, json_t *expect)
{
	struct fio_import in = read_file(path);
	json_t *jobs = jobs_of(&in), *results = json_object_get(expect, "results"), *blocks, *result;
	struct place at = {.number = number_};
	size_t i, expected;

	blocks = json_object_get(expect, "expected_job_blocks");
	expected = blocks ? (size_t)json_integer_value(blocks) : json_array_size(results);
	if (json_array_size(jobs) != expected)
		fail_msg("%s: %zu job blocks, expected %zu", number_, json_array_size(jobs), expected);
	json_array_foreach(results, i, result) {
		at.result = i;
		compare_job(&at, json_array_get(jobs, i), result);
	}
	json_decref(jobs);
	release(&in);
}

static bool noted(json_t *notes, const char *part)
{
	json_t *note;
	size_t i;

	json_array_foreach(notes, i, note)
		if (strstr(json_string_value(json_object_get(note, "message")), part))
			return true;
	return false;
}

static void check_other(const char *number_, const char *path)
{
	struct fio_import in = read_file(path);
	json_t *jobs = jobs_of(&in);
	size_t i = 0;

	while (i < sizeof(others) / sizeof(*others) && strcmp(others[i].number, number_))
		i++;
	if (i == sizeof(others) / sizeof(*others))
		fail_msg("%s: neither an expectation nor a place in the table", path);
	if (json_array_size(jobs) != others[i].blocks)
		fail_msg("%s: %zu job blocks, expected %zu", number_, json_array_size(jobs), others[i].blocks);
	if (others[i].note ? !noted(in.notes, others[i].note) : json_array_size(in.notes) != 0)
		fail_msg("%s: expected %s%s", number_, others[i].note ? "the note: " : "no note",
			 others[i].note ? others[i].note : "");
	json_decref(jobs);
	release(&in);
}

/* Every text of a folder; its name without .txt, or only the first digits of it, names the expectation. */
static void check_folder(const char *folder, bool numbered)
{
	const char *corpus = getenv("KICKBENCH_CORPUS");
	char base[512], path[1024], expect_path[1024], name[256];
	struct dirent **entry = NULL;
	int n, seen = 0;

	snprintf(base, sizeof(base), "%s/%s", corpus && *corpus ? corpus : "../shared/corpus", folder);
	n = scandir(base, &entry, NULL, alphasort);
	if (n < 0) {
		print_message("skipped: no outputs in %s\n", base);
		skip();
	}
	for (int i = 0; i < n; i++) {
		size_t length = strlen(entry[i]->d_name);
		json_t *expect;

		if (length > 4 && !strcmp(entry[i]->d_name + length - 4, ".txt")) {
			snprintf(name, sizeof(name), "%.*s", (int)(numbered ? 3 : length - 4), entry[i]->d_name);
			snprintf(path, sizeof(path), "%s/%s", base, entry[i]->d_name);
			snprintf(expect_path, sizeof(expect_path), "%s/%s.expect.json", base, name);
			expect = json_load_file(expect_path, 0, NULL);
			if (expect)
				check_known(name, path, expect);
			else
				check_other(name, path);
			json_decref(expect);
			seen++;
		}
		free(entry[i]);
	}
	free(entry);
	assert_true(seen > 0);
	print_message("%s: %d texts\n", folder, seen);
}

static void test_texts(void **state)
{
	(void)state;
	check_folder("text", true);
}

static void test_seeds(void **state)
{
	(void)state;
	check_folder("seeds", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_seeds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
