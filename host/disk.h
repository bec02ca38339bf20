/*
 * The test disk on the host: made once, filled with data, restored in place, never renamed or truncated.
 * A file system on it is put there by restoring: variants with other file systems use the same file.
 */
#ifndef KB_DISK_H
#define KB_DISK_H

#include <stddef.h>

#include "host/settings.h"

#define DISK_PREFIX "test-" /* of the names of all test disks */

struct disk {
	char *path; /* NULL for BACKEND_NULL and BACKEND_NBD */
	char *original; /* on another host path is a copy of this one, see host/place.h; NULL: here */
	unsigned index;
	uint64_t bytes;
	enum filesystem holds; /* what it was filled with last */
	bool dirty; /* something wrote: restore before the next boot */
	bool temporary; /* lies in memory: removed when the run is over; a copy on another host is not */
};

/*
 * Make sure that a file of the right size, wholly allocated and filled with the known data, exists:
 * folder/test-<index>-<size>.raw (backend memory: below /dev/shm/kickbench-UID). Reuses a good one (marked by a small
 * file beside it), whatever it holds: see disk->holds. Checks free space first and names the folder when it is short.
 * Of BACKEND_NBD nothing is made: its server must be there and offer a disk of that size, whatever it holds.
 * With s->filesystem that file system has been made, too, and is kept in a file beside it for disk_restore().
 */
int disk_prepare(const struct settings *s, const char *folder, unsigned index, struct disk *disk, struct error *e);

/* Of BACKEND_NBD: whether its server is there and offers a disk of that size. Asked within seconds, before a guest would wait for it. */
int disk_check_server(const struct settings *s, struct error *e);

/*
 * Something is about to write to it: sets dirty, and durably removes the mark of a good file first, so that
 * after a kill at any instant the next disk_prepare fills it again.
 */
int disk_soil(struct disk *disk, struct error *e);

/*
 * Write the known data, and over it the empty file system, again over the same blocks, flush, drop the page cache.
 * Seconds it took in *seconds.
 */
int disk_restore(struct disk *disk, enum filesystem filesystem, double *seconds, struct error *e);

/* Where this user's test disks with backend = memory lie. */
void disk_memory_folder(char *path, size_t room);

/* The known data of the 4 KiB block at this offset (a function of the offset alone). */
void disk_pattern(uint64_t offset, void *block);

/*
 * CACHE_AUTO: none where the folder's file system takes O_DIRECT, else writeback; that too for a disk whose end is not aligned as
 * file systems may want it: QEMU refuses to write to such a one past the cache. Others unchanged.
 */
int disk_resolve_cache(struct settings *s, const char *path, struct error *e);

void disk_free(struct disk *disk);

/* The run is over: a file that lies in memory is removed, any other is kept for the next run; then free. */
void disk_release(struct disk *disk);

#endif
