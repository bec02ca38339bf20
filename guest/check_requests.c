/* Flush, discard, zeroes, and requests that are as large or as much in pieces as they can be. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "guest/check_internal.h"

#define DISCARD_BYTES (256u << 10)
#define ZERO_BYTES (64u << 10)
#define LARGE_BYTES (1u << 20) /* where the system does not tell */
#define PIECES 128
#define PAGE 4096

/* ---- flush ---- */

void check_flush(struct check *c)
{
	struct check_path path[2];
	size_t n = check_paths(c, path);

	if (check_no_writes(c, "flush"))
		return;
	for (size_t i = 0; i < n; i++) {
		int error;

		if (!check_put(c, "flush", &path[i], 0, 1, check_new_seed(c)))
			continue;
		error = os_flush(path[i].fd);
		if (!error)
			error = os_flush_data(path[i].fd);
		check_add(c, error ? CHECK_FAIL : CHECK_PASS, "flush", "%s%s%s", path[i].name, error ? ": " : "",
			  error ? strerror(error) : "");
	}
}

/* ---- ranges ---- */

/* A range with a sector before it and one behind it. */
struct range_of {
	uint64_t first, count;
};

/* In whole units, of at most so many bytes. False: the disk is too small. */
static bool choose(const struct check *c, uint64_t unit, uint64_t bytes, struct range_of *r)
{
	uint64_t sectors = unit / c->sector;

	if (unit % c->sector || sectors == 0 || bytes > CHECK_ROOM - 2 * (uint64_t)c->sector)
		return false;
	r->first = sectors;
	r->count = bytes / unit * sectors;
	if (r->count == 0)
		r->count = sectors;
	if (r->first + 1 >= c->sectors)
		return false;
	while (r->count > 0 && r->first + r->count + 1 > c->sectors)
		r->count -= sectors;
	return r->count > 0 && (r->count + 2) * c->sector <= CHECK_ROOM;
}

static bool is_zero(const unsigned char *bytes, size_t length)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, length - 1) == 0;
}

static bool neighbours(struct check *c, const char *name, const struct range_of *r, uint64_t seed)
{
	const uint64_t at[] = {r->first - 1, r->first + r->count};

	for (unsigned i = 0; i < 2; i++) {
		if (check_differs(c, c->b + (at[i] - r->first + 1) * c->sector, at[i], 1, seed) == 1)
			continue;
		check_add_corrupt(c, name, "sector %llu has changed, and %llu to %llu were meant", (unsigned long long)at[i],
				  (unsigned long long)r->first, (unsigned long long)(r->first + r->count - 1));
		return false;
	}
	return true;
}

/* Pattern on the range and its neighbours, the request, all of it read back into b. False: it failed. */
static bool change(struct check *c, const char *name, const struct check_path *by, const struct check_path *back,
		   int (*how)(int, uint64_t, uint64_t), const struct range_of *r, uint64_t seed)
{
	int error;

	if (!check_put(c, name, by, r->first - 1, r->count + 2, seed))
		return false;
	error = how(by->fd, r->first * c->sector, r->count * c->sector);
	if (error) {
		check_add(c, CHECK_FAIL, name, "sectors %llu to %llu: %s", (unsigned long long)r->first,
			  (unsigned long long)(r->first + r->count - 1), strerror(error));
		return false;
	}
	return check_get(c, name, back, r->first - 1, r->count + 2) && neighbours(c, name, r, seed);
}

/* ---- discard ---- */

/* What a discarded range holds is nobody's business, but it can be read, and written again. */
void check_discard(struct check *c)
{
	uint64_t unit = c->limits.discard_bytes > c->sector ? c->limits.discard_bytes : c->sector, seed = check_new_seed(c);
	const char *name = "discard";
	struct check_path path[2];
	size_t n = check_paths(c, path);
	struct range_of r;

	if (c->target.kind == OS_REGULAR) {
		check_add(c, CHECK_SKIPPED, name, "of a device only");
		return;
	}
	if (c->limits.discard < 1) {
		check_add(c, CHECK_SKIPPED, name, c->limits.discard == 0 ? "the disk does not offer it" :
			  "the system does not tell whether the disk offers it");
		return;
	}
	if (check_no_writes(c, name))
		return;
	if (!choose(c, unit, DISCARD_BYTES, &r)) {
		check_add(c, CHECK_SKIPPED, name, "there is no room for %llu bytes between two other sectors",
			  (unsigned long long)unit);
		return;
	}
	if (!change(c, name, &path[0], &path[n - 1], os_discard, &r, seed))
		return;
	seed = check_new_seed(c);
	if (!check_put(c, name, &path[0], r.first, r.count, seed) || !check_get(c, name, &path[n - 1], r.first, r.count))
		return;
	if (check_differs(c, c->b, r.first, r.count, seed) < r.count)
		check_add_corrupt(c, name, "what was written to sectors %llu to %llu after it is not there",
				  (unsigned long long)r.first, (unsigned long long)(r.first + r.count - 1));
	else
		check_add(c, CHECK_PASS, name, "%llu bytes", (unsigned long long)r.count * c->sector);
}

/* ---- zeroes ---- */

static void zeroes(struct check *c, const struct check_path *by, const struct check_path *back, const struct range_of *r)
{
	const char *name = "zeroes";

	if (!change(c, name, by, back, os_write_zeroes, r, check_new_seed(c)))
		return;
	for (uint64_t i = 0; i < r->count; i++)
		if (!is_zero(c->b + (i + 1) * c->sector, c->sector)) {
			check_add_corrupt(c, name, "sector %llu of %llu to %llu is not zero, read %s", (unsigned long long)(r->first + i),
					  (unsigned long long)r->first, (unsigned long long)(r->first + r->count - 1), back->name);
			return;
		}
	check_add(c, CHECK_PASS, name, "%llu bytes, read %s", (unsigned long long)r->count * c->sector, back->name);
}

void check_zeroes(struct check *c)
{
	const char *name = "zeroes";
	struct check_path path[2];
	size_t n = check_paths(c, path);
	struct range_of r;

	if (c->target.kind == OS_REGULAR)
		check_add(c, CHECK_SKIPPED, name, "of a device only");
	else if (check_no_writes(c, name))
		;
	else if (!choose(c, c->sector, ZERO_BYTES + c->sector, &r))
		check_add(c, CHECK_SKIPPED, name, "there is no room for a sector between two others");
	else if (os_write_zeroes(path[0].fd, r.first * c->sector, c->sector) == ENOTSUP)
		check_add(c, CHECK_SKIPPED, name, "this system has no such request");
	else
		for (size_t i = 0; i < n; i++)
			zeroes(c, &path[0], &path[i], &r);
}

/* ---- large ---- */

static void large(struct check *c, uint64_t count)
{
	uint64_t seed = check_new_seed(c), bad;
	struct check_path path[2];
	size_t n = check_paths(c, path);
	char name[48];

	snprintf(name, sizeof(name), "request of %llu bytes", (unsigned long long)(count * c->sector));
	if (!check_put(c, name, &path[0], c->sectors - count, count, seed))
		return;
	for (size_t i = 0; i < n; i++) {
		if (!check_get(c, name, &path[i], c->sectors - count, count))
			return;
		bad = check_differs(c, c->b, c->sectors - count, count, seed);
		if (bad < count) {
			check_add_corrupt(c, name, "sector %llu is not what was written, read %s",
					  (unsigned long long)(c->sectors - count + bad), path[i].name);
			return;
		}
	}
	check_add(c, CHECK_PASS, name, "%s", path[0].name);
}

/* As large as a request can be, and more: that has to be split. The last sectors of the disk are in all of them. */
void check_large(struct check *c)
{
	uint64_t bytes[4] = {c->limits.request_bytes ? c->limits.request_bytes : LARGE_BYTES}, done = 0;
	size_t n = 1;

	if (check_no_writes(c, "large requests"))
		return;
	bytes[n++] = bytes[0] + c->sector;
	if (c->limits.segments) {
		bytes[n++] = (uint64_t)c->limits.segments * PAGE;
		bytes[n++] = (uint64_t)c->limits.segments * PAGE + PAGE;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t count = (bytes[i] < CHECK_ROOM ? bytes[i] : CHECK_ROOM) / c->sector;

		count = count < c->sectors ? count : c->sectors;
		if (count == done) /* the disk, or what we have room for, is smaller */
			continue;
		done = count;
		large(c, count);
	}
}

/* ---- pieces ---- */

/* Every second block of memory, and the other way round: no two of them can become one. */
static size_t spread(const struct check *c, unsigned char *memory, size_t pieces, struct iovec *vector)
{
	for (size_t i = 0; i < pieces; i++)
		vector[i] = (struct iovec){memory + (pieces - 1 - i) * 2 * c->sector, c->sector};
	return pieces * c->sector;
}

static void pieces_at(struct check *c, const char *name, const struct check_path *path, size_t pieces)
{
	uint64_t seed = check_new_seed(c), first = c->sectors - pieces, bad = 0;
	struct iovec vector[PIECES];
	size_t length = spread(c, c->a, pieces, vector);
	ssize_t n;

	for (size_t i = 0; i < pieces; i++)
		check_fill(c, vector[i].iov_base, first + i, 1, seed);
	n = pwritev(path->fd, vector, (int)pieces, (off_t)(first * c->sector));
	if (n == (ssize_t)length && path->fd == c->buffered && os_flush(path->fd) != 0)
		n = -1;
	if (n == (ssize_t)length) {
		if (!check_get(c, name, path, first, pieces))
			return;
		bad = check_differs(c, c->b, first, pieces, seed);
		spread(c, c->b, pieces, vector);
		memset(c->b, 0xa5, pieces * 2 * c->sector);
		n = bad == pieces ? preadv(path->fd, vector, (int)pieces, (off_t)(first * c->sector)) : n;
	}
	for (size_t i = 0; n == (ssize_t)length && bad == pieces && i < pieces; i++)
		if (check_differs(c, vector[i].iov_base, first + i, 1, seed) == 0)
			bad = i;
	__atomic_fetch_add(&c->report->writes, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->report->reads, 1, __ATOMIC_RELAXED);
	if (n != (ssize_t)length)
		check_add(c, CHECK_FAIL, name, "%s, %zu pieces: %s", path->name, pieces, n < 0 ? strerror(errno) : "only a part of them");
	else if (bad < pieces)
		check_add_corrupt(c, name, "%s: piece %llu of %zu is not what was written", path->name, (unsigned long long)bad, pieces);
	else
		check_add(c, CHECK_PASS, name, "%s: %zu of %u bytes", path->name, pieces, (unsigned)c->sector);
}

void check_pieces(struct check *c)
{
	size_t pieces = CHECK_ROOM / 2 / c->sector, n;
	const char *name = "request in pieces";
	struct check_path path[2];

	if (check_no_writes(c, name))
		return;
	pieces = pieces < PIECES ? pieces : PIECES;
	pieces = pieces < c->sectors ? pieces : (size_t)c->sectors;
	if (pieces < 2) {
		check_add(c, CHECK_SKIPPED, name, "a disk of one sector has none");
		return;
	}
	n = check_paths(c, path);
	for (size_t i = 0; i < n; i++)
		pieces_at(c, name, &path[i], pieces);
}
