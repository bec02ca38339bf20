/*
 * The second opinion on a disk's data: kickio on the host reads the image when the guest is gone, so that no cache of the
 * guest can hide anything.
 */
#ifndef KB_OPINION_H
#define KB_OPINION_H

#include <stdint.h>

#include "guest/error.h"
#include "host/cell.h"

struct opinion_request {
	const char *kickio;     /* the host's program */
	const char *image;      /* raw file */
	const char *guest_path; /* what the guest called it, "/dev/vda": a file is known by its name (verify_block.h) */
	const char *map;        /* generation map (trials' .map), NULL: headers and checksums alone */
	const char *verify;     /* the job's verify= */
	uint64_t bytes;         /* how much of it, from its start; 0: what the map knows */
	unsigned block_size;
};

/* Judge the image: a check named name is added. */
int opinion_image(const struct opinion_request *request, const char *name, struct cell_result *result, struct error *e);

/*
 * The write log of a cell against what its guest was told: flushes (writelog_check_flushes), and the image as replayed up to the
 * last flush that was answered, which must verify. scratch: a file that may be written; removed. Two checks are added.
 */
struct opinion_log_request {
	const char *log;
	struct opinion_request image; /* image: the scratch file */
	uint64_t map_id, writes;
	unsigned every;
	uint64_t disk_bytes;
	const char *original;   /* what was on the disk before, NULL: zeros */
};
int opinion_log(const struct opinion_log_request *request, struct cell_result *result, struct error *e);

#endif
