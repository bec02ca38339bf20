/* Verdicts: each variant but the baseline against the baseline, in every cell. */
#ifndef KB_COMPARE_H
#define KB_COMPARE_H

#include "guest/text.h"
#include "host/dataset.h"
#include "host/metrics.h"
#include "host/stats.h"

/* In the order in which they are looked at: the first that applies is the verdict. */
enum verdict {
	VERDICT_CORRUPT,       /* a trial of either side read wrong data */
	VERDICT_STALLED,       /* a trial of either side stopped making progress */
	VERDICT_INCOMPLETE,    /* fewer complete blocks or runs than planned, or a side without a value */
	VERDICT_NOT_EFFECTIVE, /* a setting was seen to be other than asked for */
	VERDICT_SINGLE,        /* a side has one run: a direction, no interval and no test */
	VERDICT_NOT_TESTED,    /* constant or zero: printed, not tested */
	VERDICT_WORSE,         /* Holm p below alpha and the estimate beyond fail_margin */
	VERDICT_BETTER,
	VERDICT_SAME,          /* 90 % interval inside the margin */
	VERDICT_UNCLEAR,
	VERDICTS
};

enum effect_kind {
	EFFECT_NO_DATA,  /* no complete block, or a side without a run; a side that has values has its mean all the same */
	EFFECT_SINGLE,   /* one complete block, or one run on a side: a ratio without an interval */
	EFFECT_ZERO,     /* a value is zero or below: no ratio; the sides are arithmetic means */
	EFFECT_CONSTANT, /* no spread at all: a ratio without an interval */
	EFFECT_INTERVAL,
};

/*
 * One metric over the complete blocks or all runs of a cell: both sides are geometric means, so that their quotient is
 * the ratio.
 */
struct effect {
	enum effect_kind kind;
	unsigned complete; /* blocks in which both sides have all their trials and a value; unpaired: the lesser of runs[] */
	double baseline, candidate;
	unsigned runs[2];             /* baseline's and candidate's observations; paired data: both are `complete` */
	struct stats_paired estimate; /* unpaired data: Welch's figures in the same members, sd that of a pair of runs,
				       * p the cautious one where runs are few or uneven (stats_welch.h) */
};

struct finding {
	unsigned variant, cell;
	enum verdict verdict;
	unsigned culprit;     /* trial that a verdict of corrupt or stalled comes from, else 0 */
	unsigned side;        /* of the culprit: 0 baseline, 1 candidate (joined folders number their trials each) */
	unsigned planned[2];  /* blocks or runs of either side */
	bool valueless[2];    /* the side's trials are fine and none of them has the primary metric */
	double holm;          /* adjusted p of the primary metric, NAN when not tested */
	double sign_flip;     /* the check beside it: sign flips; unpaired: permutations of the runs. NAN: there is none */
	size_t draws;         /* 0: it is exact; else by so many random draws */
	size_t blocks_needed; /* VERDICT_UNCLEAR: blocks (unpaired: runs per side) that settle it; 0: more than STATS_BLOCKS_MAX */
	struct effect effect[METRICS];
};

struct comparison {
	const struct dataset *dataset; /* the caller's; has to outlive this */
	struct finding *finding;       /* by variant, then by cell; none for a cell that neither side has */
	size_t nfindings;              /* the family of Holm's adjustment */
	unsigned count[VERDICTS];
	/*
	 * Sentences that a reader has to know before he believes a verdict: single runs, drift, autocorrelation, outliers,
	 * folders that were measured at different times, a bootstrap interval that disagrees.
	 */
	char **warning;
	size_t nwarnings;
	char **advice; /* sentences on what to run next: more boots or more repeats */
	size_t nadvice;
};

int compare(const struct dataset *d, struct comparison **out, struct error *e);
void comparison_free(struct comparison *c);

/* The finding on a candidate in a cell, NULL when there is none. */
const struct finding *comparison_find(const struct comparison *c, unsigned variant, unsigned cell);

/*
 * Below so many runs a side, where the sides differ in number, or where one spreads more than UNEVEN_SPREAD times as much as
 * the other, Holm is given the cautious p: see stats_welch.h. compare_cautious() is for what is known before a run.
 */
#define UNEVEN_SPREAD 2
#define RUNS_FOR_WELCH 6
bool compare_cautious(size_t baseline_runs, size_t candidate_runs);

/* Which verdicts of the mask (enum fail_on) occurred; 0: none, the run does not fail. */
unsigned compare_fail(const struct comparison *c, unsigned fail_on);

/* Is it one of the mask? */
bool verdict_fails(enum verdict verdict, unsigned fail_on);

const char *verdict_name(enum verdict verdict); /* "not effective" */

/*
 * A percentage without its sign of percent: "0.12", "12.3", "123"; above 1000 "more than 1000", whose digits are
 * noise to a reader. With sign "+": "+12.3", "-4.5", "more than +1000".
 */
#define PERCENT_TEXT_SIZE 32
void percent_text(double percent, const char *sign, char out[PERCENT_TEXT_SIZE]);

/* A side's value for people: 0 the baseline's, 1 the candidate's. */
void effect_side_text(const struct effect *effect, enum metric metric, unsigned side, char out[METRIC_TEXT_SIZE]);

/* "12.3 % more IOPS", "equal mean latency": an effect in words; nothing when there is no ratio. */
void effect_words(const struct effect *effect, enum metric metric, struct text *out);

/*
 * Which way an effect points, whether or not there is a verdict: "up: worse", "down: better"; "" when there is no
 * ratio, when it is constant, or when its interval holds 1.
 */
const char *effect_direction(const struct effect *effect, enum metric metric);

/* A whole verdict: "better: 12.3 % more IOPS", "incomplete: 5 of 8 blocks". */
void finding_words(const struct comparison *c, const struct finding *f, struct text *out);

/* Is sign-flip unable to reach significance with so few blocks, Holm's first step given? Paired data only. */
bool compare_sign_flip_hopeless(const struct comparison *c);

#endif
