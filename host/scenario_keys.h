/* The sections of a scenario, read into their structures. Private to the files that read scenarios. */
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
 * A whole [guest], from its section (NULL: none was written) of file: no two keys that say what it is booted from, and none
 * that needs another; a domain's vCPUs and memory are its own until a key sets them; what is left out has its default.
 */
int scenario_guest_read(struct guest *g, const char *file, const struct section *from, struct error *e);

/* A whole [workload]. What was read until an error is freed by scenario_workload_free(), too. */
int scenario_workload_read(struct workload *w, const struct section *from, struct error *e);
void scenario_workload_free(struct workload *w);

/*
 * Cut a comma list into its values, which are appended to *value (initially NULL; the caller frees it and them, also after an
 * error); in a value '\,' stands for a comma. An empty place and a value that stands there twice are refused.
 */
int scenario_values(const struct entry *at, char ***value, size_t *nvalues, struct error *e);

#endif
