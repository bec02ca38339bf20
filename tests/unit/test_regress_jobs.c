/* What a cell's guest is asked to run: which parts of the disk, in which blocks, past a cache and through it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/regress_jobs.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

static bool has(const struct regress_job *job, const char *word)
{
	for (size_t i = 0; i < job->argc; i++)
		if (!strcmp(job->argv[i], word))
			return true;
	return false;
}

static bool has_option(const struct regress_job *job, const char *name)
{
	for (size_t i = 0; i < job->argc; i++)
		if (!strncmp(job->argv[i], name, strlen(name)))
			return true;
	return false;
}

static void make(uint64_t bytes, unsigned block, bool readonly, const char *os, struct regress_jobs *jobs)
{
	struct matrix_cell cell = { .number = 1, .bytes = bytes, .block_size = block, .readonly = readonly };
	struct error e = { 0 };

	assert_int_equal(regress_jobs_make(&cell, os, jobs, &e), 0);
	assert_true(jobs->count > 0);
	for (size_t i = 0; i < jobs->count; i++)
		assert_true(has(&jobs->job[i], "--verify=crc32c"));
}

static void a_small_disk_is_one_area(void **state)
{
	struct regress_area a[REGRESS_AREAS];

	(void)state;
	assert_int_equal(regress_areas(512, a), 1);
	assert_int_equal(a[0].bytes, 512);
	assert_int_equal(regress_areas(64 * MIB, a), 1);
	assert_int_equal(a[0].offset, 0);
	assert_int_equal(a[0].bytes, 64 * MIB);
}

static void a_larger_one_has_its_ends(void **state)
{
	struct regress_area a[REGRESS_AREAS];

	(void)state;
	assert_int_equal(regress_areas(GIB + 512, a), 2);
	assert_int_equal(a[0].offset, 0);
	assert_int_equal(a[0].bytes, 4 * MIB);
	assert_int_equal(a[1].offset, GIB - 4 * MIB);
	assert_int_equal(a[1].offset + a[1].bytes, GIB + 512);
}

static void boundaries_near_the_end_are_one_area_with_it(void **state)
{
	struct regress_area a[REGRESS_AREAS];

	(void)state;
	assert_int_equal(regress_areas(2 * GIB - 512, a), 2);
	assert_int_equal(a[1].offset + a[1].bytes, 2 * GIB - 512);
	assert_int_equal(regress_areas(2 * GIB + 512, a), 2);
	assert_int_equal(a[1].offset, 2 * GIB - 4 * MIB);
	assert_int_equal(a[1].offset + a[1].bytes, 2 * GIB + 512);
	assert_int_equal(regress_areas(4 * GIB + 4096, a), 3);
	assert_int_equal(a[1].offset, 2 * GIB - 4 * MIB);
	assert_int_equal(a[1].bytes, 8 * MIB);
	assert_int_equal(a[2].offset + a[2].bytes, 4 * GIB + 4096);
}

static void of_a_huge_one_no_map_is_too_large(void **state)
{
	struct regress_area a[REGRESS_AREAS];
	struct regress_jobs jobs;

	(void)state;
	assert_int_equal(regress_areas(2048 * GIB + 512, a), 4);
	assert_int_equal(a[3].offset % (64 << 10), 0);
	assert_int_equal(a[3].bytes % (16 << 10), 0);
	assert_int_equal(a[3].offset + a[3].bytes, 2048 * GIB);
	make(2048 * GIB + 512, 512, false, "Linux", &jobs);
	for (size_t i = 0; i < jobs.count; i++)
		if (strstr(jobs.job[i].name, "its end"))
			assert_true(has(&jobs.job[i], "--bssplit=16k/70:64k/30"));
	regress_jobs_free(&jobs);
}

static void linux_goes_both_ways_and_deep(void **state)
{
	struct regress_jobs jobs;
	unsigned direct = 0, buffered = 0, last = 0, several = 0, deep = 0, alone = 0;

	(void)state;
	make(64 * MIB, 512, false, "Linux", &jobs);
	for (size_t i = 0; i < jobs.count; i++) {
		const struct regress_job *j = &jobs.job[i];

		*(has(j, "--direct=1") ? &direct : &buffered) += 1;
		last += j->last;
		several += has(j, "--numjobs=4") && has(j, "--offset_increment=16777216") && has(j, "--size=16777216");
		deep += has(j, "--iodepth=32") && has(j, "--ioengine=libaio");
		alone += has(j, "--iodepth=1");
		assert_true(has(j, "--bssplit=512/5:1k/5:4k/50:16k/30:64k/10"));
	}
	assert_true(direct && buffered && several && deep && alone);
	assert_int_equal(last, 1);
	assert_true(jobs.job[jobs.count - 1].last);
	assert_true(has(&jobs.job[jobs.count - 1], "--size=67108864"));
	assert_false(has_option(&jobs.job[jobs.count - 1], "--io_size="));
	regress_jobs_free(&jobs);
}

static void no_block_is_smaller_than_the_disks(void **state)
{
	struct regress_jobs jobs;

	(void)state;
	make(64 * MIB, 4096, false, "Linux", &jobs);
	for (size_t i = 0; i < jobs.count; i++)
		assert_true(has(&jobs.job[i], "--bssplit=4k/55:16k/30:64k/15"));
	regress_jobs_free(&jobs);
}

static void one_sector_is_written_as_one(void **state)
{
	struct regress_jobs jobs;

	(void)state;
	make(512, 512, false, "Linux", &jobs);
	for (size_t i = 0; i < jobs.count; i++) {
		assert_true(has(&jobs.job[i], "--bs=512"));
		assert_true(has(&jobs.job[i], "--size=512"));
		assert_false(has_option(&jobs.job[i], "--numjobs="));
	}
	regress_jobs_free(&jobs);
}

static void other_systems_get_what_they_have(void **state)
{
	struct regress_jobs jobs;

	(void)state;
	make(64 * MIB, 512, false, "OpenBSD", &jobs);
	for (size_t i = 0; i < jobs.count; i++) {
		assert_true(has(&jobs.job[i], "--ioengine=psync"));
		assert_true(has(&jobs.job[i], "--iodepth=1"));
		assert_false(has_option(&jobs.job[i], "--direct="));
	}
	regress_jobs_free(&jobs);
	make(64 * MIB, 512, false, "FreeBSD", &jobs);
	assert_true(has(&jobs.job[jobs.count - 1], "--ioengine=posixaio"));
	assert_true(has(&jobs.job[jobs.count - 1], "--iodepth=32"));
	regress_jobs_free(&jobs);
}

static void nothing_is_written_to_a_disk_for_reading(void **state)
{
	struct regress_jobs jobs;

	(void)state;
	make(64 * MIB, 512, true, "Linux", &jobs);
	for (size_t i = 0; i < jobs.count; i++)
		assert_true(has(&jobs.job[i], "--rw=read") || has(&jobs.job[i], "--rw=randread"));
	assert_true(has(&jobs.job[jobs.count - 1], "--rw=read"));
	regress_jobs_free(&jobs);
}

static bool did(const char *result, uint64_t bytes, bool writes)
{
	json_t *fio = json_loads(result, 0, NULL);
	char why[200] = "";
	bool done = regress_job_did(fio, bytes, writes, why, sizeof(why));

	assert_int_equal(done, *why == '\0');
	json_decref(fio);
	return done;
}

#define DID(read, written) "{\"jobs\":[{\"read\":{\"io_bytes\":" read "},\"write\":{\"io_bytes\":" written "}}]}"

/* It ended well, and that says nothing. */
static void a_job_that_did_nothing_is_none(void **state)
{
	(void)state;
	assert_true(did(DID("4096", "4096"), 4096, true));
	assert_true(did(DID("1500000", "600000"), 2 * MIB, true)); /* reads and writes at random */
	assert_true(did(DID("512", "0"), 512, false));
	assert_false(did(DID("0", "0"), 4096, true));
	assert_false(did(DID("0", "4096"), 4096, true)); /* never read back */
	assert_false(did(DID("4096", "0"), 4096, true));
	assert_false(did(DID("4096", "4096"), 2 * MIB, true));
	assert_false(did(DID("0", "0"), 512, false));
	assert_false(did("{\"jobs\":[]}", 512, false));
	assert_false(did("null", 512, true));
}

static void what_a_job_is_to_do_is_known(void **state)
{
	struct regress_jobs jobs;

	(void)state;
	make(64 * MIB, 512, false, "Linux", &jobs);
	for (size_t i = 0; i < jobs.count; i++)
		assert_int_equal(jobs.job[i].bytes, jobs.job[i].last ? 64 * MIB : has(&jobs.job[i], "--numjobs=4") ? 4 * MIB : 2 * MIB);
	regress_jobs_free(&jobs);
}

/* Whether a write is refused is only known when one was tried: on a disk for reading, too. */
static void the_edges_are_asked_for_with_consent(void **state)
{
	struct matrix_option options[] = { { .name = (char *)"write_cache" }, { .name = (char *)"queues" } };
	struct matrix matrix = { .option = options, .noptions = 2 };
	struct matrix_cell cell = { .number = 1, .bytes = 64 * MIB, .block_size = 4096, .write_cache = true };

	(void)state;
	for (int readonly = 0; readonly < 2; readonly++) {
		struct regress_jobs jobs;

		cell.readonly = readonly;
		assert_int_equal(regress_jobs_check(&matrix, &cell, "kb-disk0", &jobs, &(struct error){ 0 }), 0);
		assert_int_equal(jobs.count, 1);
		assert_true(has(&jobs.job[0], "--destroy=1"));
		assert_true(has(&jobs.job[0], readonly ? "--readonly=1" : "--readonly=0"));
		assert_true(has(&jobs.job[0], "--size=67108864") && has(&jobs.job[0], "--sector=4096"));
		assert_true(has(&jobs.job[0], "--write-cache=1"));
		assert_false(has(&jobs.job[0], "--discard=")); /* nobody has chosen it */
		regress_jobs_free(&jobs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_disk_is_one_area),
		cmocka_unit_test(a_larger_one_has_its_ends),
		cmocka_unit_test(boundaries_near_the_end_are_one_area_with_it),
		cmocka_unit_test(of_a_huge_one_no_map_is_too_large),
		cmocka_unit_test(linux_goes_both_ways_and_deep),
		cmocka_unit_test(no_block_is_smaller_than_the_disks),
		cmocka_unit_test(one_sector_is_written_as_one),
		cmocka_unit_test(other_systems_get_what_they_have),
		cmocka_unit_test(nothing_is_written_to_a_disk_for_reading),
		cmocka_unit_test(a_job_that_did_nothing_is_none),
		cmocka_unit_test(what_a_job_is_to_do_is_known),
		cmocka_unit_test(the_edges_are_asked_for_with_consent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
