/* Shared by view.c (which cells and variants a view has) and view_build.c (their observations). */
#ifndef KB_VIEW_BUILD_H
#define KB_VIEW_BUILD_H

#include <limits.h>

#include "host/dataset.h"

/*
 * Where a cell and variant of a view come from. With pairing = disks a baseline has a disk in every candidate's boot:
 * partner is that candidate, or ANY_PARTNER for all of them as so many runs.
 */
#define ANY_PARTNER UINT_MAX
struct view_origin {
	const struct dataset *d; /* NULL: nothing there */
	unsigned cell, variant, partner;
};

/*
 * run: the view's run.json with names of variants and cells, taken over in every case. origin: by cell, then by
 * variant. effective: as in struct dataset, taken over, NULL: not known by variant. from: the datasets behind the
 * origins; margins and the primary metric are the first's.
 */
struct view_parts {
	json_t *run, *effective;
	const struct view_origin *origin;
	bool paired;
	const struct dataset *from[2];
	size_t nfrom;
};
int view_build(const struct view_parts *parts, struct dataset **out, struct error *e);

#endif
