#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "guest/verify_block.h"

static const struct sector_expected good = { .map = 77, .offset = 8192, .file = 5, .least = 3, .last = 4 };

static void make(unsigned char *sector, enum verify_kind kind, uint32_t generation)
{
	struct verify_header h = {
		.map = 77, .offset = 8192, .start = 4096, .length = 16384, .generation = generation, .file = 5,
		.job = 2, .time_ns = 1000, .kind = kind,
	};

	for (unsigned i = 0; i < VERIFY_SECTOR; i++)
		sector[i] = (unsigned char)(i * 7 + 1);
	sector_seal(sector, &h);
}

static enum sector_state look(const unsigned char *sector)
{
	struct verify_header h;

	return sector_check(sector, &good, &h);
}

static void seen_as_written(void **state)
{
	unsigned char sector[VERIFY_SECTOR];
	struct verify_header h;

	(void)state;
	for (int kind = VERIFY_CRC32C; kind <= VERIFY_XXHASH; kind++) {
		make(sector, (enum verify_kind)kind, 3);
		assert_int_equal(sector_check(sector, &good, &h), SECTOR_GOOD);
		assert_int_equal(h.generation, 3);
		assert_int_equal(h.job, 2);
		assert_int_equal(h.start, 4096);
		assert_int_equal(h.length, 16384);
	}
}

/* The sums in the header are the published functions of what lies behind it. */
static void sums(void **state)
{
	unsigned char sector[VERIFY_SECTOR], digest[MD5_BYTES];
	struct verify_header h;
	uint32_t crc;

	(void)state;
	make(sector, VERIFY_CRC32, 3);
	memcpy(&h, sector, sizeof(h));
	crc = crc32(sector + 104, 408);
	assert_memory_equal(h.sum, &crc, 4);
	make(sector, VERIFY_MD5, 3);
	memcpy(&h, sector, sizeof(h));
	md5(sector + 104, 408, digest);
	assert_memory_equal(h.sum, digest, sizeof(digest));
	assert_int_equal(sector[104], (104 * 7 + 1) % 256); /* the data was left alone */
}

/* Whichever bit is turned, it is seen, and as corruption rather than as something lost. */
static void every_bit(void **state)
{
	unsigned char sector[VERIFY_SECTOR];

	(void)state;
	for (int kind = VERIFY_CRC32C; kind <= VERIFY_XXHASH; kind++) {
		make(sector, (enum verify_kind)kind, 3);
		for (unsigned bit = 0; bit < VERIFY_SECTOR * 8; bit++) {
			sector[bit / 8] ^= (unsigned char)(1 << bit % 8);
			assert_int_equal(look(sector), bit / 8 < 104 ? SECTOR_BAD_HEADER : SECTOR_BAD_SUM);
			sector[bit / 8] ^= (unsigned char)(1 << bit % 8);
		}
		assert_int_equal(look(sector), SECTOR_GOOD);
	}
}

static void generations(void **state)
{
	unsigned char sector[VERIFY_SECTOR];
	struct sector_expected x = good;
	struct verify_header h;

	(void)state;
	make(sector, VERIFY_CRC32C, 2);
	assert_int_equal(look(sector), SECTOR_OLD);
	make(sector, VERIFY_CRC32C, 4);
	assert_int_equal(look(sector), SECTOR_GOOD);
	make(sector, VERIFY_CRC32C, 5);
	assert_int_equal(look(sector), SECTOR_NEWER);
	x.any_newer = true;
	assert_int_equal(sector_check(sector, &x, &h), SECTOR_GOOD);
}

static void elsewhere(void **state)
{
	unsigned char sector[VERIFY_SECTOR];
	struct sector_expected x = good;
	struct verify_header h;

	(void)state;
	make(sector, VERIFY_CRC32C, 3);
	x.offset = 512;
	assert_int_equal(sector_check(sector, &x, &h), SECTOR_MISPLACED);
	assert_int_equal(h.offset, 8192);
	x = good;
	x.file = 6;
	assert_int_equal(sector_check(sector, &x, &h), SECTOR_MISPLACED);
	x = good;
	x.map = 78;
	assert_int_equal(sector_check(sector, &x, &h), SECTOR_OTHER_MAP);
	x.map = 0;
	assert_int_equal(sector_check(sector, &x, &h), SECTOR_GOOD);
}

static void nothing_there(void **state)
{
	unsigned char sector[VERIFY_SECTOR] = {0};
	struct sector_expected x = { .map = 77, .least = 1, .last = 1 };
	struct verify_header h;

	(void)state;
	assert_int_equal(look(sector), SECTOR_ZEROS);
	assert_int_equal(sector_check(sector, &x, &h), SECTOR_ZEROS); /* offset 0 is there by accident */
	memset(sector, 0xaa, sizeof(sector));
	assert_int_equal(look(sector), SECTOR_FOREIGN);
}

static void patterns(void **state)
{
	struct pattern p = { .length = 3, .bytes = "abc" };
	char buffer[20];

	(void)state;
	verify_fill_pattern(buffer, 20, &p);
	assert_memory_equal(buffer, "abcabcabcabcabcabcab", 20);
	verify_fill_pattern(buffer, 2, &p);
	assert_memory_equal(buffer, "abcabc", 6);
	p.length = 1;
	p.bytes[0] = 'z';
	verify_fill_pattern(buffer, 7, &p);
	assert_memory_equal(buffer, "zzzzzzzbcabc", 12);
}

/* FNV-1a's published values. */
static void file_numbers(void **state)
{
	(void)state;
	assert_int_equal(verify_file_number(""), 0x811c9dc5);
	assert_int_equal(verify_file_number("a"), 0xe40c292c);
	assert_int_equal(verify_file_number("foobar"), 0xbf9cf968);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seen_as_written), cmocka_unit_test(sums), cmocka_unit_test(every_bit),
		cmocka_unit_test(generations), cmocka_unit_test(elsewhere), cmocka_unit_test(nothing_there),
		cmocka_unit_test(patterns), cmocka_unit_test(file_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
