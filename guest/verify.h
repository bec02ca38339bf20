/*
 * Verification of one clone of a job (verify=): every 512 bytes that it writes carry a header (see
 * verify_block.h), a map keeps which generation of each block was issued and completed (verify_map.h),
 * and what is read is held against both. Jobs without verify= have no struct verify.
 */
#ifndef KB_VERIFY_H
#define KB_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/engine.h"
#include "guest/files.h"
#include "guest/job.h"
#include "guest/note.h"

struct verify;
struct verify_store;

struct verify_setup {
	const struct job *job;
	unsigned index;              /* of the clone, as in worker_setup */
	unsigned depth;              /* units in flight: io->index is below it */
	const struct file_set *files; /* open */
	struct verify_store *store;  /* the maps of the run, in shared memory */
	struct note_sink *notes;     /* where faults are told */
	struct failure *failure;
};

/* NULL on failure, which is in setup->failure. */
struct verify *verify_open(const struct verify_setup *setup);
void verify_close(struct verify *v); /* NULL is fine */

/*
 * Before a unit is queued, after the generator filled it. A write gets its headers and checksums, and its
 * blocks count as being in flight; of a read is noted what it must find at least.
 */
void verify_prepare(struct verify *v, struct io *io);

/*
 * After a unit has come back whole or in error (io->error, and io->moved of the whole unit). A read that
 * succeeded is checked. Returns 0, or EILSEQ after telling what was found to be wrong.
 */
int verify_complete(struct verify *v, struct io *io);

/*
 * The next unit of a phase that reads back, as generator_next() for others: what this clone wrote and has
 * not read back yet; with verify_only everything that the map knows, or the whole region without a map. False: all done.
 */
bool verify_next(struct verify *v, struct io *io);

/* Begin a phase that reads back: from the first block on. All writes are complete. */
void verify_begin(struct verify *v);

/* verify_backlog blocks have been written since the last phase that read back. */
bool verify_due(const struct verify *v);

/* Blocks found wrong so far. */
uint64_t verify_faults(const struct verify *v);

#endif
