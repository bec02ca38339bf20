/*
 * Another look at what was loaded: two variants of a folder, two folders against each other, guests or workloads in
 * the place of variants. A view is a dataset like any other, and keeps nothing of those that it was made from: they may be
 * freed at once. What a reader has to know of it is in its run.json: "notes" (array of sentences), "differ" (array of
 * "host kernel: A 6.1.0, B 6.1.2"), "sources" (array of {"label","path","run"}: d->source points there).
 */
#ifndef KB_VIEW_H
#define KB_VIEW_H

#include "host/dataset.h"

enum view_group { VIEW_VARIANT, VIEW_GUEST, VIEW_WORKLOAD };

struct view_side {
	const struct dataset *d;
	const char *variant; /* NULL: those that both sides have, or the only one */
};

/* Two variants of one folder, paired as they are there. */
int view_variants(const struct dataset *d, const char *baseline, const char *candidate, struct dataset **out,
		  struct error *e);

/*
 * Two folders, side[0] the baseline; never paired, since their blocks have nothing in common. Variants that both have
 * are compared by name, and so are cells; cells without a namesake by what they did (rw, bs, iodepth, numjobs,
 * ioengine). What one side lacks is in a note. An error: no cell or variant in common, or KVM on one side
 * and TCG on the other.
 */
int view_folders(const struct view_side side[2], struct dataset **out, struct error *e);

/*
 * Guests or workload points of one folder against the first of them, within the same variant; paired where they share
 * blocks. An error when there is only one. Not for VIEW_VARIANT, which every folder is already.
 */
int view_group(const struct dataset *d, enum view_group by, struct dataset **out, struct error *e);

#endif
