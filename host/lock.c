#include "host/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The same file for every user: the lock is the host's. */
static const char *const places[] = { "/run/lock/kickbench.lock", "/tmp/kickbench.lock" };

/* O_CREAT on another user's file in a sticky folder is refused (fs.protected_regular): try without it first. */
static int open_place(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	mode_t mask;

	if (fd >= 0 || errno != ENOENT)
		return fd;
	mask = umask(0); /* every user has to be able to open it, from the first instant */
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	umask(mask);
	if (fd < 0 && errno == EEXIST) /* somebody else was faster */
		fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	return fd;
}

int lock_take(const char *what, struct error *e)
{
	char owner[256];
	ssize_t n;
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < sizeof(places) / sizeof(places[0]); i++)
		fd = open_place(places[i]);
	if (fd < 0)
		return error_errno(e, STATUS_HOST, "cannot open the lock %s", places[1]);
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		n = pread(fd, owner, sizeof(owner) - 1, 0);
		owner[n > 0 ? n : 0] = '\0';
		owner[strcspn(owner, "\n")] = '\0';
		close(fd);
		return error_set(e, STATUS_HOST, "another kickbench uses this host (%s): two at once would spoil both "
				 "measurements; wait until it has ended", *owner ? owner : "unknown");
	}
	n = snprintf(owner, sizeof(owner), "process %ld, %s\n", (long)getpid(), what);
	if (ftruncate(fd, 0) || pwrite(fd, owner, (size_t)n < sizeof(owner) ? (size_t)n : sizeof(owner) - 1, 0) < 0) {
		error_errno(e, STATUS_HOST, "cannot write the lock");
		close(fd);
		return -1;
	}
	return fd;
}
