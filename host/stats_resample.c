#include "host/stats_resample.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "guest/offsets.h" /* random64 */
#include "host/stats.h"

#define NO_SPREAD 1e-12
#define SAME_SUM 1e-9 /* sums that are equal on paper must count as equal: relative to the sum of the sizes */

/* ---- sign flips ---- */

static double flipped_sum(const double *value, size_t n, struct random64 *random)
{
	uint64_t signs = 0;
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (i % 64 == 0)
			signs = random64_next(random);
		sum += signs & 1 ? value[i] : -value[i];
		signs >>= 1;
	}
	return sum;
}

double stats_sign_flip_sampled(const double *log_ratio, size_t n, uint64_t seed, size_t draws, double *error)
{
	struct random64 random = { seed };
	double sum = 0, size = 0, observed, p;
	size_t hits = 0;

	if (error)
		*error = NAN;
	for (size_t i = 0; i < n; i++) {
		sum += log_ratio[i];
		size += fabs(log_ratio[i]);
	}
	observed = fabs(sum) - SAME_SUM * size;
	if (n == 0 || draws == 0 || isnan(observed))
		return NAN;
	for (size_t i = 0; i < draws; i++)
		hits += fabs(flipped_sum(log_ratio, n, &random)) >= observed;
	p = (1 + (double)hits) / (1 + (double)draws);
	if (error)
		*error = sqrt(p * (1 - p) / (double)draws);
	return p;
}

/* ---- bootstrap ---- */

struct centred {
	double mean, sd, acceleration;
	double *value; /* without the mean */
	size_t n;
};

/* For a mean, the jackknife's values differ from theirs by -d/(n-1): the acceleration needs the d alone. */
static void centre(const double *value, size_t n, struct centred *out)
{
	double sum = 0, squares = 0, cubes = 0;

	for (size_t i = 0; i < n; i++)
		sum += value[i];
	out->n = n;
	out->mean = sum / (double)n;
	for (size_t i = 0; i < n; i++) {
		double d = out->value[i] = value[i] - out->mean;

		squares += d * d;
		cubes += d * d * d;
	}
	out->sd = sqrt(squares / (double)(n - 1));
	out->acceleration = cubes / (6 * squares * sqrt(squares));
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double resampled_mean(const struct centred *c, struct random64 *random)
{
	double sum = 0;

	for (size_t i = 0; i < c->n; i++)
		sum += c->value[random64_below(random, c->n)];
	return sum / (double)c->n;
}

/* z0: how far the draws' median is off the observed mean (0 here); a draw that hits it counts half. */
static double bias(const double *mean, size_t draws, double tie)
{
	double below = 0;

	for (size_t i = 0; i < draws; i++)
		below += mean[i] < -tie ? 1 : mean[i] <= tie ? 0.5 : 0;
	return stats_normal_quantile(below / (double)draws);
}

/* The p-quantile of sorted draws. NAN also when p is. */
static double quantile(const double *sorted, size_t draws, double p)
{
	double at = p * ((double)draws + 1);
	size_t rank;

	if (!(at >= 1) || !(at <= (double)draws))
		return NAN;
	rank = (size_t)at;
	if (rank == draws)
		return sorted[draws - 1];
	return sorted[rank - 1] + (at - (double)rank) * (sorted[rank] - sorted[rank - 1]);
}

static double adjusted(double z0, double acceleration, double p)
{
	double z = z0 + stats_normal_quantile(p);
	double shrink = 1 - acceleration * z;

	return shrink > 0 ? stats_normal_cdf(z0 + z / shrink) : NAN;
}

int stats_bootstrap(const double *log_ratio, size_t n, uint64_t seed, size_t draws, double level, double *low,
		    double *high)
{
	struct random64 random = { seed };
	struct centred c;
	double *mean, z0;

	*low = *high = NAN;
	if (n < STATS_BOOTSTRAP_MIN || draws == 0 || !(level > 0) || !(level < 1))
		return 0;
	c.value = calloc(n, sizeof(*c.value));
	mean = calloc(draws, sizeof(*mean));
	if (!c.value || !mean) {
		free(c.value);
		free(mean);
		return -1;
	}
	centre(log_ratio, n, &c);
	if (c.sd > NO_SPREAD) {
		for (size_t i = 0; i < draws; i++)
			mean[i] = resampled_mean(&c, &random);
		z0 = bias(mean, draws, SAME_SUM * c.sd);
		qsort(mean, draws, sizeof(*mean), by_value);
		*low = exp(c.mean + quantile(mean, draws, adjusted(z0, c.acceleration, (1 - level) / 2)));
		*high = exp(c.mean + quantile(mean, draws, adjusted(z0, c.acceleration, (1 + level) / 2)));
	}
	free(c.value);
	free(mean);
	return 0;
}

/* ---- permutation ---- */

/* The values of both sides; those of the first come first. */
struct deal {
	double *value, sum, tie;
	size_t na, nb;
};

static double difference(const struct deal *d, double sum_of_a)
{
	return fabs((d->sum - sum_of_a) / (double)d->nb - sum_of_a / (double)d->na);
}

static double first_sum(const struct deal *d)
{
	double sum = 0;

	for (size_t i = 0; i < d->na; i++)
		sum += d->value[i];
	return sum;
}

/* Ways to choose na of all; `limit` + 1 when there are more than that. */
static size_t ways(const struct deal *d, size_t limit)
{
	double count = 1;

	for (size_t i = 1; i <= d->na && count <= (double)limit; i++)
		count = round(count * (double)(d->nb + i) / (double)i);
	return count <= (double)limit ? (size_t)count : limit + 1;
}

/* Next choice of na of n indices in lexicographic order; false after the last. */
static bool next_choice(size_t *chosen, size_t na, size_t n)
{
	size_t i = na;

	while (i > 0 && chosen[i - 1] == n - na + i - 1)
		i--;
	if (i == 0)
		return false;
	chosen[i - 1]++;
	for (; i < na; i++)
		chosen[i] = chosen[i - 1] + 1;
	return true;
}

static double all_deals(const struct deal *d, double observed)
{
	size_t *chosen = calloc(d->na, sizeof(*chosen)), hits = 0, total = 0;

	if (!chosen)
		return NAN;
	for (size_t i = 0; i < d->na; i++)
		chosen[i] = i;
	do {
		double sum = 0;

		for (size_t i = 0; i < d->na; i++)
			sum += d->value[chosen[i]];
		hits += difference(d, sum) >= observed;
		total++;
	} while (next_choice(chosen, d->na, d->na + d->nb));
	free(chosen);
	return (double)hits / (double)total;
}

/* Fisher-Yates as far as the first side goes. */
static double random_deals(struct deal *d, double observed, uint64_t seed, size_t draws)
{
	struct random64 random = { seed };
	size_t n = d->na + d->nb, hits = 0;

	for (size_t draw = 0; draw < draws; draw++) {
		for (size_t i = 0; i < d->na; i++) {
			size_t other = i + random64_below(&random, n - i);
			double kept = d->value[i];

			d->value[i] = d->value[other];
			d->value[other] = kept;
		}
		hits += difference(d, first_sum(d)) >= observed;
	}
	return (1 + (double)hits) / (1 + (double)draws);
}

double stats_permutation(const double *a, size_t na, const double *b, size_t nb, uint64_t seed, size_t draws)
{
	struct deal d = { .na = na, .nb = nb };
	double size = 0, observed, p;

	if (na == 0 || nb == 0 || draws == 0)
		return NAN;
	d.value = calloc(na + nb, sizeof(*d.value));
	if (!d.value)
		return NAN;
	memcpy(d.value, a, na * sizeof(*a));
	memcpy(d.value + na, b, nb * sizeof(*b));
	for (size_t i = 0; i < na + nb; i++) {
		d.sum += d.value[i];
		size += fabs(d.value[i]);
	}
	observed = difference(&d, first_sum(&d)) - SAME_SUM * size / (double)(na < nb ? na : nb);
	p = isnan(observed) ? NAN :
	    ways(&d, draws) <= draws ? all_deals(&d, observed) : random_deals(&d, observed, seed, draws);
	free(d.value);
	return p;
}
