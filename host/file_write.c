#include "host/file_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/text.h"
#include "host/dirs.h"

int file_write_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t n = write(fd, bytes, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		bytes += n;
		length -= (size_t)n;
	}
	return 0;
}

static int write_directly(const char *path, const char *bytes, size_t length, struct error *e)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return error_errno(e, STATUS_USAGE, "cannot write %s", path);
	if (file_write_all(fd, bytes, length)) {
		error_errno(e, STATUS_HOST, "cannot write %s", path);
		close(fd);
		return -1;
	}
	close(fd);
	return 0;
}

static int write_renamed(const char *path, const char *temporary, const char *bytes, size_t length, struct error *e)
{
	int fd;

	unlink(temporary); /* of an earlier process of that number, which was killed */
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_errno(e, STATUS_USAGE, "cannot write %s", path);
	if (file_write_all(fd, bytes, length) || fsync(fd)) {
		error_errno(e, STATUS_HOST, "cannot write %s", path);
		close(fd);
		goto remove;
	}
	close(fd);
	if (rename(temporary, path)) {
		error_errno(e, STATUS_HOST, "cannot write %s", path);
		goto remove;
	}
	dirs_sync_of(path);
	return 0;
remove:
	unlink(temporary);
	return -1;
}

int file_write(const char *path, const char *bytes, size_t length, struct error *e)
{
	struct text temporary = { 0 };
	struct stat st;
	char *target = NULL;
	int status;

	if (stat(path, &st) == 0) {
		if (!S_ISREG(st.st_mode))
			return write_directly(path, bytes, length, e);
		target = realpath(path, NULL);
	}
	text_add(&temporary, "%s.new-%ld", target ? target : path, (long)getpid());
	if (temporary.failed)
		status = error_set(e, STATUS_HOST, "out of memory");
	else
		status = write_renamed(target ? target : path, text_get(&temporary), bytes, length, e);
	text_free(&temporary);
	free(target);
	return status;
}
