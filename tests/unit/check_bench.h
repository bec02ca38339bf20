/*
 * A disk for `kickio check`: a file, or a loop device on it. The calls that reach it are the test program's own, so that a disk
 * that loses, misplaces, tears or refuses can be played.
 */
#ifndef KB_TESTS_CHECK_BENCH_H
#define KB_TESTS_CHECK_BENCH_H

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
	LOSE_HIGH_BITS,   /* of an offset, all but 32 */
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

	if (fault == LOSE_HIGH_BITS)
		offset &= UINT32_MAX;

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
	if (fault == LOSE_HIGH_BITS)
		offset &= UINT32_MAX;
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

static inline void make_disk(struct disk *d, off_t bytes)
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
static inline bool attach(struct disk *d, const char *options)
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

static inline void remove_disk(struct disk *d)
{
	char command[128];

	fault = NO_FAULT;
	snprintf(command, sizeof(command), "losetup -d %s", d->device);
	if (d->device[0])
		assert_int_equal(system(command), 0);
	unlink(d->file);
}

/* Options as words between spaces. */
static inline void run(const char *device, const char *options, struct check_report *report)
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

static inline void show(const struct check_report *report)
{
	struct text t = {0};

	check_text(report, false, &t);
	print_message("%s", text_get(&t));
	text_free(&t);
}

/* The first line of that name that is of that status. */
static inline const struct check_line *find(const struct check_report *report, const char *name, enum check_status status)
{
	for (size_t i = 0; i < report->count; i++)
		if (strcmp(report->line[i].name, name) == 0 && report->line[i].status == status)
			return &report->line[i];
	return NULL;
}

static inline void expect(const struct check_report *report, const char *name, enum check_status status, bool corrupt,
		   const char *part)
{
	const struct check_line *l = find(report, name, status);

	if (!l || l->corrupt != corrupt || !strstr(l->message, part)) {
		show(report);
		fail_msg("no line '%s' of status %d with '%s'", name, (int)status, part);
	}
}

static inline void expect_good(struct check_report *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->line[i].status == CHECK_FAIL || strstr(report->line[i].message, "say --destroy")) {
			show(report);
			fail_msg("%s failed or was skipped", report->line[i].name);
		}
	assert_int_equal(check_exit_status(report), 0);
	check_report_free(report);
}

#endif
