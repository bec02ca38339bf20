/* A disk in memory that loses, misplaces, tears, replays and damages writes; each fault has to get its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "guest/offsets.h"
#include "tests/unit/verify_bench.h"

static void clean(void **state)
{
	struct bench *b = bench_open(4096);
	unsigned reads;

	(void)state;
	for (unsigned pass = 0; pass < 3; pass++)
		for (unsigned i = 0; i < 32; i++)
			write_well(b, i % 2, (i * 7 % 32) * 4096, 4096);
	assert_int_equal(whole_phase(b, &reads), 0);
	assert_int_equal(reads, 32);
	assert_int_equal(whole_phase(b, &reads), 0);
	assert_int_equal(reads, 0); /* nothing was written since */
	assert_int_equal(read_back(b, 0, 200704, 4096), 0); /* never written: nothing is expected */
	assert_string_equal(b->told, "");
	bench_close(b);
}

static void lost(void **state)
{
	struct bench *b = bench_open(4096);

	(void)state;
	write_faulty(b, 0, 8192, 4096, 8192, 0, 0);
	assert_int_equal(read_back(b, 0, 8192, 4096), EILSEQ);
	expect_told(b, "kickio: verify: lost write (expected generation 1, found zeros) at file one offset 8192, length 4096");
	memset(b->disk[0] + 8192, 0x42, 4096);
	assert_int_equal(read_back(b, 0, 8192, 4096), EILSEQ);
	expect_told(b, "lost write (expected generation 1, found bytes that kickio did not write: 4242424242424242)");
	assert_int_equal(verify_faults(b->v), 2);
	bench_close(b);
}

static void stale(void **state)
{
	struct bench *b = bench_open(4096);

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		write_well(b, 1, 4096, 4096);
	write_faulty(b, 1, 4096, 4096, 4096, 0, 0);
	assert_int_equal(read_back(b, 1, 4096, 4096), EILSEQ);
	expect_told(b, "verify: stale (generation 3, 4 was completed; job 3) at file two offset 4096, length 4096\n");
	bench_close(b);
}

static void torn(void **state)
{
	struct bench *b = bench_open(16384);

	(void)state;
	write_well(b, 0, 16384, 16384);
	write_faulty(b, 0, 16384, 16384, 16384, 0, 10240);
	assert_int_equal(read_back(b, 0, 16384, 16384), EILSEQ);
	expect_told(b, "verify: torn (expected generation 2, found generation 1 of job 3) at file one offset 26624, length 6144");
	b->told[0] = '\0';
	write_faulty(b, 0, 32768, 16384, 32768, 512, 512); /* the first write of all, one sector of it */
	assert_int_equal(read_back(b, 0, 32768, 16384), EILSEQ);
	expect_told(b, "verify: torn (expected generation 1, found zeros) at file one offset 32768, length 512\n");
	expect_told(b, "verify: torn (expected generation 1, found zeros) at file one offset 33792, length 15360\n");
	bench_close(b);
}

static void misplaced(void **state)
{
	struct bench *b = bench_open(4096);

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		write_well(b, 0, i * 4096, 4096);
	write_faulty(b, 0, 4096, 4096, 12288, 0, 4096);
	assert_int_equal(read_back(b, 0, 12288, 4096), EILSEQ);
	expect_told(b, "verify: misdirected write (belongs to offset 4096, generation 2 of job 3) at file one offset 12288, "
		       "length 4096\n");
	assert_int_equal(read_back(b, 0, 4096, 4096), EILSEQ);
	expect_told(b, "verify: stale (generation 1, 2 was completed; job 3) at file one offset 4096");
	b->told[0] = '\0';
	memcpy(b->disk[1] + 8192, b->disk[0] + 8192, 4096);
	write_faulty(b, 1, 8192, 4096, 8192, 0, 0);
	assert_int_equal(read_back(b, 1, 8192, 4096), EILSEQ);
	expect_told(b, "misdirected write (belongs to offset 8192 of one, generation 1 of job 3) at file two offset 8192");
	bench_close(b);
}

static void corrupt(void **state)
{
	struct bench *b = bench_open(4096);

	(void)state;
	write_well(b, 0, 0, 4096);
	b->disk[0][1024 + 300] ^= 0x10;
	assert_int_equal(read_back(b, 0, 0, 4096), EILSEQ);
	expect_told(b, "verify: corrupt (expected generation 1, the data does not match its checksum; header: generation 1 of "
		       "job 3) at file one offset 1024, length 512\n");
	b->told[0] = '\0';
	b->disk[0][1024 + 300] ^= 0x10;
	b->disk[0][2] ^= 1;
	assert_int_equal(read_back(b, 0, 0, 4096), EILSEQ);
	expect_told(b, "corrupt (expected generation 1, the header does not match its checksum) at file one offset 0, length 512");
	bench_close(b);
}

/* Old or new of what is in flight, of what failed and of what overlapped: no fault. */
static void in_flight(void **state)
{
	struct bench *b = bench_open(4096);
	struct io *read, *write, *other;

	(void)state;
	write_well(b, 0, 0, 4096);
	write = begin(b, 1, DDIR_WRITE, 0, 0, 4096);
	assert_int_equal(read_back(b, 0, 0, 4096), 0);
	read = begin(b, 2, DDIR_READ, 0, 0, 4096);
	memcpy(b->disk[0], write->buffer, 2048); /* half of it is there: sectors are old or new, each for itself */
	assert_int_equal(read_back(b, 0, 0, 4096), 0);
	memcpy(b->disk[0], write->buffer, 4096);
	write->moved = 4096;
	verify_complete(b->v, write);
	assert_int_equal(finish_read(b, read), 0); /* began before, ended after */
	write = begin(b, 1, DDIR_WRITE, 0, 0, 4096);
	write->error = EIO;
	verify_complete(b->v, write);
	assert_int_equal(read_back(b, 0, 0, 4096), 0);
	write = begin(b, 1, DDIR_WRITE, 0, 0, 4096);
	other = begin(b, 2, DDIR_WRITE, 0, 0, 4096);
	memcpy(b->disk[0], other->buffer, 4096);
	memcpy(b->disk[0], write->buffer, 4096); /* the earlier one reached the disk last */
	write->moved = other->moved = 4096;
	verify_complete(b->v, other);
	verify_complete(b->v, write);
	assert_int_equal(read_back(b, 0, 0, 4096), 0);
	assert_string_equal(b->told, "");
	bench_close(b);
}

/* Sizes that mix: every byte is read back, whichever write it came from. */
static void mixed_sizes(void **state)
{
	struct bench *b = bench_open(512);
	struct random64 r = random64_stream(9, 1);
	unsigned reads;

	(void)state;
	verify_close(b->v);
	verify_store_close(b->store, true);
	b->job.bs_range[DDIR_WRITE] = (struct range){ 1536, 65536 - 1024 };
	open_verify(b);
	for (unsigned i = 0; i < 500; i++) {
		uint32_t length = (uint32_t)(random64_below(&r, 43) + 1) * 1536 % 64512;
		uint64_t offset = random64_below(&r, (DISK - 65536) / 1536) * 1536;

		write_well(b, i % 2, offset, length ? length : 1536);
	}
	assert_int_equal(whole_phase(b, &reads), 0);
	assert_true(reads >= 8);
	assert_string_equal(b->told, "");
	bench_close(b);
}

static void backlog(void **state)
{
	struct bench *b = bench_open(4096);
	unsigned reads;

	(void)state;
	verify_close(b->v);
	verify_store_close(b->store, true);
	b->job.verify_backlog = 4;
	open_verify(b);
	for (unsigned i = 0; i < 4; i++) {
		assert_false(verify_due(b->v));
		write_well(b, 0, i * 8192, 4096);
	}
	assert_true(verify_due(b->v));
	b->disk[0][8192] ^= 4;
	assert_int_equal(whole_phase(b, &reads), 1);
	assert_int_equal(reads, 4);
	assert_false(verify_due(b->v));
	write_well(b, 0, 8192, 4096);
	assert_int_equal(whole_phase(b, &reads), 0); /* at the end: the rest */
	assert_int_equal(reads, 1);
	bench_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean), cmocka_unit_test(lost), cmocka_unit_test(stale), cmocka_unit_test(torn),
		cmocka_unit_test(misplaced), cmocka_unit_test(corrupt), cmocka_unit_test(in_flight),
		cmocka_unit_test(mixed_sizes), cmocka_unit_test(backlog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
