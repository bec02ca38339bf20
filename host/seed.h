/*
 * A NoCloud seed: what cloud-init and FreeBSD's nuageinit(7) look for at the first start, a FAT file system labelled CIDATA
 * with the files meta-data and user-data.
 */
#ifndef KB_SEED_H
#define KB_SEED_H

#include <signal.h>

#include "guest/error.h"

/* Make it by mtools, for its owner's eyes alone: user_data holds a password. On failure FILE may be half-made. */
int seed_make(const char *file, const char *user_data, const volatile sig_atomic_t *interrupted, struct error *e);

#endif
