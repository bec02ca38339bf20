/* Where a disk begins and ends, and what it must refuse. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest/check_internal.h"

static bool in(const int *list, int64_t result)
{
	for (; *list; list++)
		if (result == -*list)
			return true;
	return false;
}

/* What came of a request, in words. */
static const char *outcome(int64_t n, char room[48])
{
	if (n < 0)
		snprintf(room, 48, "%.47s", strerror((int)-n));
	else
		snprintf(room, 48, "%lld bytes", (long long)n);
	return room;
}

static uint64_t around(const struct check *c)
{
	return c->sectors < CHECK_AROUND ? c->sectors : CHECK_AROUND;
}

/* Sector `at`, which b has with those around from first on, is of pattern is, and they of pattern old. */
static bool holds(struct check *c, const char *name, const char *how, uint64_t first, uint64_t count, uint64_t at, uint64_t is,
		  uint64_t old)
{
	const unsigned char *it = c->b + (at - first) * c->sector;

	if (check_differs(c, it, at, 1, is) == 0) {
		check_add_corrupt(c, name, "%s: sector %llu does not hold what was written to it%s", how, (unsigned long long)at,
				  check_differs(c, it, at, 1, old) == 1 ? " but what was there before" : "");
		return false;
	}
	for (uint64_t i = 0; i < count; i++) {
		if (first + i == at || check_differs(c, c->b + i * c->sector, first + i, 1, old) == 1)
			continue;
		check_add_corrupt(c, name, "%s: sector %llu has changed, and only %llu was written", how,
				  (unsigned long long)(first + i), (unsigned long long)at);
		return false;
	}
	return true;
}

/* ---- first and last ---- */

/* One sector between others, written by one path and read by the other. */
static void write_end(struct check *c, const char *name, uint64_t at, const struct check_path *by, const struct check_path *back)
{
	uint64_t count = around(c), first = at < count ? 0 : c->sectors - count;
	uint64_t old = check_new_seed(c), is = check_new_seed(c);
	char how[64];

	snprintf(how, sizeof(how), "written %s, read %s", by->name, back->name);
	if (check_put(c, name, by, first, count, old) && check_put(c, name, by, at, 1, is) &&
	    check_get(c, name, back, first, count) && holds(c, name, how, first, count, at, is, old))
		check_add(c, CHECK_PASS, name, "%s", how);
}

/* What is there is the same on both paths. */
static void read_end(struct check *c, const char *name, uint64_t at, const struct check_path *path, size_t n)
{
	if (!check_get(c, name, &path[0], at, 1))
		return;
	memcpy(c->a, c->b, c->sector);
	if (n > 1 && !check_get(c, name, &path[1], at, 1))
		return;
	if (memcmp(c->a, c->b, c->sector) != 0)
		check_add_corrupt(c, name, "read %s it is another than read %s", path[0].name, path[1].name);
	else
		check_add(c, CHECK_PASS, name, "read %s%s%s", path[0].name, n > 1 ? " and " : "", n > 1 ? path[1].name : "");
}

void check_ends(struct check *c)
{
	static const char *const names[] = {"first sector", "last sector"};
	struct check_path path[2];
	size_t n = check_paths(c, path);

	for (unsigned end = 0; end < 2; end++) {
		uint64_t at = end ? c->sectors - 1 : 0;

		for (size_t i = 0; c->writes && i < n; i++)
			write_end(c, names[end], at, &path[i], &path[n - 1 - i]);
		if (!c->writes)
			read_end(c, names[end], at, path, n);
	}
}

/* ---- where numbers overflow ---- */

/* An offset that lost its high bits would write to sector 0, and read it from there as if it were right. */
static void far(struct check *c, const char *name, uint64_t at, const struct check_path *by, const struct check_path *back)
{
	uint64_t old = check_new_seed(c), is = check_new_seed(c);

	if (!check_put(c, name, by, 0, 1, old) || !check_put(c, name, by, at - 1, 1, is) || !check_put(c, name, by, at, 1, is) ||
	    !check_get(c, name, back, 0, 1))
		return;
	if (check_differs(c, c->b, 0, 1, old) == 0) {
		check_add_corrupt(c, name, "sector 0 has changed, and %llu was written", (unsigned long long)at);
		return;
	}
	if (!check_get(c, name, back, at - 1, 2))
		return;
	if (check_differs(c, c->b, at - 1, 2, is) < 2)
		check_add_corrupt(c, name, "sector %llu does not hold what was written to it",
				  (unsigned long long)(at - 1 + check_differs(c, c->b, at - 1, 2, is)));
	else
		check_add(c, CHECK_PASS, name, "written %s, read %s", by->name, back->name);
}

void check_far(struct check *c)
{
	static const struct { unsigned bits; const char *name; } places[] = {
		{31, "across 2 GiB"}, {32, "across 4 GiB"}, {41, "across 2 TiB"},
	};
	struct check_path path[2];
	size_t n = check_paths(c, path);

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		uint64_t at = (UINT64_C(1) << places[i].bits) / c->sector;

		if (at < c->sectors && !check_no_writes(c, places[i].name))
			far(c, places[i].name, at, &path[0], &path[n - 1]);
	}
}

/* ---- past the end ---- */

static void read_past(struct check *c, const struct check_path *path)
{
	uint64_t end = c->sectors * c->sector;
	int64_t n = check_read(c, path->fd, c->b, c->sector, end);
	char room[48];

	check_add(c, n == 0 || in(os_refusals.past_end, n) ? CHECK_PASS : CHECK_FAIL, "read past the end", "%s: %s", path->name,
		  outcome(n, room));
	n = check_read(c, path->fd, c->b, 2 * (size_t)c->sector, end - c->sector);
	check_add(c, n == c->sector || in(os_refusals.past_end, n) ? CHECK_PASS : CHECK_FAIL, "read across the end", "%s: %s",
		  path->name, outcome(n, room));
}

/*
 * Write count sectors from the end, or from one sector before it: nothing, or only what is in front of the end, may get to
 * the disk.
 */
static void write_past(struct check *c, const char *name, const struct check_path *by, const struct check_path *back, bool across)
{
	uint64_t count = around(c), first = c->sectors - count, last = c->sectors - 1;
	uint64_t old = check_new_seed(c), is = check_new_seed(c);
	bool changed;
	int64_t n, whole = across ? c->sector : 0;
	char room[48];

	if (!check_put(c, name, by, first, count, old))
		return;
	check_fill(c, c->a, last, 2, is);
	n = check_write(c, by->fd, across ? c->a : c->a + c->sector, (across ? 2 : 1) * (size_t)c->sector,
			(across ? last : c->sectors) * c->sector);
	if (n != whole && n != 0 && !in(os_refusals.past_end, n)) {
		check_add(c, CHECK_FAIL, name, "%s: %s", by->name, outcome(n, room));
		return;
	}
	if (by->fd == c->buffered)
		os_flush(by->fd);
	if (!check_get(c, name, back, first, count))
		return;
	/* What was refused may have been written in part, but no more than the sector that it names. */
	changed = n > 0 || (across && check_differs(c, c->b + (count - 1) * c->sector, last, 1, is) == 1);
	if (holds(c, name, by->name, first, count, last, changed ? is : old, old))
		check_add(c, CHECK_PASS, name, "%s: %s", by->name, outcome(n, room));
}

void check_past_end(struct check *c)
{
	struct check_path path[2];
	size_t n = check_paths(c, path);

	if (c->target.bytes % c->sector) {
		check_add(c, CHECK_SKIPPED, "past the end", "it is in the middle of a sector");
		return;
	}
	for (size_t i = 0; i < n; i++)
		read_past(c, &path[i]);
	for (unsigned across = 0; across < 2; across++) {
		const char *name = across ? "write across the end" : "write past the end";

		if (c->target.kind == OS_REGULAR)
			check_add(c, CHECK_SKIPPED, name, "a file grows");
		else if (!check_no_writes(c, name))
			for (size_t i = 0; i < n; i++)
				write_past(c, name, &path[i], &path[n - 1 - i], across);
	}
}

/* ---- unaligned ---- */

/* What is written, should the disk take it, is what stands there. */
static void unaligned(struct check *c, const char *name, bool writes)
{
	const struct { uint32_t offset, length; } at[] = {
		{1, c->sector}, {c->sector / 2, c->sector}, {0, c->sector / 2}, {0, c->sector - 1},
	};
	struct check_path direct = {"direct", c->direct};
	char room[48];

	if (c->sectors < 2) {
		check_add(c, CHECK_SKIPPED, name, "none of them would end before a disk of one sector does");
		return;
	}
	if (!check_get(c, name, &direct, 0, 2))
		return;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		int64_t n;

		memcpy(c->a, c->b + at[i].offset, at[i].length);
		n = writes ? check_write(c, c->direct, c->a, at[i].length, at[i].offset)
			   : check_read(c, c->direct, c->a, at[i].length, at[i].offset);
		if (in(os_refusals.unaligned, n))
			continue;
		check_add(c, CHECK_FAIL, name, "%u bytes at %u: %s", (unsigned)at[i].length, (unsigned)at[i].offset,
			  outcome(n, room));
		return;
	}
	check_add(c, CHECK_PASS, name, "refused");
}

void check_unaligned(struct check *c)
{
	const char *reads = "unaligned direct reads", *writes = "unaligned direct writes";

	if (c->direct < 0 || c->target.kind == OS_REGULAR) {
		check_add(c, CHECK_SKIPPED, reads, "only a device's own path has to refuse them");
		check_add(c, CHECK_SKIPPED, writes, "only a device's own path has to refuse them");
		return;
	}
	unaligned(c, reads, false);
	if (!check_no_writes(c, writes))
		unaligned(c, writes, true);
}

/* ---- read-only ---- */

static void refused(struct check *c, const char *name, const char *what, int64_t n)
{
	char room[48];

	check_add(c, in(os_refusals.read_only, n) ? CHECK_PASS : CHECK_FAIL, name, "%s: %s", what, n == 0 ? "taken" : outcome(n, room));
}

/* One sector, written as it is: should it be taken, no harm is done. */
static void refuse_write(struct check *c, bool direct)
{
	struct check_path path = {direct ? "direct" : "buffered", direct ? c->direct : c->buffered};
	const char *name = "write to a read-only disk";
	struct error why = {0};
	int64_t n;
	int fd;

	if (path.fd < 0 || !check_get(c, name, &path, 0, 1))
		return;
	fd = os_open(c->options->device, OS_READ | OS_WRITE | (direct ? OS_DIRECT : 0), &why);
	if (fd < 0) {
		refused(c, name, direct ? "opening, direct" : "opening", -errno);
		return;
	}
	n = check_write(c, fd, c->b, c->sector, 0);
	if (n > 0 && !direct) /* it may only be noticed on the way to the disk */
		n = -(int64_t)os_flush(fd);
	close(fd);
	refused(c, name, path.name, n);
}

/* The last sector, where the fewest miss it. EBADF: a descriptor that is not open for writing. */
static void refuse_change(struct check *c, const char *name, int (*change)(int, uint64_t, uint64_t))
{
	struct error why = {0};
	int fd = os_open(c->options->device, OS_READ | OS_WRITE, &why), error;

	if (fd < 0)
		fd = os_open(c->options->device, OS_READ, &why);
	if (fd < 0) {
		check_add(c, CHECK_FAIL, name, "%s", why.text);
		return;
	}
	error = change(fd, (c->sectors - 1) * c->sector, c->sector);
	close(fd);
	if (error == ENOTSUP || error == EBADF)
		check_add(c, CHECK_PASS, name, "%s", strerror(error));
	else
		refused(c, name, "asked", -(int64_t)error);
}

void check_read_only(struct check *c)
{
	if (c->limits.readonly != 1 && c->options->expected[CHECK_READONLY] != 1)
		return;
	if (!c->options->destroy) {
		check_add(c, CHECK_SKIPPED, "write to a read-only disk", "should it be taken, it would change the disk: say --destroy=1");
		return;
	}
	refuse_write(c, true);
	refuse_write(c, false);
	refuse_change(c, "discard of a read-only disk", os_discard);
	refuse_change(c, "zeroes on a read-only disk", os_write_zeroes);
}
