/* In what two runs differ beside what is compared. */
#ifndef KB_VIEW_DIFFER_H
#define KB_VIEW_DIFFER_H

#include <jansson.h>

#include "guest/text.h"

/*
 * Append to lines (an array) "host kernel: A 6.1.0, B 6.1.2" for every fact of the two run.json that both tell and
 * that is not the same; and the facts' names to names, comma between them.
 */
void view_differ(const json_t *const run[2], const char *const label[2], json_t *lines, struct text *names);

/* The same for the settings of a variant that both have: "kickfd's cache: A none, B writeback". */
void view_differ_settings(const json_t *const run[2], const char *const label[2], const char *variant, json_t *lines,
			  struct text *names);

/* The accelerator of a run, NULL: not told. */
const char *view_accel(const json_t *run);

#endif
