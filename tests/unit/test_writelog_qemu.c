/* The logs that QEMU itself writes, without a guest: qemu-io does to a disk what the tests say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>

#include "host/program.h"
#include "host/writelog.h"
#include "tests/unit/scratch.h"
#include "tests/unit/write_log.h"

#define MAP 0xabcdu
#define QEMU_DISK 1048576u
#define QEMU_COMMANDS 64u

struct qemu {
	char command[QEMU_COMMANDS][600];
	unsigned count;
};

static void say(struct qemu *q, const char *fmt, ...) KB_PRINTF(2, 3);

static void say(struct qemu *q, const char *fmt, ...)
{
	va_list ap;

	assert_true(q->count < QEMU_COMMANDS);
	va_start(ap, fmt);
	vsnprintf(q->command[q->count++], sizeof(q->command[0]), fmt, ap);
	va_end(ap);
}

/* Let QEMU's qemu-io do it to a new disk, through blklogwrites. cache: none, writeback, writethrough, unsafe. */
static struct writelog *by_qemu_io(struct scratch *s, const struct qemu *q, const char *cache, unsigned sector)
{
	const char *argv[2 * QEMU_COMMANDS + 8] = { "qemu-io", "-d", "unmap", "-t", cache, "--image-opts" };
	struct program p = { .package = "qemu-utils", .out = -1 };
	struct error e = {0};
	struct writelog *log = NULL;
	char chain[2000];
	unsigned n = 6;

	scratch_bytes(s, "log", "", 0);
	assert_int_equal(truncate(scratch_bytes(s, "disk", "", 0), QEMU_DISK), 0);
	snprintf(chain, sizeof(chain), "driver=raw,discard=unmap,file.driver=blklogwrites,file.discard=unmap,file.log-sector-size=%u,"
		 "file.file.driver=file,file.file.discard=unmap,file.file.filename=%s/disk,file.log.driver=file,"
		 "file.log.filename=%s/log", sector, s->folder, s->folder);
	argv[n++] = chain;
	for (unsigned i = 0; i < q->count; i++) {
		argv[n++] = "-c";
		argv[n++] = q->command[i];
	}
	if (program_must(argv, &p, "qemu-io", &e) < 0 || writelog_open(scratch_path(s, "log"), &log, &e) < 0)
		fail_msg("%s", e.text);
	return log;
}

static void read_whole(const char *path, unsigned char *to)
{
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, to, QEMU_DISK, 0), QEMU_DISK);
	close(fd);
}

/* Whatever it did, the log has it: replayed, it gives the same disk. */
static void replay_of_qemu(struct scratch *s, unsigned sector, const char *cache)
{
	unsigned char *disk = malloc(QEMU_DISK), *replayed = malloc(QEMU_DISK);
	struct writelog *log;
	struct qemu q = { .count = 0 };
	struct error e = {0};
	uint64_t random = 7;
	int fd;

	for (unsigned i = 0; i < 50; i++) {
		unsigned at, length;

		/* Five at a time, each in a part of its own: which of two writes to one place wins is nobody's promise. */
		random = random * 6364136223846793005u + 1442695040888963407u;
		at = (i % 5 * 48 + (unsigned)(random >> 40) % 32) * 4096;
		length = ((unsigned)(random >> 32) % 16 + 1) * 4096;
		if (i % 7 == 3)
			say(&q, "discard %u %u", at, length);
		else if (i % 7 == 5)
			say(&q, "aio_write -z %u %u", at, length);
		else
			say(&q, "aio_write -P 0x%x %u %u", i + 1, at, length);
		if (i % 5 == 4)
			say(&q, "aio_flush");
	}
	say(&q, "aio_flush");
	log = by_qemu_io(s, &q, cache, sector);
	assert_int_equal(writelog_sector(log), sector);
	assert_in_range(writelog_entries(log), 50, 120);
	fd = open(scratch_path(s, "replayed"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0 && ftruncate(fd, QEMU_DISK) == 0);
	assert_int_equal(writelog_replay(log, writelog_entries(log), fd, &e), 0);
	close(fd);
	read_whole(scratch_path(s, "disk"), disk);
	read_whole(scratch_path(s, "replayed"), replayed);
	assert_memory_equal(disk, replayed, QEMU_DISK);
	writelog_close(log);
	free(disk);
	free(replayed);
}

static void qemu_replayed(void **state)
{
	if (!program_exists("qemu-io"))
		skip();
	replay_of_qemu(*state, 512, "writeback");
	replay_of_qemu(*state, 4096, "writethrough");
	replay_of_qemu(*state, 512, "unsafe");
}

/* Six writes of the job, `flush` after every second, in each mode of the cache. */
static struct writelog_flushes flushes_of_qemu(struct scratch *s, const char *cache, bool flush, bool *cut_off)
{
	struct log_bytes l = log_begin(512);
	struct qemu q = { .count = 0 };
	struct writelog_flushes f;
	struct writelog *log;
	struct error e = {0};

	for (unsigned i = 0; i < 6; i++) {
		unsigned char data[4096];
		char name[16];

		seal_write(&l, data, MAP, i * 8192, 8, 1);
		snprintf(name, sizeof(name), "block%u", i);
		say(&q, "write -s %s %u 4096", scratch_bytes(s, name, data, sizeof(data)), i * 8192);
		if (flush && i % 2)
			say(&q, "flush");
	}
	free(l.data);
	log = by_qemu_io(s, &q, cache, 512);
	assert_int_equal(writelog_check_flushes(log, MAP, 6, 2, &f, &e), 0);
	*cut_off = writelog_cut(log);
	writelog_close(log);
	return f;
}

static void qemu_flushes(void **state)
{
	struct writelog_flushes f;
	bool cut_off;

	if (!program_exists("qemu-io"))
		skip();
	f = flushes_of_qemu(*state, "writeback", true, &cut_off);
	expect_flushes(&f, 6, 3, 0, 0, 9, 6);
	assert_false(cut_off);
	/* qemu-io flushes once when it closes the disk, so the last one is answered. */
	f = flushes_of_qemu(*state, "writeback", false, &cut_off);
	expect_flushes(&f, 6, 3, 2, 1, 7, 6);
	/* Without a write cache the guest need not flush. */
	f = flushes_of_qemu(*state, "writethrough", false, &cut_off);
	expect_flushes(&f, 6, 3, 0, 0, 12, 6);
	/* No flush is passed on, and there is no super block. */
	f = flushes_of_qemu(*state, "unsafe", true, &cut_off);
	expect_flushes(&f, 6, 3, 3, 1, 0, 0);
	assert_false(cut_off);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(qemu_replayed), cmocka_unit_test(qemu_flushes) };

	return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
