/* Log files: names, rows and windows, by hand-computed I/Os at given times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/joblog.h"
#include "tests/unit/scratch.h"

#define MS 1000000u

struct fixture {
	struct scratch *scratch;
	char prefix[512];
	struct job job;
	struct direction dir[DDIRS];
	struct joblog *log;
	struct failure failure;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	if (scratch_open((void **)&f->scratch))
		return -1;
	snprintf(f->prefix, sizeof(f->prefix), "%s", scratch_path(f->scratch, "p"));
	f->job = (struct job){ .name = "a", .per_job_logs = true };
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	joblog_close(f->log);
	scratch_close((void **)&f->scratch);
	free(f);
	return 0;
}

static void open_log(struct fixture *f, unsigned index)
{
	assert_int_equal(0, joblog_open(&f->log, &f->job, index, &f->failure));
	assert_non_null(f->log);
	joblog_start(f->log, f->dir, 1000 * MS);
}

/* An I/O of bs bytes that ended `at` us after the start and took ns; the histogram as the worker does it. */
static void io(struct fixture *f, enum ddir ddir, uint64_t at_us, uint64_t ns, uint32_t bs)
{
	struct joblog_latency took = { .slat = JOBLOG_NONE, .clat = ns, .lat = ns + 1 };

	histogram_add(&f->dir[ddir].clat_histogram, ns);
	joblog_add(f->log, ddir, 65536, bs, &took, 1000 * MS + at_us * 1000);
}

static void finish(struct fixture *f, unsigned at_ms)
{
	assert_int_equal(0, joblog_finish(f->log, (1000 + (uint64_t)at_ms) * MS, &f->failure));
	joblog_close(f->log);
	f->log = NULL;
}

/* The whole file; the caller frees it. NULL when it is not there. */
static char *content(const struct fixture *f, const char *name)
{
	FILE *in = fopen(scratch_path(f->scratch, name), "r");
	char *text = NULL;
	size_t size = 0;

	if (!in)
		return NULL;
	if (getdelim(&text, &size, '\0', in) < 0 && text)
		*text = '\0';
	fclose(in);
	return text ? text : strdup("");
}

static void file_is(const struct fixture *f, const char *name, const char *expected)
{
	char *text = content(f, name);

	assert_non_null(text);
	assert_string_equal(expected, text);
	free(text);
}

static void no_logs(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(0, joblog_open(&f->log, &f->job, 0, &f->failure));
	assert_null(f->log);
	joblog_close(NULL);
}

static void a_row_per_io(void **state)
{
	struct fixture *f = *state;

	f->job.write_lat_log = f->job.write_bw_log = f->job.write_iops_log = f->prefix;
	assert_true(joblog_samples_bw(&f->job) && joblog_samples_iops(&f->job));
	open_log(f, 2);
	io(f, DDIR_READ, 1999, 4000, 4096);
	io(f, DDIR_WRITE, 2000, 16384, 8192);
	finish(f, 3);
	file_is(f, "p_clat.3.log", "1, 4000, 0, 4096, 0\n2, 16384, 1, 8192, 0\n");
	file_is(f, "p_lat.3.log", "1, 4001, 0, 4096, 0\n2, 16385, 1, 8192, 0\n");
	file_is(f, "p_slat.3.log", "");
	/* thousands of bytes per second */
	file_is(f, "p_bw.3.log", "1, 1024000, 0, 4096, 0\n2, 500000, 1, 8192, 0\n");
	file_is(f, "p_iops.3.log", "1, 1, 0, 4096, 0\n2, 1, 1, 8192, 0\n");
	assert_int_equal(1, f->dir[DDIR_READ].bw.n);
	assert_int_equal(500000, f->dir[DDIR_WRITE].bw.max);
	assert_int_equal(1, f->dir[DDIR_WRITE].iops.n);
}

static void offsets_and_one_file_for_all(void **state)
{
	struct fixture *f = *state;

	f->job.write_iops_log = f->prefix;
	f->job.log_offset = true;
	f->job.per_job_logs = false;
	for (unsigned index = 0; index < 2; index++) {
		open_log(f, index);
		io(f, DDIR_READ, 7000, 10, 512);
		finish(f, 8);
	}
	file_is(f, "p_iops.log", "7, 1, 0, 512, 65536, 0\n7, 1, 0, 512, 65536, 0\n");
}

static void what_is_not_measured_has_no_file(void **state)
{
	struct fixture *f = *state;

	f->job.write_lat_log = f->prefix;
	f->job.disable_clat = true;
	open_log(f, 0);
	finish(f, 1);
	assert_null(content(f, "p_clat.1.log"));
	file_is(f, "p_lat.1.log", "");
}

static void latency_windows(void **state)
{
	struct fixture *f = *state;

	f->job.write_lat_log = f->prefix;
	f->job.log_avg_msec = 10;
	open_log(f, 0);
	io(f, DDIR_READ, 1000, 10, 4096);
	io(f, DDIR_READ, 12000, 13, 4096); /* ends the window, and is in it: 11.5 */
	io(f, DDIR_READ, 19000, 20, 4096);
	io(f, DDIR_WRITE, 19000, 7, 4096);
	io(f, DDIR_READ, 21000, 20, 4096);
	io(f, DDIR_READ, 22000, 5, 4096);
	finish(f, 23); /* the last one is flushed */
	file_is(f, "p_clat.1.log",
	      "12, 12, 0, 0, 0\n19, 7, 1, 0, 0\n21, 20, 0, 0, 0\n23, 5, 0, 0, 0\n");
}

static void largest_instead_of_mean(void **state)
{
	struct fixture *f = *state;

	f->job.write_lat_log = f->prefix;
	f->job.log_avg_msec = 10;
	f->job.log_max_value = true;
	open_log(f, 0);
	io(f, DDIR_READ, 1000, 30, 4096);
	io(f, DDIR_READ, 10000, 20, 4096);
	finish(f, 11);
	file_is(f, "p_clat.1.log", "10, 30, 0, 0, 0\n");
}

static void work_windows(void **state)
{
	struct fixture *f = *state;

	f->job.write_bw_log = f->job.write_iops_log = f->prefix;
	f->job.log_avg_msec = 10;
	f->job.bwavgtime_ms = f->job.iopsavgtime_ms = 500;
	assert_false(joblog_samples_bw(&f->job));
	assert_int_equal(10, joblog_bw_window_ms(&f->job));
	open_log(f, 0);
	io(f, DDIR_READ, 1000, 10, 4096);
	io(f, DDIR_READ, 9000, 10, 4096);
	/* nothing from 10 to 30: no rows */
	io(f, DDIR_WRITE, 35000, 10, 10240);
	io(f, DDIR_READ, 41000, 10, 4096);
	finish(f, 49); /* what is not over is dropped */
	file_is(f, "p_bw.1.log", "10, 800, 0, 0, 0\n40, 1000, 1, 0, 0\n");
	file_is(f, "p_iops.1.log", "10, 200, 0, 0, 0\n40, 100, 1, 0, 0\n");
}

static void the_users_window_counts(void **state)
{
	struct fixture *f = *state;

	f->job.write_bw_log = f->prefix;
	f->job.log_avg_msec = 10;
	f->job.bwavgtime_ms = 20;
	assert_int_equal(20, joblog_bw_window_ms(&f->job));
	assert_int_equal(500, joblog_iops_window_ms(&f->job)); /* 0 is the default */
}

static void histograms(void **state)
{
	struct fixture *f = *state;
	char *text, *row, *save = NULL;
	unsigned rows = 0;

	f->job.write_hist_log = f->prefix;
	f->job.log_hist_msec = 100;
	f->job.log_hist_coarseness = 6;
	open_log(f, 0);
	io(f, DDIR_READ, 5000, 10, 4096);   /* begins the first interval */
	io(f, DDIR_READ, 104000, 100, 4096);
	io(f, DDIR_READ, 107000, 129, 8192); /* first one after it */
	io(f, DDIR_READ, 204000, 10, 4096);
	io(f, DDIR_READ, 205000, 10, 4096); /* due 100 ms after 105, not after 107 */
	io(f, DDIR_READ, 206000, 10, 4096); /* the tail is lost */
	finish(f, 207);
	text = content(f, "p_clat_hist.1.log");
	assert_non_null(text);
	for (row = strtok_r(text, "\n", &save); row; row = strtok_r(NULL, "\n", &save), rows++) {
		const char *begin = rows ? "205, 0, 4096, 2, 0, 0, 0" : "107, 0, 8192, 1, 1, 1, 0";
		unsigned columns = 1;

		assert_memory_equal(begin, row, strlen(begin));
		for (const char *s = row; *s; s++)
			columns += *s == ',';
		assert_int_equal(3 + 29, columns);
	}
	assert_int_equal(2, rows);
	free(text);
}

/* A direction that is counted from zero again has no buckets below zero. */
static void histograms_after_a_reset(void **state)
{
	struct fixture *f = *state;
	char *text, *second;

	f->job.write_hist_log = f->prefix;
	f->job.log_hist_msec = 100;
	f->job.log_hist_coarseness = 6;
	open_log(f, 0);
	io(f, DDIR_READ, 5000, 10, 4096);
	io(f, DDIR_READ, 106000, 10, 4096);
	f->dir[DDIR_READ].clat_histogram = (struct histogram){0};
	joblog_counts_reset(f->log);
	io(f, DDIR_READ, 207000, 10, 4096);
	finish(f, 208);
	text = content(f, "p_clat_hist.1.log");
	assert_non_null(text);
	assert_memory_equal("106, 0, 4096, 2, 0,", text, 19);
	second = strchr(text, '\n') + 1;
	assert_memory_equal("207, 0, 4096, 1, 0,", second, 19);
	free(text);
}

/* Many more rows than a chunk holds: all are there, in order. */
static void many_rows(void **state)
{
	struct fixture *f = *state;
	unsigned total = 100000, n = 0;
	char *text, *row, *save = NULL;

	f->job.write_iops_log = f->prefix;
	open_log(f, 0);
	for (unsigned i = 0; i < total; i++)
		io(f, DDIR_READ, i * 1000, 1, 512);
	finish(f, total);
	text = content(f, "p_iops.1.log");
	assert_non_null(text);
	for (row = strtok_r(text, "\n", &save); row; row = strtok_r(NULL, "\n", &save), n++)
		assert_int_equal(n, strtoul(row, NULL, 10));
	assert_int_equal(total, n);
	free(text);
}

static void nowhere_to_write(void **state)
{
	struct fixture *f = *state;
	char path[] = "/proc/no/such/folder/p";

	f->job.write_bw_log = path;
	assert_int_equal(-1, joblog_open(&f->log, &f->job, 0, &f->failure));
	assert_null(f->log);
	assert_int_not_equal(0, f->failure.error);
	assert_non_null(strstr(f->failure.function, "open("));
}

static void a_full_disk_is_a_failure(void **state)
{
	struct fixture *f = *state;
	if (access("/dev/full", W_OK) < 0)
		skip();
	assert_int_equal(0, symlink("/dev/full", scratch_path(f->scratch, "p_bw.1.log")));
	f->job.write_bw_log = f->prefix;
	open_log(f, 0);
	io(f, DDIR_READ, 1000, 10, 512);
	assert_int_equal(-1, joblog_finish(f->log, 1001 * MS, &f->failure));
	assert_int_not_equal(0, f->failure.error);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_logs),
		TEST(a_row_per_io),
		TEST(offsets_and_one_file_for_all),
		TEST(what_is_not_measured_has_no_file),
		TEST(latency_windows),
		TEST(largest_instead_of_mean),
		TEST(work_windows),
		TEST(the_users_window_counts),
		TEST(histograms),
		TEST(histograms_after_a_reset),
		TEST(many_rows),
		TEST(nowhere_to_write),
		TEST(a_full_disk_is_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
