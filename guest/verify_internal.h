/* What the two halves of verify.h share: verify.c keeps the books, verify_look.c judges what was read. */
#ifndef KB_VERIFY_INTERNAL_H
#define KB_VERIFY_INTERNAL_H

#include "guest/verify.h"
#include "guest/verify_block.h"
#include "guest/verify_store.h"

#define VERIFY_TOLD 5u /* faults that are told one by one; the rest is counted */

/* One file of the job. */
struct verify_target {
	const char *path;
	int fd;
	uint32_t number;
	uint64_t start, end;
	uint64_t unit;             /* of the map, or a sector */
	uint64_t step;             /* divides unit, chunk and start */
	struct verify_area *area;  /* NULL: no map */
	unsigned char *written;    /* a bit per block: written by this clone, not yet read back; NULL: it does not write */
	size_t written_bytes;
};

struct verify_piece {
	unsigned file;
	uint64_t offset;
	uint32_t length;
};

struct verify {
	struct verify_setup setup;
	bool writes;
	struct verify_target *target; /* one per file */
	uint32_t chunk;               /* largest length of a unit */
	uint32_t *least;              /* per unit in flight, of each block: what must be there at least */
	uint64_t faults;

	/* Of the unit that is being judged, per sector. */
	enum sector_state *state;
	struct verify_header *header;
	struct sector_expected *expected;

	/* Of the phase that reads back. */
	bool from_backlog;
	unsigned at_file;
	uint64_t at;
	struct verify_piece *backlog; /* written since the last phase; there is room for those in flight, too */
	unsigned backlog_size, backlog_count, backlog_at;
};

/* Hold a unit that was read against what it must be; tell what is wrong. Returns the number of faults. */
unsigned verify_look(struct verify *v, const struct verify_target *t, const struct io *io, const uint32_t *least);

#endif
