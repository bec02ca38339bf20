#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "guest/buffers.h"
#include "tests/unit/line.h"

#define BS 4096
#define BLOCKS 200

static unsigned char block[BLOCKS][BS];

/* What BLOCKS writes of a job contain, through one buffer as at depth 1. */
static void write_all(const char *words)
{
	static unsigned char buffer[BS];
	struct jobs jobs = { .job = NULL };
	struct buffers b;
	char line[512];

	snprintf(line, sizeof(line), "--name=j --rw=write --size=1g %s", words);
	line_parse(line, &jobs);
	buffers_init(&b, &jobs.job[0], 1);
	buffers_fill(&b, buffer, BS);
	for (unsigned i = 0; i < BLOCKS; i++) {
		buffers_prepare(&b, buffer, BS, i * BS);
		memcpy(block[i], buffer, BS);
	}
	jobs_free(&jobs);
}

/* Blocks that are the same as one before them. */
static unsigned duplicates(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < BLOCKS; i++)
		for (unsigned k = 0; k < i; k++)
			if (!memcmp(block[i], block[k], BS)) {
				n++;
				break;
			}
	return n;
}

static unsigned differing(const unsigned char *a, const unsigned char *b, size_t length)
{
	unsigned n = 0;

	for (size_t i = 0; i < length; i++)
		n += a[i] != b[i];
	return n;
}

static void scrambled_by_default(void **state)
{
	(void)state;
	write_all("");
	assert_int_equal(duplicates(), 0);
	/* A number in each sector, the rest stays. */
	for (unsigned s = 0; s < BS; s += 512) {
		assert_in_range(differing(block[3] + s, block[9] + s, 16), 5, 16);
		assert_int_equal(differing(block[3] + s + 16, block[9] + s + 16, 496), 0);
	}
}

static void not_scrambled(void **state)
{
	unsigned char zero[BS] = {0};

	(void)state;
	write_all("--scramble_buffers=0");
	assert_int_equal(duplicates(), BLOCKS - 1);
	assert_true(differing(block[0], zero, BS) > BS * 9 / 10);
}

static void refilled(void **state)
{
	(void)state;
	write_all("--refill_buffers");
	assert_int_equal(duplicates(), 0);
	assert_true(differing(block[3], block[9], BS) > BS * 98 / 100);
}

/* Each of the 256 values as often as any other, at each of the 8 places of a word; no word twice. */
static void random_bytes_are_even(void **state)
{
	static unsigned count[8][256];

	(void)state;
	write_all("--refill_buffers");
	for (unsigned i = 0; i < BLOCKS; i++)
		for (unsigned k = 0; k < BS; k++)
			count[k % 8][block[i][k]]++;
	/* 102400 words: 400 of each, standard deviation 20 */
	for (unsigned place = 0; place < 8; place++)
		for (unsigned v = 0; v < 256; v++)
			assert_in_range(count[place][v], 290, 510);
	for (unsigned k = 8; k < BS; k += 8)
		for (unsigned other = 0; other < k; other += 8)
			assert_memory_not_equal(block[0] + k, block[0] + other, 8);
}

static void zeros(void **state)
{
	unsigned char zero[BS] = {0};

	(void)state;
	write_all("--zero_buffers");
	for (unsigned i = 0; i < BLOCKS; i++)
		assert_memory_equal(block[i], zero, BS);
	write_all("--zero_buffers --refill_buffers");
	assert_memory_equal(block[BLOCKS - 1], zero, BS);
}

static void patterns_repeat(void **state)
{
	(void)state;
	write_all("--buffer_pattern=0xdeadbe");
	for (unsigned i = 0; i < BS; i++)
		assert_int_equal(block[5][i], ((const unsigned char[]){ 0xde, 0xad, 0xbe })[i % 3]);
	assert_int_equal(duplicates(), BLOCKS - 1);
	write_all("--buffer_pattern=\"abcdefg\"");
	for (unsigned i = 0; i < BS; i++)
		assert_int_equal(block[BLOCKS - 1][i], "abcdefg"[i % 7]);
}

/* Of each chunk the last part compresses. */
static void compressible(void **state)
{
	(void)state;
	write_all("--buffer_compress_percentage=75 --buffer_compress_chunk=1024");
	assert_int_equal(duplicates(), 0);
	for (unsigned c = 0; c < BS; c += 1024) {
		unsigned char zero[1024] = {0};

		assert_true(differing(block[7] + c, zero, 256) > 240);
		assert_memory_equal(block[7] + c + 256, zero, 768);
	}
	write_all("--buffer_compress_percentage=50 --buffer_pattern=0x2a");
	for (unsigned i = 0; i < BS; i++)
		if (i % 512 >= 256)
			assert_int_equal(block[1][i], 0x2a);
	write_all("--buffer_compress_percentage=100");
	for (unsigned i = 0; i < BS; i++)
		assert_int_equal(block[1][i], 0);
}

static void dedupe(void **state)
{
	(void)state;
	write_all("--dedupe_percentage=100");
	assert_int_equal(duplicates(), BLOCKS - 1);
	write_all("--dedupe_percentage=40");
	/* 80 of 200, standard deviation 7 */
	assert_in_range(duplicates(), 45, 115);
	write_all("--dedupe_percentage=40 --buffer_compress_percentage=50");
	assert_in_range(duplicates(), 45, 115);
	write_all("--dedupe_percentage=0 --refill_buffers");
	assert_int_equal(duplicates(), 0);
}

/* Lengths that are no multiple of anything stay within the buffer. */
static void odd_lengths(void **state)
{
	static const char *const lines[] = { "--refill_buffers", "--buffer_pattern=0x010203", "--zero_buffers",
					     "--dedupe_percentage=30 --buffer_compress_percentage=33",
					     "--scramble_buffers=1" };

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		for (uint32_t n = 1; n < 1100; n += 13) {
			struct jobs jobs = { .job = NULL };
			unsigned char *exact = malloc(n);
			struct buffers b;
			char line[512];

			snprintf(line, sizeof(line), "--name=j --rw=write --size=1m %s", lines[i]);
			line_parse(line, &jobs);
			buffers_init(&b, &jobs.job[0], 1);
			buffers_fill(&b, exact, n);
			buffers_prepare(&b, exact, n, 4096);
			free(exact);
			jobs_free(&jobs);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scrambled_by_default), cmocka_unit_test(not_scrambled), cmocka_unit_test(refilled),
		cmocka_unit_test(random_bytes_are_even), cmocka_unit_test(zeros), cmocka_unit_test(patterns_repeat), cmocka_unit_test(compressible),
		cmocka_unit_test(dedupe), cmocka_unit_test(odd_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
