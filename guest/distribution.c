#include "guest/distribution.h"

#include <math.h>

/* In [0, 1), 53 bits. */
static double uniform(struct random64 *random)
{
	return (double)(random64_next(random) >> 11) * 0x1p-53;
}

/*
 * Zipf by rejection-inversion. Source: Hörmann, Derflinger: Rejection-inversion to generate variates from
 * monotone discrete distributions, ACM TOMACS 6 (1996), section 3. h(x) = x^-theta, integral() its
 * antiderivative, which also holds for theta = 1 and near it.
 */
static double integral(double exponent, double x)
{
	double l = log(x), y = exponent * l;

	/* (x^exponent - 1) / exponent */
	return fabs(y) < 1e-8 ? l * (1 + y / 2) : expm1(y) / exponent;
}

static double inverse(double exponent, double y)
{
	double z = exponent * y;

	if (fabs(z) < 1e-8)
		return exp(y * (1 - z / 2));
	if (z <= -1)
		return HUGE_VAL;
	return exp(log1p(z) / exponent);
}

static double density(double exponent, double x)
{
	return exp((exponent - 1) * log(x));
}

static void init_zipf(struct drawer *d)
{
	double e = 1 - d->law->parameter;

	d->exponent = e;
	d->head = integral(e, 1.5) - 1;
	d->tail = integral(e, (double)d->n + 0.5);
	d->threshold = 2 - inverse(e, integral(e, 2.5) - density(e, 2));
}

static uint64_t draw_zipf(const struct drawer *d, struct random64 *random)
{
	for (;;) {
		double u = d->tail + uniform(random) * (d->head - d->tail);
		double x = inverse(d->exponent, u), k = floor(x + 0.5);

		if (k < 1)
			k = 1;
		if (k > (double)d->n)
			k = (double)d->n;
		if (k - x <= d->threshold || u >= integral(d->exponent, k + 0.5) - density(d->exponent, k))
			return (uint64_t)k > d->n ? d->n - 1 : (uint64_t)k - 1;
	}
}

static uint64_t draw_pareto(const struct drawer *d, struct random64 *random)
{
	uint64_t k = (uint64_t)((double)d->n * pow(uniform(random), d->exponent));

	return k < d->n ? k : d->n - 1;
}

/*
 * The sum of twelve even draws has a variance of one (their own is 1/12): near enough to a normal
 * one, within six deviations. Draws that fall outside of the file are repeated.
 */
static uint64_t draw_normal(const struct drawer *d, struct random64 *random)
{
	double percent = d->law->parameter > 0 ? d->law->parameter : 100.0 / 12;
	double x;

	do {
		double sum = -6;

		for (unsigned i = 0; i < 12; i++)
			sum += uniform(random);
		x = (double)d->n * (0.5 + sum * percent / 100);
	} while (x < 0 || x >= (double)d->n || (uint64_t)x >= d->n);
	return (uint64_t)x;
}

/* percent of n without overflow. */
static uint64_t part(uint64_t n, unsigned percent)
{
	return n / 100 * percent + n % 100 * percent / 100;
}

static uint64_t draw_zoned(const struct drawer *d, struct random64 *random)
{
	unsigned at = (unsigned)random64_below(random, 100), access = 0, before = 0;

	for (unsigned i = 0; i < d->law->nzones; i++) {
		unsigned size = d->law->zone[i].size_percent;

		access += d->law->zone[i].access_percent;
		if (at < access) {
			uint64_t start = part(d->n, before), end = part(d->n, before + size);

			/* A zone of less than a block: the one that it lies in. */
			return start < end ? start + random64_below(random, end - start) :
			       start < d->n ? start : d->n - 1;
		}
		before += size;
	}
	return random64_below(random, d->n);
}

void drawer_init(struct drawer *d, const struct distribution *law, uint64_t n, struct random64 *keys)
{
	*d = (struct drawer){ .n = n, .law = law };
	if (law->kind == DISTRIBUTION_ZIPF)
		init_zipf(d);
	else if (law->kind == DISTRIBUTION_PARETO)
		d->exponent = log(law->parameter) / log(1 - law->parameter);
	permutation_init(&d->scatter, n, keys);
}

uint64_t drawer_rank(const struct drawer *d, struct random64 *random)
{
	switch (d->law->kind) {
	case DISTRIBUTION_ZIPF:
		return draw_zipf(d, random);
	case DISTRIBUTION_PARETO:
		return draw_pareto(d, random);
	case DISTRIBUTION_NORMAL:
		return draw_normal(d, random);
	case DISTRIBUTION_ZONED:
		return draw_zoned(d, random);
	case DISTRIBUTION_RANDOM:
		break;
	}
	return random64_below(random, d->n);
}

uint64_t drawer_next(const struct drawer *d, struct random64 *random)
{
	uint64_t k = drawer_rank(d, random);

	if (d->law->kind == DISTRIBUTION_RANDOM || d->law->kind == DISTRIBUTION_ZONED)
		return k;
	return permutation_at(&d->scatter, k);
}
