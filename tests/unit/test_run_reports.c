/* Reports during a run: whole, growing, and the last one as large as the result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "guest/options.h"
#include "guest/report.h"
#include "guest/run.h"
#include "tests/unit/scratch.h"

#define FILE_BYTES (1u << 20)
#define RUNTIME_US 1000000u /* of which a busy host may miss some */

struct seen {
	unsigned reports, with_ios;
	uint64_t ios, first_ios, last_elapsed_us, first_eta_us;
	uint64_t elapsed_us; /* of the whole run */
	bool ask;
};

/* All numbers of a snapshot are of the same instant. */
static void on_report(void *context, const struct run_result *now)
{
	struct seen *s = context;
	uint64_t ios = 0;

	for (size_t i = 0; i < now->nreports; i++) {
		const struct job_result *r = now->report[i];
		const struct direction *d = &r->dir[DDIR_READ];

		ios += d->ios;
		assert_int_equal(d->ios, d->clat.n);
		assert_int_equal(d->ios, histogram_total(&d->clat_histogram));
		assert_int_equal(d->ios * 4096, d->bytes);
		assert_int_equal(d->ios, report_sum(r->depth, DEPTH_CLASSES));
		assert_int_equal(d->ios, report_sum(r->lat_ns, LAT_NS_CLASSES) +
				 report_sum(r->lat_us, LAT_US_CLASSES) + report_sum(r->lat_ms, LAT_MS_CLASSES));
		if (r->job->lat_percentiles && d->ios)
			assert_int_equal(d->ios, histogram_total(d->lat_histogram));
		if (d->ios)
			assert_true(d->runtime_us > 0 && d->runtime_us <= now->elapsed_us);
	}
	assert_true(ios >= s->ios);
	assert_true(now->elapsed_us > s->last_elapsed_us);
	if (!s->reports++)
		s->first_ios = ios;
	/* Unknown as long as one of the jobs has not begun. */
	if (!s->first_eta_us && now->eta_us != UINT64_MAX)
		s->first_eta_us = now->eta_us;
	s->with_ios += ios > s->ios;
	s->ios = ios;
	s->last_elapsed_us = now->elapsed_us;
}

static void on_progress(void *context, const struct progress *p)
{
	struct seen *s = context;

	if (s->ask && p->elapsed_us > 100000) {
		s->ask = false;
		run_ask_report();
	}
}

/* Run with these options; returns the I/Os of the whole run. */
static uint64_t run(struct scratch *files, const char *const *options, int n, uint64_t interval_us, struct seen *s)
{
	struct run_hooks hooks = { .context = s, .report = on_report, .report_interval_us = interval_us,
				   .progress = on_progress, .interval_us = 50000 };
	char filename[600], data[4096] = {0};
	char *argv[16] = { "kickio", "--name=a", "--size=1m", "--rw=randread", "--time_based", "--runtime=1s",
			   filename };
	struct run_result result;
	struct text notes = {0};
	struct error e = {0};
	struct jobs jobs;
	uint64_t ios = 0;
	FILE *f = fopen(scratch_path(files, "data"), "w");

	assert_non_null(f);
	for (unsigned i = 0; i < FILE_BYTES / sizeof(data); i++)
		assert_int_equal(sizeof(data), fwrite(data, 1, sizeof(data), f));
	fclose(f);
	snprintf(filename, sizeof(filename), "--filename=%s", scratch_path(files, "data"));
	for (int i = 0; i < n; i++)
		argv[7 + i] = (char *)options[i];
	if (options_parse(7 + n, argv, &jobs, &notes, &e) || run_jobs(&jobs, &hooks, &result, &e))
		fail_msg("%s", e.text);
	for (size_t i = 0; i < result.nreports; i++)
		ios += report_ios(result.report[i]);
	s->elapsed_us = result.elapsed_us;
	run_result_free(&result);
	jobs_free(&jobs);
	text_free(&notes);
	return ios;
}

/* A busy host leaves some out, and may make the run longer. */
static void some_reports(const struct seen *s, uint64_t interval_us)
{
	assert_in_range(s->reports, 2, 2 + s->elapsed_us / interval_us);
}

static void processes(void **state)
{
	static const char *const options[] = { "--numjobs=2", "--lat_percentiles=1" };
	struct seen s = {0};
	uint64_t ios = run(*state, options, 2, 100000, &s);

	some_reports(&s, 100000);
	assert_in_range(s.with_ios, 2, s.reports);
	assert_true(ios >= s.ios);
	assert_in_range(s.first_eta_us, 1, RUNTIME_US);
}

static void threads(void **state)
{
	static const char *const options[] = { "--numjobs=2", "--thread", "--group_reporting" };
	struct seen s = {0};
	uint64_t ios = run(*state, options, 3, 100000, &s);

	some_reports(&s, 100000);
	assert_true(ios >= s.ios);
}

static void on_request(void **state)
{
	struct seen s = { .ask = true };
	uint64_t ios = run(*state, NULL, 0, 0, &s);

	assert_int_equal(1, s.reports);
	assert_true(s.ios > 0 && ios > s.ios);
}

static void none_unless_wanted(void **state)
{
	struct seen s = {0};

	assert_true(run(*state, NULL, 0, 0, &s) > 0);
	assert_int_equal(0, s.reports);
}

/* A job that pauses answers in the middle of it, and keeps nobody waiting. */
static void a_pause_answers(void **state)
{
	static const char *const options[] = { "--thinktime=10s" };
	struct seen s = {0};

	assert_int_equal(1, run(*state, options, 1, 100000, &s));
	some_reports(&s, 100000);
	assert_int_equal(1, s.ios);
}

/* During a ramp nothing is counted; the first report after it is as of its end. */
static void a_ramp_is_not_reported(void **state)
{
	static const char *const options[] = { "--ramp_time=250ms" };
	struct seen s = {0};
	uint64_t ios = run(*state, options, 1, 300000, &s);

	assert_in_range(s.reports, 1, s.elapsed_us / 300000);
	/* A slow host may have the last report at the very end. */
	assert_true(s.first_ios < ios && s.ios <= ios);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, scratch_open, scratch_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(processes),
		TEST(threads),
		TEST(on_request),
		TEST(none_unless_wanted),
		TEST(a_pause_answers),
		TEST(a_ramp_is_not_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
