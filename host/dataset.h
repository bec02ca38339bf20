/*
 * A run folder, loaded: for every cell, variant and block what was observed. What is missing, failed or
 * unreadable is recorded and named; only an unreadable run.json is an error.
 */
#ifndef KB_DATASET_H
#define KB_DATASET_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "guest/error.h"
#include "host/metrics.h"

/* In order of gravity: an observation of several trials has the gravest. */
enum observed { OBSERVED_OK, OBSERVED_MISSING, OBSERVED_UNREADABLE, OBSERVED_FAILED, OBSERVED_STALLED, OBSERVED_CORRUPT };

/*
 * One cell, one variant, one block: the repeats are added up before a value is taken. They share a boot, unless
 * fresh_boot = per-trial gave each its own.
 */
struct observation {
	enum observed status; /* OK: all its trials were */
	unsigned planned, ok; /* trials; planned 0: the plan has none here */
	unsigned culprit;     /* number of the trial that status comes from, 0 when OK */
	unsigned boot;        /* of the first of them */
	bool mismatch;        /* a setting of this variant was seen to differ in a boot of theirs */
	double value[METRICS];
};

struct dataset_cell {
	const char *name, *guest;
};

/* One trial that counts: for charts over time, and to tell the spread within a boot from that between boots. */
struct point {
	unsigned trial, boot, block, cell, variant; /* block 0.. */
	unsigned source;                            /* index of the folder it came from */
	double started;                             /* s since 1970, NAN: not told */
	double value[METRICS];
};

/* A run folder that the data came from. */
struct dataset_source {
	const char *label; /* "A", "B"; "" when there is only one */
	const char *path;
	const json_t *run; /* its run.json */
};

/* A trial that does not count. */
struct problem {
	unsigned trial, block, cell, variant;
	enum observed status;
	char *message; /* NULL when there is nothing to add */
};

struct dataset {
	char *path;  /* of the folder, as given */
	json_t *run; /* run.json as it is; the names below point into it */
	const char *name, *primary_name;
	enum metric primary;
	unsigned baseline, nblocks, repeats;
	double margin, fail_margin, alpha; /* fractions */
	unsigned fail_on;                  /* mask of enum fail_on */
	bool disks;                        /* pairing = disks */
	bool paired;                       /* a block holds both sides; else a variant's blocks are its runs, each on its own */
	const char **variant;
	size_t nvariants;
	struct dataset_cell *cell;
	size_t ncells;
	const char **host;       /* that the blocks of one run were shared out over: labels; NULL where it was one */
	unsigned *block_host;    /* of each block, index into host; NULL as above */
	size_t nhosts;
	size_t ntrials, nok; /* planned; counted */
	size_t ncut;         /* finished trials of blocks that were cut: kept, not counted */
	size_t nstray;       /* trial files that the plan does not know */
	struct problem *problem; /* in order of trials */
	size_t nproblems;
	struct point *point; /* in order of trials; of joined folders one after the other */
	size_t npoints;
	struct dataset_source *source;
	size_t nsources;
	/*
	 * What was seen, as sets with counts. Per variant: {"boots":n,"verified":{"KEY = VALUE":n},"unverified":{"TEXT":n},
	 * "mismatch":{"KEY: wanted X, is Y":n},"features":{…}}, counted in boots; with several guests what does not hold in
	 * all of them begins with "GUEST: "; whole run: {"accel":{"tcg":n},
	 * "guest_kernel":{…},"qemu_version":{…},"tool":{…},"marks":{"FILE, line 1: printed … is wrong: …":n}}, counted in trials.
	 */
	json_t *effective; /* array, by variant */
	json_t *seen;
	double boot_s;     /* kernel start to hello, mean over the boots that told; NAN when none did */
	size_t nslots;
	struct observation *observation; /* use the functions below */
};

int dataset_load(const char *path, struct dataset **out, struct error *e);
void dataset_free(struct dataset *d);

/*
 * The two sides of a comparison; block 0.. . With pairing = disks the baseline is the disk in the candidate's
 * own boot, so that with two candidates each has a baseline of its own.
 */
const struct observation *dataset_candidate(const struct dataset *d, size_t cell, size_t variant, size_t block);
const struct observation *dataset_baseline(const struct dataset *d, size_t cell, size_t variant, size_t block);

const char *observed_name(enum observed status); /* "stalled" */

#endif
