/* The disk of one cell: a sparse file that is made for it and goes with it, and the log of what is written to it. */
#ifndef KB_REGRESS_DISK_H
#define KB_REGRESS_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/error.h"
#include "host/matrix.h"

#define REGRESS_DISK_PATH 1200

struct regress_disk {
	char path[REGRESS_DISK_PATH];    /* "" none: backend = null, nbd */
	char log[REGRESS_DISK_PATH];     /* of blklogwrites; "" none */
	char scratch[REGRESS_DISK_PATH]; /* free to use, removed with the rest */
	char folder[REGRESS_DISK_PATH];  /* that all of them lie in */
	int error;                       /* errno of a file that could not be made, 0: something else */
};

/*
 * In the cell's path = or in state_dir/regress, which is made; or in memory. log: make an empty one, too. Checks first
 * that there is room for what the jobs write. On failure nothing is left.
 */
int regress_disk_make(const struct matrix_cell *cell, const char *state_dir, bool log, struct regress_disk *disk,
		      struct error *e);
void regress_disk_remove(struct regress_disk *disk);

/* What a killed kickbench left where the disks of these cells lie, and in state_dir; the host's lock is held. */
void regress_disk_sweep(const struct matrix *matrix, const char *state_dir);

/* Whether the file system below them has no room left, *free bytes: then no failure tells anything of the device. */
bool regress_disk_full(const struct regress_disk *disk, unsigned long long *free_bytes);

#endif
