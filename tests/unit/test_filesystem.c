/* host/filesystem.c and disk.c: file systems made on the test disk's file, kept and put back. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "host/disk.h"
#include "host/filesystem.h"
#include "tests/unit/scratch.h"

#define EXT4_SIZE ((uint64_t)24 << 20)

static bool has_program(const char *name)
{
	char command[128];

	snprintf(command, sizeof(command), "PATH=$PATH:/usr/sbin:/sbin; command -v %s >/dev/null", name);
	return system(command) == 0;
}

static int prepare(struct scratch *s, enum filesystem filesystem, uint64_t size, struct disk *disk, struct error *e)
{
	struct settings settings;
	int status;

	settings_default(&settings);
	settings.size = size;
	settings.filesystem = filesystem;
	status = disk_prepare(&settings, s->folder, 0, disk, e);
	settings_free(&settings);
	return status;
}

static void restore(struct disk *disk, enum filesystem filesystem)
{
	struct error e = { 0 };
	double seconds;

	if (disk_restore(disk, filesystem, &seconds, &e))
		fail_msg("%s", e.text);
	assert_int_equal(disk->holds, filesystem);
	assert_false(disk->dirty);
}

/* The system's own checker, which changes nothing. */
static void check(const char *program, const char *path)
{
	char command[1024];

	snprintf(command, sizeof(command), "PATH=$PATH:/usr/sbin:/sbin; %s %s >/dev/null 2>&1", program, path);
	assert_int_equal(system(command), 0);
}

static void poke(const char *path, off_t offset, const char *bytes)
{
	int fd = open(path, O_WRONLY);

	assert_int_equal(strlen(bytes), pwrite(fd, bytes, strlen(bytes), offset));
	close(fd);
}

static uint64_t digest(const char *path)
{
	uint64_t h = 0xcbf29ce484222325u;
	unsigned char bytes[65536];
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		for (size_t i = 0; i < n; i++)
			h = (h ^ bytes[i]) * 0x100000001b3u;
	fclose(f);
	return h;
}

static void ext4_is_made_and_put_back(void **state)
{
	struct disk disk;
	struct error e = { 0 };
	struct stat before, after;
	uint64_t fresh, raw;

	if (!has_program("mke2fs") || !has_program("e2fsck"))
		skip();
	if (prepare(*state, FILESYSTEM_NONE, EXT4_SIZE, &disk, &e))
		fail_msg("%s", e.text);
	raw = digest(disk.path);
	disk_free(&disk);
	if (prepare(*state, FILESYSTEM_EXT4, EXT4_SIZE, &disk, &e))
		fail_msg("%s", e.text);
	assert_int_equal(disk.holds, FILESYSTEM_EXT4);
	assert_int_equal(filesystem_look(disk.path), FILESYSTEM_EXT4);
	check("e2fsck -fn", disk.path);
	fresh = digest(disk.path);
	assert_int_equal(stat(disk.path, &before), 0);
	assert_true((uint64_t)before.st_blocks * 512 >= EXT4_SIZE);
	assert_int_equal(disk_soil(&disk, &e), 0);
	poke(disk.path, 1024 + 56, "xx"); /* its magic */
	poke(disk.path, 12 << 20, "a file's data");
	assert_int_equal(filesystem_look(disk.path), FILESYSTEM_NONE);
	restore(&disk, FILESYSTEM_EXT4);
	assert_true(digest(disk.path) == fresh);
	restore(&disk, FILESYSTEM_NONE); /* another variant uses the same file */
	assert_true(digest(disk.path) == raw);
	assert_int_equal(filesystem_look(disk.path), FILESYSTEM_NONE);
	restore(&disk, FILESYSTEM_EXT4);
	assert_true(digest(disk.path) == fresh);
	assert_int_equal(stat(disk.path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_true(after.st_size == before.st_size && after.st_blocks == before.st_blocks);
	disk_free(&disk);
}

/* The next run takes what is there; a raw one learns that it has to restore. */
static void it_is_made_once(void **state)
{
	struct disk disk;
	struct error e = { 0 };
	char kept[600];

	if (!has_program("mke2fs"))
		skip();
	if (prepare(*state, FILESYSTEM_EXT4, EXT4_SIZE, &disk, &e))
		fail_msg("%s", e.text);
	snprintf(kept, sizeof(kept), "%s.ext4", disk.path);
	assert_true(filesystem_is_kept(kept, EXT4_SIZE));
	assert_false(filesystem_is_kept(kept, EXT4_SIZE + 512));
	poke(disk.path, 12 << 20, "x");
	disk_free(&disk);
	if (prepare(*state, FILESYSTEM_NONE, EXT4_SIZE, &disk, &e))
		fail_msg("%s", e.text);
	assert_int_equal(disk.holds, FILESYSTEM_EXT4);
	disk_free(&disk);
	assert_int_equal(truncate(kept, 4096), 0); /* cut: made again, over a fresh pattern */
	assert_false(filesystem_is_kept(kept, EXT4_SIZE));
	if (prepare(*state, FILESYSTEM_EXT4, EXT4_SIZE, &disk, &e))
		fail_msg("%s", e.text);
	assert_true(filesystem_is_kept(kept, EXT4_SIZE));
	check("e2fsck -fn", disk.path);
	disk_free(&disk);
}

static void xfs_is_made(void **state)
{
	uint64_t size = filesystem_least(FILESYSTEM_XFS);
	struct disk disk;
	struct error e = { 0 };

	if (!has_program("mkfs.xfs") || !has_program("xfs_repair"))
		skip();
	if (prepare(*state, FILESYSTEM_XFS, size, &disk, &e))
		fail_msg("%s", e.text);
	assert_int_equal(filesystem_look(disk.path), FILESYSTEM_XFS);
	check("xfs_repair -n", disk.path);
	restore(&disk, FILESYSTEM_XFS);
	check("xfs_repair -n", disk.path);
	disk_free(&disk);
}

static void what_mkfs_says_is_passed_on(void **state)
{
	char *path = strdup(getenv("PATH"));
	struct disk disk;
	struct error e = { 0 };
	struct scratch *s = *state;

	scratch_text(s, "bin/mke2fs", "#!/bin/sh\necho no such luck >&2\nexit 3\n");
	chmod(s->path, 0755);
	snprintf(s->path, sizeof(s->path), "%s/bin:%s", s->folder, path);
	setenv("PATH", s->path, 1);
	assert_int_equal(prepare(s, FILESYSTEM_EXT4, EXT4_SIZE, &disk, &e), -1);
	setenv("PATH", path, 1);
	free(path);
	assert_int_equal(e.status, STATUS_HOST);
	holds(e.text, "mke2fs");
	holds(e.text, "ended with status 3: no such luck");
	assert_null(disk.path);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_open, scratch_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ext4_is_made_and_put_back), TEST(it_is_made_once), TEST(xfs_is_made), TEST(what_mkfs_says_is_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
