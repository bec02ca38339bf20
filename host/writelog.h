/*
 * The log of QEMU's block driver blklogwrites, in the kernel's dm-log-writes format (Documentation/admin-guide/device-mapper/
 * log-writes.rst and drivers/md/dm-log-writes.c): every write and flush that reached the disk, in their order.
 *
 * What QEMU (7.2, tried) puts into it:
 * - An entry is written when its request has come back from the file below, and before the one above hears of it: for whoever
 *   waits for each of his requests the log's order is his. Of requests that were in flight together it is the order in which they
 *   came back; a write that came back while a flush was under way stands before that flush, which need not have covered it.
 *   Requests that failed are logged, too, as if they had not: a log is held only against what the guest was told to have worked,
 *   and replayed it gives the disk that was meant to be.
 * - FUA is never marked: QEMU turns it into a flush behind the write. A write cache that is off is FUA for every write: the log
 *   holds a write, a flush, a write, a flush. (Where blklogwrites is itself what the device has, without a format above it, the
 *   first of these flushes behind an ordinary one is left out, as that layer believes that nothing was written since.)
 * - A flush with nothing written since the last one is not passed on. Where flushes are ignored (cache=unsafe, cache.no-flush on
 *   the node of blklogwrites) none is logged, and the super block may never be written.
 * - Zeroes are a write with that many zeros of data (a hole in the log); a discard has no data, and is only logged where the node
 *   has discard=unmap. One request is one entry, however large. A request smaller than the log's sectors is read, modified and
 *   written back as a whole sector: the log's sectors should be as small as the disk's.
 * - The super block, with the count of entries, is written with each flush and with every n-th entry (log-super-update-interval,
 *   4096). Entries behind those that it counts are as good, when they are whole: an emulator that was killed leaves some.
 * - What lies below the node (a server that swallows a flush) is not in the log: it says what the guest passed on to the disk.
 */
#ifndef KB_WRITELOG_H
#define KB_WRITELOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/error.h"
#include "guest/verify_block.h"

struct writelog;

struct writelog_entry {
	uint64_t number;        /* 0.. */
	uint64_t offset, bytes; /* on the disk; bytes 0: none (a flush alone) */
	bool flush, fua, discard, mark; /* a flush comes before the data of the same entry */
	uint64_t data_at;       /* of its data in the log, 0: none */
};

/*
 * Checks the super block; one that was never written is all zeros, and the first entry tells the size of the sectors then. A file
 * without a byte is a log without entries. The log may end in the middle of an entry (the emulator was killed): what is whole
 * counts. e (STATUS_FAILED): the file cannot be read, is no such log, or an entry that the super block counts makes no sense.
 */
int writelog_open(const char *path, struct writelog **out, struct error *e);
uint64_t writelog_entries(const struct writelog *log);

/* The super block counts more entries than are there. */
bool writelog_cut(const struct writelog *log);
unsigned writelog_sector(const struct writelog *log); /* bytes; 0: nothing was logged */
int writelog_entry(struct writelog *log, uint64_t number, struct writelog_entry *entry, struct error *e);

/* Bytes [from, from + bytes) of an entry's data. */
int writelog_data(struct writelog *log, const struct writelog_entry *entry, uint64_t from, void *to, size_t bytes,
		  struct error *e);
void writelog_close(struct writelog *log); /* NULL is fine */

/* Apply the entries [0, end) to a file, which has the disk's size. What was discarded is zeros then, as in a raw file below a disk with discard=unmap. */
int writelog_replay(struct writelog *log, uint64_t end, int fd, struct error *e);

/*
 * Tell of every header of kickio that an entry's data has at its place, from map `id` where it is not 0, whatever became of the
 * data behind it.
 */
int writelog_headers(struct writelog *log, const struct writelog_entry *entry, uint64_t id,
		     void (*header)(void *context, const struct verify_header *h), void *context, struct error *e);

/*
 * A job of one writer at depth 1, alone on the disk and past the guest's cache, wrote `writes` blocks and had an fsync return
 * after every `every`-th, as its result says: each must be answered by a flush (or each write by FUA, or a flush of its own, with
 * a write cache that is off) between its writes and the next one. The job's writes are known by the header in their data
 * (guest/verify_block.h), from map `id` where it is not 0; a write that the guest has split is put together again. The last fsync's
 * flush has to come before anybody else writes; where nobody does, the flush of a disk that is closed is taken for it.
 */
struct writelog_flushes {
	uint64_t seen;          /* the job's writes that are in the log */
	uint64_t expected, missing; /* fsyncs; one whose writes are not all in the log is missing */
	uint64_t first_missing; /* which fsync, 1..; 0: none */
	uint64_t last_flush;    /* entry behind the last flush that was expected and is there */
	uint64_t covered;       /* of the job's writes, those before it */
};
int writelog_check_flushes(struct writelog *log, uint64_t id, uint64_t writes, unsigned every, struct writelog_flushes *out,
			   struct error *e);

#endif
