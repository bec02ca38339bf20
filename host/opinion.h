/*
 * The second opinion on a disk's data: kickio on the host reads the image when the guest is gone, so that no cache of the
 * guest can hide anything. Images are raw files. All return 0, or -1 and e: a check could not be added, or memory ran out.
 */
#ifndef KB_OPINION_H
#define KB_OPINION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/error.h"
#include "host/cell.h"

struct opinion_request {
	const char *kickio;     /* the host's program */
	const char *image;      /* raw file */
	const char *guest_path; /* what headers and map know it by: its path in the guest, "/dev/vda", or the job's verify_name= */
	const char *map;        /* generation map (trials' .map), NULL: headers and checksums alone */
	const char *verify;     /* the job's verify= */
	uint64_t bytes;         /* how much of it, from its start; 0: what the map knows, all without a map */
	unsigned block_size;    /* of the job, a multiple of 512 */
};

/*
 * Judge the image: a check named name is added. Passed: its evidence says how many bytes were read; skipped: the map knows no
 * block. A map that is a host's copy of a guest's may be older than the data (host/map_copy.h): a block is then good with its
 * generation of the map and with any later one, and one that the map does not know is not read. Of a job whose result came, the copy
 * is whole, and only a generation that nobody wrote would pass; of a job that was cut off, what it wrote since its last status frame
 * may be lost without being noticed.
 * Corrupt: {"faults":[{"kind":"lost"|"stale"|"torn"|"misdirected"|"corrupt"|"unexpected"|"no header","detail","offset",
 * "length"}…],"more":N}, at most five faults and how many more there are. Failed: kickio could not do it.
 */
int opinion_image(const struct opinion_request *request, const char *name, struct cell_result *result, struct error *e);

/*
 * For a disk that the guest can only read: fill regions of the image, which do not overlap, with blocks as a job with verify=
 * writes them, under the name guest_path. The guest reads a region by rw=read with the same verify= and, where it does not call its
 * disk so, verify_name=. map: made, for opinion_image() afterwards; NULL: none. The image is there already and keeps its size;
 * the request's bytes are not looked at. A region need not end with a whole block.
 */
#define OPINION_REGIONS 8
struct opinion_region {
	uint64_t from, bytes; /* multiples of 512; bytes 0: to the image's end */
};
int opinion_prefill(const struct opinion_request *request, const struct opinion_region *region, size_t count, struct error *e);

/* The job whose fsyncs opinion_log() asks for: options for a trial, without filename. Nothing in it has to be freed. */
#define OPINION_FLUSH_OPTIONS 16
struct opinion_flush_job {
	char *argv[OPINION_FLUSH_OPTIONS];
	size_t argc;
	unsigned every;       /* writes between fsyncs */
	uint64_t writes;      /* as many as it makes: a multiple of every */
	unsigned block_size;
	char option[OPINION_FLUSH_OPTIONS][40];
};

/* direct: the guest's system can pass its cache by; where it cannot, the disk has to be a character device. */
void opinion_flush_job(uint64_t disk_bytes, unsigned block_size, bool direct, struct opinion_flush_job *job);

/*
 * How many writes the job made, from kickio's JSON ("fio" of a trial's result). -1 and e: it failed, or did not call fsync as often as
 * it was asked to.
 */
int opinion_flush_writes(const json_t *fio, const struct opinion_flush_job *job, uint64_t *writes, struct error *e);

/* The identity of a map's generations, for map_id. -1 and e: no such map, or it does not know the name. */
int opinion_map_id(const char *map, const char *guest_path, uint64_t *id, struct error *e);

/*
 * The write log of a cell against what its guest was told: flushes (writelog_check_flushes), and the image as replayed up to the
 * last flush that was answered, in which all must be that the job wrote before it, by the guest's map and in the generation
 * that it had then. scratch: image of the request, a file that may be written; removed, with a map beside it (its name and ".map").
 * Two checks are added: "flush log" and "image at the last flush".
 */
struct opinion_log_request {
	const char *log;
	struct opinion_request image; /* image: the scratch file; map: the flush job's own; bytes: 0 */
	uint64_t map_id, writes;
	unsigned every;
	uint64_t disk_bytes;
	const char *original;   /* what was on the disk before, NULL: zeros */
};
int opinion_log(const struct opinion_log_request *request, struct cell_result *result, struct error *e);

#endif
