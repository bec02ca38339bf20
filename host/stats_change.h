/*
 * Change points of the mean: where in a row of values, one per run and in the order of time, another level begins. The
 * unit is the run, as in stats_welch.h. Seeded: the same arguments give the same answer, on every machine.
 */
#ifndef KB_STATS_CHANGE_H
#define KB_STATS_CHANGE_H

#include <stddef.h>
#include <stdint.h>

#define STATS_CHANGE_SIDE 3 /* values on each side of a change, at least */
#define STATS_CHANGE_MIN 8  /* values that a search needs: with 7 no step, however large, reaches p = 0.05 */

struct stats_change {
	size_t at; /* the first value of the new level: 3 or more, n - 3 at most */
	double p;  /* of the test that found it; to be compared with alpha * (values of that test) / n */
};

/*
 * Binary segmentation (Vostrikova, Soviet Mathematics Doklady 24, 1981): the split with the largest standardised
 * difference of means is tested; when it is significant, either part is searched in the same way. The test is by
 * permutation (Antoch, Huskova, Statistics & Probability Letters 53, 2001): the share of orders of these values whose largest
 * difference, over all splits, is at least the observed one: (1 + hits) / (1 + draws) of random orders. So p covers all
 * places where a change might have been, and asks for no distribution of the noise; it does ask that without a change
 * every order is as likely as any other: a slow drift is found, too, as a step or several.
 *
 * A part of m values is tested at alpha * m / n. Parts without a change within them are disjoint, so that all their
 * levels add up to alpha at most: it is the chance of any false change in the whole row, however many true ones there are.
 * A step that is undone soon (fewer than 3 values) is not found; one of two opposite changes can hide the other.
 *
 * *count changes go to out (room for n / STATS_CHANGE_SIDE), in order of place. Fewer than STATS_CHANGE_MIN values, values
 * without spread and ones that are not finite: none. Returns -1 when memory runs out.
 */
int stats_changes(const double *value, size_t n, double alpha, uint64_t seed, size_t draws, struct stats_change *out,
		  size_t *count);

#endif
