/* A test disk's image held against the host's copy of its guest's generation maps, while the guest lives on and writes nothing. */
#ifndef KB_EVENT_DISK_H
#define KB_EVENT_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/text.h"
#include "host/map_copy.h"

struct event_disk {
	uint64_t blocks; /* of the maps that had to be there */
	uint64_t bad;    /* of them: not as they have to be */
	struct text first; /* what is wrong with the first of these; the caller frees it */
};

/*
 * cut: the maps may be older than the data, since the guest could not tell all: newer generations are right, too. A block whose
 * write failed may hold either content. -1: the image cannot be read.
 */
int event_disk_look(const struct map_copy *maps, const char *image, bool cut, struct event_disk *out, struct error *e);

#endif
