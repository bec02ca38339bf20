/*
 * LD_PRELOAD shim: what a program's jobs transfer, a line each, to the file named by $TRACE:
 *
 *	read|write|sync FILE OFFSET LENGTH
 *
 * FILE is the last component of its name. Only processes and threads that the program started count: the main one
 * lays out files. Only files below the folder $TRACE_FOLDER count, and no logs. Engines of io_uring are not seen: their
 * requests are no calls.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <dlfcn.h>
#include <fcntl.h>
#if __has_include(<libaio.h>)
#include <libaio.h>
#define HAVE_LIBAIO
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static pid_t first;
static int out = -1;
static char folder[512];

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("TRACE"), *below = getenv("TRACE_FOLDER");

	first = getpid();
	if (!path || !below)
		return;
	snprintf(folder, sizeof(folder), "%s", below);
	out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	/* out of the way of what the program closes */
	if (out >= 0)
		out = fcntl(out, F_DUPFD_CLOEXEC, 500);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void tell(const char *what, int fd, off_t offset, size_t length)
{
	char link[64], path[1024], line[512];
	ssize_t n;
	int len;

	if (out < 0 || fd == out || (pid_t)syscall(SYS_gettid) == first)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return;
	path[n] = '\0';
	if (strncmp(path, folder, strlen(folder)) != 0 || (n > 4 && strcmp(path + n - 4, ".log") == 0))
		return;
	len = snprintf(line, sizeof(line), "%s %s %lld %zu\n", what, strrchr(path, '/') + 1, (long long)offset, length);
	syscall(SYS_write, out, line, (size_t)len);
}

static size_t total(const struct iovec *v, int n)
{
	size_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += v[i].iov_len;
	return sum;
}

/* ---- calls at the file's own position ---- */

static off_t position(int fd)
{
	return (off_t)syscall(SYS_lseek, fd, 0, SEEK_CUR);
}

ssize_t read(int fd, void *buf, size_t n)
{
	off_t at = position(fd);
	ssize_t r = REAL(read)(fd, buf, n);

	if (r > 0)
		tell("read", fd, at, (size_t)r);
	return r;
}

ssize_t write(int fd, const void *buf, size_t n)
{
	off_t at = position(fd);
	ssize_t r = REAL(write)(fd, buf, n);

	if (r > 0)
		tell("write", fd, at, (size_t)r);
	return r;
}

/* ---- calls with a position ---- */

#define POSITIONED(name, what, buffer)                                  \
	ssize_t name(int fd, buffer buf, size_t n, off_t at)            \
	{                                                               \
		ssize_t r = REAL(name)(fd, buf, n, at);                 \
		if (r > 0)                                              \
			tell(what, fd, at, (size_t)r);                  \
		return r;                                               \
	}

POSITIONED(pread, "read", void *)
POSITIONED(pread64, "read", void *)
POSITIONED(pwrite, "write", const void *)
POSITIONED(pwrite64, "write", const void *)

#define VECTORED(name, what)                                                        \
	ssize_t name(int fd, const struct iovec *v, int n, off_t at)                \
	{                                                                           \
		ssize_t r = REAL(name)(fd, v, n, at);                               \
		if (r > 0)                                                          \
			tell(what, fd, at, total(v, n));                            \
		return r;                                                           \
	}

VECTORED(preadv, "read")
VECTORED(preadv64, "read")
VECTORED(pwritev, "write")
VECTORED(pwritev64, "write")

#define FLAGGED(name, what)                                                         \
	ssize_t name(int fd, const struct iovec *v, int n, off_t at, int flags)     \
	{                                                                           \
		ssize_t r = REAL(name)(fd, v, n, at, flags);                        \
		if (r > 0)                                                          \
			tell(what, fd, at, total(v, n));                            \
		return r;                                                           \
	}

FLAGGED(preadv2, "read")
FLAGGED(preadv64v2, "read")
FLAGGED(pwritev2, "write")
FLAGGED(pwritev64v2, "write")

/* ---- asynchronous ones ---- */

#define AIO(name, what, block)                                                      \
	int name(struct block *a)                                                   \
	{                                                                           \
		tell(what, a->aio_fildes, a->aio_offset, a->aio_nbytes);            \
		return REAL(name)(a);                                               \
	}

AIO(aio_read, "read", aiocb)
AIO(aio_read64, "read", aiocb64)
AIO(aio_write, "write", aiocb)
AIO(aio_write64, "write", aiocb64)

#ifdef HAVE_LIBAIO
int io_submit(io_context_t context, long n, struct iocb **list)
{
	int r = REAL(io_submit)(context, n, list);

	for (int i = 0; i < r; i++) {
		const struct iocb *c = list[i];

		if (c->aio_lio_opcode == IO_CMD_PREAD || c->aio_lio_opcode == IO_CMD_PWRITE)
			tell(c->aio_lio_opcode == IO_CMD_PREAD ? "read" : "write", c->aio_fildes, c->u.c.offset,
			     c->u.c.nbytes);
	}
	return r;
}
#endif

/* Others than SYS_preadv2 and SYS_pwritev2 pass through. */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long a[6], r;
	va_list args;

	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	r = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (r > 0 && (number == SYS_preadv2 || number == SYS_pwritev2))
		tell(number == SYS_preadv2 ? "read" : "write", (int)a[0], a[3], total((const struct iovec *)a[1], (int)a[2]));
	return r;
}

/* ---- syncs ---- */

int fsync(int fd)
{
	tell("sync", fd, 0, 0);
	return REAL(fsync)(fd);
}

int fdatasync(int fd)
{
	tell("sync", fd, 0, 0);
	return REAL(fdatasync)(fd);
}
