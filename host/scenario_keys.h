/* The keys of [scenario] and [guest], read into their structures. Private to the scenario's files. */
#ifndef KB_SCENARIO_KEYS_H
#define KB_SCENARIO_KEYS_H

#include "host/entries.h"

/*
 * Set all keys of a section in object, which is a struct scenario for [scenario] and a struct guest for [guest].
 * A refusal names place, key and what is allowed. baseline is left to the caller.
 */
int scenario_keys_read(void *object, const struct section *s, struct error *e);

#endif
