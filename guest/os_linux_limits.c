/* What Linux says of a disk beyond its size, and the requests that only a disk can be asked for. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "guest/os.h"
#include "guest/os_linux_sysfs.h"

/* include/uapi/linux/fs.h, which not every C library has beside its own headers. */
#define DISCARD _IO(0x12, 119)  /* BLKDISCARD */
#define ZERO_OUT _IO(0x12, 127) /* BLKZEROOUT */

/* block/fops.c: a disk is written to its end and not behind it, direct requests are of whole blocks, nothing is written to a
 * read-only disk although it can be opened for that. */
static const int past_end[] = {ENOSPC, 0};
static const int unaligned[] = {EINVAL, 0};
static const int read_only[] = {EPERM, EROFS, EACCES, 0};

const struct os_refusals os_refusals = {past_end, unaligned, read_only};

static bool line_of(dev_t device, const char *attribute, char *line, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s", major(device), minor(device), attribute);
	return sysfs_line(path, line, size);
}

/* False: there is no such attribute. */
static bool number_of(dev_t device, const char *attribute, uint64_t *number)
{
	char line[64];

	if (!line_of(device, attribute, line, sizeof(line)))
		return false;
	*number = strtoull(line, NULL, 10);
	return true;
}

/* A folder for each queue of the multi-queue layer. */
static uint32_t count_queues(dev_t device)
{
	char path[PATH_MAX];
	struct dirent *entry;
	uint32_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/mq", major(device), minor(device));
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

void os_limits(const char *path, struct os_limits *l)
{
	struct stat st;
	char line[64];
	uint64_t n;

	*l = (struct os_limits){.readonly = -1, .write_cache = -1, .discard = -1, .zeroes = -1};
	if (stat(path, &st) < 0 || !S_ISBLK(st.st_mode))
		return;
	if (number_of(st.st_rdev, "ro", &n))
		l->readonly = n != 0;
	if (line_of(st.st_rdev, "queue/write_cache", line, sizeof(line)))
		l->write_cache = strcmp(line, "write back") == 0;
	if (number_of(st.st_rdev, "queue/discard_max_bytes", &n))
		l->discard = n != 0;
	if (number_of(st.st_rdev, "queue/write_zeroes_max_bytes", &n))
		l->zeroes = n != 0;
	if (number_of(st.st_rdev, "queue/max_segments", &n))
		l->segments = (uint32_t)n;
	if (number_of(st.st_rdev, "queue/max_sectors_kb", &n))
		l->request_bytes = n * 1024;
	if (number_of(st.st_rdev, "queue/discard_granularity", &n))
		l->discard_bytes = n;
	l->queues = count_queues(st.st_rdev);
}

static int request(int fd, unsigned long what, uint64_t offset, uint64_t length)
{
	uint64_t range[2] = {offset, length};

	if (ioctl(fd, what, range) == 0)
		return 0;
	return errno == ENOTTY || errno == EOPNOTSUPP ? ENOTSUP : errno;
}

int os_discard(int fd, uint64_t offset, uint64_t length)
{
	return request(fd, DISCARD, offset, length);
}

/* Where the disk does not offer it the kernel writes zeroes of its own. */
int os_write_zeroes(int fd, uint64_t offset, uint64_t length)
{
	return request(fd, ZERO_OUT, offset, length);
}
