#include "tests/simulation/cells.h"

#include <math.h>

static double gauss(struct random64 *random) /* Box-Muller */
{
	double u = ((double)(random64_next(random) >> 11) + 0.5) / 9007199254740992.0;
	double v = ((double)(random64_next(random) >> 11) + 0.5) / 9007199254740992.0;

	return sqrt(-2 * log(u)) * cos(2 * acos(-1) * v);
}

void cell_draw(struct cell *c, size_t n, const struct noise *noise, struct random64 *random)
{
	for (size_t block = 0; block < n; block++) {
		double shared = noise->block * gauss(random);

		for (int side = 0; side < 2; side++) {
			double boot = noise->boot[side] * gauss(random);

			boot += noise->paired ? shared : noise->block * gauss(random);
			for (int r = 0; r < REPEATS; r++)
				c->sample[side][block][r] = 5000 * exp(boot + noise->repeat * gauss(random));
		}
	}
}

void cell_improve(struct cell *c, size_t n, double ratio)
{
	for (size_t block = 0; block < n; block++)
		for (int r = 0; r < REPEATS; r++)
			c->sample[1][block][r] *= ratio;
}

/* ---- the two ways to judge ---- */

static void boot_logs(const struct cell *c, size_t n, int side, double *out)
{
	for (size_t block = 0; block < n; block++) {
		double sum = 0;

		for (int r = 0; r < REPEATS; r++)
			sum += c->sample[side][block][r];
		out[block] = log(sum / REPEATS);
	}
}

void cell_log_ratios(const struct cell *c, size_t n, double *out)
{
	double baseline[MOST_BLOCKS], candidate[MOST_BLOCKS];

	boot_logs(c, n, 0, baseline);
	boot_logs(c, n, 1, candidate);
	for (size_t block = 0; block < n; block++)
		out[block] = candidate[block] - baseline[block];
}

void judge_paired(const struct cell *c, size_t n, struct stats_paired *out)
{
	double d[MOST_BLOCKS];

	cell_log_ratios(c, n, d);
	stats_paired(d, n, out);
}

void judge_unpaired(const struct cell *c, size_t nbaseline, size_t ncandidate, struct stats_welch *out)
{
	double baseline[MOST_BLOCKS], candidate[MOST_BLOCKS];

	boot_logs(c, nbaseline, 0, baseline);
	boot_logs(c, ncandidate, 1, candidate);
	stats_welch(baseline, nbaseline, candidate, ncandidate, out);
}

void naive_prepare(struct naive *naive, size_t n)
{
	naive->n = n;
	naive->df = 2 * ((double)(n * REPEATS) - 1);
	naive->t95 = stats_t_quantile(0.975, naive->df);
	naive->t90 = stats_t_quantile(0.95, naive->df);
}

void judge_naive(const struct naive *naive, const struct cell *c, struct stats_paired *out)
{
	double mean[2], squares = 0, samples = (double)(naive->n * REPEATS), se;

	for (int side = 0; side < 2; side++) {
		double logs[MOST_BLOCKS * REPEATS], sum = 0;
		size_t k = 0;

		for (size_t block = 0; block < naive->n; block++)
			for (int r = 0; r < REPEATS; r++, k++)
				sum += logs[k] = log(c->sample[side][block][r]);
		mean[side] = sum / samples;
		while (k-- > 0)
			squares += (logs[k] - mean[side]) * (logs[k] - mean[side]);
	}
	se = sqrt(squares / naive->df * 2 / samples);
	*out = (struct stats_paired){ .n = naive->n, .mean = mean[1] - mean[0] };
	out->p = stats_t_two_sided(out->mean / se, naive->df);
	out->ratio = exp(out->mean);
	out->low95 = exp(out->mean - naive->t95 * se);
	out->high95 = exp(out->mean + naive->t95 * se);
	out->low90 = exp(out->mean - naive->t90 * se);
	out->high90 = exp(out->mean + naive->t90 * se);
}
