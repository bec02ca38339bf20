/*
 * faultio.so, for LD_PRELOAD under a dynamically linked kickio: does the N-th write to a file wrongly and says that
 * all went well, or lets an I/O hang.
 *
 *	FAULT_FILE=TEXT   files whose path contains TEXT
 *	FAULT=KIND:N      drop      the N-th write (from 1) is not done
 *	                  misdirect it goes FAULT_SHIFT bytes further (65536)
 *	                  tear      only its first half is done, in whole sectors
 *	                  replay    what the write before the last one of that place held is written, not the new data
 *	                  corrupt   one bit is turned
 *	                  hang      it never comes back
 *	                  hangread  the N-th read never comes back
 *	                  die       the process is killed when half of it is done
 *	Several: FAULT=drop:3,tear:9. Writes are counted per process.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define OLD_MAX 256 /* contents kept for replay */

struct old {
	off_t offset;
	size_t length;
	void *bytes;
};

static atomic_ulong writes, reads;
static struct old old[OLD_MAX];
static unsigned nold;

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static int is_ours(int fd)
{
	const char *text = getenv("FAULT_FILE");
	char link[64], path[1024];
	ssize_t n;

	if (!text)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return 0;
	path[n] = '\0';
	return strstr(path, text) != NULL;
}

static int is_due(const char *kind, unsigned long n)
{
	const char *fault = getenv("FAULT");
	size_t length = strlen(kind);

	for (; fault && *fault; fault += strcspn(fault, ","), fault += *fault == ',')
		if (strncmp(fault, kind, length) == 0 && fault[length] == ':' && strtoul(fault + length + 1, NULL, 10) == n)
			return 1;
	return 0;
}

static void hang(void)
{
	for (;;)
		pause();
}

/* What an earlier write of that place held. */
static const struct old *remembered(off_t offset, size_t length)
{
	for (unsigned i = 0; i < nold; i++)
		if (old[i].offset == offset && old[i].length == length)
			return &old[i];
	return NULL;
}

static void remember(const void *bytes, size_t length, off_t offset)
{
	if (nold == OLD_MAX || remembered(offset, length))
		return;
	old[nold] = (struct old){ offset, length, malloc(length) };
	memcpy(old[nold++].bytes, bytes, length);
}

typedef ssize_t writer(int, const void *, size_t, off_t);

static ssize_t write_changed(writer *real, int fd, const void *bytes, size_t length, off_t offset)
{
	char *copy = malloc(length);
	ssize_t n;

	memcpy(copy, bytes, length);
	copy[length / 2 + 300] ^= 0x04;
	n = real(fd, copy, length, offset);
	free(copy);
	return n;
}

static ssize_t faulty_write(writer *real, int fd, const void *bytes, size_t length, off_t offset)
{
	const char *shift = getenv("FAULT_SHIFT");
	unsigned long n = ++writes;
	const struct old *before;

	if (is_due("drop", n))
		return (ssize_t)length;
	if (is_due("misdirect", n))
		return real(fd, bytes, length, offset + (shift ? atol(shift) : 65536));
	if (is_due("tear", n) || is_due("die", n)) {
		real(fd, bytes, length / 2 / 512 * 512, offset);
		if (is_due("die", n))
			raise(SIGKILL);
		return (ssize_t)length;
	}
	if (is_due("corrupt", n))
		return write_changed(real, fd, bytes, length, offset);
	if (is_due("hang", n))
		hang();
	before = remembered(offset, length);
	if (is_due("replay", n) && before)
		return real(fd, before->bytes, length, offset);
	remember(bytes, length, offset);
	return real(fd, bytes, length, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
	writer *real = (writer *)next("pwrite");

	return is_ours(fd) ? faulty_write(real, fd, bytes, length, offset) : real(fd, bytes, length, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t offset)
{
	return pwrite(fd, bytes, length, offset);
}

ssize_t pread(int fd, void *bytes, size_t length, off_t offset)
{
	ssize_t (*real)(int, void *, size_t, off_t) = (ssize_t (*)(int, void *, size_t, off_t))next("pread");

	if (is_ours(fd) && is_due("hangread", ++reads))
		hang();
	return real(fd, bytes, length, offset);
}

ssize_t pread64(int fd, void *bytes, size_t length, off_t offset)
{
	return pread(fd, bytes, length, offset);
}
