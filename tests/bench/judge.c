/*
 * judge: what a comparison costs when it has many cells or many blocks, up to 96,000 trials. Each shape is judged at half its size
 * and at its whole, in turns, and the least processor time of three is taken. Status 1 when twice the trials cost three times as
 * much or more: four times would be quadratic.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "host/compare.h"
#include "tests/unit/memory_run.h"

#define TURNS 3
#define MOST 3.0

/* Blocks differ by 5 %, the boots of a block by 1 %; no effect. */
static double quiet(const struct memory_place *at)
{
	const struct memory_place block = { .block = at->block };

	return 5000 * exp(0.05 * memory_noise(1, &block) + 0.01 * memory_noise(2, at));
}

static double processor_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double judge(unsigned cells, unsigned blocks, bool unpaired)
{
	const struct memory_run r = { .cells = cells, .blocks = blocks, .repeats = 1, .unpaired = unpaired, .iops = quiet };
	struct dataset *d = memory_dataset(&r);
	struct comparison *c;
	struct error e = { 0 };
	double begin = processor_s();

	if (compare(d, &c, &e)) {
		fprintf(stderr, "judge: %s\n", e.text);
		exit(2);
	}
	begin = processor_s() - begin;
	comparison_free(c);
	dataset_free(d);
	return begin;
}

int main(void)
{
	static const struct {
		unsigned cells, blocks; /* the half */
		bool more_blocks, unpaired;
	} shape[] = {
		{ 12, 2000, true, false }, { 12, 2000, true, true }, { 3000, 8, false, false }, { 3000, 8, false, true },
		{ 1200, 20, false, false }, { 800, 30, false, false },
	};
	int status = 0;

	for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
		unsigned cells = shape[i].cells, blocks = shape[i].blocks;
		double half = INFINITY, whole = INFINITY;

		for (int turn = 0; turn < TURNS; turn++) {
			half = fmin(half, judge(cells, blocks, shape[i].unpaired));
			whole = fmin(whole, shape[i].more_blocks ? judge(cells, 2 * blocks, shape[i].unpaired) :
								   judge(2 * cells, blocks, shape[i].unpaired));
		}
		printf("%u cells of %u blocks%s: %.2f s; twice the %s: %.2f s, %.2f times\n", cells, blocks,
		       shape[i].unpaired ? ", unpaired" : "", half, shape[i].more_blocks ? "blocks" : "cells", whole, whole / half);
		if (whole >= MOST * half) {
			printf("MISSED: at most %.0f times\n", MOST);
			status = 1;
		}
	}
	return status;
}
