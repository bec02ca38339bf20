/*
 * What kickio writes when it verifies: each 512 bytes begin with a header of their own, so that every sector
 * on a disk tells whose it is, wherever it ended up and however little of its write did. The rest of
 * the sector is the job's data (or verify_pattern), covered by the checksum of verify=. No OS calls in here.
 */
#ifndef KB_VERIFY_BLOCK_H
#define KB_VERIFY_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/checksum.h"
#include "guest/job.h"

#define VERIFY_SECTOR 512u

/* As it stands on the disk, in the machine's byte order (one of the other order has no valid magic). */
struct verify_header {
	uint64_t magic;
	uint64_t map;        /* which map counts the generations: that of a run, or of a verify_map file */
	uint64_t offset;     /* of this sector */
	uint64_t start;      /* of its write */
	uint32_t length;     /* of its write */
	uint32_t generation; /* of its block */
	uint32_t file;       /* verify_file_number() */
	uint32_t job;        /* clone within its run */
	uint64_t time_ns;    /* of the day, when it was issued */
	uint32_t kind;       /* enum verify_kind */
	uint32_t unused;
	unsigned char sum[SHA256_BYTES]; /* of the bytes behind the header; the rest of shorter ones is zeros */
	uint32_t spare;
	uint32_t check; /* crc32c of all above */
};

enum sector_state {
	SECTOR_GOOD,
	SECTOR_OLD,        /* of this map and place, but a generation that was overwritten */
	SECTOR_NEWER,      /* a generation that the map has not issued */
	SECTOR_MISPLACED,  /* belongs to another offset or file */
	SECTOR_OTHER_MAP,  /* from another run */
	SECTOR_ZEROS,
	SECTOR_FOREIGN,    /* nothing that kickio wrote */
	SECTOR_BAD_HEADER, /* most of the header that should be there is */
	SECTOR_BAD_SUM,    /* the header is whole, the data is not */
};

/* What a sector should be. */
struct sector_expected {
	uint64_t map; /* 0: not known */
	uint64_t offset;
	uint32_t file;
	uint32_t least, last; /* generations; last is not looked at when any_newer */
	bool any_newer;
};

/* What a job's file is known by: verify_name=, or its path as the job has it. */
const char *verify_known_as(const struct job *job, const char *path);

/* FNV-1a of that name. */
uint32_t verify_file_number(const char *name);

/* Put the header in front of the sector's data. h has all but magic, sum and check; kind is not VERIFY_NONE. */
void sector_seal(void *sector, struct verify_header *h);

/* Look at a sector. *h is what its header says (not to be believed with FOREIGN, ZEROS and BAD_HEADER). */
enum sector_state sector_check(const void *sector, const struct sector_expected *x, struct verify_header *h);

/* Repeat the pattern over the whole buffer; headers come on top. */
void verify_fill_pattern(void *buffer, size_t length, const struct pattern *pattern);

#endif
