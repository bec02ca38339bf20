/* Jobs beside and after each other: how they begin and end. */
#include <errno.h>

#include "tests/unit/run_bench.h"

static enum engine_queued crash_queue(void *state, struct io *io)
{
	(void)state;
	(void)io;
	raise(SIGKILL);
	return ENGINE_DONE;
}

static void a_dying_process_is_a_failed_job(void **state)
{
	static const struct engine crash = { .name = "crash", .synchronous = true, .queue = crash_queue };
	struct job job[2] = { job_of(RW_READ), job_of(RW_READ) };
	struct run_result r;
	struct seen s = {0};

	(void)state;
	job[0].engine = &crash;
	run(job, 2, &s, &r);
	assert_int_equal(r.failed_jobs, 1);
	assert_non_null(strstr(r.report[0]->failure.text, "killed by signal 9"));
	assert_int_equal(r.report[1]->dir[DDIR_READ].ios, BLOCKS);
	assert_non_null(strstr(text_get(&s.notes), "killed by signal 9"));
	run_result_free(&r);
	seen_free(&s);
}

static void many_jobs_in_groups(void **state)
{
	struct job job[2] = { job_of(RW_RANDREAD), job_of(RW_RANDWRITE) };
	struct run_result r;
	struct seen s = {0};

	(void)state;
	job[0].numjobs = 64;
	job[0].group_reporting = true;
	job[1].numjobs = 3;
	job[1].thread = true;
	job[1].groupid = 1;
	run(job, 2, &s, &r);
	assert_int_equal(r.nreports, 4);
	assert_int_equal(r.ngroups, 2);
	assert_int_equal(r.report[0]->members, 64);
	assert_int_equal(r.report[0]->dir[DDIR_READ].ios, 64 * BLOCKS);
	consistent(r.report[0]);
	for (unsigned i = 1; i < 4; i++) {
		assert_int_equal(r.report[i]->members, 1);
		assert_int_equal(r.report[i]->dir[DDIR_WRITE].ios, BLOCKS);
	}
	run_result_free(&r);
	seen_free(&s);
}

static void ramp_is_not_recorded(void **state)
{
	struct job job = job_of(RW_RANDREAD);
	struct run_result r;
	struct seen s = {0};
	uint64_t start = clock_monotonic_ns();
	const struct direction *d;

	(void)state;
	job.numjobs = 2;
	job.ramp_us = 300000;
	job.runtime_us = 1400000;
	job.time_based = true;
	run(&job, 1, &s, &r);
	assert_true(s.begin_ns - start >= 300000000);
	assert_true(s.end_ns - s.begin_ns >= 1000000000); /* a busy host is told of the begin late */
	assert_true(r.elapsed_us >= 1700000);
	for (unsigned i = 0; i < 2; i++) {
		d = &r.report[i]->dir[DDIR_READ];
		assert_true(d->runtime_us >= 1400000 && d->runtime_us < 3000000); /* a busy host stops late */
		assert_true(d->ios > BLOCKS);
		assert_true(d->bw.n >= 1 && d->bw.n <= 2 * d->runtime_us / 1000000); /* windows of half a second, the ramp's left out */
		assert_true(d->iops.min > 0 && d->bw.max >= d->bw.min);
		/* The two windows cover 1.0 of 1.4 s: their mean is near the whole. */
		assert_true(d->iops.mean > 0.3 * (double)d->ios / 1.4 && d->iops.mean < 3 * (double)d->ios / 1.4);
		consistent(r.report[i]);
	}
	assert_true(strstr(text_get(&s.order), "pbp") != NULL);
	assert_int_equal(s.running, 2);
	assert_int_equal(s.files, 2);
	assert_true(s.last.ios[DDIR_READ] > 0);
	run_result_free(&r);
	seen_free(&s);
}

static void a_signal_ends_the_run(void **state)
{
	struct job job = job_of(RW_RANDREAD);
	struct run_result r;
	struct seen s = { .terminate_after = 2 };
	uint64_t start = clock_monotonic_ns();

	(void)state;
	job.numjobs = 2;
	job.runtime_us = 30000000;
	job.time_based = true;
	run(&job, 1, &s, &r);
	assert_true(clock_monotonic_ns() - start < 5000000000u);
	assert_int_equal(r.signal, SIGINT);
	assert_int_equal(r.failed_jobs, 128);
	assert_true(r.report[0]->dir[DDIR_READ].ios > 0);
	consistent(r.report[1]);
	assert_non_null(strstr(text_get(&s.notes), "kickio: terminating on signal 2"));
	run_result_free(&r);
	seen_free(&s);
}

static void stonewall_waits(void **state)
{
	struct job job[2] = { recorded(RW_READ), recorded(RW_WRITE) };
	struct run_result r;
	struct seen s = {0};

	(void)state;
	job[0].filename = "first";
	job[1].filename = "second";
	job[1].stonewall = true;
	job[1].groupid = 1;
	run(job, 2, &s, &r);
	assert_int_equal(asked.n, 2 * BLOCKS);
	for (unsigned i = 0; i < 2 * BLOCKS; i++)
		assert_int_equal(asked.offset[i], i % BLOCKS * 4096);
	begun_and_ended(&s);
	run_result_free(&r);
	seen_free(&s);
}

static void setup_failures_leave_others_alone(void **state)
{
	struct job job[2] = { job_of(RW_READ), job_of(RW_READ) };
	struct run_result r;
	struct seen s = {0};

	(void)state;
	job[0].filename = "/dev/no-such-disk";
	job[0].directory = NULL;
	run(job, 2, &s, &r);
	assert_int_equal(r.failed_jobs, 1);
	assert_false(r.report[0]->started);
	assert_int_equal(r.report[0]->failure.error, ENOENT);
	assert_int_equal(r.report[1]->dir[DDIR_READ].ios, BLOCKS);
	run_result_free(&r);
	seen_free(&s);

	s = (struct seen){0};
	run(job, 1, &s, &r);
	assert_int_equal(r.failed_jobs, 1);
	assert_string_equal(text_get(&s.order), "");
	run_result_free(&r);
	seen_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dying_process_is_a_failed_job),
		cmocka_unit_test(many_jobs_in_groups),
		cmocka_unit_test(ramp_is_not_recorded),
		cmocka_unit_test(a_signal_ends_the_run),
		cmocka_unit_test(stonewall_waits),
		cmocka_unit_test(setup_failures_leave_others_alone),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
