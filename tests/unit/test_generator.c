#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/generator.h"
#include "tests/unit/line.h"

#define TIB ((uint64_t)1 << 40)

/* A generator over files that need not exist: it asks nothing of the system (no line here drops caches). */
struct bench {
	struct jobs jobs;
	struct file file[8];
	struct file_set files;
	struct generator g;
	struct io io;
};

static void bench_open(struct bench *b, const char *words, unsigned nfiles, uint64_t bytes)
{
	struct failure failure = {0};
	char line[512];

	memset(b, 0, sizeof(*b));
	snprintf(line, sizeof(line), "--name=j --size=1g --invalidate=0 %s", words);
	line_parse(line, &b->jobs);
	for (unsigned i = 0; i < nfiles; i++)
		b->file[i] = (struct file){ .bytes = bytes, .fd = (int)i + 100 };
	b->files = (struct file_set){ b->file, nfiles, 0, bytes * nfiles, bytes * nfiles };
	if (b->jobs.job[0].io_size.bytes)
		b->files.limit = b->jobs.job[0].io_size.bytes;
	assert_int_equal(generator_open(&b->g, &b->jobs.job[0], &b->files, 0x89, 0, &failure), 0);
	b->io.buffer = malloc(generator_buffer_length(&b->g));
	generator_fill(&b->g, b->io.buffer);
}

static void bench_close(struct bench *b)
{
	free(b->io.buffer);
	generator_close(&b->g);
	jobs_free(&b->jobs);
}

static bool next(struct bench *b)
{
	bool more = generator_next(&b->g, &b->io);

	if (more)
		assert_int_equal(b->io.fd, 100 + (int)b->io.file);
	return more;
}

/* Which file each I/O goes to, as digits. */
static const char *turns(struct bench *b, const char *words, unsigned nfiles)
{
	static char digits[256];
	unsigned n = 0;

	bench_open(b, words, nfiles, 4 * 4096);
	while (n < sizeof(digits) - 1 && next(b))
		digits[n++] = (char)('0' + b->io.file);
	digits[n] = '\0';
	bench_close(b);
	return digits;
}

static void files_take_turns(void **state)
{
	unsigned count[3] = {0};
	const char *digits;
	struct bench b;

	(void)state;
	assert_string_equal(turns(&b, "--rw=read", 3), "012012012012");
	assert_string_equal(turns(&b, "--rw=randread", 3), "012012012012");
	assert_string_equal(turns(&b, "--rw=read --file_service_type=roundrobin:2", 3), "001122001122");
	assert_string_equal(turns(&b, "--rw=read --file_service_type=roundrobin:3", 3), "000111222012");
	assert_string_equal(turns(&b, "--rw=read --file_service_type=sequential", 3), "000011112222");
	assert_string_equal(turns(&b, "--rw=write --file_service_type=sequential --io_size=40k --bs=4k", 2), "0000111100");
	digits = turns(&b, "--rw=read --file_service_type=random", 3);
	assert_int_equal(strlen(digits), 12);
	for (unsigned i = 0; i < 12; i++)
		count[digits[i] - '0']++;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(count[i], 4);
	assert_string_not_equal(digits, "012012012012");
	digits = turns(&b, "--rw=randread --norandommap --file_service_type=random:3", 3);
	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(digits[i], digits[i / 3 * 3]);
}

/* Any kind of job stays within its region, on its grid, and ends after its bytes. */
static void within_the_region(void **state)
{
	static const char *const lines[] = {
		"--rw=randread --random_distribution=zipf:1.2", "--rw=randwrite --random_distribution=pareto",
		"--rw=randrw --random_distribution=normal:10", "--rw=randread --random_distribution=zoned:90/10:10/90",
		"--rw=randrw --bs=4k,64k --norandommap --ba=512", "--rw=randread --percentage_random=50",
		"--rw=randread --percentage_random=0 --norandommap", "--rw=rw --bsrange=512-64k,4k-128k",
		"--rw=randrw --bssplit=512/10:8k/90,64k/100", "--rw=randwrite --bsrange=700-9000 --bs_unaligned",
		"--rw=write --bsrange=700-9000 --bs_unaligned", "--rw=randread --bssplit=4k/50:1m/50 --norandommap",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		uint64_t start = 12345 * 512, bytes = 1000 * 4096 + 77, sum = 0, n = 0;
		struct bench b;

		bench_open(&b, lines[i], 2, bytes);
		for (unsigned f = 0; f < 2; f++)
			b.file[f].start = start;
		generator_close(&b.g);
		assert_int_equal(generator_open(&b.g, &b.jobs.job[0], &b.files, 1, 0, &(struct failure){0}), 0);
		for (; next(&b); n++) {
			uint64_t grid = job_bs_min(&b.jobs.job[0], b.io.ddir);

			if (b.jobs.job[0].blockalign[b.io.ddir])
				grid = b.jobs.job[0].blockalign[b.io.ddir];
			assert_true(b.io.offset >= start && b.io.offset + b.io.length <= start + bytes);
			if (!b.jobs.job[0].bs_unaligned)
				assert_int_equal((b.io.offset - start) % grid, 0);
			assert_in_range(b.io.length, job_bs_min(&b.jobs.job[0], b.io.ddir),
					job_bs_max(&b.jobs.job[0], b.io.ddir));
			sum += b.io.length;
		}
		assert_true(n > 10 && sum < 2 * bytes + job_largest_bs(&b.jobs.job[0]));
		bench_close(&b);
	}
}

/* percentage_random: how many do not go on where the last one ended. */
static void share_of_random(void **state)
{
	struct bench b;
	uint64_t last = 0;
	unsigned jumps = 0;

	(void)state;
	bench_open(&b, "--rw=randread --percentage_random=30 --norandommap", 1, TIB);
	for (unsigned i = 0; i < 10000; i++) {
		assert_true(next(&b));
		jumps += b.io.offset != last;
		last = b.io.offset + b.io.length;
	}
	assert_in_range(jumps, 3000 - 230, 3000 + 230); /* five standard deviations of 46 */
	bench_close(&b);
}

/* Each block once: of a job without more than that, and of one whose sizes vary. */
static void all_blocks_once(void **state)
{
	static const char *const lines[] = { "--rw=randread", "--rw=randrw --bsrange=4k-64k",
					     "--rw=randwrite --bssplit=4k/30:16k/70" };
	static unsigned char seen[5000];

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct bench b;

		memset(seen, 0, sizeof(seen));
		bench_open(&b, lines[i], 1, 5000 * 4096);
		while (next(&b))
			for (uint64_t u = 0; u < b.io.length; u += 4096)
				assert_int_equal(seen[(b.io.offset + u) / 4096]++, 0);
		for (unsigned u = 0; u < 5000; u++)
			assert_int_equal(seen[u], 1);
		bench_close(&b);
	}
}

/* A loop has all of the job's I/Os ahead again, and begins at the start of the first file. */
static void loops(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b, "--rw=write --bs=4k --number_ios=3 --loops=3 --file_service_type=roundrobin:2", 2, 16 * 4096);
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < 9; i++) {
			assert_true(next(&b));
			assert_int_equal(b.io.file, i % 3 / 2);
			assert_int_equal(b.io.offset, i % 3 % 2 * 4096);
		}
		assert_false(next(&b));
		/* As after the ramp; the offsets go on where they are, which the next loop does not. */
		generator_set_limits(&b.g);
		b.g.ios_left = 0;
		b.g.loops_left++;
	}
	bench_close(&b);
}

/* The sequence belongs to seed and clone; passes go on with other draws. */
static void sequences(void **state)
{
	uint64_t first[64], again[64];
	struct bench b;

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		bench_open(&b, "--rw=randread --io_size=2m --bsrange=4k-8k", 1, 1 << 20);
		for (unsigned i = 0; i < 64; i++) {
			assert_true(next(&b));
			(k ? again : first)[i] = b.io.offset;
		}
		bench_close(&b);
	}
	assert_memory_equal(first, again, sizeof(first));
	bench_open(&b, "--rw=randread --bsrange=4k-8k", 1, 1 << 20);
	generator_close(&b.g);
	assert_int_equal(generator_open(&b.g, &b.jobs.job[0], &b.files, 0x89, 1, &(struct failure){0}), 0);
	for (unsigned i = 0; i < 64; i++) {
		assert_true(next(&b));
		again[i] = b.io.offset;
	}
	assert_memory_not_equal(first, again, sizeof(first));
	bench_close(&b);
}

/* A device of 1 TiB, each block once, in a process of its own: its memory is that of a small file's job. */
static void memory_does_not_grow(void **state)
{
	static const char *const lines[] = { "--rw=randread --bs=512", "--rw=randread --bsrange=512-64k",
					     "--rw=randread --bs=512 --random_distribution=zipf" };

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		pid_t child = fork();
		int status = -1;

		if (child == 0) {
			struct rusage before, after;
			struct bench b;

			getrusage(RUSAGE_SELF, &before);
			bench_open(&b, lines[i], 1, TIB);
			for (unsigned k = 0; k < 200000; k++)
				next(&b);
			bench_close(&b);
			getrusage(RUSAGE_SELF, &after);
			_exit(after.ru_maxrss - before.ru_maxrss < 16384 ? 0 : 1); /* KiB; a bit per block were 256 MiB */
		}
		assert_true(child > 0 && waitpid(child, &status, 0) == child);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_take_turns), cmocka_unit_test(within_the_region),
		cmocka_unit_test(share_of_random), cmocka_unit_test(all_blocks_once), cmocka_unit_test(loops),
		cmocka_unit_test(sequences), cmocka_unit_test(memory_does_not_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
