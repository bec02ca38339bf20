/*
 * What happens to the device, or to the guest, in the middle of a job with verify=: an error at one place, no space, a
 * slow spell, reset, pause, save and restore, another size, unplugged, unbound. A row of the table in event.c each.
 */
#ifndef KB_EVENT_H
#define KB_EVENT_H

#include <stdbool.h>
#include <stddef.h>

#include "guest/error.h"
#include "host/boot.h"
#include "host/cell.h"
#include "host/matrix.h"
#include "host/trial.h"

/* What an event needs of the disk from the start; see struct domain_under. */
struct event_needs {
	const char *rule;   /* an "inject-error" rule of blkdebug as JSON: {"event":"none","iotype":"read","errno":5,…}; NULL: none */
	const char *policy; /* "report", "stop", "enospace"; NULL: the emulator's */
	const char *no_log; /* why there can be no log of writes below the disk; NULL: there can */
};

struct event {
	const char *name; /* as option event has it: "eio-read" */
	const char *help;
	/* Why this cell cannot have it, NULL: it can. Pure. */
	const char *(*refused)(const struct matrix_cell *cell);
	/* What it needs of the disk. Pure; texts are kept in room. */
	void (*needs)(const struct matrix_cell *cell, struct event_needs *needs, struct text *room);
	/*
	 * Run a job of its own in the guest with the event in the middle, judge what the guest saw and what came after, and add
	 * checks for each. The guest may be another one afterwards (reset, restored), or gone for good: then *gone.
	 * -1: the cell cannot go on.
	 */
	int (*run)(struct boot *b, const struct matrix_cell *cell, struct cell_result *result, bool *gone, struct error *e);
};

/* By name; NULL: there is none. */
const struct event *event_get(const char *name);

/* 0.. until NULL. */
const struct event *event_row(size_t index);

#endif
