#include "host/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "host/clock.h"

#define PIECE (1u << 20)
#define PATTERN_BLOCK 4096
#define MEMORY_FOLDER "/dev/shm/kickbench"
#define SPARE (64u << 20) /* left free on the file system */

static const char mark_text[] = "kickbench-disk/1\n";

void disk_memory_folder(char *path, size_t room)
{
	snprintf(path, room, "%s-%ld", MEMORY_FOLDER, (long)getuid()); /* tmpfs is everybody's */
}

void disk_pattern(uint64_t offset, void *block)
{
	uint64_t *word = block, base = (offset / PATTERN_BLOCK + 1) * 0x9e3779b97f4a7c15u;

	/* splitmix64's output function over a counter: looks random, costs a few cycles, knows no neighbours. */
	for (size_t i = 0; i < PATTERN_BLOCK / sizeof(*word); i++) {
		uint64_t z = base + i * 0xbf58476d1ce4e5b9u;

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
		word[i] = z ^ (z >> 31);
	}
}

/* Write the pattern over [0, bytes). The piece is aligned; the last block of an odd size is cut. */
static int fill(int fd, uint64_t bytes, void *piece)
{
	for (uint64_t at = 0; at < bytes; at += PIECE) {
		size_t length = bytes - at < PIECE ? (size_t)(bytes - at) : PIECE, done = 0;

		for (size_t k = 0; k < length; k += PATTERN_BLOCK)
			disk_pattern(at + k, (char *)piece + k);
		while (done < length) {
			ssize_t n = pwrite(fd, (char *)piece + done, length - done, (off_t)(at + done));

			if (n < 0 && errno != EINTR)
				return -1;
			done += n > 0 ? (size_t)n : 0;
		}
	}
	return fdatasync(fd);
}

static int fill_file(const char *path, int fd, uint64_t bytes, struct error *e)
{
	void *piece;
	int status;

	if (posix_memalign(&piece, PATTERN_BLOCK, PIECE))
		return error_set(e, STATUS_HOST, "out of memory");
	status = fill(fd, bytes, piece);
	if (status)
		error_errno(e, STATUS_HOST, "cannot fill the test disk %s", path);
	else
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); /* the guest's first reads come from the disk */
	free(piece);
	return status;
}

static void mark_path(const char *path, char *mark, size_t room)
{
	snprintf(mark, room, "%s.good", path);
}

/* The folder's entry itself has to be on the disk before what it stands for may change. */
static void sync_folder_of(const char *path)
{
	char folder[4096], *slash;
	int fd;

	snprintf(folder, sizeof(folder), "%s", path);
	slash = strrchr(folder, '/');
	if (!slash)
		return;
	*slash = '\0';
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
}

static int set_mark(const char *path, struct error *e)
{
	char mark[4200];
	int fd, bad;

	mark_path(path, mark, sizeof(mark));
	fd = open(mark, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_errno(e, STATUS_HOST, "cannot write %s", mark);
	bad = write(fd, mark_text, sizeof(mark_text) - 1) != (ssize_t)sizeof(mark_text) - 1 || fsync(fd);
	if (bad)
		error_errno(e, STATUS_HOST, "cannot write %s", mark);
	close(fd);
	return bad ? -1 : 0;
}

static bool has_mark(const char *path)
{
	char mark[4200], text[sizeof(mark_text)];
	ssize_t n = -1;
	int fd;

	mark_path(path, mark, sizeof(mark));
	fd = open(mark, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text));
		close(fd);
	}
	return n == (ssize_t)sizeof(mark_text) - 1 && !memcmp(text, mark_text, sizeof(mark_text) - 1);
}

int disk_soil(struct disk *disk, struct error *e)
{
	char mark[4200];

	if (!disk->path || disk->dirty)
		return 0;
	mark_path(disk->path, mark, sizeof(mark));
	if (unlink(mark) && errno != ENOENT)
		return error_errno(e, STATUS_HOST, "cannot remove %s", mark);
	sync_folder_of(disk->path);
	disk->dirty = true;
	return 0;
}

static int check_space(const char *folder, uint64_t bytes, uint64_t there, struct error *e)
{
	struct statvfs v;
	uint64_t room;

	if (statvfs(folder, &v))
		return error_errno(e, STATUS_HOST, "%s", folder);
	room = (uint64_t)v.f_bavail * v.f_frsize;
	if (bytes > there && room < bytes - there + SPARE)
		return error_set(e, STATUS_HOST, "%s has %" PRIu64 " MiB free, the test disk takes %" PRIu64 " MiB: set disk.path to a "
				 "folder with more room, or disk.size lower", folder, room >> 20, (bytes - there) >> 20);
	return 0;
}

/* Make the file at its full size, every block allocated, and fill it. */
static int make(const char *folder, struct disk *d, struct error *e)
{
	struct stat st = { 0 };
	int fd, why, status = -1;

	stat(d->path, &st);
	if (check_space(folder, d->bytes, (uint64_t)st.st_blocks * 512, e))
		return -1;
	fd = open(d->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(e, STATUS_HOST, "cannot make the test disk %s", d->path);
	why = ftruncate(fd, (off_t)d->bytes) ? errno : posix_fallocate(fd, 0, (off_t)d->bytes);
	if (why) {
		errno = why;
		error_errno(e, STATUS_HOST, "cannot make the test disk %s", d->path);
	} else {
		status = fill_file(d->path, fd, d->bytes, e);
	}
	close(fd);
	if (status)
		unlink(d->path);
	return status ? -1 : set_mark(d->path, e);
}

int disk_prepare(const struct settings *s, const char *folder, unsigned index, struct disk *disk, struct error *e)
{
	char path[4096];
	struct stat st;

	*disk = (struct disk){ .bytes = s->size };
	if (s->backend == BACKEND_NULL)
		return 0;
	if (s->backend == BACKEND_MEMORY) {
		disk_memory_folder(path, sizeof(path));
		folder = path;
		if (mkdir(folder, 0700) && errno != EEXIST)
			return error_errno(e, STATUS_HOST, "cannot make the folder %s", folder);
		snprintf(path + strlen(path), sizeof(path) - strlen(path), "/" DISK_PREFIX "%u-%" PRIu64 ".raw", index, s->size);
		disk->temporary = true;
	} else {
		snprintf(path, sizeof(path), "%s/" DISK_PREFIX "%u-%" PRIu64 ".raw", folder, index, s->size);
	}
	disk->path = strdup(path);
	if (!disk->path)
		return error_set(e, STATUS_HOST, "out of memory");
	if (has_mark(path) && stat(path, &st) == 0 && (uint64_t)st.st_size == s->size &&
	    (uint64_t)st.st_blocks * 512 >= s->size)
		return 0;
	*strrchr(path, '/') = '\0';
	if (make(path, disk, e)) {
		disk_free(disk);
		return -1;
	}
	return 0;
}

int disk_restore(struct disk *disk, double *seconds, struct error *e)
{
	double start = clock_s();
	int fd, status;

	*seconds = 0;
	if (!disk->path)
		return 0;
	fd = open(disk->path, O_RDWR | O_CLOEXEC); /* the same blocks of the host's disk: neither truncated nor renamed */
	if (fd < 0)
		return error_errno(e, STATUS_HOST, "cannot restore the test disk %s", disk->path);
	status = fill_file(disk->path, fd, disk->bytes, e);
	close(fd);
	if (status || set_mark(disk->path, e))
		return -1;
	disk->dirty = false;
	*seconds = clock_s() - start;
	return 0;
}

int disk_resolve_cache(struct settings *s, const char *path, struct error *e)
{
	int fd;

	if (!path) {
		if (s->cache == CACHE_AUTO)
			s->cache = CACHE_NONE;
		return 0;
	}
	if (s->cache != CACHE_AUTO && s->cache != CACHE_NONE && s->cache != CACHE_DIRECTSYNC)
		return 0;
	fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	else if (errno != EINVAL)
		return error_errno(e, STATUS_HOST, "%s", path);
	else if (s->cache != CACHE_AUTO)
		return error_set(e, STATUS_HOST, "cache = %s needs direct I/O, which the file system of %s does not have: use cache = "
				 "writeback or auto, or another disk.path", cache_name(s->cache), path);
	if (s->cache == CACHE_AUTO)
		s->cache = fd >= 0 && s->backend != BACKEND_MEMORY ? CACHE_NONE : CACHE_WRITEBACK;
	return 0;
}

void disk_free(struct disk *disk)
{
	free(disk->path);
	*disk = (struct disk){ 0 };
}

void disk_release(struct disk *disk)
{
	char mark[4200];

	if (disk->path && disk->temporary) {
		mark_path(disk->path, mark, sizeof(mark));
		unlink(mark);
		unlink(disk->path);
	}
	disk_free(disk);
}
