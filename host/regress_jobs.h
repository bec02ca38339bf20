/* What the guest of a cell is asked to run: pure functions from a cell to command lines of its kickio. */
#ifndef KB_REGRESS_JOBS_H
#define KB_REGRESS_JOBS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/error.h"
#include "host/matrix.h"

#define REGRESS_WHOLE (64ull << 20) /* a disk up to here is gone over from end to end */
#define REGRESS_NEAR (4ull << 20)   /* of a larger one, so much on each side of a boundary */
#define REGRESS_AREAS 4
#define REGRESS_JOBS 16
#define REGRESS_ARGUMENTS 20
#define REGRESS_VERIFY "crc32c"
#define REGRESS_NAME "disk" /* verify_name=: what the data are known by, in the guest and on the host */

/* A part of the disk that jobs go over. */
struct regress_area {
	uint64_t offset, bytes;
	const char *where; /* "the whole disk", "its start", "around 2 GiB" */
};

/*
 * Both ends, and around 2 and 4 GiB, where numbers of 31 and 32 bits end. In order, apart from each other, and in whole blocks
 * where the disk ends so (of one beyond 64 GiB the last bytes that make no 16 KiB are left to the guest's checks). How many.
 */
size_t regress_areas(uint64_t bytes, struct regress_area area[REGRESS_AREAS]);

/* The size of block that suits a disk: small, as long as a map of all its blocks has a bearable size. */
unsigned regress_block(uint64_t bytes, unsigned least);

struct regress_job {
	char name[96];
	char *argv[REGRESS_ARGUMENTS]; /* without the file's name */
	size_t argc;
	uint64_t bytes; /* that it is to write, or to read where it only reads; about, of jobs at random */
	bool writes;
	bool last; /* nothing is written over its area afterwards: the host looks at it, too */
};

struct regress_jobs {
	struct regress_job job[REGRESS_JOBS];
	size_t count;
};

/* os: as the guest's hello names it; what only Linux has (libaio, io_uring, direct beside buffered) is asked of it alone. */
int regress_jobs_make(const struct matrix_cell *cell, const char *os, struct regress_jobs *out, struct error *e);
/* What tool "check" is told to expect of the disk. matrix: says which options were chosen at all. The job is freed as the others. */
int regress_jobs_check(const struct matrix *matrix, const struct matrix_cell *cell, const char *serial, struct regress_jobs *out,
		       struct error *e);
void regress_jobs_free(struct regress_jobs *jobs);

/*
 * Whether the job has done what it was to do: a job that ended well without it has shown nothing. fio: its result; bytes, writes:
 * as above. False: *why, a line. Pure.
 */
bool regress_job_did(const json_t *fio, uint64_t bytes, bool writes, char *why, size_t room);

#endif
