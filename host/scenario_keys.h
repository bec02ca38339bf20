/* The keys of [scenario] and [guest], read into their structures. Private to the scenario's files. */
#ifndef KB_SCENARIO_KEYS_H
#define KB_SCENARIO_KEYS_H

#include "host/entries.h"
#include "host/scenario.h"

/*
 * Set all keys of a section in object, which is a struct scenario for [scenario] and a struct guest for [guest].
 * A refusal names place, key and what is allowed. baseline is left to the caller.
 */
int scenario_keys_read(void *object, const struct section *s, struct error *e);

/*
 * Before a [guest]'s keys are set: no two of those that say what it is booted from, and none that only a domain takes
 * without one. A domain's vCPUs and memory are then its own, until a key sets them.
 */
int scenario_guest_source(struct guest *g, const struct section *from, struct error *e);

/*
 * Once they are set: commands need the driver that runs them, and the other way round. The image of a guest that commands
 * start is IMAGE_NONE unless a key sets it.
 */
int scenario_guest_driver(struct guest *g, const struct section *from, struct error *e);

#endif
