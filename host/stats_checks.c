#include "host/stats_checks.h"

#include <math.h>
#include <stdlib.h>

#include "host/stats.h"

#define NO_SPREAD 1e-12
#define MIN_FOR_LAG 6
#define MIN_FOR_MANY_OUTLIERS 15
#define MOST_OUTLIERS 50

/* ---- in time ---- */

static double mean_of(const double *value, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += value[i];
	return sum / (double)n;
}

/* P(|C| >= |c|); a symmetric beta with the parameter a on -1..1 has the variance 1/(2a+1). */
static double von_neumann_p(double c, size_t n)
{
	double count = (double)n, a = ((count * count - 1) / (count - 2) - 1) / 2;

	return n < MIN_FOR_LAG ? NAN : 2 * stats_beta(a, a, (1 - fabs(c)) / 2);
}

void stats_drift(const double *values_in_time_order, size_t n, struct stats_drift *out)
{
	const double *x = values_in_time_order;
	double mean, middle = ((double)n - 1) / 2, time = 0, along = 0, squares = 0, products = 0, steps = 0, rest;

	*out = (struct stats_drift){ .n = n, .slope = NAN, .p_slope = NAN, .lag1 = NAN, .p_lag1 = NAN };
	if (n < 3)
		return;
	mean = mean_of(x, n);
	for (size_t i = 0; i < n; i++) {
		double d = x[i] - mean, t = (double)i - middle;

		time += t * t;
		along += t * d;
		squares += d * d;
		if (i + 1 < n) {
			products += d * (x[i + 1] - mean);
			steps += (x[i + 1] - x[i]) * (x[i + 1] - x[i]);
		}
	}
	if (!(sqrt(squares / (double)(n - 1)) > NO_SPREAD))
		return;
	out->slope = along / time;
	rest = squares - along * out->slope;
	rest = rest > 0 ? rest : 0; /* a perfect line, but for rounding */
	out->p_slope = stats_t_two_sided(out->slope / sqrt(rest / (double)(n - 2) / time), (double)(n - 2));
	out->lag1 = products / squares;
	out->p_lag1 = von_neumann_p(1 - steps / squares / 2, n);
}

/* ---- between boots and within ---- */

struct labelled {
	double value;
	unsigned group;
};

static int by_group(const void *a, const void *b)
{
	const struct labelled *x = a, *y = b;

	return (x->group > y->group) - (x->group < y->group);
}

/* Sums over the groups of values that are sorted by group. */
struct sums {
	double between, within; /* squares */
	double sizes_squared;
	size_t groups;
};

static struct sums sum_up(const struct labelled *sorted, size_t n, double mean)
{
	struct sums s = { 0 };

	for (size_t from = 0, to; from < n; from = to) {
		double size, sum = 0, group_mean;

		for (to = from; to < n && sorted[to].group == sorted[from].group; to++)
			sum += sorted[to].value;
		size = (double)(to - from);
		group_mean = sum / size;
		for (size_t i = from; i < to; i++)
			s.within += (sorted[i].value - group_mean) * (sorted[i].value - group_mean);
		s.between += size * (group_mean - mean) * (group_mean - mean);
		s.sizes_squared += size * size;
		s.groups++;
	}
	return s;
}

/* Rounding is not noise. */
static double mean_square(double squares, size_t df)
{
	double mean = squares / (double)df;

	return mean <= NO_SPREAD * NO_SPREAD ? 0 : mean;
}

int stats_variance(const double *value, const unsigned *group, size_t n, struct stats_variance *out)
{
	struct labelled *sorted = calloc(n ? n : 1, sizeof(*sorted));
	double between, each, df1, df2;
	struct sums s;

	*out = (struct stats_variance){ .values = n, .between_var = NAN, .within_var = NAN, .f = NAN, .p = NAN };
	if (!sorted)
		return -1;
	for (size_t i = 0; i < n; i++)
		sorted[i] = (struct labelled){ value[i], group[i] };
	qsort(sorted, n, sizeof(*sorted), by_group);
	s = sum_up(sorted, n, mean_of(value, n));
	free(sorted);
	out->groups = s.groups;
	if (s.groups == n)
		return 0;
	df2 = (double)(n - s.groups);
	out->within_var = mean_square(s.within, n - s.groups);
	if (s.groups < 2)
		return 0;
	df1 = (double)(s.groups - 1);
	between = mean_square(s.between, s.groups - 1);
	each = ((double)n - s.sizes_squared / (double)n) / df1; /* the common size, where there is one */
	out->between_var = between > out->within_var ? (between - out->within_var) / each : 0;
	if (isnan(between) || isnan(out->within_var))
		out->between_var = NAN;
	out->f = between / out->within_var;
	out->p = isinf(out->f) ? 0 : stats_beta(df2 / 2, df1 / 2, df2 / (df2 + df1 * out->f));
	return 0;
}

double stats_boot_variance(const struct stats_variance *v, double repeats)
{
	return v->between_var + v->within_var / repeats;
}

double stats_best_repeats(const struct stats_variance *v, double boot_s, double repeat_s)
{
	double best, below, cost[2];

	if (isnan(v->between_var) || isnan(v->within_var) || !(boot_s >= 0) || !(repeat_s > 0))
		return NAN;
	if (v->between_var <= 0)
		return v->within_var > 0 ? INFINITY : NAN;
	best = sqrt(boot_s / repeat_s * v->within_var / v->between_var);
	if (best <= 1)
		return 1;
	/* Left of the best value the product falls, right of it it rises: one of its two neighbours is it. */
	below = floor(best);
	for (int i = 0; i < 2; i++)
		cost[i] = stats_boot_variance(v, below + i) * (boot_s + (below + i) * repeat_s);
	return cost[0] <= cost[1] ? below : below + 1;
}

/* ---- far from all others ---- */

/* Rosner's lambda for the step after `gone` values of n are set aside. */
static double critical_deviate(size_t n, size_t gone, double alpha)
{
	double left = (double)(n - gone), df = left - 2;
	double t = stats_t_quantile(1 - alpha / (2 * left), df);

	return (left - 1) * t / sqrt((df + t * t) * left);
}

/* Where in index[0..n-1] the value is that is farthest from their mean, and how many deviations away. */
static size_t farthest(const double *value, const size_t *index, size_t n, double *deviate)
{
	double mean = 0, squares = 0, sd;
	size_t far = 0;

	for (size_t i = 0; i < n; i++)
		mean += value[index[i]] / (double)n;
	for (size_t i = 0; i < n; i++) {
		double d = value[index[i]] - mean;

		squares += d * d;
		if (fabs(d) > fabs(value[index[far]] - mean))
			far = i;
	}
	sd = sqrt(squares / (double)(n - 1));
	*deviate = sd > NO_SPREAD ? fabs(value[index[far]] - mean) / sd : 0;
	return far;
}

size_t stats_outliers(const double *value, size_t n, double alpha, size_t *index)
{
	size_t most = n < 5 ? 0 : n < MIN_FOR_MANY_OUTLIERS ? 1 : n / 5 < MOST_OUTLIERS ? n / 5 : MOST_OUTLIERS;
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		index[i] = i;
	/* The outliers are those up to the last step that exceeds, not the first that does not: they mask each other. */
	for (size_t gone = 0; gone < most; gone++) {
		double deviate;
		size_t far = gone + farthest(value, index + gone, n - gone, &deviate), kept = index[gone];

		index[gone] = index[far];
		index[far] = kept;
		if (deviate > critical_deviate(n, gone, alpha))
			found = gone + 1;
	}
	return found;
}
