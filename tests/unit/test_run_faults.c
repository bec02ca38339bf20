/* Runs in which engines, processes and sizes misbehave. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "guest/clock.h"
#include "guest/run.h"
#include "guest/text.h"
#include "tests/unit/scratch.h"

#define BS 4096u
#define BLOCKS 64u

static void on_note(void *context, const char *line)
{
	text_add(context, "%s\n", line);
}

/* Run one job on a file of its own; what it told the user goes to notes. */
static void run(struct scratch *s, struct job *job, struct text *notes, struct run_result *r)
{
	struct jobs jobs = { .job = job, .count = 1 };
	struct run_hooks hooks = { .context = notes, .note = on_note };
	struct error e = {0};

	job->directory = s->folder;
	job->filename = "data";
	if (run_jobs(&jobs, &hooks, r, &e) < 0)
		fail_msg("%s", e.text);
}

static struct job job_of(enum rw rw, const struct engine *engine)
{
	return (struct job){ .name = "job", .rw = rw, .rwmixread = 50, .percentage_random = { 100, 100, 100 },
			     .scramble_buffers = true, .bs = { BS, BS, BS },
			     .size.bytes = BLOCKS * BS, .numjobs = 1, .engine = engine, .iodepth = 1,
			     .randrepeat = true };
}

/* Half of the first I/O, then an error; a disk with one bad sector does so. */
static enum engine_queued bad_sector_queue(void *state, struct io *io)
{
	(void)state;
	io->error = io->length < BS ? EIO : 0;
	io->moved = io->error ? 0 : BS / 2;
	return ENGINE_DONE;
}

/* The same, and then nothing: the file was made shorter meanwhile. */
static enum engine_queued shrunk_queue(void *state, struct io *io)
{
	(void)state;
	io->error = 0;
	io->moved = io->length < BS ? 0 : BS / 2;
	return ENGINE_DONE;
}

static void an_error_after_a_short_transfer(void **state)
{
	static const struct engine engine[] = {
		{ .name = "bad", .synchronous = true, .queue = bad_sector_queue },
		{ .name = "shrunk", .synchronous = true, .queue = shrunk_queue },
	};
	static const char *const function[] = { "io_u error", "full resid" };

	for (unsigned i = 0; i < 4; i++) {
		struct job job = job_of(RW_READ, &engine[i / 2]);
		struct text notes = {0};
		struct run_result r;

		job.thread = i % 2; /* a crash would take the whole test with it */
		run(*state, &job, &notes, &r);
		assert_int_equal(r.failed_jobs, 1);
		assert_int_equal(r.report[0]->failure.error, EIO);
		assert_string_equal(r.report[0]->failure.function, function[i / 2]);
		assert_string_equal(r.report[0]->failure.text, strerror(EIO));
		assert_non_null(strstr(text_get(&notes), "read offset=2048, buflen=2048\n"));
		run_result_free(&r);
		text_free(&notes);
	}
}

/* 20 I/Os of 10 ms, then the process is killed. */
static enum engine_queued killed_queue(void *state, struct io *io)
{
	static const struct timespec nap = { .tv_nsec = 10000000 };
	static unsigned calls;

	(void)state;
	nanosleep(&nap, NULL);
	if (calls++ == 20)
		raise(SIGKILL);
	io->error = 0;
	io->moved = io->length;
	return ENGINE_DONE;
}

static void a_killed_job_took_its_time(void **state)
{
	static const struct engine killed = { .name = "killed", .synchronous = true, .queue = killed_queue };
	struct job job = job_of(RW_READ, &killed);
	struct text notes = {0};
	struct run_result r;

	run(*state, &job, &notes, &r);
	assert_int_equal(r.failed_jobs, 1);
	assert_int_equal(r.report[0]->dir[DDIR_READ].ios, 20);
	assert_true(r.report[0]->dir[DDIR_READ].runtime_us >= 200000);
	assert_int_equal(r.report[0]->dir[DDIR_WRITE].runtime_us, 0);
	assert_true(r.report[0]->runtime_ms >= 200);
	run_result_free(&r);

	/* Nothing of a ramp is reported. */
	job = job_of(RW_READ, &killed);
	job.ramp_us = 60000000;
	run(*state, &job, &notes, &r);
	assert_int_equal(r.failed_jobs, 1);
	assert_int_equal(r.report[0]->dir[DDIR_READ].ios, 0);
	assert_int_equal(r.report[0]->dir[DDIR_READ].clat.n, 0);
	run_result_free(&r);
	text_free(&notes);
}

/* Once it looked for a place for the larger block without end, deaf to its deadline and to signals. */
static void a_block_larger_than_the_file(void **state)
{
	struct job job = job_of(RW_RANDMIXED, engine_find("psync"));
	struct text notes = {0};
	struct run_result r;

	job.bs[DDIR_WRITE] = 2 * BLOCKS * BS;
	job.time_based = true;
	job.runtime_us = 100000;
	run(*state, &job, &notes, &r);
	assert_int_equal(r.failed_jobs, 1);
	assert_int_equal(r.report[0]->failure.error, EINVAL);
	assert_non_null(strstr(text_get(&notes), "block size: 262144 < 524288\n"));
	run_result_free(&r);
	text_free(&notes);
}

static void beyond_what_a_file_holds(void **state)
{
	struct job job = job_of(RW_WRITE, engine_find("psync"));
	struct text notes = {0};
	struct run_result r;

	job.offset.bytes = UINT64_MAX;
	run(*state, &job, &notes, &r);
	assert_int_equal(r.report[0]->failure.error, EFBIG);
	assert_non_null(strstr(text_get(&notes), "offset=18446744073709551615 and size=262144 reach beyond"));
	run_result_free(&r);
	text_free(&notes);
}

static void time_does_not_run_backwards(void **state)
{
	(void)state;
	assert_int_equal(clock_elapsed(5, 12), 7);
	assert_int_equal(clock_elapsed(5, 5), 0);
	assert_int_equal(clock_elapsed(6, 5), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_error_after_a_short_transfer, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(a_killed_job_took_its_time, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(a_block_larger_than_the_file, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(beyond_what_a_file_holds, scratch_open, scratch_close),
		cmocka_unit_test(time_does_not_run_backwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
