/*
 * The log of QEMU's block driver blklogwrites, in the kernel's dm-log-writes format (Documentation/admin-guide/device-mapper/
 * log-writes.rst and drivers/md/dm-log-writes.c): every write and flush that reached the disk, in their order.
 */
#ifndef KB_WRITELOG_H
#define KB_WRITELOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/error.h"

struct writelog;

struct writelog_entry {
	uint64_t number;        /* 0.. */
	uint64_t offset, bytes; /* on the disk; bytes 0: none (a flush alone) */
	bool flush, fua, discard, mark;
	uint64_t data_at;       /* of its data in the log, 0: none */
};

/* Checks the super block. The log may end in the middle of an entry (the emulator was killed): what is whole counts. */
int writelog_open(const char *path, struct writelog **out, struct error *e);
uint64_t writelog_entries(const struct writelog *log);
int writelog_entry(struct writelog *log, uint64_t number, struct writelog_entry *entry, struct error *e);
int writelog_data(struct writelog *log, const struct writelog_entry *entry, uint64_t from, void *to, size_t bytes,
		  struct error *e);
void writelog_close(struct writelog *log);

/* Apply the entries [0, end) to a file. */
int writelog_replay(struct writelog *log, uint64_t end, int fd, struct error *e);

/*
 * A job of one writer at depth 1 wrote `writes` blocks and had an fsync return after every `every`-th, as its result says:
 * each must be answered by a flush (or each write by FUA, or a flush of its own, with a write cache that is off) between its
 * writes and the next one. The job's writes are known by the header in their data (guest/verify_block.h), from map `id` where it
 * is not 0.
 */
struct writelog_flushes {
	uint64_t expected, missing;
	uint64_t first_missing; /* which fsync, 1.. */
	uint64_t last_flush;    /* entry behind the last flush that was expected */
	uint64_t covered;       /* of the job's writes, those before it */
};
int writelog_check_flushes(struct writelog *log, uint64_t id, uint64_t writes, unsigned every, struct writelog_flushes *out,
			   struct error *e);

#endif
