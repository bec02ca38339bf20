#include "guest/check_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FILE_SECTOR 512

static const char no_consent[] = "it would write to the disk: say --destroy=1";
static const char no_writing[] = "the disk is read-only";

/* ---- what the system says ---- */

static const char *serial_of(const struct check *c, struct os_disk *disks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(disks[i].path, c->options->device) == 0)
			return disks[i].serial;
	return "";
}

static void said_serial(struct check *c)
{
	struct os_disk disks[64];
	const char *serial;

	if (!c->options->serial)
		return;
	serial = serial_of(c, disks, os_disks(disks, sizeof(disks) / sizeof(disks[0])));
	if (!*serial && *c->options->serial)
		check_add(c, CHECK_SKIPPED, "serial number", "the system tells none of this disk");
	else if (strcmp(serial, c->options->serial) != 0)
		check_add(c, CHECK_FAIL, "serial number", "it is \"%s\" instead of \"%s\"", serial, c->options->serial);
	else
		check_add(c, CHECK_PASS, "serial number", "%s", serial);
}

static void said_number(struct check *c, enum check_expected what, const char *name, uint64_t is)
{
	uint64_t wanted = c->options->expected[what];

	if (wanted == CHECK_UNKNOWN)
		return;
	if (is == CHECK_UNKNOWN)
		check_add(c, CHECK_SKIPPED, name, "the system does not tell");
	else if (is == wanted)
		check_add(c, CHECK_PASS, name, "%llu", (unsigned long long)is);
	else
		check_add(c, CHECK_FAIL, name, "%llu instead of %llu", (unsigned long long)is, (unsigned long long)wanted);
}

static uint64_t known(int64_t value)
{
	return value < 0 ? CHECK_UNKNOWN : (uint64_t)value;
}

void check_said(struct check *c)
{
	said_number(c, CHECK_SIZE, "size in bytes", c->target.bytes);
	said_number(c, CHECK_SECTOR, "logical sector", c->target.sector);
	said_serial(c);
	said_number(c, CHECK_READONLY, "read-only", known(c->limits.readonly));
	said_number(c, CHECK_WRITE_CACHE, "write cache", known(c->limits.write_cache));
	said_number(c, CHECK_DISCARD, "discard is offered", known(c->limits.discard));
	said_number(c, CHECK_ZEROES, "zeroes are offered", known(c->limits.zeroes));
	said_number(c, CHECK_QUEUES, "queues", c->limits.queues ? c->limits.queues : CHECK_UNKNOWN);
	said_number(c, CHECK_SEGMENTS, "pieces of a request", c->limits.segments ? c->limits.segments : CHECK_UNKNOWN);
}

/* ---- all of it ---- */

/* No pattern may be one that an earlier run has left on the disk. */
static uint64_t first_seed(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return ((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec) * UINT64_C(0xff51afd7ed558ccd) ^ (uint64_t)getpid();
}

static void *buffer(void)
{
	void *p;

	return posix_memalign(&p, 4096, CHECK_ROOM) == 0 ? p : NULL;
}

/* A read-only disk may not let itself be opened for writing, which is asked later. */
static int open_path(struct check *c, unsigned flags, struct error *e)
{
	struct error refused = {0};
	int fd = -1;

	if (c->writes)
		fd = os_open(c->options->device, flags | OS_READ | OS_WRITE, &refused);
	if (fd >= 0)
		return fd;
	fd = os_open(c->options->device, flags | OS_READ, e);
	if (fd >= 0 && c->writes) {
		c->writes = false;
		c->why_not = "it cannot be opened for writing";
		check_add(c, CHECK_FAIL, "open for writing", "%s", refused.text);
	}
	return fd;
}

/* A raw device has one path only; others the buffered one, and the direct one where the system has that for them. */
static int open_paths(struct check *c, struct error *e)
{
	struct error none = {0};

	if (c->target.kind == OS_CHAR) {
		c->direct = open_path(c, OS_DIRECT, e);
		return c->direct < 0 ? -1 : 0;
	}
	c->buffered = open_path(c, 0, e);
	if (c->buffered < 0)
		return -1;
	c->direct = open_path(c, OS_DIRECT, &none);
	if (c->direct < 0)
		check_add(c, CHECK_SKIPPED, "direct requests", "%s", none.text);
	return 0;
}

static int look_at(struct check *c, struct error *e)
{
	const struct check_options *o = c->options;
	bool readonly;

	if (os_inspect(o->device, &c->target, e) < 0)
		return -1;
	if (c->target.kind == OS_MISSING)
		return error_set(e, STATUS_FAILED, "there is no %s", o->device);
	if (c->target.kind == OS_OTHER)
		return error_set(e, STATUS_FAILED, "%s is no disk", o->device);
	if (c->target.mounted && o->destroy)
		return error_set(e, STATUS_FAILED, "%s is mounted: nothing is written to it", o->device);
	if (c->target.bytes == 0)
		return error_set(e, STATUS_FAILED, "%s is empty, or tells no size", o->device);
	c->sector = c->target.sector;
	if (c->target.kind == OS_REGULAR)
		c->sector = o->expected[CHECK_SECTOR] == 4096 ? 4096 : FILE_SECTOR;
	if (c->sector < 512 || c->sector % 512 || c->sector > 65536)
		return error_set(e, STATUS_FAILED, "%s: sectors of %u bytes", o->device, (unsigned)c->sector);
	c->sectors = c->target.bytes / c->sector;
	if (c->sectors == 0)
		return error_set(e, STATUS_FAILED, "%s has no whole sector: %llu bytes", o->device,
				 (unsigned long long)c->target.bytes);
	os_limits(o->device, &c->limits);
	/* Where the system does not tell, it is what it shall be: that it refuses what a read-only disk must is asked by itself. */
	readonly = c->limits.readonly == 1 || (c->limits.readonly < 0 && o->expected[CHECK_READONLY] == 1);
	c->writes = o->destroy && !readonly;
	c->why_not = readonly ? no_writing : no_consent;
	return 0;
}

int check_run(const struct check_options *options, struct check_report *report, struct error *e)
{
	static void (*const all[])(struct check *) = {
		check_said, check_ends, check_far, check_past_end, check_unaligned, check_read_only, check_flush,
		check_discard, check_zeroes, check_large, check_pieces,
	};
	struct check c = {.options = options, .report = report, .direct = -1, .buffered = -1};
	int ret = -1;

	c.seed = first_seed();
	c.a = buffer();
	c.b = buffer();
	if (!c.a || !c.b)
		error_set(e, STATUS_FAILED, "out of memory");
	else if (look_at(&c, e) == 0 && open_paths(&c, e) == 0)
		ret = 0;
	for (size_t i = 0; ret == 0 && i < sizeof(all) / sizeof(all[0]); i++)
		all[i](&c);
	if (c.direct >= 0)
		close(c.direct);
	if (c.buffered >= 0)
		close(c.buffered);
	free(c.a);
	free(c.b);
	return ret;
}
