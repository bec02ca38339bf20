/* Shared by compare.c (verdicts), compare_effect.c (numbers), compare_settle.c, compare_checks.c, compare_advice.c and history.c. */
#ifndef KB_COMPARE_PRIVATE_H
#define KB_COMPARE_PRIVATE_H

#include <stdint.h>

#include "host/compare.h"

/*
 * One metric of one finding, gathered: paired data give the complete blocks, n[0] == n[1]; else every run of either
 * side that has a value. Room for all blocks; made once and used for every finding.
 */
struct gathered {
	size_t n[2];
	double *value[2], *log[2];
	double *ratio;      /* log(candidate / baseline), paired data without a zero */
	unsigned *block[2]; /* that a value comes from, 0.. */
	bool zero;          /* a value is zero or below: no logs */
};

int gathered_make(struct gathered *g, size_t blocks); /* -1: out of memory */
void gathered_free(struct gathered *g);

/* complete[]: observations are planned and all right. */
bool observation_complete(const struct observation *o);
const struct observation *finding_side(const struct dataset *d, const struct finding *f, unsigned side, size_t block);

void compare_gather(const struct dataset *d, const struct finding *f, enum metric metric, struct gathered *g);
void compare_measure(const struct dataset *d, const struct finding *f, enum metric metric, struct gathered *g,
		     struct effect *out);

/* The check beside the t: f->sign_flip and f->draws, of what was gathered last for the primary metric. */
void compare_flip(const struct comparison *c, struct finding *f, const struct gathered *g);

/* Random numbers of a check: the same for the same run and cell. */
uint64_t compare_seed(const struct comparison *c, const struct finding *f);

/* Draws of a resampling check of n values, such that all cells together take about half a second, but never fewer than 999. */
size_t compare_draws(const struct comparison *c, size_t n, size_t most);

/*
 * How many blocks or runs per side would settle an unclear finding. A power function takes a millisecond and there can
 * be thousands of cells: effects that differ by less than 1 % of their deviation share an answer.
 */
struct settle;
struct settle *settle_make(void); /* NULL: out of memory */
size_t settle_blocks(struct settle *s, const struct comparison *c, const struct finding *f);

/* Fill c->warning and c->advice. -1: out of memory. */
int compare_check(struct comparison *c, struct gathered *g);
int compare_advise(struct comparison *c);

/* Append a sentence to a list and empty it. -1: out of memory. */
int compare_say(char ***list, size_t *count, struct text *sentence);

#endif
