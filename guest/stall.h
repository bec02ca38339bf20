/* stall_timeout: an I/O that does not come back ends the run instead of holding it up for ever. */
#ifndef KB_STALL_H
#define KB_STALL_H

#include "guest/crew.h"
#include "guest/run.h"

/*
 * Look at the oldest I/O in flight of each clone of the wave. One older than its job's stall_timeout is
 * told (direction, offset, age), its clone is given up, and the rest of the run is asked to end.
 */
void stall_check(struct crew *crew, unsigned wave, const struct run_hooks *hooks);

/* Clones of a run with this timeout publish what is in flight. 0 or -1 and e. */
int stall_open(struct crew *crew, struct error *e);
void stall_close(struct crew *crew);

#endif
