/*
 * The matrix of `kickbench regress`: options of device and driver with the values that are tried, and the cells, each a
 * choice of one value of every option, that cover all pairs of them. Read from a scenario of its own kind:
 *
 *	[guest linux] and [disk]    as in every scenario; the base that cells change
 *	[matrix quick]              an option and its values a line: "ring = split, packed". Options are the names of the table in
 *	                            matrix_options.c (transport, ring, notify, block_size, write_cache, event, …), and every
 *	                            key of [disk] and [variant] ("queues", "queue_size", "qemu.indirect_desc")
 *	[except NAME]               a combination that is not to be tried: two options with values, and reason = TEXT
 *
 * Pure data: nothing here touches the host.
 */
#ifndef KB_MATRIX_H
#define KB_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/error.h"
#include "host/covering.h"
#include "host/scenario.h"

struct matrix_option {
	char *name;
	char **value;
	unsigned nvalues;
	int line; /* of the scenario, 0: --set */
};

/* What happens to the device while a job of the cell runs: a row of the table in host/event.h each. */
#define MATRIX_EVENT_NONE "none"

struct matrix_cell {
	unsigned number; /* 1..: its row of the covering; those that are made for --only follow */
	char *name;      /* "transport=modern,ring=packed,queues=2": every option, in order; a comma of a value is '\,' */
	unsigned *value; /* of each option */
	struct settings settings; /* of the test disk */
	struct machine machine;
	bool readonly;
	uint64_t bytes;       /* of the disk: settings.size is of the same */
	unsigned block_size;  /* logical, 512 or 4096 */
	bool write_cache, discard;
	const char *event;    /* name, MATRIX_EVENT_NONE */
};

struct matrix {
	struct scenario *scenario; /* its guest 0 is what is booted; its one variant is the base */
	char *name;                /* "quick" */
	uint64_t seed;
	struct matrix_option *option;
	size_t noptions;
	struct matrix_except *except; /* [except]: private */
	size_t nexcepts;
	struct covering covering;
	struct matrix_cell *cell;  /* those that were selected */
	size_t ncells;
};

struct matrix_request {
	const char *file;        /* the scenario */
	const char *const *set;  /* "matrix.quick.queues=1, 2", "disk.size=16M" */
	size_t nset;
	const char *which;       /* "quick", "full": [matrix WHICH] */
	uint64_t seed;           /* of the covering */
	const char *const *only; /* "ring=packed,queues=2": cells that have all of one of these; a whole cell's name that the covering
	                            does not hold is made for the purpose. None: all */
	size_t nonly;
};

/* Messages name the scenario's file and line. On an error *out is NULL. */
int matrix_read(const struct matrix_request *request, struct matrix **out, struct error *e);
void matrix_free(struct matrix *m);

/* Why two values cannot meet, from the table of options and the scenario's [except]; NULL: they can. a < b. */
const char *matrix_forbids(const struct matrix *m, unsigned a, unsigned value_a, unsigned b, unsigned value_b);

/* "ring=packed with transport=legacy": appended. */
void matrix_pair_text(const struct matrix *m, const struct covering_pair *p, struct text *out);

/* The options of the table: 0.. until NULL, with their values and what they are. */
const char *matrix_option_row(size_t index, const char **values, const char **help);

#endif
