/* kickbench compare: what it takes, what it refuses and why, and its exit status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/command.h"
#include "tests/unit/run_folder.h"
#include "tests/unit/scratch.h"

static char report[1 << 16]; /* of the last call */
static struct error problem;

/* compare ARGUMENT... -o FILE, NULL-ended; its exit status. */
static int compare_with(struct scratch *s, ...)
{
	char *argv[16] = { (char *)"compare" }, path[512];
	int argc = 1, status;
	va_list ap;
	FILE *in;

	va_start(ap, s);
	while ((argv[argc] = va_arg(ap, char *)))
		argc++;
	va_end(ap);
	snprintf(path, sizeof(path), "%s", scratch_path(s, "report"));
	unlink(path);
	argv[argc++] = (char *)"-o";
	argv[argc++] = path;
	argv[argc] = NULL;
	problem = (struct error){ 0 };
	status = cmd_compare.run(argc, argv, &problem);
	in = fopen(path, "r");
	report[in ? fread(report, 1, sizeof(report) - 1, in) : 0] = '\0';
	if (in)
		fclose(in);
	return status;
}

static struct folder plain(void)
{
	return (struct folder){ .cell = { "randread", "randwrite" }, .variant = { "none", "kickfd" }, .blocks = 4, .repeats = 1,
				.pairing = "boots", .primary = "iops" };
}

/* randread: 20 % more; randwrite: 20 % fewer; latency the other way round. */
static void both_ways(const struct folder_place *at, struct folder_trial *t)
{
	double factor = at->variant ? (at->cell ? 0.8 : 1.2) : 1;

	t->iops *= factor;
	t->clat_ns /= factor;
}

static void a_folder_alone_is_judged_as_asked(void **state)
{
	struct folder f = plain();
	char named[300];

	f.shape = both_ways;
	folder_make(&f);
	assert_int_equal(compare_with(*state, f.path, NULL), 0);
	holds(report, "randread   better: 20.");
	assert_int_equal(compare_with(*state, f.path, "--fail-on", "worse", NULL), 1);
	assert_int_equal(compare_with(*state, f.path, "--fail-on=worse", "--fail-margin", "40%", NULL), 0);
	holds(report, "when the ratio is more than 40 % away from 1");
	assert_int_equal(compare_with(*state, f.path, "--margin", "0.3", "--alpha", "1e-9", NULL), 2);
	assert_int_equal(compare_with(*state, f.path, "--margin", "0.3", "--alpha", "0.000000001", NULL), 0);
	holds(report, "within +-30 %");
	assert_int_equal(compare_with(*state, f.path, "--metric", "clat_mean", NULL), 0);
	holds(report, "kickfd against none (mean latency):");
	holds(report, "mean latency was chosen now, the runs were made for IOPS: Holm's");
	assert_int_equal(compare_with(*state, f.path, "--baseline", "kickfd", NULL), 0);
	holds(report, "none against kickfd (IOPS):");
	snprintf(named, sizeof(named), "%s:kickfd", f.path);
	assert_int_equal(compare_with(*state, named, NULL), 0);
	holds(report, "kickfd against none (IOPS):");
	assert_int_equal(compare_with(*state, f.path, "--format", "json", NULL), 0);
	holds(report, "\"schema\": \"kickbench-report/1\"");
	folder_remove(&f);
}

static void two_variants_of_a_folder_stay_paired(void **state)
{
	struct folder f = plain();
	char a[300], b[300];

	f.variant[2] = "packed";
	f.shape = both_ways;
	folder_make(&f);
	snprintf(a, sizeof(a), "%s:packed", f.path);
	snprintf(b, sizeof(b), "%s/.:kickfd", f.path);
	assert_int_equal(compare_with(*state, a, b, NULL), 0);
	holds(report, "kickfd against packed (IOPS):");
	holds(report, "a paired t on block log ratios");
	assert_int_equal(compare_with(*state, f.path, b, NULL), 2);
	holds(problem.text, "twice: name a variant of either");
	folder_remove(&f);
}

static void usage_is_refused_by_name(void **state)
{
	struct folder f = plain();

	folder_make(&f);
	assert_int_equal(compare_with(*state, NULL), 2);
	holds(problem.text, "compare takes one run folder or two");
	assert_int_equal(compare_with(*state, f.path, "--metric", "speed", NULL), 2);
	holds(problem.text, "--metric speed: expected one of iops, bandwidth, ");
	assert_int_equal(compare_with(*state, f.path, "--baseline", "x", NULL), 2);
	holds(problem.text, "--baseline x: expected one of none, kickfd");
	assert_int_equal(compare_with(*state, f.path, "--margin", "0", NULL), 2);
	holds(problem.text, "--margin 0: expected a part of 1 like 3% or 0.03");
	assert_int_equal(compare_with(*state, f.path, "--group-by", "moon", NULL), 2);
	assert_int_equal(compare_with(*state, f.path, "--group-by", "guest", NULL), 2);
	holds(problem.text, "has one guest");
	assert_int_equal(compare_with(*state, f.path, f.path, "--group-by", "guest", NULL), 2);
	assert_int_equal(compare_with(*state, f.path, "--fail-on", "slow", NULL), 2);
	holds(problem.text, "--fail-on");
	assert_int_equal(compare_with(*state, f.path, "--frobnicate", NULL), 2);
	assert_int_equal(compare_with(*state, "/nowhere/at/all", NULL), 2);
	holds(problem.text, "/nowhere/at/all: No such file or directory");
	folder_remove(&f);
	f.variant[1] = NULL;
	folder_make(&f);
	assert_int_equal(compare_with(*state, f.path, NULL), 2);
	holds(problem.text, "has one variant, none: there is nothing to compare");
	folder_remove(&f);
}

static void a_newer_schema_is_one_message(void **state)
{
	struct folder f = plain();

	f.run_schema = "kickbench-run/2";
	folder_make(&f);
	assert_int_equal(compare_with(*state, f.path, NULL), 2);
	holds(problem.text, "run.json: written by a newer kickbench (schema kickbench-run/2");
	folder_remove(&f);
}

static void all_failed(const struct folder_place *at, struct folder_trial *t)
{
	(void)at;
	t->status = "failed";
	t->message = "no device";
}

static void some_missing(const struct folder_place *at, struct folder_trial *t)
{
	both_ways(at, t);
	if (at->block == 4)
		t->status = NULL;
}

static void what_is_not_there_is_status_3(void **state)
{
	struct folder f = plain();

	f.shape = all_failed;
	folder_make(&f);
	assert_int_equal(compare_with(*state, f.path, NULL), 3);
	holds(problem.text, "counts: there is nothing to compare");
	holds(report, "incomplete: 0 of 4 blocks");
	holds(report, "failed: no device");
	folder_remove(&f);
	f.shape = some_missing;
	folder_make(&f);
	assert_int_equal(compare_with(*state, f.path, NULL), 3);
	holds(problem.text, "4 of 16 trials do not count: the comparison is incomplete");
	folder_remove(&f);
	f.shape = both_ways;
	folder_make(&f);
	assert_int_equal(compare_with(*state, f.path, "--metric", "exits_per_io", NULL), 3);
	holds(problem.text, "2 of 2 comparisons lack a side's data");
	holds(report, "incomplete: no data on KVM exits per I/O from none and kickfd");
	folder_remove(&f);
}

static void stalled(const struct folder_place *at, struct folder_trial *t)
{
	if (at->trial == 2)
		t->status = "stalled";
}

static void a_stall_fails_unless_it_was_said_otherwise(void **state)
{
	struct folder f = plain();

	f.shape = stalled;
	folder_make(&f);
	assert_int_equal(compare_with(*state, f.path, NULL), 1);
	assert_int_equal(compare_with(*state, f.path, "--fail-on", "none", NULL), 3);
	folder_remove(&f);
}

/* Numbers of fio 3.12's text. */
static const char *output(struct scratch *s, const char *name, const char *iops, const char *kib, const char *msec)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "t: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=sync, iodepth=1\n"
		 "fio-3.12\nStarting 1 process\n\nt: (groupid=0, jobs=1): err= 0: pid=1: Fri Nov 23 09:59:54 2018\n"
		 "  read: IOPS=%s, BW=%sKiB/s (20.5MB/s)(97.7MiB/%smsec)\n    clat (usec): min=10, max=1000, avg=150.0, stdev=9.0\n"
		 "  cpu          : usr=1.00%%, sys=40.00%%, ctx=25000, majf=0, minf=3\n"
		 "     issued rwts: total=25000,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n", iops, kib, msec);
	return scratch_text(s, name, text);
}

static void two_files_of_fio_have_a_direction(void **state)
{
	char a[512], b[512], named[530];

	snprintf(a, sizeof(a), "%s", output(*state, "none.txt", "5000", "20000", "5000"));
	snprintf(b, sizeof(b), "%s", output(*state, "kickfd.v2.txt", "6250", "25000", "4000"));
	assert_int_equal(compare_with(*state, a, b, "--fail-on", "worse,better,unclear", NULL), 0);
	holds(report, "kickfd.v2 against none (IOPS): single runs in the one cell.");
	holds(report, "single runs: 25.0 % more IOPS, direction only");
	holds(report, "none.txt");
	snprintf(named, sizeof(named), "%s:old", a);
	assert_int_equal(compare_with(*state, named, b, NULL), 0);
	holds(report, "kickfd.v2 against old (IOPS):");
}

static void a_file_against_a_folder(void **state)
{
	struct folder f = plain();
	char file[512], named[300];

	f.cell[0] = "t";
	folder_make(&f);
	snprintf(file, sizeof(file), "%s", output(*state, "fio.txt", "5000", "20000", "5000"));
	snprintf(named, sizeof(named), "%s:kickfd", f.path);
	assert_int_equal(compare_with(*state, named, file, NULL), 2); /* no cell of randread by sync in it */
	holds(problem.text, "no cell in common");
	folder_remove(&f);
}

static void files_without_fio_are_refused(void **state)
{
	char good[512], bad[512];

	snprintf(good, sizeof(good), "%s", output(*state, "none.txt", "5000", "20000", "5000"));
	snprintf(bad, sizeof(bad), "%s", scratch_text(*state, "empty", ""));
	assert_int_equal(compare_with(*state, good, bad, NULL), 2);
	holds(problem.text, "expected a run folder or fio's output: ");
	holds(problem.text, "/empty: empty");
	snprintf(bad, sizeof(bad), "%s", scratch_bytes(*state, "binary", "\0\1\2\377", 4));
	assert_int_equal(compare_with(*state, bad, good, NULL), 2);
	holds(problem.text, "binary: a binary file");
	snprintf(bad, sizeof(bad), "%s", scratch_text(*state, "cut.json", "{\"fio version\": \"fio-3.33\", \"jobs\": ["));
	assert_int_equal(compare_with(*state, good, bad, NULL), 2);
	holds(problem.text, "cut.json: no output of fio that can be used");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_folder_alone_is_judged_as_asked, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(two_variants_of_a_folder_stay_paired, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(usage_is_refused_by_name, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(a_newer_schema_is_one_message, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(what_is_not_there_is_status_3, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(a_stall_fails_unless_it_was_said_otherwise, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(two_files_of_fio_have_a_direction, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(a_file_against_a_folder, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(files_without_fio_are_refused, scratch_open, scratch_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
