/* Each engine of this build with real files: what is moved, what is counted, and how a run ends. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
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
#define BLOCKS 256u

struct seen {
	struct text notes;
	unsigned terminate_after, progress;
	uint64_t begin_ns;
};

static void on_note(void *context, const char *line)
{
	text_add(&((struct seen *)context)->notes, "%s\n", line);
}

static void on_progress(void *context, const struct progress *p)
{
	struct seen *s = context;

	(void)p;
	if (++s->progress == s->terminate_after)
		run_terminate(SIGINT);
}

static void on_begin(void *context)
{
	((struct seen *)context)->begin_ns = clock_monotonic_ns();
}

static struct job job_of(struct scratch *s, enum rw rw, const struct engine *engine, unsigned depth)
{
	return (struct job){ .name = "job", .rw = rw, .rwmixread = 50, .bs = { BS, BS, BS }, .size.bytes = BLOCKS * BS,
			     .directory = s->folder, .filename = "data", .numjobs = 1, .engine = engine,
			     .iodepth = depth, .iodepth_batch_complete_min = 1, .randrepeat = true,
			     .nonvectored = true, .scramble_buffers = true, .percentage_random = { 100, 100, 100 } };
}

static void run(struct job *job, size_t count, struct seen *s, struct run_result *r)
{
	struct jobs jobs = { .job = job, .count = count };
	struct run_hooks hooks = { .context = s, .begin = on_begin, .progress = on_progress, .interval_us = 50000,
				   .note = on_note };
	struct error e = {0};

	if (run_jobs(&jobs, &hooks, r, &e) < 0)
		fail_msg("%s", e.text);
	if (strstr(text_get(&s->notes), "io_uring_setup")) {
		print_message("%s", text_get(&s->notes));
		skip();
	}
}

static void counts(const struct job_result *r, uint64_t ios)
{
	uint64_t got = 0;

	assert_int_equal(r->failure.error, 0);
	for (unsigned d = 0; d < DDIRS; d++) {
		const struct direction *dir = &r->dir[d];

		got += dir->ios;
		assert_int_equal(dir->bytes, dir->ios * BS);
		assert_int_equal(dir->clat.n, dir->ios);
		assert_int_equal(dir->lat.n, dir->ios);
		assert_int_equal(histogram_total(&dir->clat_histogram), dir->ios);
	}
	assert_int_equal(got, ios);
}

static void fill(struct scratch *s, unsigned char byte)
{
	static unsigned char data[BLOCKS * BS];

	memset(data, byte, sizeof(data));
	scratch_bytes(s, "data", data, sizeof(data));
}

/* Did a write change each block of what was all ones? */
static unsigned changed(struct scratch *s)
{
	static unsigned char block[BS];
	int fd = open(scratch_path(s, "data"), O_RDONLY);
	unsigned n = 0;

	assert_true(fd >= 0);
	while (read(fd, block, BS) == BS) {
		unsigned i = 0;

		while (i < BS && block[i] == 0xff)
			i++;
		n += i < BS;
	}
	close(fd);
	return n;
}

/* All engines, patterns, depths, as processes and threads. */
static void one_pass(void **state)
{
	static const unsigned depths[] = { 1, 3, 256 };
	static const enum rw patterns[] = { RW_READ, RW_RANDWRITE, RW_RANDMIXED };

	for (unsigned e = 0; engines[e]; e++) {
		for (unsigned i = 0; i < 9; i++) {
			struct job job = job_of(*state, patterns[i % 3], engines[e], depths[i / 3]);
			struct seen s = {0};
			struct run_result r;

			job.thread = (i & 1) && strcmp(engines[e]->name, "posixaio") != 0;
			fill(*state, 0xff);
			run(&job, 1, &s, &r);
			counts(r.report[0], BLOCKS);
			if (job.rw == RW_RANDWRITE && strcmp(engines[e]->name, "null") != 0)
				assert_int_equal(changed(*state), BLOCKS);
			run_result_free(&r);
			text_free(&s.notes);
		}
	}
}

/* Each option of an engine that works on any file. */
static void options_of_engines(void **state)
{
	const struct engine *uring = engine_find("io_uring"), *pvsync2 = engine_find("pvsync2");

	if (!uring || !pvsync2)
		skip();
	for (unsigned i = 0; i < 6; i++) {
		struct job job = job_of(*state, RW_RANDMIXED, i < 5 ? uring : pvsync2, 16);
		struct seen s = {0};
		struct run_result r;

		job.fixedbufs = i == 0 || i == 3;
		job.registerfiles = i == 1 || i == 3;
		job.nonvectored = i != 2;
		job.sqthread_poll = i == 4;
		job.hipri = i == 5;
		job.fdatasync = 10;
		fill(*state, 0xff);
		run(&job, 1, &s, &r);
		counts(r.report[0], BLOCKS);
		assert_int_equal(changed(*state), r.report[0]->dir[DDIR_WRITE].ios);
		assert_int_equal(r.report[0]->syncs, (r.report[0]->dir[DDIR_WRITE].ios - 1) / 10);
		run_result_free(&r);
		text_free(&s.notes);
	}
}

/* The file is shorter than the region: its end is an error of one unit, by each engine. */
static void an_error_of_a_unit(void **state)
{
	for (unsigned e = 0; engines[e]; e++) {
		struct job job = job_of(*state, RW_READ, engines[e], 8);
		struct seen s = {0};
		struct run_result r;

		if (strcmp(engines[e]->name, "null") == 0)
			continue;
		fill(*state, 1);
		job.bs[DDIR_READ] = 1000; /* not a whole number of sectors */
		job.direct = true;
		run(&job, 1, &s, &r);
		/* A file system without direct I/O refuses the open; one that takes any length is rare, but right. */
		if (r.failed_jobs)
			assert_int_equal(r.report[0]->failure.error, EINVAL);
		run_result_free(&r);
		text_free(&s.notes);
	}
}

/* 64 jobs with 256 units each on one file, as threads and as processes. */
static void many_jobs_many_units(void **state)
{
	for (unsigned e = 0; engines[e]; e++) {
		struct job job = job_of(*state, RW_RANDREAD, engines[e], engines[e]->synchronous ? 1 : 256);
		struct seen s = {0};
		struct run_result r;

		/* Its threads would be thousands. */
		if (strcmp(engines[e]->name, "posixaio") == 0)
			continue;
		job.bs[DDIR_READ] = 512;
		job.numjobs = 64;
		job.thread = e & 1;
		job.group_reporting = true;
		fill(*state, 1);
		run(&job, 1, &s, &r);
		/* fs.aio-max-nr may be too small for all of them. */
		if (!strstr(text_get(&s.notes), "aio-max-nr")) {
			assert_int_equal(r.failed_jobs, 0);
			assert_int_equal(r.report[0]->members, 64);
			assert_int_equal(r.report[0]->dir[DDIR_READ].ios, 64 * BLOCKS * 8);
			assert_int_equal(r.report[0]->dir[DDIR_READ].bytes, 64 * BLOCKS * BS);
		}
		run_result_free(&r);
		text_free(&s.notes);
	}
}

/* number_ios, a ramp, a runtime and a signal end it with nothing lost: every unit that came back is counted. */
static void ends(void **state)
{
	for (unsigned e = 0; engines[e]; e++) {
		struct job job = job_of(*state, RW_RANDREAD, engines[e], 32);
		struct seen s = {0};
		struct run_result r;

		fill(*state, 1);
		job.number_ios = 100;
		run(&job, 1, &s, &r);
		counts(r.report[0], 100);
		run_result_free(&r);

		job.number_ios = 0;
		job.time_based = true;
		job.ramp_us = 50000;
		job.runtime_us = 100000;
		run(&job, 1, &s, &r);
		counts(r.report[0], r.report[0]->dir[DDIR_READ].ios);
		assert_in_range(r.report[0]->runtime_ms, 100, 5000); /* a busy host stops late */
		run_result_free(&r);

		job.runtime_us = 60000000;
		s.progress = 0;
		s.terminate_after = 3;
		run(&job, 1, &s, &r);
		counts(r.report[0], r.report[0]->dir[DDIR_READ].ios);
		assert_int_equal(r.signal, SIGINT);
		assert_int_equal(r.failed_jobs, 128);
		assert_true(r.elapsed_us < 5000000);
		run_result_free(&r);
		text_free(&s.notes);
	}
}

static void within(uint64_t got, uint64_t least, uint64_t most)
{
	if (got < least || got > most)
		fail_msg("%llu is not within %llu and %llu", (unsigned long long)got, (unsigned long long)least,
			 (unsigned long long)most);
}

/* 0.5 s at 200 reads and 100 writes; then pauses of 10 ms after every 4. */
static void paces(void **state)
{
	static const char *const names[] = { "psync", "null" };

	for (unsigned i = 0; i < 4; i++) {
		uint64_t least[2] = { i % 2 ? 60 : 95, i % 2 ? 22 : 45 }, ios[2] = {0};
		struct job job = job_of(*state, RW_RANDMIXED, engine_find(names[i / 2]), 4);
		struct seen s = {0};
		struct run_result r;

		fill(*state, 1);
		job.time_based = true;
		job.runtime_us = 500000;
		job.rate_process = i % 2 ? RATE_POISSON : RATE_LINEAR;
		job.rate_iops[DDIR_READ] = 200;
		job.rate[DDIR_WRITE] = 100 * BS;
		/* A host that stands still just before the end loses what was due then: another try. */
		for (unsigned try = 0; try < 3 && (ios[0] < least[0] || ios[1] < least[1]); try++) {
			run(&job, 1, &s, &r);
			ios[0] = r.report[0]->dir[DDIR_READ].ios;
			ios[1] = r.report[0]->dir[DDIR_WRITE].ios;
			run_result_free(&r);
			/* Linear: one at once, then one per interval. Random gaps: 4 standard deviations of a count. */
			within(ios[0], 0, i % 2 ? 140 : 101);
			within(ios[1], 0, i % 2 ? 78 : 51);
		}
		within(ios[0], least[0], 140);
		within(ios[1], least[1], 78);

		job = job_of(*state, RW_READ, engine_find(names[i / 2]), 4);
		job.time_based = true;
		job.runtime_us = 300000;
		job.thinktime_us = 10000;
		job.thinktime_spin_us = i % 2 ? 3000 : 0;
		job.thinktime_blocks = 4;
		run(&job, 1, &s, &r);
		within(r.report[0]->dir[DDIR_READ].ios, 4, 31 * 4);
		run_result_free(&r);
		text_free(&s.notes);
	}
}

/* The end of the short one ends the long one of its group, and only that. */
static void exitall(void **state)
{
	struct seen s = {0};
	struct run_result r;

	fill(*state, 1);
	for (unsigned on_error = 0; on_error < 2; on_error++) {
		struct job job[3];

		for (unsigned i = 0; i < 3; i++) {
			job[i] = job_of(*state, RW_RANDREAD, engine_find("psync"), 1);
			job[i].time_based = true;
			job[i].runtime_us = i == 0 ? 20000000 : 200000;
		}
		job[1].exitall = !on_error;
		job[1].exitall_on_error = on_error;
		job[1].runtime_us = 50000;
		job[2].groupid = 1;
		if (on_error) {
			job[1].filename = "nothing/there";
			job[1].directory = "/nonexistent";
		}
		run(job, 3, &s, &r);
		assert_true(r.elapsed_us < 5000000);
		assert_int_equal(r.failed_jobs, on_error);
		within(r.report[2]->runtime_ms, 200, 5000);
		run_result_free(&r);
	}
	text_free(&s.notes);
}

/* The run begins when the first job does. */
static void startdelay(void **state)
{
	struct job job = job_of(*state, RW_READ, engine_find("psync"), 1);
	struct seen s = {0};
	struct run_result r;
	uint64_t start, end;

	fill(*state, 1);
	job.startdelay_us = (struct range){ 200000, 300000 };
	start = clock_monotonic_ns();
	run(&job, 1, &s, &r);
	end = clock_monotonic_ns();
	within((s.begin_ns - start) / 1000, 200000, 5000000);
	within((end - start) / 1000, 200000, 10000000);
	counts(r.report[0], BLOCKS);
	/* The delay is no part of it. */
	within(r.report[0]->runtime_ms, 0, (end - start) / 1000000 - 200 + 1);
	run_result_free(&r);
	text_free(&s.notes);
}

/* What is not measured is not shown; what is asked for is. */
static void measures(void **state)
{
	const struct engine *engine = engine_find("null");
	struct job job = job_of(*state, RW_READ, engine, 16);
	struct seen s = {0};
	struct run_result r;
	const struct direction *d;

	fill(*state, 1);
	job.slat_percentiles = job.lat_percentiles = true;
	run(&job, 1, &s, &r);
	d = &r.report[0]->dir[DDIR_READ];
	assert_int_equal(histogram_total(d->slat_histogram), BLOCKS);
	assert_int_equal(histogram_total(d->lat_histogram), BLOCKS);
	run_result_free(&r);

	job.engine = engine_find("psync");
	run(&job, 1, &s, &r);
	d = &r.report[0]->dir[DDIR_READ];
	assert_int_equal(histogram_total(d->slat_histogram), 0);
	assert_memory_equal(d->lat_histogram, &d->clat_histogram, sizeof(d->clat_histogram));
	run_result_free(&r);

	job.engine = engine;
	job.gtod_reduce = job.disable_lat = job.disable_clat = job.disable_slat = true;
	run(&job, 1, &s, &r);
	d = &r.report[0]->dir[DDIR_READ];
	assert_int_equal(d->ios, BLOCKS);
	assert_int_equal(d->slat.n + d->clat.n + d->lat.n + histogram_total(&d->clat_histogram), 0);
	run_result_free(&r);
	text_free(&s.notes);
}

/* The last test: what glibc cannot do after it is said instead of waiting for ever. */
static void posixaio_in_threads_then_processes(void **state)
{
	const struct engine *engine = engine_find("posixaio");
	struct job job = job_of(*state, RW_READ, engine, 8);
	struct seen s = {0};
	struct run_result r;

	if (!engine)
		skip();
	fill(*state, 1);
	job.thread = true;
	run(&job, 1, &s, &r);
	counts(r.report[0], BLOCKS);
	run_result_free(&r);
#ifdef __GLIBC__
	job.thread = false;
	run(&job, 1, &s, &r);
	assert_int_equal(r.failed_jobs, 1);
	holds(text_get(&s.notes), "use the option thread for all such jobs");
	run_result_free(&r);
#endif
	text_free(&s.notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_pass, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(options_of_engines, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(an_error_of_a_unit, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(many_jobs_many_units, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(ends, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(paces, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(exitall, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(startdelay, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(measures, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(posixaio_in_threads_then_processes, scratch_open, scratch_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
