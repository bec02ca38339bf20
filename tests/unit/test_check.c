/*
 * `kickio check` on files and loop devices. The calls that reach the disk are this program's own, so that a disk that loses,
 * misplaces, tears or refuses can be played.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/check.h"

#define MIB (1u << 20)

enum fault {
	NO_FAULT,
	LOSE_WRITES,      /* to the place: they end well and do nothing */
	MISPLACE_WRITES,  /* to the place: they go to the sector behind it */
	TEAR_WRITES,      /* to the place: the second half of the sector stays as it was */
	SMEAR_WRITES,     /* to the place: the sector in front of it is written, too */
	SHORT_READS,      /* half of what was asked for */
	WRITE_ERRORS,     /* EIO at the place */
	FLUSH_ERRORS,
	SWAPPED_PIECES,   /* the first two pieces of a vector change places */
	KEEP_ZEROES,      /* a request for zeroes ends well and does nothing */
	WIDE_ZEROES,      /* it takes one sector more */
	LOSE_AFTER_DISCARD,
	ACCEPT_UNALIGNED,
	ACCEPT_READ_ONLY,
};

static enum fault fault;
static off_t place;
static bool discarded;

/* ---- the disk's side ---- */

static ssize_t really_write(int fd, const void *bytes, size_t length, off_t offset)
{
	return syscall(SYS_pwrite64, fd, bytes, length, offset);
}

static bool hits(size_t length, off_t offset)
{
	return offset <= place && place < offset + (off_t)length;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
	static _Alignas(4096) char room[MIB * 2];
	bool hit = hits(length, offset);

	if (fault == ACCEPT_UNALIGNED && length % 512)
		return (ssize_t)length;
	if (fault == ACCEPT_READ_ONLY || (fault == LOSE_AFTER_DISCARD && discarded))
		return (ssize_t)length;
	if (hit && fault == LOSE_WRITES)
		return (ssize_t)length;
	if (hit && fault == WRITE_ERRORS) {
		errno = EIO;
		return -1;
	}
	if (hit && fault == MISPLACE_WRITES && length == 512)
		return really_write(fd, bytes, length, offset + 512);
	if (hit && fault == SMEAR_WRITES && length == 512) {
		really_write(fd, bytes, length, offset - 512);
		return really_write(fd, bytes, length, offset);
	}
	if (hit && fault == TEAR_WRITES && length <= sizeof(room)) {
		size_t at = (size_t)(place - offset);

		memcpy(room, bytes, length);
		memset(room + at + 256, 0x77, 256);
		return really_write(fd, room, length, offset);
	}
	return really_write(fd, bytes, length, offset);
}

ssize_t pread(int fd, void *bytes, size_t length, off_t offset)
{
	if (fault == ACCEPT_UNALIGNED && length % 512)
		return (ssize_t)length;
	if (fault == SHORT_READS && length > 512 && hits(length, offset))
		length /= 2;
	return syscall(SYS_pread64, fd, bytes, length, offset);
}

ssize_t pwritev(int fd, const struct iovec *vector, int count, off_t offset)
{
	struct iovec swapped[128];

	assert_true(count <= 128);
	memcpy(swapped, vector, (size_t)count * sizeof(*vector));
	if (fault == SWAPPED_PIECES) {
		swapped[0] = vector[1];
		swapped[1] = vector[0];
	}
	return syscall(SYS_pwritev, fd, swapped, count, offset, 0);
}

int fsync(int fd)
{
	if (fault == FLUSH_ERRORS) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

int ioctl(int fd, unsigned long what, ...)
{
	uint64_t wider[2], *range;
	va_list arguments;
	void *argument;

	va_start(arguments, what);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	range = argument;
	if (what == BLKDISCARD)
		discarded = true;
	if (what == BLKZEROOUT && fault == KEEP_ZEROES)
		return 0;
	if (fault == ACCEPT_READ_ONLY && (what == BLKZEROOUT || what == BLKDISCARD))
		return 0;
	if (what == BLKZEROOUT && fault == WIDE_ZEROES) {
		wider[0] = range[0];
		wider[1] = range[1] + 512;
		argument = wider;
	}
	return (int)syscall(SYS_ioctl, fd, what, argument);
}

/* ---- files and devices ---- */

struct disk {
	char file[96], device[64];
};

static void make_disk(struct disk *d, off_t bytes)
{
	const char *tmp = getenv("TMPDIR");
	int fd;

	*d = (struct disk){.device = ""};
	snprintf(d->file, sizeof(d->file), "%s/checkXXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	fd = mkstemp(d->file);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	close(fd);
}

/* False: this user or system has none. */
static bool attach(struct disk *d, const char *options)
{
	char command[256];
	FILE *f;

	snprintf(command, sizeof(command), "losetup -f --show %s %s 2>/dev/null", options, d->file);
	f = geteuid() == 0 ? popen(command, "r") : NULL;
	if (!f)
		return false;
	if (!fgets(d->device, sizeof(d->device), f))
		d->device[0] = '\0';
	pclose(f);
	d->device[strcspn(d->device, "\n")] = '\0';
	return d->device[0];
}

static void remove_disk(struct disk *d)
{
	char command[128];

	fault = NO_FAULT;
	snprintf(command, sizeof(command), "losetup -d %s", d->device);
	if (d->device[0])
		assert_int_equal(system(command), 0);
	unlink(d->file);
}

/* Options as words between spaces. */
static void run(const char *device, const char *options, struct check_report *report)
{
	char words[256], *argv[16], *rest = NULL;
	struct check_options o;
	struct error e = {0};
	int argc = 0;

	snprintf(words, sizeof(words), "--filename=%s %s", device, options);
	for (char *w = strtok_r(words, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
		argv[argc++] = w;
	*report = (struct check_report){.line = NULL};
	discarded = false;
	if (check_parse(argc, argv, &o, &e) < 0 || check_run(&o, report, &e) < 0)
		fail_msg("%s: %s", words, e.text);
}

static void show(const struct check_report *report)
{
	struct text t = {0};

	check_text(report, false, &t);
	print_message("%s", text_get(&t));
	text_free(&t);
}

/* The first line of that name that is of that status. */
static const struct check_line *find(const struct check_report *report, const char *name, enum check_status status)
{
	for (size_t i = 0; i < report->count; i++)
		if (strcmp(report->line[i].name, name) == 0 && report->line[i].status == status)
			return &report->line[i];
	return NULL;
}

static void expect(const struct check_report *report, const char *name, enum check_status status, bool corrupt,
		   const char *part)
{
	const struct check_line *l = find(report, name, status);

	if (!l || l->corrupt != corrupt || !strstr(l->message, part)) {
		show(report);
		fail_msg("no line '%s' of status %d with '%s'", name, (int)status, part);
	}
}

static void expect_good(struct check_report *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->line[i].status == CHECK_FAIL || strstr(report->line[i].message, "say --destroy")) {
			show(report);
			fail_msg("%s failed or was skipped", report->line[i].name);
		}
	assert_int_equal(check_exit_status(report), 0);
	check_report_free(report);
}

/* ---- options ---- */

static void test_options(void **state)
{
	static const struct { const char *argv[3]; const char *why; } bad[] = {
		{{NULL}, "which device?"},
		{{"/dev/a", "/dev/b"}, "one device, not /dev/a and /dev/b"},
		{{"/dev/a", "--filename=/dev/b"}, "one device"},
		{{"/dev/a", "--destroy"}, "--NAME=VALUE"},
		{{"/dev/a", "--destroy=2"}, "at most 1"},
		{{"/dev/a", "--destroy=yes"}, "--destroy"},
		{{"/dev/a", "--readonly=-1"}, "--readonly"},
		{{"/dev/a", "--siz=5"}, "no option --siz"},
		{{"/dev/a", "--size="}, "--size"},
	};
	char *good[] = {(char *)"--size=64m", (char *)"/dev/a", (char *)"--serial=a=b", (char *)"--destroy=1",
			(char *)"--write-cache=0"};
	struct check_options o;
	struct error e = {0};

	(void)state;
	assert_int_equal(check_parse(5, good, &o, &e), 0);
	assert_string_equal(o.device, "/dev/a");
	assert_string_equal(o.serial, "a=b");
	assert_true(o.destroy);
	assert_true(o.expected[CHECK_SIZE] == 64 * MIB);
	assert_true(o.expected[CHECK_WRITE_CACHE] == 0);
	assert_true(o.expected[CHECK_READONLY] == CHECK_UNKNOWN);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int argc = 0;

		e = (struct error){0};
		while (argc < 3 && bad[i].argv[argc])
			argc++;
		assert_int_equal(check_parse(argc, (char **)bad[i].argv, &o, &e), -1);
		if (!strstr(e.text, bad[i].why))
			fail_msg("'%s' does not say '%s'", e.text, bad[i].why);
	}
}

static void test_no_disk(void **state)
{
	static const struct { const char *path, *why; } rows[] = {
		{"/nonexistent", "there is no /nonexistent"},
		{"/tmp", "is no disk"},
		{"/dev/null", "tells no size"},
	};
	struct check_report report = {.line = NULL};
	struct check_options o;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *argv[] = {(char *)rows[i].path};
		struct error e = {0};

		assert_int_equal(check_parse(1, argv, &o, &e), 0);
		assert_int_equal(check_run(&o, &report, &e), -1);
		if (!strstr(e.text, rows[i].why))
			fail_msg("'%s' does not say '%s'", e.text, rows[i].why);
		assert_int_equal(report.count, 0);
	}
}

/* ---- files ---- */

static void test_file(void **state)
{
	struct check_report report;
	struct text json = {0};
	struct stat st;
	struct disk d;

	(void)state;
	make_disk(&d, 4 * MIB);
	run(d.file, "--destroy=1 --size=4m", &report);
	expect(&report, "size in bytes", CHECK_PASS, false, "4194304");
	expect(&report, "last sector", CHECK_PASS, false, "written ");
	expect(&report, "write past the end", CHECK_SKIPPED, false, "a file grows");
	expect(&report, "request in pieces", CHECK_PASS, false, "128 of 512 bytes");
	check_json(&report, &json);
	assert_non_null(strstr(text_get(&json), "{\"checks\":[{\"name\":\"size in bytes\",\"status\":\"pass\",\"message\":\"4194304\"},"));
	assert_null(strstr(text_get(&json), "corrupt"));
	text_free(&json);
	expect_good(&report);
	assert_int_equal(stat(d.file, &st), 0);
	assert_int_equal(st.st_size, 4 * MIB);
	remove_disk(&d);
}

/* Without consent nothing is written. */
static void test_reading_only(void **state)
{
	struct check_report report;
	struct disk d;
	char bytes[512];
	int fd;

	(void)state;
	make_disk(&d, MIB);
	run(d.file, "", &report);
	expect(&report, "first sector", CHECK_PASS, false, "read ");
	expect(&report, "flush", CHECK_SKIPPED, false, "say --destroy=1");
	expect(&report, "request in pieces", CHECK_SKIPPED, false, "say --destroy=1");
	assert_int_equal(report.writes, 0);
	assert_int_equal(check_exit_status(&report), 0);
	check_report_free(&report);
	fd = open(d.file, O_RDONLY);
	for (off_t at = 0; at < MIB; at += 512) {
		assert_int_equal(syscall(SYS_pread64, fd, bytes, sizeof(bytes), at), 512);
		assert_true(bytes[0] == 0 && memcmp(bytes, bytes + 1, 511) == 0);
	}
	close(fd);
	remove_disk(&d);
}

static void test_wrong_answers(void **state)
{
	struct check_report report;
	struct text json = {0}, failed = {0};
	struct disk d;

	(void)state;
	make_disk(&d, MIB);
	run(d.file, "--size=2m --serial=kb-disk0 --readonly=0 --write-cache=1 --queues=4", &report);
	expect(&report, "size in bytes", CHECK_FAIL, false, "1048576 instead of 2097152");
	expect(&report, "serial number", CHECK_SKIPPED, false, "tells none");
	expect(&report, "read-only", CHECK_SKIPPED, false, "does not tell");
	expect(&report, "queues", CHECK_SKIPPED, false, "does not tell");
	assert_int_equal(check_exit_status(&report), 1);
	check_text(&report, true, &failed);
	assert_string_equal(text_get(&failed), "fail size in bytes: 1048576 instead of 2097152\n");
	text_free(&failed);
	check_json(&report, &json);
	assert_non_null(strstr(text_get(&json), "\"status\":\"fail\""));
	text_free(&json);
	check_report_free(&report);
	remove_disk(&d);
}

/* The smallest ones: of one to five sectors; and one that ends within a sector. */
static void test_small_files(void **state)
{
	struct check_report report;
	struct disk d;

	(void)state;
	for (off_t sectors = 1; sectors <= 5; sectors++) {
		make_disk(&d, sectors * 512);
		run(d.file, "--destroy=1", &report);
		expect(&report, "first sector", CHECK_PASS, false, "");
		expect(&report, "last sector", CHECK_PASS, false, "");
		if (sectors == 1)
			expect(&report, "request in pieces", CHECK_SKIPPED, false, "one sector");
		expect_good(&report);
		remove_disk(&d);
	}
	make_disk(&d, 5 * 512 + 100);
	run(d.file, "--destroy=1", &report);
	expect(&report, "past the end", CHECK_SKIPPED, false, "middle of a sector");
	expect_good(&report);
	remove_disk(&d);
}

static void test_faults(void **state)
{
	static const struct { enum fault fault; off_t place; const char *name; bool corrupt; const char *part; } rows[] = {
		{LOSE_WRITES, 0, "first sector", true, "sector 0 does not hold what was written"},
		{LOSE_WRITES, MIB - 512, "last sector", true, "sector 2047 does not hold what was written"},
		{MISPLACE_WRITES, 0, "first sector", true, "sector 0 does not hold what was written to it but what was there before"},
		{TEAR_WRITES, MIB - 512, "last sector", true, "sector 2047 does not hold what was written"},
		{SMEAR_WRITES, MIB - 512, "last sector", true, "sector 2046 has changed, and only 2047 was written"},
		{SHORT_READS, 0, "first sector", false, "only 1024 of 2048 bytes"},
		{WRITE_ERRORS, MIB - 512, "last sector", false, "Input/output error"},
		{FLUSH_ERRORS, 0, "flush", false, "Input/output error"},
		{SWAPPED_PIECES, 0, "request in pieces", true, "piece 0 of 128"},
		{LOSE_WRITES, 600 * 1024, "request of 1048576 bytes", true, "sector 0 is not what was written"},
		{TEAR_WRITES, 600 * 1024, "request of 1048576 bytes", true, "sector 1200 is not what was written"},
	};
	struct check_report report;
	struct disk d;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_disk(&d, MIB);
		fault = rows[i].fault;
		place = rows[i].place;
		run(d.file, "--destroy=1", &report);
		fault = NO_FAULT;
		expect(&report, rows[i].name, CHECK_FAIL, rows[i].corrupt, rows[i].part);
		assert_int_equal(check_exit_status(&report), 1);
		check_report_free(&report);
		remove_disk(&d);
	}
}

/* ---- devices ---- */

static void test_devices(void **state)
{
	static const struct { off_t bytes; const char *attach, *options; } rows[] = {
		{16 * MIB, "-b 512", "--destroy=1 --size=16m --sector=512 --readonly=0"},
		{16 * MIB, "-b 4096", "--destroy=1 --size=16m --sector=4096 --readonly=0"},
		{512, "", "--destroy=1 --size=512"},
		{4096, "-b 4096", "--destroy=1 --size=4096"},
		{7 * 512, "", "--destroy=1 --size=3584"},
		{16 * MIB, "-r", "--destroy=1 --readonly=1"},
	};
	struct check_report report;
	struct disk d;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_disk(&d, rows[i].bytes);
		if (!attach(&d, rows[i].attach)) {
			remove_disk(&d);
			print_message("no loop devices here\n");
			skip();
		}
		run(d.device, rows[i].options, &report);
		if (i == 0) {
			expect(&report, "write past the end", CHECK_PASS, false, "direct: No space left");
			expect(&report, "write across the end", CHECK_PASS, false, "direct: 512 bytes");
			expect(&report, "unaligned direct writes", CHECK_PASS, false, "refused");
			expect(&report, "zeroes", CHECK_PASS, false, "66048 bytes, read direct");
		}
		if (i == 5) {
			expect(&report, "write to a read-only disk", CHECK_PASS, false, "direct: Operation not permitted");
			expect(&report, "discard of a read-only disk", CHECK_PASS, false, "");
			expect(&report, "flush", CHECK_SKIPPED, false, "the disk is read-only");
			assert_int_equal(report.writes, 2);
		}
		expect_good(&report);
		remove_disk(&d);
	}
}

static void test_device_faults(void **state)
{
	static const struct { enum fault fault; off_t place; const char *options, *name; bool corrupt; const char *part; } rows[] = {
		{KEEP_ZEROES, 0, "--destroy=1", "zeroes", true, "is not zero"},
		{WIDE_ZEROES, 0, "--destroy=1", "zeroes", true, "has changed, and 1 to 129 were meant"},
		{LOSE_AFTER_DISCARD, 0, "--destroy=1", "discard", true, "is not there"},
		{ACCEPT_UNALIGNED, 0, "--destroy=1", "unaligned direct reads", false, "256 bytes at 0: 256 bytes"},
		{ACCEPT_UNALIGNED, 0, "--destroy=1", "unaligned direct writes", false, "256 bytes at 0: 256 bytes"},
		{ACCEPT_READ_ONLY, 0, "--destroy=1 --readonly=1", "write to a read-only disk", false, "direct: 512 bytes"},
		{ACCEPT_READ_ONLY, 0, "--destroy=1 --readonly=1", "discard of a read-only disk", false, "taken"},
		{NO_FAULT, 0, "--readonly=1", "read-only", false, "0 instead of 1"},
		{NO_FAULT, 0, "--sector=4096", "logical sector", false, "512 instead of 4096"},
		{LOSE_WRITES, MIB - 512, "--destroy=1", "write past the end", true, "sector 2047 does not hold"},
	};
	struct check_report report;
	struct disk d;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_disk(&d, MIB);
		if (!attach(&d, "-b 512")) {
			remove_disk(&d);
			print_message("no loop devices here\n");
			skip();
		}
		fault = rows[i].fault;
		place = rows[i].place;
		run(d.device, rows[i].options, &report);
		fault = NO_FAULT;
		if (rows[i].fault != LOSE_AFTER_DISCARD || !find(&report, "discard", CHECK_SKIPPED))
			expect(&report, rows[i].name, CHECK_FAIL, rows[i].corrupt, rows[i].part);
		check_report_free(&report);
		remove_disk(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_no_disk),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_reading_only),
		cmocka_unit_test(test_wrong_answers),
		cmocka_unit_test(test_small_files),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_device_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
