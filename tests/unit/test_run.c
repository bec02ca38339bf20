#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/clock.h"
#include "guest/os.h"
#include "guest/run.h"
#include "guest/text.h"

#define BLOCKS 256

static char folder[256];

/* What the hooks saw of a run. */
struct seen {
	struct text order; /* b begin, p progress, e end */
	struct text notes;
	struct progress last;
	uint64_t begin_ns, end_ns;
	unsigned terminate_after; /* progress calls; 0 never */
	unsigned nprogress;
};

static void on_begin(void *context)
{
	struct seen *s = context;

	text_add(&s->order, "b");
	s->begin_ns = clock_monotonic_ns();
}

static void on_progress(void *context, const struct progress *p)
{
	struct seen *s = context;

	text_add(&s->order, "p");
	s->last = *p;
	s->last.states = NULL;
	if (++s->nprogress == s->terminate_after)
		run_terminate(SIGINT);
}

static void on_end(void *context)
{
	struct seen *s = context;

	text_add(&s->order, "e");
	s->end_ns = clock_monotonic_ns();
}

static void on_note(void *context, const char *line)
{
	text_add(&((struct seen *)context)->notes, "%s\n", line);
}

static struct job job_of(enum rw rw)
{
	return (struct job){ .name = "job", .rw = rw, .rwmixread = 50, .percentage_random = { 100, 100, 100 },
			     .scramble_buffers = true, .bs = { 4096, 4096, 4096 },
			     .size.bytes = BLOCKS * 4096, .directory = folder, .filename = "data", .numjobs = 1,
			     .engine = engine_find("psync"), .iodepth = 1, .randrepeat = true, .invalidate = true };
}

static void run(struct job *job, size_t count, struct seen *s, struct run_result *r)
{
	struct jobs jobs = { .job = job, .count = count };
	struct run_hooks hooks = { .context = s, .begin = on_begin, .progress = on_progress, .interval_us = 50000,
				   .end = on_end, .note = on_note };
	struct error e = {0};

	if (run_jobs(&jobs, &hooks, r, &e) < 0)
		fail_msg("%s", e.text);
}

static void seen_free(struct seen *s)
{
	text_free(&s->order);
	text_free(&s->notes);
}

static void consistent(const struct job_result *r)
{
	uint64_t classes = 0, ios = 0;

	for (unsigned i = 0; i < LAT_NS_CLASSES; i++)
		classes += r->lat_ns[i] + r->lat_us[i];
	for (unsigned i = 0; i < LAT_MS_CLASSES; i++)
		classes += r->lat_ms[i];
	for (unsigned d = 0; d < DDIRS; d++) {
		ios += r->dir[d].ios;
		assert_int_equal(r->dir[d].clat.n, r->dir[d].ios);
		assert_int_equal(histogram_total(&r->dir[d].clat_histogram), r->dir[d].ios);
	}
	assert_int_equal(classes, ios);
	assert_int_equal(r->depth[0], ios + r->syncs);
}

/* One pass of each pattern with both engines, in a process and in a thread. */
static void one_pass(void **state)
{
	static const enum rw patterns[] = { RW_READ, RW_WRITE, RW_RANDREAD, RW_RANDWRITE, RW_MIXED, RW_RANDMIXED };

	(void)state;
	for (unsigned i = 0; i < 24; i++) {
		struct job job = job_of(patterns[i % 6]);
		struct seen s = {0};
		struct run_result r;
		const struct direction *d;

		job.thread = i >= 12;
		job.engine = engine_find(i % 12 < 6 ? "sync" : "psync");
		run(&job, 1, &s, &r);
		d = r.report[0]->dir;
		assert_int_equal(r.nreports, 1);
		assert_int_equal(r.failed_jobs, 0);
		assert_int_equal(d[DDIR_READ].ios + d[DDIR_WRITE].ios, BLOCKS);
		assert_int_equal(d[DDIR_READ].bytes + d[DDIR_WRITE].bytes, BLOCKS * 4096);
		assert_true(rw_reads(job.rw) == (d[DDIR_READ].ios > 0));
		assert_true(rw_writes(job.rw) == (d[DDIR_WRITE].ios > 0));
		consistent(r.report[0]);
		assert_string_equal(text_get(&s.order), "be");
		run_result_free(&r);
		seen_free(&s);
	}
}

/* An engine that keeps what it is asked for. Jobs that use it are threads. */
static struct {
	uint64_t offset[4096];
	int fd[4096];
	unsigned n, syncs;
	int fail_at, fail_with; /* fail_with -1: move nothing, -2: half of it */
} asked;

static enum engine_queued recorder_queue(void *state, struct io *io)
{
	(void)state;
	io->error = 0;
	io->moved = io->length;
	if (io->ddir == DDIR_SYNC) {
		asked.syncs++;
		return ENGINE_DONE;
	}
	asked.fd[asked.n % 4096] = io->fd;
	asked.offset[asked.n++ % 4096] = io->offset;
	if ((int)asked.n == asked.fail_at) {
		io->error = asked.fail_with > 0 ? asked.fail_with : 0;
		io->moved = asked.fail_with == -2 ? io->length / 2 : 0;
	}
	return ENGINE_DONE;
}

static const struct engine recorder = { .name = "recorder", .synchronous = true, .queue = recorder_queue };

static struct job recorded(enum rw rw)
{
	struct job job = job_of(rw);

	memset(&asked, 0, sizeof(asked));
	job.thread = true;
	job.engine = &recorder;
	return job;
}

static void simple_run(struct job job, struct run_result *r)
{
	struct seen s = {0};

	run(&job, 1, &s, r);
	seen_free(&s);
}

static void offsets_cover_the_file(void **state)
{
	unsigned char hit[BLOCKS] = {0};
	struct job job = recorded(RW_RANDREAD);
	struct run_result r;

	(void)state;
	simple_run(job, &r);
	assert_int_equal(asked.n, BLOCKS);
	for (unsigned i = 0; i < BLOCKS; i++)
		assert_int_equal(hit[asked.offset[i] / 4096]++, 0);
	run_result_free(&r);
}

static void seeds_rule_offsets(void **state)
{
	uint64_t first[BLOCKS], second[BLOCKS];
	struct run_result r;
	struct job job;

	(void)state;
	for (unsigned k = 0; k < 5; k++) {
		job = recorded(RW_RANDREAD);
		job.randseed_set = k == 1 || k == 2;
		job.randseed = 7;
		job.randrepeat = k < 3;
		simple_run(job, &r);
		run_result_free(&r);
		memcpy(second, asked.offset, sizeof(second));
		if (k == 0 || k == 1 || k == 3 || k == 4) {
			if (k)
				assert_memory_not_equal(first, second, sizeof(first));
		} else {
			assert_memory_equal(first, second, sizeof(first));
		}
		memcpy(first, second, sizeof(first));
	}
}

static void limits(void **state)
{
	struct run_result r;
	struct job job = recorded(RW_READ);

	(void)state;
	job.number_ios = 10;
	simple_run(job, &r);
	assert_int_equal(r.report[0]->dir[DDIR_READ].ios, 10);
	run_result_free(&r);

	job = recorded(RW_RANDREAD);
	job.io_size.bytes = 3 * BLOCKS * 4096;
	simple_run(job, &r);
	assert_int_equal(r.report[0]->dir[DDIR_READ].ios, 3 * BLOCKS);
	/* The second pass is in another order. */
	assert_memory_not_equal(asked.offset, asked.offset + BLOCKS, BLOCKS * sizeof(asked.offset[0]));
	run_result_free(&r);

	job = recorded(RW_WRITE);
	job.io_size.bytes = 100 * 1024;
	simple_run(job, &r);
	assert_int_equal(r.report[0]->dir[DDIR_WRITE].ios, 25);
	run_result_free(&r);

	job = recorded(RW_RANDREAD);
	job.size.bytes = BLOCKS * 4096 - 1;
	simple_run(job, &r);
	assert_int_equal(r.report[0]->dir[DDIR_READ].ios, BLOCKS - 1);
	run_result_free(&r);
}

static void syncs_between_writes(void **state)
{
	struct job job = recorded(RW_WRITE);
	struct run_result r;

	(void)state;
	job.size.bytes = 64 * 4096;
	job.fsync = 4;
	simple_run(job, &r);
	assert_int_equal(asked.syncs, 15); /* none after the last write */
	assert_int_equal(r.report[0]->syncs, 15);
	assert_int_equal(r.report[0]->sync_lat.n, 15);
	consistent(r.report[0]);
	run_result_free(&r);
}

static void files_take_turns(void **state)
{
	struct job job = recorded(RW_READ);
	struct run_result r;

	(void)state;
	job.filename = "one:two:three";
	job.size.bytes = 30 * 4096;
	simple_run(job, &r);
	assert_int_equal(asked.n, 30);
	for (unsigned i = 3; i < 30; i++) {
		assert_int_equal(asked.fd[i], asked.fd[i - 3]);
		assert_int_equal(asked.offset[i], i / 3 * 4096);
	}
	run_result_free(&r);
}

static void failures_are_told(void **state)
{
	struct job job = recorded(RW_READ);
	struct run_result r;
	struct seen s = {0};

	(void)state;
	asked.fail_at = 5;
	asked.fail_with = EIO;
	run(&job, 1, &s, &r);
	assert_int_equal(r.failed_jobs, 1);
	assert_int_equal(r.report[0]->failure.error, EIO);
	assert_string_equal(r.report[0]->failure.function, "io_u error");
	assert_int_equal(strncmp(r.report[0]->failure.where, "worker_unit.c:", 14), 0);
	assert_int_equal(r.report[0]->dir[DDIR_READ].ios, 5);
	assert_int_equal(r.report[0]->dir[DDIR_READ].bytes, 4 * 4096);
	assert_non_null(strstr(text_get(&s.notes), "/data: Input/output error: read offset=16384, buflen=4096\n"));
	assert_non_null(strstr(text_get(&s.notes), "err=5/file:worker_unit.c:"));
	run_result_free(&r);
	seen_free(&s);

	job = recorded(RW_READ);
	asked.fail_at = 5;
	asked.fail_with = -1;
	simple_run(job, &r);
	assert_int_equal(r.report[0]->failure.error, EIO);
	assert_string_equal(r.report[0]->failure.function, "full resid");
	run_result_free(&r);

	job = recorded(RW_READ);
	asked.fail_at = 5;
	asked.fail_with = -2;
	simple_run(job, &r);
	assert_int_equal(r.failed_jobs, 0);
	assert_int_equal(r.report[0]->dir[DDIR_READ].ios, BLOCKS);
	assert_int_equal(r.report[0]->dir[DDIR_READ].short_ios, 1);
	assert_int_equal(asked.offset[5], 4 * 4096 + 2048);
	assert_int_equal(asked.offset[6], 5 * 4096);
	run_result_free(&r);
}

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
	assert_true(s.end_ns - s.begin_ns >= 1350000000);
	assert_true(r.elapsed_us >= 1700000);
	for (unsigned i = 0; i < 2; i++) {
		d = &r.report[i]->dir[DDIR_READ];
		assert_true(d->runtime_us >= 1400000 && d->runtime_us < 1600000);
		assert_true(d->ios > BLOCKS);
		assert_int_equal(d->bw.n, 2);
		assert_true(d->iops.min > 0 && d->bw.max >= d->bw.min);
		/* The two windows cover 1.0 of 1.4 s: their mean is near the whole. */
		assert_true(d->iops.mean > 0.3 * (double)d->ios / 1.4 && d->iops.mean < 3 * (double)d->ios / 1.4);
		consistent(r.report[i]);
	}
	assert_true(strstr(text_get(&s.order), "pbp") != NULL);
	assert_int_equal(s.last.running, 2);
	assert_int_equal(s.last.files, 2);
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
	assert_string_equal(text_get(&s.order), "be");
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

/* Written blocks: random, each different from all others, at their places. */
static void writes_differ(void **state)
{
	struct job job = job_of(RW_RANDWRITE);
	unsigned char *bytes = malloc(BLOCKS * 4096);
	char path[512];
	struct run_result r;
	int fd;

	(void)state;
	job.filename = "written";
	job.end_fsync = true;
	simple_run(job, &r);
	assert_int_equal(r.failed_jobs, 0);
	assert_int_equal(r.report[0]->syncs, 0);
	run_result_free(&r);
	snprintf(path, sizeof(path), "%s/written", folder);
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, bytes, BLOCKS * 4096), BLOCKS * 4096);
	close(fd);
	for (unsigned a = 0; a < BLOCKS; a++)
		for (unsigned b = 0; b < a; b++)
			for (unsigned s = 0; s < 4096; s += 512)
				assert_memory_not_equal(bytes + a * 4096 + s, bytes + b * 4096 + s, 512);
	free(bytes);
}

static int make_folder(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/kb-run.XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_pass),
		cmocka_unit_test(offsets_cover_the_file),
		cmocka_unit_test(seeds_rule_offsets),
		cmocka_unit_test(limits),
		cmocka_unit_test(syncs_between_writes),
		cmocka_unit_test(files_take_turns),
		cmocka_unit_test(failures_are_told),
		cmocka_unit_test(a_dying_process_is_a_failed_job),
		cmocka_unit_test(many_jobs_in_groups),
		cmocka_unit_test(ramp_is_not_recorded),
		cmocka_unit_test(a_signal_ends_the_run),
		cmocka_unit_test(stonewall_waits),
		cmocka_unit_test(setup_failures_leave_others_alone),
		cmocka_unit_test(writes_differ),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
