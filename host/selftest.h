/*
 * What A against A tells of a host: how often the procedure raises a false alarm, how much two equal boots differ, and
 * what effect a design would find here. Pure functions of a comparison.
 */
#ifndef KB_SELFTEST_H
#define KB_SELFTEST_H

#include "host/compare.h"
#include "host/stats_checks.h"

/*
 * Interval of a share of which hits of n were seen: Clopper & Pearson 1934, by bisection of the binomial tails; never too
 * narrow. NAN for n == 0.
 */
void selftest_binomial(size_t hits, size_t n, double level, double *low, double *high);

/*
 * Within a block of A against A the two names are dealt at random, so that a run whose log ratios have other signs, block
 * by block, was as likely as the one that was made. All those runs (from SELFTEST_EXACT blocks up SELFTEST_DRAWS seeded
 * ones) go through t test and Holm. A block's sign is that of all its cells: they share its boots.
 */
#define SELFTEST_EXACT 13
#define SELFTEST_DRAWS 4096
struct selftest_deals {
	size_t deals;        /* runs looked at: 2^(blocks - 1), since turning all signs changes no verdict */
	bool all;            /* these were all there are */
	size_t with_verdict; /* of them: runs with a worse or better in any cell */
	size_t tests, below; /* p values of their cells, and how many were below alpha uncorrected */
};

/*
 * log_ratio[cell * blocks + block]; a cell with NAN belongs to the family and is never significant. -1: out of memory.
 */
int selftest_deals(const double *log_ratio, size_t cells, size_t blocks, double alpha, double fail_margin, uint64_t seed,
		   struct selftest_deals *out);

/*
 * How much the logarithms of a cell's values differ from boot to boot and within a boot, over the trials of all variants:
 * they are the same. -1: out of memory.
 */
int selftest_split(const struct point *point, size_t npoints, unsigned cell, enum metric metric, struct stats_variance *out);

/* The verdicts that must not be: worse and better. */
size_t selftest_false(const struct comparison *c);

/* The whole account, for people. c compares one variant with itself. -1: out of memory. */
int selftest_text(const struct comparison *c, struct text *out);

#endif
