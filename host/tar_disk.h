/* The read-only disk by which kickio comes to a guest: a ustar archive (POSIX.1-1988), which tar reads from a raw disk. */
#ifndef KB_TAR_DISK_H
#define KB_TAR_DISK_H

#include <stddef.h>

#include "guest/text.h"

/* Append a regular file. The name has at most 99 characters. The same files make the same archive: times are constant. */
int tar_disk_add(struct text *archive, const char *name, unsigned mode, const void *bytes, size_t length, struct error *e);

/* Append the end, and zeros up to a whole number of the 10 KiB records that tar reads. */
void tar_disk_end(struct text *archive);

/*
 * kickio below data_dir: kickio/guest and kickio/engines (the sources with what makes them), and kickio/bin/TARGET for
 * each program that was built for a target (build/kickio, build/TARGET/kickio, build/portability/TARGET/kickio).
 * *sources: how many of the archive's first bytes hold the sources, which tell one kickio from another.
 */
int tar_disk_kickio(const char *data_dir, struct text *archive, size_t *sources, struct error *e);

#endif
