#include "host/stats_welch.h"

#include <math.h>

#include "host/stats.h"

#define NO_SPREAD 1e-12

static void describe(const double *value, size_t n, double *mean, double *sd)
{
	double sum = 0, squares = 0;

	*mean = *sd = NAN;
	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		sum += value[i];
	*mean = sum / (double)n;
	if (n == 1)
		return;
	for (size_t i = 0; i < n; i++)
		squares += (value[i] - *mean) * (value[i] - *mean);
	*sd = sqrt(squares / (double)(n - 1));
}

/* v: the squared standard error of each side's mean. */
static double satterthwaite(const double v[2], const size_t n[2])
{
	double sum = v[0] + v[1];

	return sum * sum / (v[0] * v[0] / (double)(n[0] - 1) + v[1] * v[1] / (double)(n[1] - 1));
}

void stats_welch(const double *baseline_log, size_t nb, const double *candidate_log, size_t nc,
		 struct stats_welch *out)
{
	double v[2], half95, half90;

	*out = (struct stats_welch){ .n = { nb, nc }, .se = NAN, .df = NAN, .t = NAN, .p = NAN,
				     .p_cautious = NAN, .low95 = NAN, .high95 = NAN, .low90 = NAN, .high90 = NAN };
	describe(baseline_log, nb, &out->mean[0], &out->sd[0]);
	describe(candidate_log, nc, &out->mean[1], &out->sd[1]);
	out->diff = out->mean[1] - out->mean[0];
	out->ratio = exp(out->diff);
	if (nb < 2 || nc < 2)
		return;
	for (int side = 0; side < 2; side++)
		v[side] = out->sd[side] * out->sd[side] / (double)out->n[side];
	if (!(sqrt(v[0] + v[1]) > NO_SPREAD))
		return;
	out->se = sqrt(v[0] + v[1]);
	out->df = satterthwaite(v, out->n);
	out->t = out->diff / out->se;
	out->p = stats_t_two_sided(out->t, out->df);
	out->p_cautious = stats_t_two_sided(out->t, (double)((nb < nc ? nb : nc) - 1));
	half95 = stats_t_quantile(0.975, out->df) * out->se;
	half90 = stats_t_quantile(0.95, out->df) * out->se;
	out->low95 = exp(out->diff - half95);
	out->high95 = exp(out->diff + half95);
	out->low90 = exp(out->diff - half90);
	out->high90 = exp(out->diff + half90);
}

bool stats_welch_same(const struct stats_welch *s, double margin)
{
	struct stats_paired interval = { .low90 = s->low90, .high90 = s->high90 };

	return stats_same(&interval, margin);
}

/* ---- design ---- */

double stats_welch_power(size_t n, double effect, double sd0, double sd1, double alpha)
{
	const size_t sides[2] = { n, n };
	double v[2], df, critical, delta;

	if (n < 2 || !(sd0 >= 0) || !(sd1 >= 0) || !(sd0 + sd1 > 0) || !(alpha > 0) || !(alpha < 1))
		return NAN;
	v[0] = sd0 * sd0 / (double)n;
	v[1] = sd1 * sd1 / (double)n;
	df = satterthwaite(v, sides);
	critical = stats_t_quantile(1 - alpha / 2, df);
	delta = fabs(effect) / sqrt(v[0] + v[1]);
	if (delta > 1e6) /* as in stats_power() */
		return 1;
	return 1 - stats_noncentral_t_cdf(critical, df, delta) + stats_noncentral_t_cdf(-critical, df, delta);
}

double stats_welch_detectable(size_t n, double sd, double alpha, double power, size_t cells)
{
	double level = alpha / (double)(cells ? cells : 1);
	double low = 0, high = sd;

	if (isnan(stats_welch_power(n, 0, sd, sd, level)) || !(power > 0) || !(power < 1))
		return NAN;
	while (stats_welch_power(n, high, sd, sd, level) < power)
		high *= 2;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (stats_welch_power(n, middle, sd, sd, level) < power)
			low = middle;
		else
			high = middle;
	}
	return exp(high);
}

size_t stats_welch_runs_for_effect(double effect, double sd0, double sd1, double alpha, double power,
				   size_t cells)
{
	double level = alpha / (double)(cells ? cells : 1);
	size_t low = 1, high = 2;

	if (!(fabs(effect) > 0) || isnan(stats_welch_power(2, effect, sd0, sd1, level)))
		return 0;
	while (stats_welch_power(high, effect, sd0, sd1, level) < power) {
		if (high >= STATS_BLOCKS_MAX)
			return 0;
		low = high;
		high = high * 2 < STATS_BLOCKS_MAX ? high * 2 : STATS_BLOCKS_MAX;
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (stats_welch_power(middle, effect, sd0, sd1, level) < power)
			low = middle;
		else
			high = middle;
	}
	return high;
}
