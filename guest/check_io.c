/* Requests, and sectors that tell where they belong. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "guest/check_internal.h"

size_t check_paths(const struct check *c, struct check_path paths[2])
{
	size_t n = 0;

	if (c->direct >= 0)
		paths[n++] = (struct check_path){"direct", c->direct};
	if (c->buffered >= 0)
		paths[n++] = (struct check_path){"buffered", c->buffered};
	return n;
}

int64_t check_read(struct check *c, int fd, void *bytes, size_t length, uint64_t offset)
{
	ssize_t n;

	do
		n = pread(fd, bytes, length, (off_t)offset);
	while (n < 0 && errno == EINTR);
	__atomic_fetch_add(&c->report->reads, 1, __ATOMIC_RELAXED);
	return n < 0 ? -errno : n;
}

int64_t check_write(struct check *c, int fd, const void *bytes, size_t length, uint64_t offset)
{
	ssize_t n;

	do
		n = pwrite(fd, bytes, length, (off_t)offset);
	while (n < 0 && errno == EINTR);
	__atomic_fetch_add(&c->report->writes, 1, __ATOMIC_RELAXED);
	return n < 0 ? -errno : n;
}

uint64_t check_new_seed(struct check *c)
{
	return c->seed += UINT64_C(0x9e3779b97f4a7c15);
}

/* Every eight bytes of the disk have a word of their own in every pattern: what went astray is seen wherever it is. */
static uint64_t word(uint64_t seed, uint64_t place)
{
	uint64_t x = seed ^ place * UINT64_C(0xbf58476d1ce4e5b9);

	x ^= x >> 31;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 29;
}

void check_fill(const struct check *c, unsigned char *bytes, uint64_t first, uint64_t count, uint64_t seed)
{
	uint64_t words = c->sector / sizeof(uint64_t), w;

	for (uint64_t i = 0; i < count * words; i++) {
		w = word(seed, first * words + i);
		memcpy(bytes + i * sizeof(w), &w, sizeof(w));
	}
}

uint64_t check_differs(const struct check *c, const unsigned char *bytes, uint64_t first, uint64_t count, uint64_t seed)
{
	uint64_t words = c->sector / sizeof(uint64_t), w;

	for (uint64_t i = 0; i < count * words; i++) {
		w = word(seed, first * words + i);
		if (memcmp(bytes + i * sizeof(w), &w, sizeof(w)) != 0)
			return i / words;
	}
	return count;
}

static bool came_whole(struct check *c, const char *name, const char *verb, const struct check_path *path, uint64_t first,
		       uint64_t count, int64_t n)
{
	unsigned long long at = first, much = count;

	if (n == (int64_t)(count * c->sector))
		return true;
	if (n < 0)
		check_add(c, CHECK_FAIL, name, "%s sectors %llu to %llu (%s): %s", verb, at, at + much - 1, path->name,
			  strerror((int)-n));
	else
		check_add(c, CHECK_FAIL, name, "%s sectors %llu to %llu (%s): only %lld of %llu bytes", verb, at, at + much - 1,
			  path->name, (long long)n, much * c->sector);
	return false;
}

bool check_put(struct check *c, const char *name, const struct check_path *path, uint64_t first, uint64_t count,
	       uint64_t seed)
{
	int error;

	check_fill(c, c->a, first, count, seed);
	if (!came_whole(c, name, "writing", path, first, count,
			check_write(c, path->fd, c->a, (size_t)(count * c->sector), first * c->sector)))
		return false;
	error = path->fd == c->buffered ? os_flush(path->fd) : 0;
	if (error)
		check_add(c, CHECK_FAIL, name, "flushing what was written: %s", strerror(error));
	return !error;
}

bool check_get(struct check *c, const char *name, const struct check_path *path, uint64_t first, uint64_t count)
{
	/* What the system keeps must not answer for the disk. Where that cannot be had it is the best there is. */
	if (path->fd == c->buffered)
		os_drop_cache(path->fd, &c->target, first * c->sector, count * c->sector);
	memset(c->b, 0xa5, (size_t)(count * c->sector));
	return came_whole(c, name, "reading", path, first, count,
			  check_read(c, path->fd, c->b, (size_t)(count * c->sector), first * c->sector));
}
