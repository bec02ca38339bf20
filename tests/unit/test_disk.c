/* The test disk's file on a real file system: allocated, filled, marked, restored in place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above */
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/disk.h"

#define SIZE ((uint64_t)3 << 20)

static char folder[256];

static int enter(void **state)
{
	const char *base = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/kb-disk-XXXXXX", base ? base : "/tmp");
	return mkdtemp(folder) ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	return rmdir(folder);
}

static void prepare(struct disk *disk)
{
	struct settings s;
	struct error e = {0};

	settings_default(&s);
	s.size = SIZE;
	if (disk_prepare(&s, folder, 0, disk, &e))
		fail_msg("disk_prepare: %s", e.text);
	settings_free(&s);
}

static void remove_disk(struct disk *disk)
{
	char path[512];

	unlink(disk->path);
	snprintf(path, sizeof(path), "%s.good", disk->path);
	unlink(path);
	disk_free(disk);
}

static void poke(const char *path, off_t offset, const char *bytes)
{
	int fd = open(path, O_WRONLY);

	assert_int_equal(strlen(bytes), pwrite(fd, bytes, strlen(bytes), offset));
	close(fd);
}

/* First 4 KiB block that does not hold its pattern, -1 none. */
static long first_bad(const char *path)
{
	unsigned char have[4096], want[4096];
	FILE *f = fopen(path, "r");
	long bad = -1;

	assert_non_null(f);
	for (uint64_t at = 0; at < SIZE && bad < 0; at += 4096) {
		disk_pattern(at, want);
		if (fread(have, 1, 4096, f) != 4096 || memcmp(have, want, 4096))
			bad = (long)(at / 4096);
	}
	fclose(f);
	return bad;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

/* Incompressible: no word twice (nothing to refer back to), every byte value as frequent as the others. */
static void pattern(void **state)
{
	enum { BLOCKS = 256, WORDS = BLOCKS * 512 };
	static uint64_t word[WORDS];
	unsigned frequency[256] = {0};
	unsigned char again[4096];

	(void)state;
	for (int i = 0; i < BLOCKS; i++)
		disk_pattern((uint64_t)i * 4096, word + i * 512);
	disk_pattern(7 * 4096, again);
	assert_memory_equal(word + 7 * 512, again, 4096);
	disk_pattern((uint64_t)1 << 40, again); /* far away: no wrap to the start */
	assert_memory_not_equal(word, again, 4096);
	for (size_t i = 0; i < sizeof(word); i++)
		frequency[((unsigned char *)word)[i]]++;
	for (int i = 0; i < 256; i++) /* 4096 expected, 64 the standard deviation */
		assert_in_range(frequency[i], 4096 - 6 * 64, 4096 + 6 * 64);
	qsort(word, WORDS, sizeof(word[0]), by_value);
	for (int i = 1; i < WORDS; i++)
		assert_true(word[i] != word[i - 1]);
}

static void made_whole(void **state)
{
	struct disk disk;
	struct stat st;

	(void)state;
	prepare(&disk);
	assert_int_equal(0, stat(disk.path, &st));
	assert_true((uint64_t)st.st_size == SIZE);
	assert_true((uint64_t)st.st_blocks * 512 >= SIZE);
	assert_int_equal(-1, first_bad(disk.path));
	assert_false(disk.dirty);
	remove_disk(&disk);
}

static void good_one_is_kept(void **state)
{
	struct disk disk, again;
	struct stat before, after;

	(void)state;
	prepare(&disk);
	poke(disk.path, 8192, "still the same file"); /* a new fill would wipe it out */
	assert_int_equal(0, stat(disk.path, &before));
	prepare(&again);
	assert_int_equal(0, stat(disk.path, &after));
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(2, first_bad(disk.path));
	disk_free(&again);
	remove_disk(&disk);
}

static void damaged_one_is_made_again(void **state)
{
	struct disk disk, again;

	(void)state;
	prepare(&disk);
	assert_int_equal(0, truncate(disk.path, 4096));
	prepare(&again);
	assert_int_equal(-1, first_bad(disk.path));
	disk_free(&again);
	remove_disk(&disk);
}

static void soiled_and_killed(void **state)
{
	struct disk disk, again;
	struct error e = {0};

	(void)state;
	prepare(&disk);
	assert_int_equal(0, disk_soil(&disk, &e));
	assert_true(disk.dirty);
	poke(disk.path, 0, "a guest's write");
	prepare(&again); /* what the next run does after a kill */
	assert_int_equal(-1, first_bad(disk.path));
	disk_free(&again);
	remove_disk(&disk);
}

static void restored_in_place(void **state)
{
	struct disk disk, again;
	struct stat before, after;
	struct error e = {0};
	double seconds = -1;

	(void)state;
	prepare(&disk);
	assert_int_equal(0, disk_soil(&disk, &e));
	poke(disk.path, 4096 * 5 + 17, "a guest's write");
	poke(disk.path, (off_t)SIZE - 4, "last");
	assert_int_equal(0, stat(disk.path, &before));
	assert_int_equal(5, first_bad(disk.path));
	assert_int_equal(0, disk_restore(&disk, FILESYSTEM_NONE, &seconds, &e));
	assert_int_equal(-1, first_bad(disk.path));
	assert_int_equal(0, stat(disk.path, &after));
	assert_int_equal(before.st_ino, after.st_ino);
	assert_true(after.st_size == before.st_size && after.st_blocks == before.st_blocks);
	assert_false(disk.dirty);
	assert_true(seconds > 0 && seconds < 60);
	poke(disk.path, 8192, "x");
	prepare(&again); /* good again: not filled a second time */
	assert_int_equal(2, first_bad(disk.path));
	disk_free(&again);
	remove_disk(&disk);
}

static void no_room(void **state)
{
	struct settings s;
	struct disk disk;
	struct error e = {0};

	(void)state;
	settings_default(&s);
	s.size = (uint64_t)1 << 50;
	assert_int_equal(-1, disk_prepare(&s, folder, 0, &disk, &e));
	assert_int_equal(STATUS_HOST, e.status);
	assert_non_null(strstr(e.text, folder));
	assert_null(disk.path);
	error_clear(&e);
	s.size = SIZE;
	assert_int_equal(-1, disk_prepare(&s, "/does/not/exist", 0, &disk, &e));
	assert_non_null(strstr(e.text, "/does/not/exist"));
	settings_free(&s);
}

static void null_and_memory(void **state)
{
	struct settings s;
	struct disk disk;
	struct error e = {0};
	double seconds;

	(void)state;
	settings_default(&s);
	s.size = SIZE;
	s.backend = BACKEND_NULL;
	assert_int_equal(0, disk_prepare(&s, folder, 0, &disk, &e));
	assert_null(disk.path);
	assert_int_equal(0, disk_restore(&disk, FILESYSTEM_NONE, &seconds, &e));
	s.backend = BACKEND_MEMORY;
	if (access("/dev/shm", W_OK))
		skip();
	assert_int_equal(0, disk_prepare(&s, folder, 99, &disk, &e));
	assert_int_equal(0, strncmp(disk.path, "/dev/shm/", 9));
	assert_int_equal(-1, first_bad(disk.path));
	s.cache = CACHE_AUTO;
	assert_int_equal(0, disk_resolve_cache(&s, disk.path, &e));
	assert_int_equal(CACHE_WRITEBACK, s.cache);
	{
		char path[512];

		snprintf(path, sizeof(path), "%s", disk.path);
		disk_release(&disk);
		assert_int_equal(-1, access(path, F_OK));
	}
	settings_free(&s);
}

static void cache_by_file_system(void **state)
{
	struct settings s;
	struct disk disk;
	struct error e = {0};
	int fd;

	(void)state;
	prepare(&disk);
	settings_default(&s);
	s.cache = CACHE_AUTO;
	fd = open(disk.path, O_RDONLY | O_DIRECT);
	assert_int_equal(0, disk_resolve_cache(&s, disk.path, &e));
	assert_int_equal(fd >= 0 ? CACHE_NONE : CACHE_WRITEBACK, s.cache);
	if (fd >= 0)
		close(fd);
	/* Whose end is not aligned: QEMU would refuse to write to it directly where the file system wants 4 KiB. */
	s.cache = CACHE_AUTO;
	s.size = (64u << 20) + 1536;
	assert_int_equal(0, disk_resolve_cache(&s, disk.path, &e));
	assert_int_equal(CACHE_WRITEBACK, s.cache);
	s.cache = CACHE_UNSAFE;
	assert_int_equal(0, disk_resolve_cache(&s, disk.path, &e));
	assert_int_equal(CACHE_UNSAFE, s.cache);
	settings_free(&s);
	remove_disk(&disk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pattern),
		cmocka_unit_test(made_whole),
		cmocka_unit_test(good_one_is_kept),
		cmocka_unit_test(damaged_one_is_made_again),
		cmocka_unit_test(soiled_and_killed),
		cmocka_unit_test(restored_in_place),
		cmocka_unit_test(no_room),
		cmocka_unit_test(null_and_memory),
		cmocka_unit_test(cache_by_file_system),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
