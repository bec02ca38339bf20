/* What one job does: offsets, limits, flushes, files, failures, data. */
#include <errno.h>
#include <fcntl.h>

#include "tests/unit/run_bench.h"

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
		begun_and_ended(&s);
		run_result_free(&r);
		seen_free(&s);
	}
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
		cmocka_unit_test(writes_differ),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
