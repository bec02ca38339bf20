/* Where things are: the program's own data, what it keeps between runs, what it can make again. */
#ifndef KB_DIRS_H
#define KB_DIRS_H

#include <stddef.h>

#include "guest/error.h"

struct dirs {
	char data[1024];  /* images/, scenarios/: beside build/ of a source tree, or PREFIX/share/kickbench */
	char build[1024]; /* made guest images: DATA/build where it can be written, else the cache */
	char state[1024]; /* libvirt's root, test disks: $XDG_STATE_HOME/kickbench or ~/.local/state/kickbench */
	char cache[1024]; /* what trials have found out: $XDG_CACHE_HOME/kickbench or ~/.cache/kickbench */
};

/* Find them and make state and cache. */
int dirs_find(struct dirs *d, struct error *e);

/*
 * The host's kickio that access() allows in this way (X_OK): in build/ of a source tree, or where it was installed; the
 * latter's path, too, when there is neither.
 */
void dirs_kickio(const char *data, int way, char *path, size_t room);

/* mkdir -p */
int dirs_make(const char *path, struct error *e);

/* "A/B"; the caller frees it. NULL: out of memory. */
char *dirs_join(const char *a, const char *b);

/* Put the entry of a file in its folder on the disk. What cannot be synced is let be. */
void dirs_sync_of(const char *file);

#endif
