/* The command line of `kickbench regress`. */
#ifndef KB_REGRESS_OPTIONS_H
#define KB_REGRESS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/error.h"
#include "guest/text.h"

#define REGRESS_SCENARIO "regress" /* where the line names none */
#define REGRESS_MATRIX "quick"
#define REGRESS_SEED 1 /* not drawn: two runs are to be of the same cells */

struct regress_options {
	const char *scenario; /* as given, NULL: none */
	const char *which;    /* the matrix, NULL: not said */
	const char **set, **only;
	size_t nset, nonly;
	struct text guest;    /* --guest as one of the set: "scenario.guests=NAME" */
	const char *output, *resume, *connect;
	uint64_t seed;
	bool seed_set, list, bisect;
};

/* Texts stay argv's. */
int regress_options_parse(int argc, char **argv, struct regress_options *o, struct error *e);
void regress_options_free(struct regress_options *o);

/* The line that tries one cell again, for a shell: what was asked for with --only CELL. Appended. */
struct regress_line {
	const char *scenario, *which; /* NULL: the usual */
	const char *const *set;
	size_t nset;
	const char *connect;
};
void regress_reproduce(const struct regress_line *line, const char *cell, struct text *out);

#endif
