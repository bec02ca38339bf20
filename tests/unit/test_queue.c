/* Units in flight, batches, short transfers, errors: with an engine that does what the test says. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/clock.h"
#include "guest/run.h"
#include "guest/text.h"
#include "tests/unit/scratch.h"

#define BS 4096u
#define BLOCKS 64u

/* An engine that keeps its units until they are reaped, exactly as many as must be. Its jobs are threads. */
static struct {
	struct io *held[1024];
	unsigned nheld, committed;
	unsigned queued, flushes, most; /* in all; most: held at once */
	unsigned room;                  /* more are refused: busy; 0: no limit */
	unsigned takes;                 /* per commit; 0: all */
	unsigned fail_at, fail_with;    /* the n-th unit queued */
	unsigned half_at;               /* the n-th unit moves half of itself */
	unsigned over_at;               /* the n-th unit takes 2 ms */
	unsigned crowd;                 /* one that makes so many takes 40 ms; 0: none */
	bool fails;                     /* every unit, with EIO */
	uint64_t offset[1024];
	uint32_t length[1024];
	bool newest_first, hangs;
	int unclean; /* units held when the engine was closed */
} fake;

static int fake_open(void **state, const struct engine_setup *setup, struct error *e)
{
	(void)setup, (void)e;
	*state = &fake;
	return 0;
}

static enum engine_queued fake_queue(void *state, struct io *io)
{
	unsigned n;

	(void)state;
	if (fake.room && fake.nheld == fake.room)
		return ENGINE_BUSY;
	n = ++fake.queued;
	if (ddir_flushes(io->ddir))
		fake.flushes++;
	io->error = fake.fails ? EIO : n == fake.fail_at ? (int)fake.fail_with : 0;
	io->moved = io->error || ddir_flushes(io->ddir) ? 0 : n == fake.half_at ? io->length / 2 : io->length;
	fake.offset[n % 1024] = io->offset;
	fake.length[n % 1024] = io->length;
	fake.held[fake.nheld++] = io;
	if (fake.nheld > fake.most)
		fake.most = fake.nheld;
	if (n == fake.over_at)
		usleep(2000);
	if (fake.crowd && fake.nheld >= fake.crowd)
		usleep(40000);
	return ENGINE_QUEUED;
}

static int fake_commit(void *state)
{
	unsigned n = fake.nheld - fake.committed;

	(void)state;
	if (fake.takes && n > fake.takes)
		n = fake.takes;
	fake.committed += n;
	return (int)n;
}

static int fake_reap(void *state, unsigned min, unsigned max, struct io **done)
{
	unsigned n = 0;

	(void)state;
	assert_true(min <= max);
	assert_true(min <= fake.committed);
	while (fake.hangs)
		pause();
	for (; n < min; n++) {
		unsigned at = fake.newest_first ? fake.committed - 1 : 0;

		done[n] = fake.held[at];
		memmove(&fake.held[at], &fake.held[at + 1], (fake.nheld - at - 1) * sizeof(fake.held[0]));
		fake.nheld--;
		fake.committed--;
	}
	return (int)n;
}

static void fake_close(void *state)
{
	(void)state;
	fake.unclean = (int)fake.nheld;
}

static const struct engine engine = {
	.name = "fake", .open = fake_open, .queue = fake_queue, .commit = fake_commit, .reap = fake_reap,
	.close = fake_close,
};

static struct job job_of(enum rw rw, unsigned depth)
{
	memset(&fake, 0, sizeof(fake));
	return (struct job){ .name = "job", .rw = rw, .rwmixread = 50, .bs = { BS, BS, BS }, .size.bytes = BLOCKS * BS,
			     .numjobs = 1, .engine = &engine, .iodepth = depth, .iodepth_batch_complete_min = 1,
			     .randrepeat = true, .thread = true, .percentage_random = { 100, 100, 100 } };
}

static void on_note(void *context, const char *line)
{
	text_add(context, "%s\n", line);
}

static void run(struct scratch *s, struct job *job, struct text *notes, struct run_result *r)
{
	struct jobs jobs = { .job = job, .count = 1 };
	struct run_hooks hooks = { .context = notes, .note = on_note, .patience_us = 300000 };
	struct error e = {0};

	job->directory = s->folder;
	job->filename = "data";
	if (run_jobs(&jobs, &hooks, r, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(fake.unclean, 0);
}

static uint64_t sum(const uint64_t *counts, unsigned n)
{
	uint64_t all = 0;

	while (n)
		all += counts[--n];
	return all;
}

/* Every count of a job that went well. */
static void consistent(const struct job_result *r, uint64_t ios)
{
	uint64_t got = 0;

	assert_int_equal(r->failure.error, 0);
	for (unsigned d = 0; d < DDIRS; d++) {
		got += r->dir[d].ios;
		assert_int_equal(r->dir[d].bytes, r->dir[d].ios * BS);
		assert_int_equal(r->dir[d].clat.n, r->dir[d].ios);
		assert_int_equal(r->dir[d].lat.n, r->dir[d].ios);
		assert_int_equal(r->dir[d].slat.n, r->dir[d].ios);
		assert_int_equal(histogram_total(&r->dir[d].clat_histogram), r->dir[d].ios);
		assert_true(r->dir[d].lat.max >= r->dir[d].clat.max);
	}
	assert_int_equal(got, ios);
	assert_int_equal(sum(r->lat_ns, LAT_NS_CLASSES) + sum(r->lat_us, LAT_US_CLASSES) + sum(r->lat_ms, LAT_MS_CLASSES),
			 ios);
}

/* Depths, units per commit and per reap, counted by hand for 64 units. */
static void depths_and_batches(void **state)
{
	static const struct {
		unsigned depth, batch, min, max, low;
		uint64_t depths[DEPTH_CLASSES], submit[DEPTH_CLASSES], complete[DEPTH_CLASSES];
	} t[] = {
		/* One by one. */
		{ 1, 0, 1, 0, 0, { 64 }, { 0, 64 }, { 0, 64 } },
		/* 8 at once, then each that is over makes room for one; the engine gives one at a time. */
		{ 8, 0, 1, 0, 0, { 0, 0, 0, 64 }, { 0, 56, 1 }, { 0, 64 } },
		/* fio's default: submitted one by one, at a growing depth first. */
		{ 8, 1, 1, 0, 0, { 1, 2, 4, 57 }, { 0, 64 }, { 0, 64 } },
		{ 8, 4, 4, 0, 0, { 0, 0, 4, 60 }, { 0, 16 }, { 0, 16 } },
		{ 16, 8, 8, 8, 0, { 0, 0, 0, 8, 56 }, { 0, 0, 8 }, { 0, 0, 8 } },
		/* Down to 2 before it is filled up again: 8, then ten times 6 to 62, then 2 at a depth of 4. */
		{ 8, 0, 1, 0, 2, { 0, 0, 2, 62 }, { 0, 1, 10 }, { 0, 64 } },
	};
	struct text notes = {0};

	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct job job = job_of(RW_READ, t[i].depth);
		struct run_result r;

		job.iodepth_batch = t[i].batch;
		job.iodepth_batch_complete_min = t[i].min;
		job.iodepth_batch_complete_max = t[i].max;
		job.iodepth_low = t[i].low;
		run(*state, &job, &notes, &r);
		consistent(r.report[0], BLOCKS);
		assert_int_equal(fake.most, t[i].depth);
		assert_memory_equal(r.report[0]->depth, t[i].depths, sizeof(t[i].depths));
		assert_memory_equal(r.report[0]->submit, t[i].submit, sizeof(t[i].submit));
		assert_memory_equal(r.report[0]->complete, t[i].complete, sizeof(t[i].complete));
		run_result_free(&r);
	}
	text_free(&notes);
}

/* An engine that is often busy, takes little at a time and gives back the newest first. */
static void a_reluctant_engine(void **state)
{
	struct job job = job_of(RW_RANDMIXED, 32);
	struct text notes = {0};
	struct run_result r;

	fake.room = 3;
	fake.takes = 2;
	fake.newest_first = true;
	run(*state, &job, &notes, &r);
	consistent(r.report[0], BLOCKS);
	assert_int_equal(fake.most, 3);
	run_result_free(&r);
	text_free(&notes);
}

static void an_error_among_many(void **state)
{
	struct job job = job_of(RW_READ, 8);
	struct text notes = {0};
	struct run_result r;

	fake.fail_at = 20;
	fake.fail_with = EIO;
	run(*state, &job, &notes, &r);
	assert_int_equal(r.failed_jobs, 1);
	assert_int_equal(r.report[0]->failure.error, EIO);
	assert_non_null(strstr(text_get(&notes), "/data: Input/output error: read offset=77824, buflen=4096\n"));
	/* What was in flight came home and counts: 20 to 26, of which one failed. */
	assert_int_equal(fake.queued, 27);
	assert_int_equal(r.report[0]->dir[DDIR_READ].ios, 27);
	assert_int_equal(r.report[0]->dir[DDIR_READ].bytes, 26 * BS);
	run_result_free(&r);
	text_free(&notes);
}

/* EIO is let pass where the user says so, other errors never; errors of the other direction neither. */
static void errors_let_pass(void **state)
{
	static const struct {
		unsigned mask;
		int error;
		bool passes;
	} t[] = {
		{ CONTINUE_READ, EIO, true }, { CONTINUE_READ | CONTINUE_WRITE, EIO, true },
		{ CONTINUE_WRITE, EIO, false }, { CONTINUE_READ, EINVAL, false },
	};
	struct text notes = {0};

	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct job job = job_of(RW_READ, 8);
		struct run_result r;

		job.continue_on_error = t[i].mask;
		fake.fail_at = 20;
		fake.fail_with = (unsigned)t[i].error;
		run(*state, &job, &notes, &r);
		assert_int_equal(r.failed_jobs, !t[i].passes);
		assert_int_equal(r.report[0]->failure.error, t[i].passes ? 0 : t[i].error);
		assert_int_equal(r.report[0]->total_errors, 1);
		assert_int_equal(r.report[0]->first_error, t[i].error);
		if (t[i].passes) {
			assert_int_equal(r.report[0]->dir[DDIR_READ].ios, BLOCKS);
			assert_int_equal(r.report[0]->dir[DDIR_READ].bytes, (BLOCKS - 1) * BS);
		}
		run_result_free(&r);
	}
	text_free(&notes);
}

/* More to tell than there is room for: that it is so is told, once, and no line is cut. */
static void many_errors(void **state)
{
	static const char more[] = "kickio: further messages of this job are left out\n";
	struct job job = job_of(RW_READ, 8);
	struct text notes = {0};
	struct run_result r;
	const char *at;
	unsigned lines = 0;

	job.continue_on_error = CONTINUE_READ;
	fake.fails = true;
	run(*state, &job, &notes, &r);
	assert_int_equal(r.report[0]->total_errors, BLOCKS);
	at = strstr(text_get(&notes), "kickio: io_u error");
	assert_non_null(at);
	for (; strncmp(at, "kickio: io_u error on file ", 27) == 0; lines++) {
		const char *end = strchr(at, '\n');

		assert_memory_equal(end - strlen("buflen=4096"), "buflen=4096", strlen("buflen=4096"));
		at = end + 1;
	}
	assert_true(lines > 10 && lines < BLOCKS);
	assert_string_equal(at, more);
	run_result_free(&r);
	text_free(&notes);
}

static void a_short_transfer_goes_on(void **state)
{
	struct job job = job_of(RW_READ, 8);
	struct text notes = {0};
	struct run_result r;

	fake.half_at = 10;
	run(*state, &job, &notes, &r);
	consistent(r.report[0], BLOCKS);
	assert_int_equal(r.report[0]->dir[DDIR_READ].short_ios, 1);
	assert_int_equal(fake.queued, BLOCKS + 1);
	/* Its rest is queued when it has come back: after the seven that are in flight behind it. */
	assert_int_equal(fake.offset[18], 9 * BS + BS / 2);
	assert_int_equal(fake.length[18], BS / 2);
	run_result_free(&r);

	/* The rest fails. */
	job = job_of(RW_READ, 8);
	fake.half_at = 10;
	fake.fail_at = 18;
	fake.fail_with = EIO;
	run(*state, &job, &notes, &r);
	assert_int_equal(r.report[0]->failure.error, EIO);
	assert_non_null(strstr(text_get(&notes), "read offset=38912, buflen=2048\n"));
	run_result_free(&r);
	text_free(&notes);
}

/* 15 of 64 writes: none after the last. They count against the depth. */
static void flushes_in_between(void **state)
{
	struct text notes = {0};

	for (unsigned depth = 1; depth <= 8; depth *= 8) {
		struct job job = job_of(RW_WRITE, depth);
		struct run_result r;

		job.fsync = 4;
		run(*state, &job, &notes, &r);
		consistent(r.report[0], BLOCKS);
		assert_int_equal(fake.flushes, 15);
		assert_int_equal(r.report[0]->syncs, 15);
		assert_int_equal(r.report[0]->sync_lat.n, 15);
		assert_int_equal(fake.most, depth);
		assert_int_equal(sum(r.report[0]->depth, DEPTH_CLASSES), BLOCKS + 15);
		run_result_free(&r);
	}
	text_free(&notes);
}

/* Nothing comes back: the end of the run does not wait for it. */
static void a_hang_has_an_end(void **state)
{
	struct job job = job_of(RW_READ, 8);
	struct text notes = {0};
	struct run_result r;
	uint64_t start = clock_monotonic_ns();

	job.thread = false;
	job.runtime_us = 100000;
	fake.hangs = true;
	run(*state, &job, &notes, &r);
	assert_in_range(clock_monotonic_ns() - start, 400000000, 5000000000);
	assert_int_equal(r.failed_jobs, 1);
	assert_int_equal(r.report[0]->failure.error, ETIMEDOUT);
	assert_int_equal(r.report[0]->dir[DDIR_READ].ios, 0);
	assert_non_null(strstr(text_get(&notes), "kickio: job: I/O in flight has not come back for"));
	run_result_free(&r);
	text_free(&notes);
}

/* All latencies are within the target: the depth goes up to the most there is. One that is not: a lower depth. */
static void latency_target(void **state)
{
	struct job job = job_of(RW_READ, 32);
	struct text notes = {0};
	struct run_result r;

	job.time_based = true;
	job.runtime_us = 10000000;
	job.latency_target_us = 1000000;
	job.latency_window_us = 10000;
	job.latency_percentile = 99;
	run(*state, &job, &notes, &r);
	assert_int_equal(r.failed_jobs, 0);
	assert_int_equal(r.report[0]->latency_depth, 32);
	assert_true(r.elapsed_us < 5000000);
	assert_int_equal(fake.most, 32);
	run_result_free(&r);

	/* Not even a depth of 1 keeps one microsecond when a unit takes two thousand. */
	job = job_of(RW_READ, 32);
	job.time_based = true;
	job.runtime_us = 10000000;
	job.latency_target_us = 1000;
	job.latency_window_us = 100000;
	job.latency_percentile = 100;
	fake.over_at = 5;
	run(*state, &job, &notes, &r);
	assert_int_equal(r.report[0]->failure.error, ETIMEDOUT);
	assert_non_null(strstr(text_get(&notes), "latency_target=1000us is not met even at a depth of 1"));
	run_result_free(&r);
	text_free(&notes);
}

/* The most there is is too much, and one less is not: that is the depth, and the search is over. */
static void latency_target_one_below_the_most(void **state)
{
	struct job job = job_of(RW_READ, 4);
	struct text notes = {0};
	struct run_result r;

	fake.crowd = 4;
	job.time_based = true;
	job.runtime_us = 5000000;
	job.latency_target_us = 20000;
	job.latency_window_us = 50000;
	job.latency_percentile = 50;
	run(*state, &job, &notes, &r);
	assert_int_equal(r.failed_jobs, 0);
	assert_int_equal(r.report[0]->latency_depth, 3);
	assert_true(r.elapsed_us < 3000000);
	run_result_free(&r);
	text_free(&notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(depths_and_batches, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(a_reluctant_engine, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(an_error_among_many, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(many_errors, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(errors_let_pass, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(a_short_transfer_goes_on, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(flushes_in_between, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(a_hang_has_an_end, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(latency_target_one_below_the_most, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(latency_target, scratch_open, scratch_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
