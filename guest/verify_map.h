/*
 * Which generation of each block was written: one word per block, in memory that clones (and the runner)
 * share, changed without locks. A block may hold any generation from `least` to `last`: one value when the
 * last write was completed alone, more while writes are in flight, after one failed, and after several of the
 * same block were in flight together (their order on the medium is nobody's promise).
 * Shared with the host, which keeps a copy of a guest's map. No OS calls in here.
 */
#ifndef KB_VERIFY_MAP_H
#define KB_VERIFY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/error.h"
#include "guest/text.h"

#define VERIFY_CHUNK 4096u /* blocks per mark of change */

struct verify_map {
	uint64_t *entry;        /* one per block, zeros at first */
	unsigned char *changed; /* marks, one per VERIFY_CHUNK blocks; NULL: changes are not followed */
	uint64_t blocks;
	uint64_t cursor;        /* chunk where verify_map_encode() goes on */
};

/* What a block may hold. last 0: it was never written. least 0: what was there before will do. */
struct verify_range {
	uint32_t least, last;
};

/* A write of the block is about to be issued. Returns its generation, from 1 up. */
uint32_t verify_map_issue(struct verify_map *m, uint64_t block);

/* It came back. Not ok: the block may hold either content. */
void verify_map_done(struct verify_map *m, uint64_t block, bool ok);

struct verify_range verify_map_range(const struct verify_map *m, uint64_t block);

/* Writes that were in flight when the map was last used never come back. */
void verify_map_forget_flights(struct verify_map *m);

/*
 * Append the blocks that changed since they were last told as runs "block+count:last-least,…" (hexadecimal;
 * "+count" only when more than one, "-least" only when not equal to last), at most about limit bytes. Returns
 * whether more is left to tell.
 */
bool verify_map_encode(struct verify_map *m, struct text *out, size_t limit);

/* Take such runs into a map; blocks beyond it and malformed runs are an error, runs before it are taken. */
int verify_map_decode(struct verify_map *m, const char *runs, struct error *e);

#endif
