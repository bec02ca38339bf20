/* What the parts of check share. */
#ifndef KB_CHECK_INTERNAL_H
#define KB_CHECK_INTERNAL_H

#include <sys/uio.h>

#include "guest/check.h"
#include "guest/os.h"

#define CHECK_ROOM (8u << 20) /* bytes of each buffer */
#define CHECK_AROUND 4        /* sectors that are looked at with one at an edge */

struct check {
	const struct check_options *options;
	struct check_report *report;
	struct os_target target;
	struct os_limits limits;
	uint32_t sector;  /* unit of requests; of a file, too */
	uint64_t sectors;
	int direct, buffered; /* descriptors, -1: this system or target has no such path */
	bool writes;          /* they are open for writing, and it may be overwritten */
	const char *why_not;  /* else */
	unsigned char *a, *b; /* CHECK_ROOM bytes, aligned for direct requests */
	uint64_t seed;        /* of the last pattern: each differs from all before */
};

/* One path to the disk. */
struct check_path {
	const char *name; /* "direct", "buffered" */
	int fd;
};

/* The paths that there are, at most two; of write and read, the other one comes as reader. How many. */
size_t check_paths(const struct check *c, struct check_path paths[2]);

void check_add(struct check *c, enum check_status status, const char *name, const char *fmt, ...) KB_PRINTF(4, 5);
void check_add_corrupt(struct check *c, const char *name, const char *fmt, ...) KB_PRINTF(3, 4);

/* True, and the check is skipped, when nothing may be written. */
bool check_no_writes(struct check *c, const char *name);

/* ---- requests: bytes, or -errno ---- */

int64_t check_read(struct check *c, int fd, void *bytes, size_t length, uint64_t offset);
int64_t check_write(struct check *c, int fd, const void *bytes, size_t length, uint64_t offset);

/* ---- sectors that tell where they belong ---- */

uint64_t check_new_seed(struct check *c);
void check_fill(const struct check *c, unsigned char *bytes, uint64_t first, uint64_t count, uint64_t seed);

/* The first of count sectors that is not as filled, or count. */
uint64_t check_differs(const struct check *c, const unsigned char *bytes, uint64_t first, uint64_t count, uint64_t seed);

/* Fill, write, and put on the medium. False: it failed, and the check `name` with it. */
bool check_put(struct check *c, const char *name, const struct check_path *path, uint64_t first, uint64_t count,
	       uint64_t seed);

/* Read them into b, from the disk itself. False as above. */
bool check_get(struct check *c, const char *name, const struct check_path *path, uint64_t first, uint64_t count);

/* ---- the checks, in their order ---- */

void check_said(struct check *c);      /* what the system says of the disk */
void check_ends(struct check *c);      /* first and last sector */
void check_far(struct check *c);       /* places that take more than 31, 32, 41 bits */
void check_past_end(struct check *c);
void check_unaligned(struct check *c);
void check_read_only(struct check *c);
void check_flush(struct check *c);
void check_discard(struct check *c);
void check_zeroes(struct check *c);
void check_large(struct check *c);
void check_pieces(struct check *c);

#endif
