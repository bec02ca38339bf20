/*
 * The file of verify_map=: a table of the files that it has maps for, in the first 64 KiB, and their maps
 * behind it, sparse. Mapped, so that a change is in it at once. Every map in it has the file's identity.
 */
#ifndef KB_VERIFY_FILE_H
#define KB_VERIFY_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/error.h"
#include "guest/verify_store.h"

/* Written: create it with that identity if it is missing, and mark it as in use. NULL and e on failure. */
struct verify_file *verify_file_open(const char *path, bool written, uint64_t id, struct error *e);

const char *verify_file_path(const struct verify_file *f);

/*
 * Fill id, lagging, unit, entry and blocks of the map of area->path. Written: add it when it is missing, for
 * `end` bytes in blocks of area->unit; one that is there must reach that far, in blocks that divide those.
 */
int verify_file_area(struct verify_file *f, bool written, uint64_t end, struct verify_area *area, struct error *e);

/*
 * The first block at or behind this one that could have been written; UINT64_MAX: none. What the map's file has no blocks for is
 * passed by: a map of terabytes is gigabytes of zeros, which would all be read.
 */
uint64_t verify_file_next(const struct verify_area *area, uint64_t block);

/* Sync and unmap. whole: what it says is complete. */
void verify_file_close(struct verify_file *f, bool whole);

#endif
