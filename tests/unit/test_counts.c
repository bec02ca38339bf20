/* How many I/Os a line does and what its files are afterwards: the numbers are those of fio 3.33. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>

#include <cmocka.h>

#include "guest/run.h"
#include "tests/unit/line.h"
#include "tests/unit/scratch.h"

#define BLOCK 65536

static void ignore_note(void *context, const char *line)
{
	(void)context;
	(void)line;
}

/* Runs a line in the scratch folder; I/Os of all its clones together. */
static uint64_t run_line(struct scratch *s, const char *words, uint64_t *bytes)
{
	struct run_hooks hooks = { .note = ignore_note, .interval_us = 1000000 };
	struct run_result r;
	struct jobs jobs = { .job = NULL };
	struct error e = {0};
	uint64_t ios = 0;
	char line[1024];

	snprintf(line, sizeof(line), "--name=j --thread --directory=%s %s", s->folder, words);
	line_parse(line, &jobs);
	if (run_jobs(&jobs, &hooks, &r, &e) < 0)
		fail_msg("%s: %s", words, e.text);
	if (r.failed_jobs)
		fail_msg("%s: %s %s", words, r.report[0]->failure.function, r.report[0]->failure.text);
	*bytes = 0;
	for (unsigned i = 0; i < r.nreports; i++)
		for (unsigned d = 0; d < DDIRS; d++) {
			ios += r.report[i]->dir[d].ios;
			*bytes += r.report[i]->dir[d].bytes;
		}
	run_result_free(&r);
	jobs_free(&jobs);
	return ios;
}

static uint64_t size_of(struct scratch *s, const char *name)
{
	struct stat st;

	return stat(scratch_path(s, name), &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* Sizes of all files of a row, in bytes; their names begin with f or j. */
static uint64_t sizes_and_removal(struct scratch *s)
{
	static const char *const names[] = { "f", "f1", "f2", "f3", "j.0.0", "j.0.1", "j.0.2", "j.0.3",
					     "j-0_0", "j-1_0", "j-0_1", "j-1_1" };
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		sum += size_of(s, names[i]);
		unlink(scratch_path(s, names[i]));
	}
	return sum;
}

struct row {
	const char *words;
	unsigned old, ios, after; /* blocks: of the file f beforehand, moved, of all files afterwards */
};

static const struct row rows[] = {
	{ "--filename=f --rw=read", 64, 64, 64 },
	{ "--filename=f --rw=write --size=1m", 64, 16, 64 },
	{ "--filename=f --rw=randread --size=8m", 64, 128, 128 },
	{ "--filename=f --rw=randwrite --size=8m", 64, 128, 128 },
	{ "--filename=f --rw=read --filesize=2m", 64, 32, 64 },
	{ "--filename=f --rw=read --filesize=8m", 64, 128, 128 },
	{ "--filename=f --rw=read --size=50%", 64, 32, 64 },
	{ "--filename=f --rw=read --offset=1m", 64, 48, 64 },
	{ "--filename=f --rw=read --offset=1m --size=2m", 64, 32, 64 },
	{ "--filename=f --rw=read --offset=1m --size=8m", 64, 128, 144 },
	{ "--filename=f --rw=read --size=1m --io_size=3m", 64, 48, 64 },
	{ "--filename=f --rw=randread --size=1m --io_size=3m", 64, 48, 64 },
	{ "--filename=f --rw=read --size=2m --io_size=1m", 64, 16, 64 },
	{ "--filename=f --rw=read --io_size=1m", 64, 16, 64 },
	{ "--filename=f --rw=read --size=1m --loops=3", 64, 48, 64 },
	{ "--filename=f --rw=randread --size=1m --loops=3", 64, 48, 64 },
	{ "--filename=f --rw=read --size=1m --number_ios=1000", 64, 16, 64 },
	{ "--filename=f --rw=read --size=1m --number_ios=10 --loops=2", 64, 20, 64 },
	{ "--filename=f --rw=read --io_size=50%", 64, 32, 64 },
	{ "--filename=f --rw=read --size=1m --offset=50%", 64, 16, 64 },
	{ "--filename=f --rw=read --filesize=2m --size=50%", 64, 16, 64 },
	{ "--filename=f1:f2:f3 --rw=write --size=3m", 0, 48, 48 },
	{ "--filename=f1:f2:f3 --rw=write --filesize=2m", 0, 96, 96 },
	{ "--filename=f1:f2:f3 --rw=write --filesize=2m --size=3m", 0, 48, 96 },
	{ "--filename=f1:f2:f3 --rw=write --filesize=2m --size=12m", 0, 96, 96 },
	{ "--nrfiles=4 --rw=write --size=1m", 0, 16, 16 },
	{ "--nrfiles=4 --rw=randwrite --size=1m --io_size=3m", 0, 48, 16 },
	{ "--nrfiles=4 --rw=randwrite --size=1m --io_size=512k", 0, 8, 16 },
	{ "--nrfiles=4 --rw=randwrite --filesize=256k --file_service_type=random", 0, 16, 16 },
	{ "--nrfiles=4 --rw=write --filesize=256k --file_service_type=sequential", 0, 16, 16 },
	{ "--nrfiles=4 --rw=write --filesize=256k --file_service_type=roundrobin:3 --loops=2", 0, 32, 16 },
	{ "--nrfiles=4 --rw=randwrite --norandommap --filesize=256k", 0, 16, 16 },
	{ "--numjobs=2 --filename=f --rw=write --size=1m --offset_increment=1m", 0, 32, 32 },
	{ "--numjobs=3 --filename=f --rw=read --size=1m --offset_increment=25%", 64, 48, 64 },
	{ "--filename=f --rw=randwrite --size=1m --random_distribution=zipf", 0, 16, 16 },
	{ "--filename=f --rw=randwrite --size=1m --random_distribution=pareto:0.3", 0, 16, 16 },
	{ "--filename=f --rw=randwrite --size=1m --random_distribution=normal:10", 0, 16, 16 },
	{ "--filename=f --rw=randwrite --size=1m --random_distribution=zoned:60/10:40/90", 0, 16, 16 },
	{ "--filename=f --rw=randwrite --size=1m --percentage_random=30", 0, 16, 16 },
	{ "--filename=f --rw=randwrite --size=1m --ba=4k", 0, 16, 16 },
	{ "--filename=f --rw=write --size=1m --create_on_open=1", 0, 16, 16 },
	{ "--filename=f --rw=write --size=1m --fallocate=none", 0, 16, 16 },
	{ "--filename=f --rw=write --size=1m --fallocate=none --io_size=512k", 0, 8, 8 },
	{ "--filename=f --rw=write --size=1m --fallocate=keep --io_size=512k", 0, 8, 8 },
	{ "--filename=f --rw=write --size=1m --fallocate=truncate --io_size=512k", 0, 8, 16 },
	{ "--filename=f --rw=write --size=1m --fallocate=posix --io_size=512k", 0, 8, 16 },
	{ "--filename=f --rw=write --size=1m --fallocate=none --overwrite=1 --io_size=512k", 0, 8, 16 },
	{ "--filename=f --rw=write --size=1m --unlink=1", 0, 16, 0 },
	{ "--filename=f --rw=write --size=1m --sync=dsync", 0, 16, 16 },
	{ "--filename=f --rw=write --size=1m --sync=sync --fadvise_hint=random", 0, 16, 16 },
	{ "--filename_format=$jobname-$FILENUM_$jobnum --rw=write --size=1m --nrfiles=2 --numjobs=2", 0, 32, 32 },
	{ "--filename=f --rw=write --size=1m --io_size=100k", 0, 2, 16 },
};

static void lines_count_as_in_fio(void **state)
{
	struct scratch *s = *state;
	char line[512];
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t ios, after;

		if (rows[i].old)
			scratch_bytes(s, "f", "", 0);
		if (rows[i].old)
			assert_int_equal(truncate(s->path, (off_t)rows[i].old * BLOCK), 0);
		snprintf(line, sizeof(line), "--bs=64k %s", rows[i].words);
		ios = run_line(s, line, &bytes);
		after = sizes_and_removal(s);
		if (ios != rows[i].ios || bytes != ios * BLOCK || after != (uint64_t)rows[i].after * BLOCK)
			fail_msg("%s: %llu I/Os, %llu bytes, files of %llu bytes", rows[i].words,
				 (unsigned long long)ios, (unsigned long long)bytes, (unsigned long long)after);
	}
}

/* The partial block at the end is only reached by those who go on until the bytes are through. */
static void partial_tails(void **state)
{
	struct scratch *s = *state;
	uint64_t bytes;

	assert_int_equal(run_line(s, "--filename=f --bs=64k --rw=write --size=1000k", &bytes), 15);
	assert_int_equal(sizes_and_removal(s), 1000 * 1024);
	assert_int_equal(run_line(s, "--filename=f --bs=64k --rw=randwrite --size=1000k", &bytes), 15);
	sizes_and_removal(s);
	assert_int_equal(run_line(s, "--filename=f --bs=64k --rw=randwrite --size=1000k --norandommap", &bytes), 16);
	sizes_and_removal(s);
	/* A third of 1 MiB is five blocks and a rest, in each of the files. */
	assert_int_equal(run_line(s, "--nrfiles=3 --bs=64k --rw=write --size=1m", &bytes), 15);
	sizes_and_removal(s);
	assert_int_equal(run_line(s, "--nrfiles=3 --bs=64k --rw=randwrite --size=1m --io_size=3m", &bytes), 48);
	sizes_and_removal(s);
}

/* Sizes that vary fill the file exactly; how many I/Os that takes is left to chance. */
static void varying_sizes_move_all_bytes(void **state)
{
	static const char *const lines[] = {
		"--bsrange=4k-64k --rw=write", "--bsrange=4k-64k --rw=randwrite", "--bssplit=4k/60:64k/40 --rw=write",
		"--bssplit=4k/60:64k/40 --rw=randwrite", "--bs=4k,64k --rw=write", "--bsrange=512-64k,4k-8k --rw=randread",
	};
	struct scratch *s = *state;
	char line[512];
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(line, sizeof(line), "--filename=f --size=1m %s", lines[i]);
		run_line(s, line, &bytes);
		assert_int_equal(bytes, 1 << 20);
		snprintf(line, sizeof(line), "--filename=f --size=1m --loops=3 %s", lines[i]);
		run_line(s, line, &bytes);
		assert_int_equal(bytes, 3 << 20);
		sizes_and_removal(s);
	}
}

/* Clone k uses entry k modulo the number of entries. */
static void directories_by_turns(void **state)
{
	struct scratch *s = *state;
	char line[1024], two[300], one[300];
	uint64_t bytes;

	snprintf(one, sizeof(one), "%s/one", s->folder);
	snprintf(two, sizeof(two), "%s/two", s->folder);
	assert_int_equal(mkdir(one, 0700), 0);
	assert_int_equal(mkdir(two, 0700), 0);
	snprintf(line, sizeof(line), "--directory=%s:%s --numjobs=3 --rw=write --bs=64k --size=64k", one, two);
	run_line(s, line, &bytes);
	assert_int_equal(bytes, 3 * BLOCK);
	assert_int_equal(size_of(s, "one/j.0.0"), BLOCK);
	assert_int_equal(size_of(s, "two/j.1.0"), BLOCK);
	assert_int_equal(size_of(s, "one/j.2.0"), BLOCK);
}

/* A drawn size is within the range, whole blocks, and the same again; files differ. */
static void drawn_file_sizes(void **state)
{
	static const char line[] = "--nrfiles=4 --bs=4k --rw=write --filesize=64k-1m";
	struct scratch *s = *state;
	uint64_t size[4], bytes, sum = 0;
	char name[16];

	run_line(s, line, &bytes);
	for (unsigned i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "j.0.%u", i);
		size[i] = size_of(s, name);
		assert_in_range(size[i], 64 << 10, 1 << 20);
		assert_int_equal(size[i] % 4096, 0);
		sum += size[i];
	}
	assert_int_equal(sum, bytes);
	assert_true(size[0] != size[1] || size[1] != size[2]);
	assert_int_equal(sizes_and_removal(s), sum);
	run_line(s, line, &bytes);
	assert_int_equal(bytes, sum);
	sizes_and_removal(s);
}

/* Layout with overwrite=1 leaves data where the job then does not write. */
static void overwrite_lays_out_data(void **state)
{
	struct scratch *s = *state;
	unsigned char tail[4096], zero[4096] = {0};
	uint64_t bytes;
	int fd;

	for (unsigned overwrite = 0; overwrite < 2; overwrite++) {
		run_line(s, overwrite ? "--filename=f --rw=write --bs=4k --size=64k --io_size=4k --overwrite=1" :
					"--filename=f --rw=write --bs=4k --size=64k --io_size=4k", &bytes);
		fd = open(scratch_path(s, "f"), O_RDONLY);
		assert_int_equal(pread(fd, tail, sizeof(tail), 60 << 10), sizeof(tail));
		assert_true((memcmp(tail, zero, sizeof(zero)) != 0) == (overwrite == 1));
		close(fd);
		sizes_and_removal(s);
	}
}

/* Files that hold no block are passed by; blocks larger than the file are drawn again. */
static void little_room(void **state)
{
	struct scratch *s = *state;
	uint64_t bytes;

	scratch_bytes(s, "f1", "", 0);
	assert_int_equal(truncate(s->path, 1000), 0);
	scratch_bytes(s, "f2", "", 0);
	assert_int_equal(truncate(s->path, 3 * BLOCK), 0);
	assert_int_equal(run_line(s, "--filename=f1:f2 --bs=64k --rw=read", &bytes), 3);
	assert_int_equal(run_line(s, "--filename=f1:f2 --bs=64k --rw=randread --norandommap", &bytes), 4);
	run_line(s, "--filename=f2 --bsrange=4k-1m --rw=read", &bytes);
	assert_int_equal(bytes, 3 * BLOCK);
	run_line(s, "--filename=f2 --bssplit=4k/10:1m/90 --rw=randread", &bytes);
	assert_int_equal(bytes, 3 * BLOCK);
	sizes_and_removal(s);
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, scratch_open, scratch_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(lines_count_as_in_fio), IN_FOLDER(partial_tails), IN_FOLDER(varying_sizes_move_all_bytes),
		IN_FOLDER(directories_by_turns), IN_FOLDER(drawn_file_sizes), IN_FOLDER(overwrite_lays_out_data),
		IN_FOLDER(little_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
