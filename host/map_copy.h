/*
 * The host's copy of a guest's generation maps (verify=), kept up by the status frames of its agent, so that it
 * outlives the guest: what the guest had completed by then has to be on its disk.
 */
#ifndef KB_MAP_COPY_H
#define KB_MAP_COPY_H

#include <jansson.h>
#include <stdbool.h>

#include "guest/error.h"
#include "guest/verify_store.h"

struct map_copy;

struct map_copy *map_copy_new(void); /* NULL when memory ran out */
void map_copy_free(struct map_copy *c);

/* Take the member "verify_map" of a status frame's body; a body without one is fine. -1 and e: it is malformed. */
int map_copy_take(struct map_copy *c, const json_t *body, struct error *e);

/* Nothing was told so far. */
bool map_copy_empty(const struct map_copy *c);

/* The map of each file that was told of: 0.. until NULL. */
const struct verify_area *map_copy_area(const struct map_copy *c, size_t index);

/*
 * Write all to a new file that kickio takes as verify_map=, marked as one that may be older than the data. The file
 * must not exist.
 */
int map_copy_save(const struct map_copy *c, const char *path, struct error *e);

#endif
