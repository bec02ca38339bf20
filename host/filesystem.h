/*
 * File systems on the test disk's file, made without root and without a mount: the system's own mkfs writes
 * into the file, and what it has changed is kept beside it, so that it can be put back in place any number of
 * times. Neither changes which blocks of the host's disk the file has.
 */
#ifndef KB_FILESYSTEM_H
#define KB_FILESYSTEM_H

#include <stdint.h>

#include "guest/error.h"
#include "host/settings.h"

/* Where the guest's agent mounts it: workloads name files below. */
#define FILESYSTEM_PATH "/mnt/kb"

/* The least size of a disk for it, in bytes. */
uint64_t filesystem_least(enum filesystem filesystem);

/*
 * Make one on the file at path, which is full of disk_pattern() and stays wholly allocated; keep what differs
 * from the pattern in the file kept. Takes the blocks' contents for granted, flushes nothing.
 */
int filesystem_make(enum filesystem filesystem, const char *path, uint64_t bytes, const char *kept, struct error *e);

/* Whether kept is whole, and of a disk of this size. */
bool filesystem_is_kept(const char *kept, uint64_t bytes);

/* Write it over a file that is full of the pattern. Flushes nothing. */
int filesystem_put_back(const char *kept, int fd, struct error *e);

/* What the file at path holds by its superblock; FILESYSTEM_NONE: neither. -1: it cannot be read. */
int filesystem_look(const char *path);

#endif
