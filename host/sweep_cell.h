/* What a cell's name, point and options say, for sweep.c. */
#ifndef KB_SWEEP_CELL_H
#define KB_SWEEP_CELL_H

#include "host/dataset.h"

struct sweep_pair {
	char *key, *value;
};

struct sweep_cell {
	const json_t *json; /* of run.json */
	char *workload;
	struct sweep_pair *pair; /* of its point, in order */
	size_t npairs;
};

/* From "workload" and "point" of run.json; where these are missing, from the words of the name. */
int sweep_cell_read(const struct dataset *d, size_t cell, struct sweep_cell *out, struct error *e);
void sweep_cell_free(struct sweep_cell *c);

/*
 * The value of an option: of the point, of "options" or of "argv"; NULL when none tells. Where there is an argv, numjobs
 * and iodepth are 1 unless it says otherwise, as for fio. Valid as long as the cell.
 */
const char *sweep_cell_option(const struct sweep_cell *c, const char *key);

/* Equal, or the same size written otherwise: 4k and 4096. */
bool sweep_same_value(const char *a, const char *b);

/* By size; what is no size comes after, and is equal among itself. */
int sweep_compare_values(const char *a, const char *b);

#endif
