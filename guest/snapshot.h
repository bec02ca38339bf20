/*
 * Results of clones that still run, for a report in between. A clone is asked through a word that it looks
 * at after each I/O, and copies its result itself, between two I/Os: what it hands over is whole, and its loop
 * needs no lock. One that does not answer soon sits in a slow I/O; its result is then copied from outside.
 */
#ifndef KB_SNAPSHOT_H
#define KB_SNAPSHOT_H

#include "guest/crew.h"

/* Sets clone.report of all. Takes a fraction of a second at most. -1 without memory. */
int snapshot_take(struct crew *crew, struct error *e);

/* Forgets them again. */
void snapshot_drop(struct crew *crew);

#endif
