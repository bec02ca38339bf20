/* In what two runs differ beside what is compared. */
#ifndef KB_VIEW_DIFFER_H
#define KB_VIEW_DIFFER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "guest/text.h"

/*
 * Append to lines (an array) "host kernel: A 6.1.0, B 6.1.2" for every fact of the two run.json that both tell and
 * that is not the same; and the facts' names to names, comma between them.
 */
void view_differ(const json_t *const run[2], const char *const label[2], json_t *lines, struct text *names);

/* The same for the settings of a variant that both have: "kickfd's cache: A none, B writeback". */
void view_differ_settings(const json_t *const run[2], const char *const label[2], const char *variant, json_t *lines,
			  struct text *names);

/* A cell of either run that are compared with each other, as run.json has them. */
struct view_cells {
	const json_t *cell[2];
};

/*
 * The same for what the cells did, an option a line: "bs: A 4k, B 16k (randread; and 3 more cells)". An option that one
 * side lacks is fio's default there; with only_told (imports do not tell all options) it is passed over.
 */
void view_differ_cells(const struct view_cells *pair, size_t n, bool only_told, const char *const label[2], json_t *lines,
		       struct text *names);

/* The accelerator of a run, NULL: not told. */
const char *view_accel(const json_t *run);

#endif
