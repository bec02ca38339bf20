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
#include "host/dirs.h"
#include "host/filesystem.h"
#include "host/nbd.h"
#include "host/os.h"
#include "host/parse.h"

#define PIECE (1u << 20)
#define DIRECT_ALIGNMENT 4096
#define PATTERN_BLOCK 4096
#define MEMORY_FOLDER "/dev/shm/kickbench"
#define SPARE (64u << 20) /* left free on the file system */

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
	return 0;
}

static void kept_path(const char *path, enum filesystem filesystem, char *kept, size_t room)
{
	snprintf(kept, room, "%s.%s", path, filesystem_name(filesystem));
}

/* Write the whole file: the pattern, and over it the file system that is kept beside it. */
static int fill_file(const char *path, int fd, uint64_t bytes, enum filesystem filesystem, struct error *e)
{
	char kept[4200];
	void *piece;
	int status;

	if (posix_memalign(&piece, PATTERN_BLOCK, PIECE))
		return error_set(e, STATUS_HOST, "out of memory");
	kept_path(path, filesystem, kept, sizeof(kept));
	status = fill(fd, bytes, piece);
	if (status == 0 && filesystem != FILESYSTEM_NONE)
		status = filesystem_put_back(kept, fd, e);
	if (status == 0)
		status = fdatasync(fd);
	if (status && !e->status)
		error_errno(e, STATUS_HOST, "cannot fill the test disk %s", path);
	if (status == 0)
		os_uncache(fd); /* the guest's first reads come from the disk */
	free(piece);
	return status;
}

static void mark_path(const char *path, char *mark, size_t room)
{
	snprintf(mark, room, "%s.good", path);
}

/* A mark's text says what the good file holds: a raw disk's is as it always was. */
static int mark_text(enum filesystem filesystem, char *text, size_t room)
{
	return snprintf(text, room, "kickbench-disk/1%s%s\n", filesystem == FILESYSTEM_NONE ? "" : " ",
			filesystem == FILESYSTEM_NONE ? "" : filesystem_name(filesystem));
}

static int set_mark(const struct disk *d, struct error *e)
{
	char mark[4200], text[64];
	int n = mark_text(d->holds, text, sizeof(text)), fd, bad;

	mark_path(d->path, mark, sizeof(mark));
	fd = open(mark, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_errno(e, STATUS_HOST, "cannot write %s", mark);
	bad = write(fd, text, (size_t)n) != n || fsync(fd);
	if (bad)
		error_errno(e, STATUS_HOST, "cannot write %s", mark);
	close(fd);
	return bad ? -1 : 0;
}

/* Whether the file is good; then d->holds says of what. */
static bool has_mark(struct disk *d)
{
	char mark[4200], have[64] = "", want[64];
	ssize_t n = -1;
	int fd;

	mark_path(d->path, mark, sizeof(mark));
	fd = open(mark, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, have, sizeof(have) - 1);
		close(fd);
	}
	for (int f = FILESYSTEM_NONE; n > 0 && f <= FILESYSTEM_XFS; f++) {
		mark_text((enum filesystem)f, want, sizeof(want));
		if (!strcmp(have, want)) {
			d->holds = (enum filesystem)f;
			return true;
		}
	}
	return false;
}

int disk_soil(struct disk *disk, struct error *e)
{
	char mark[4200];

	if (!disk->path || disk->dirty)
		return 0;
	mark_path(disk->path, mark, sizeof(mark));
	if (unlink(mark) && errno != ENOENT)
		return error_errno(e, STATUS_HOST, "cannot remove %s", mark);
	dirs_sync_of(disk->path); /* before what the mark stands for may change */
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
	why = ftruncate(fd, (off_t)d->bytes) ? errno : os_allocate(fd, d->bytes);
	if (why) {
		errno = why;
		error_errno(e, STATUS_HOST, "cannot make the test disk %s", d->path);
	} else {
		status = fill_file(d->path, fd, d->bytes, FILESYSTEM_NONE, e);
	}
	close(fd);
	if (status)
		unlink(d->path);
	d->holds = FILESYSTEM_NONE;
	return status ? -1 : set_mark(d, e);
}

/* Have the file system kept beside the file: made once, on a file that is full of the pattern. */
static int keep_filesystem(struct disk *d, enum filesystem filesystem, struct error *e)
{
	char kept[4200];
	double seconds;

	kept_path(d->path, filesystem, kept, sizeof(kept));
	if (filesystem == FILESYSTEM_NONE || filesystem_is_kept(kept, d->bytes))
		return 0;
	if (d->holds != FILESYSTEM_NONE && disk_restore(d, FILESYSTEM_NONE, &seconds, e))
		return -1;
	if (disk_soil(d, e) || filesystem_make(filesystem, d->path, d->bytes, kept, e))
		return error_context(e, "filesystem = %s", filesystem_name(filesystem));
	return disk_restore(d, filesystem, &seconds, e);
}

/* What is written there stays the server's business. */
int disk_check_server(const struct settings *s, struct error *e)
{
	struct text asked = { 0 }, offered = { 0 };
	uint64_t bytes;

	if (nbd_size(s->path, &bytes, e))
		return -1;
	if (bytes == s->size)
		return 0;
	parse_size_back(s->size, &asked);
	parse_size_back(bytes, &offered);
	error_set(e, STATUS_USAGE, "the NBD server on %s offers a disk of %s, and disk.size is %s: set size = %s", s->path,
		  text_get(&offered), text_get(&asked), text_get(&offered));
	text_free(&asked);
	text_free(&offered);
	return -1;
}

int disk_prepare(const struct settings *s, const char *folder, unsigned index, struct disk *disk, struct error *e)
{
	char path[4096];
	struct stat st;
	int status = 0;

	*disk = (struct disk){ .bytes = s->size };
	if (s->backend == BACKEND_NULL)
		return 0;
	if (s->backend == BACKEND_NBD)
		return disk_check_server(s, e);
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
	if (!has_mark(disk) || stat(path, &st) || (uint64_t)st.st_size != s->size ||
	    (uint64_t)st.st_blocks * 512 < s->size) {
		*strrchr(path, '/') = '\0';
		status = make(path, disk, e);
	}
	if (status || keep_filesystem(disk, s->filesystem, e)) {
		disk_free(disk);
		return -1;
	}
	return 0;
}

int disk_restore(struct disk *disk, enum filesystem filesystem, double *seconds, struct error *e)
{
	double start = clock_s();
	int fd, status;

	*seconds = 0;
	if (!disk->path)
		return 0;
	fd = open(disk->path, O_RDWR | O_CLOEXEC); /* the same blocks of the host's disk: neither truncated nor renamed */
	if (fd < 0)
		return error_errno(e, STATUS_HOST, "cannot restore the test disk %s", disk->path);
	status = disk->dirty ? 0 : disk_soil(disk, e);
	if (status == 0)
		status = fill_file(disk->path, fd, disk->bytes, filesystem, e);
	close(fd);
	disk->holds = filesystem;
	if (status || set_mark(disk, e))
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
	fd = os_open_direct(path);
	if (fd >= 0)
		close(fd);
	else if (errno != EINVAL)
		return error_errno(e, STATUS_HOST, "%s", path);
	else if (s->cache != CACHE_AUTO)
		return error_set(e, STATUS_HOST, "cache = %s needs direct I/O, which the file system of %s does not have: use cache = "
				 "writeback or auto, or another disk.path", cache_name(s->cache), path);
	if (s->cache == CACHE_AUTO)
		s->cache = fd >= 0 && s->backend != BACKEND_MEMORY && s->size % DIRECT_ALIGNMENT == 0 ? CACHE_NONE : CACHE_WRITEBACK;
	return 0;
}

void disk_free(struct disk *disk)
{
	free(disk->path);
	free(disk->original);
	*disk = (struct disk){ 0 };
}

static void remove_beside(const char *path, const char *ending)
{
	char beside[4200];

	snprintf(beside, sizeof(beside), "%s.%s", path, ending);
	unlink(beside);
}

void disk_release(struct disk *disk)
{
	if (disk->path && disk->temporary && !disk->original) {
		remove_beside(disk->path, "good");
		for (int f = FILESYSTEM_EXT4; f <= FILESYSTEM_XFS; f++)
			remove_beside(disk->path, filesystem_name((enum filesystem)f));
		unlink(disk->path);
	}
	disk_free(disk);
}
