#include "host/stats_change.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "guest/offsets.h" /* random64 */

#define NO_SPREAD 1e-12
#define SAME 1e-9 /* differences that are equal on paper must count as equal */

struct search {
	const double *value;
	size_t n, draws;
	double alpha;
	double *order; /* room for a permutation of a part */
	struct random64 random;
	struct stats_change *out;
	size_t count;
};

/*
 * The largest difference over all splits of values whose mean is 0, and where: k (n - k) / n times the square of the
 * difference of the means. The squares about the two means are what is left of the same total for every order
 * and split, so that the largest t statistic is where this is largest.
 */
static double largest(const double *v, size_t n, size_t *at)
{
	double sum = 0, best = -1;

	for (size_t k = 1; k <= n - STATS_CHANGE_SIDE; k++) {
		double size;

		sum += v[k - 1];
		if (k < STATS_CHANGE_SIDE)
			continue;
		size = sum * sum * (double)n / ((double)k * (double)(n - k));
		if (size > best) {
			best = size;
			*at = k;
		}
	}
	return best;
}

/* Fisher-Yates */
static void shuffle(double *v, size_t n, struct random64 *random)
{
	for (size_t i = n - 1; i > 0; i--) {
		size_t other = random64_below(random, i + 1);
		double kept = v[i];

		v[i] = v[other];
		v[other] = kept;
	}
}

/* p, or 1 as soon as it is certain to be above level. */
static double test(struct search *s, size_t n, double observed, double level)
{
	size_t hits = 0, unused;

	observed -= SAME * observed;
	for (size_t i = 0; i < s->draws; i++) {
		shuffle(s->order, n, &s->random);
		hits += largest(s->order, n, &unused) >= observed;
		if ((1 + (double)hits) > level * (1 + (double)s->draws))
			return 1;
	}
	return (1 + (double)hits) / (1 + (double)s->draws);
}

/* Copy a part without its mean. Is there anything to look for? */
static bool centre(struct search *s, size_t begin, size_t n)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		mean += s->value[begin + i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		s->order[i] = s->value[begin + i] - mean;
		squares += s->order[i] * s->order[i];
	}
	return sqrt(squares / (double)n) > NO_SPREAD; /* not for NAN either */
}

static void look(struct search *s, size_t begin, size_t n)
{
	size_t at = 0;
	double level = s->alpha * (double)n / (double)s->n, p;

	if (n < STATS_CHANGE_MIN || !centre(s, begin, n))
		return;
	p = test(s, n, largest(s->order, n, &at), level);
	if (p > level)
		return;
	look(s, begin, at);
	s->out[s->count++] = (struct stats_change){ .at = begin + at, .p = p };
	look(s, begin + at, n - at);
}

int stats_changes(const double *value, size_t n, double alpha, uint64_t seed, size_t draws, struct stats_change *out,
		  size_t *count)
{
	struct search s = { .value = value, .n = n, .draws = draws, .alpha = alpha, .random = { seed }, .out = out };

	*count = 0;
	if (n < STATS_CHANGE_MIN || draws == 0)
		return 0;
	s.order = calloc(n, sizeof(*s.order));
	if (!s.order)
		return -1;
	look(&s, 0, n);
	free(s.order);
	*count = s.count;
	return 0;
}
