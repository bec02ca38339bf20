/*
 * The generation maps of a run: one per file that a job with verify= works on, in memory that all clones
 * share, or in the file that verify_map= names, mapped. That file survives the death of kickio at any
 * instant. When the machine goes down it is as old as what the system had written back, and says so: then
 * generations that it does not know are taken for good. (A writer that goes on with such a map may count a
 * generation twice, and then one stale block is not seen: verify first, or begin a new map.)
 */
#ifndef KB_VERIFY_STORE_H
#define KB_VERIFY_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/error.h"
#include "guest/files.h"
#include "guest/job.h"
#include "guest/note.h"
#include "guest/verify_map.h"

#define VERIFY_MAP_LIMIT ((uint64_t)4 << 30) /* bytes of all maps of a run; only what is written takes memory */

struct verify_file;

/* The map of one file. */
struct verify_area {
	const char *path; /* verify_known_as(): as the job has it, or verify_name=; owned by the store */
	uint32_t file;    /* verify_file_number(path) */
	uint64_t unit;    /* bytes of a block of the map, a multiple of 512 */
	uint64_t id;      /* in the headers of all that it counts */
	bool lagging;     /* the map may be older than the data */
	struct verify_file *in; /* the file that holds the map, NULL: memory */
	uint64_t place;         /* where in it */
	struct verify_map map;
};

/* A clone that verifies, as the store has to know it. */
struct verify_client {
	const struct job *job;
	const struct file_set *files; /* sized */
};

struct verify_store;

/*
 * Maps for all clients, a file that several of them work on has one map for all. Jobs that write create the
 * file of verify_map= or go on with the one that is there; jobs that only read need it to be there. *store
 * stays NULL when there is no client. e says what is wrong with a file, or that the maps would be too large.
 */
int verify_store_open(struct verify_store **store, const struct verify_client *clients, unsigned count,
		      const struct note_sink *notes, struct error *e);

/* The map that a job has for a file; NULL when it reads without one. */
struct verify_area *verify_store_find(struct verify_store *store, const struct job *job, const char *path);

/*
 * Append what changed since the last call as a member of a JSON object: ,"verify_map":[{"path":…,"map":"hex",
 * "unit":bytes,"blocks":n,"runs":"…"},…] with runs as of verify_map_encode(), about `limit` bytes of them.
 * Nothing when nothing changed, or without a store. Returns whether more is left to tell.
 */
bool verify_store_tell(struct verify_store *store, struct text *out, size_t limit);

/* What the file of the run that has this number is known by, NULL when none has it. */
const char *verify_store_path(const struct verify_store *store, uint32_t file);

/*
 * Put the maps on the medium and free all; NULL is fine. whole: no clone is left that could still write, so
 * that from now on the files tell all.
 */
void verify_store_close(struct verify_store *store, bool whole);

/* The greatest common divisor of all block sizes, alignments and starts of what a job writes. */
uint64_t verify_unit(const struct verify_client *client);

/* The greatest common divisor; of 0 and a number it is the number. */
uint64_t verify_divisor(uint64_t a, uint64_t b);

#endif
