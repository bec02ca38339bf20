#include "host/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define NO_SPREAD 1e-12

/* Lentz's method for the continued fraction of A&S 26.5.8; converges fast for x < (a+1)/(a+b+2). */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	double f;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (int m = 1; m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		f *= c * d;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = c * d;
		f *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return f;
}

/* ln Gamma without the global sign variable that lgamma() writes. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

double stats_beta(double a, double b, double x)
{
	double front;

	if (!(a > 0) || !(b > 0) || isnan(x))
		return NAN;
	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double stats_normal_cdf(double z)
{
	return erfc(-z / sqrt(2)) / 2;
}

double stats_t_two_sided(double t, double df)
{
	if (isnan(t) || !(df > 0))
		return NAN;
	return stats_beta(df / 2, 0.5, df / (df + t * t));
}

double stats_t_cdf(double t, double df)
{
	double tail = stats_t_two_sided(t, df) / 2;

	return t > 0 ? 1 - tail : tail;
}

/*
 * The x > 0 whose upper tail is p (p < 0.5), by bisection on a tail function that falls with x: 200 halvings
 * are exact to the last bit and there is no derivative to go wrong.
 */
static double upper_quantile(double (*tail)(double x, double df), double p, double df)
{
	double low = 0, high = 1;

	while (tail(high, df) > p && high < 1e300)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-15 * high; i++) {
		double middle = (low + high) / 2;

		if (tail(middle, df) > p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

static double t_tail(double x, double df)
{
	return stats_t_two_sided(x, df) / 2;
}

static double normal_tail(double x, double df)
{
	(void)df;
	return stats_normal_cdf(-x);
}

double stats_t_quantile(double p, double df)
{
	if (!(p > 0) || !(p < 1) || !(df > 0))
		return NAN;
	if (p == 0.5)
		return 0;
	return p > 0.5 ? upper_quantile(t_tail, 1 - p, df) : -upper_quantile(t_tail, p, df);
}

double stats_normal_quantile(double p)
{
	if (!(p > 0) || !(p < 1))
		return NAN;
	if (p == 0.5)
		return 0;
	return p > 0.5 ? upper_quantile(normal_tail, 1 - p, 1) : -upper_quantile(normal_tail, p, 1);
}

/*
 * P(T <= t) = integral over s of P(Z <= t s - delta) f(s), where s = sqrt(chi2(df)/df) has the density
 * f(s) = 2 (df/2)^(df/2) / Gamma(df/2) s^(df-1) exp(-df s^2/2). Simpson's rule between the points where
 * f has fallen below 1e-30; f is smooth there for whole df.
 */
double stats_noncentral_t_cdf(double t, double df, double delta)
{
	const int steps = 2000;
	double spread = 12 / sqrt(2 * df);
	double from = spread < 1 ? 1 - spread : 0, to = 1 + spread;
	double h = (to - from) / steps, sum = 0;
	double log_front;

	if (!(df >= 1) || isnan(t) || isnan(delta))
		return NAN;
	log_front = log(2) + df / 2 * log(df / 2) - log_gamma(df / 2);
	for (int i = 0; i <= steps; i++) {
		double s = from + i * h;
		double weight = i == 0 || i == steps ? 1 : i % 2 ? 4 : 2;
		double power = df > 1 ? (df - 1) * log(s) : 0; /* log(0) * 0 at s = 0 otherwise */

		sum += weight * stats_normal_cdf(t * s - delta) * exp(log_front + power - df * s * s / 2);
	}
	return sum * h / 3;
}

void stats_paired(const double *log_ratio, size_t n, struct stats_paired *out)
{
	double sum = 0, squares = 0, se, half95, half90;

	*out = (struct stats_paired){ .n = n, .mean = NAN, .sd = NAN, .t = NAN, .p = NAN, .ratio = NAN,
				      .low95 = NAN, .high95 = NAN, .low90 = NAN, .high90 = NAN };
	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		sum += log_ratio[i];
	out->mean = sum / (double)n;
	out->ratio = exp(out->mean);
	if (n == 1)
		return;
	for (size_t i = 0; i < n; i++)
		squares += (log_ratio[i] - out->mean) * (log_ratio[i] - out->mean);
	out->sd = sqrt(squares / (double)(n - 1));
	if (!(out->sd > NO_SPREAD))
		return;
	se = out->sd / sqrt((double)n);
	out->t = out->mean / se;
	out->p = stats_t_two_sided(out->t, (double)(n - 1));
	half95 = stats_t_quantile(0.975, (double)(n - 1)) * se;
	half90 = stats_t_quantile(0.95, (double)(n - 1)) * se;
	out->low95 = exp(out->mean - half95);
	out->high95 = exp(out->mean + half95);
	out->low90 = exp(out->mean - half90);
	out->high90 = exp(out->mean + half90);
}

double stats_sign_flip(const double *log_ratio, size_t n)
{
	double sign[STATS_SIGN_FLIP_MAX];
	double sum = 0, size = 0, observed;
	uint64_t total, hits = 0;

	if (n == 0 || n > STATS_SIGN_FLIP_MAX)
		return NAN;
	for (size_t i = 0; i < n; i++) {
		sign[i] = 1;
		sum += log_ratio[i];
		size += fabs(log_ratio[i]);
	}
	/* Sums that are equal on paper must count as equal: a million additions err by far less than this. */
	observed = fabs(sum) - 1e-9 * size;
	/* The last sign stays: flipping all of them gives the same |sum|, so half of the walk is enough. */
	total = (uint64_t)1 << (n - 1);
	for (uint64_t i = 1;; i++) {
		int flip;

		if (fabs(sum) >= observed)
			hits++;
		if (i == total)
			break;
		flip = __builtin_ctzll(i);
		sign[flip] = -sign[flip];
		sum += 2 * sign[flip] * log_ratio[flip];
	}
	return (double)hits / (double)total;
}

double stats_sign_flip_smallest(size_t n)
{
	return n == 0 ? 1 : ldexp(2, -(int)n);
}

struct ranked {
	double p;
	size_t index;
};

static int by_p(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->p > y->p) - (x->p < y->p);
}

int stats_holm(const double *p, size_t n, double *adjusted)
{
	struct ranked *rank = calloc(n ? n : 1, sizeof(*rank));
	double floor_p = 0;

	if (!rank)
		return -1;
	for (size_t i = 0; i < n; i++)
		rank[i] = (struct ranked){ isnan(p[i]) ? HUGE_VAL : p[i], i };
	qsort(rank, n, sizeof(*rank), by_p);
	for (size_t k = 0; k < n; k++) {
		double adjust = rank[k].p * (double)(n - k);

		if (rank[k].p == HUGE_VAL) {
			adjusted[rank[k].index] = NAN;
			continue;
		}
		floor_p = adjust > floor_p ? adjust : floor_p;
		adjusted[rank[k].index] = floor_p < 1 ? floor_p : 1;
	}
	free(rank);
	return 0;
}

bool stats_same(const struct stats_paired *s, double margin)
{
	return s->low90 > 1 - margin && s->high90 < 1 + margin;
}

double stats_power(size_t n, double effect, double sd, double alpha)
{
	double df = (double)n - 1, critical, delta;

	if (n < 2 || !(sd > 0) || !(alpha > 0) || !(alpha < 1))
		return NAN;
	critical = stats_t_quantile(1 - alpha / 2, df);
	delta = fabs(effect) * sqrt((double)n) / sd;
	/* Beyond any doubt already, and exp() in the integral would only lose digits. */
	if (delta > 1e6)
		return 1;
	return 1 - stats_noncentral_t_cdf(critical, df, delta) + stats_noncentral_t_cdf(-critical, df, delta);
}

double stats_detectable(size_t n, double sd, double alpha, double power, size_t cells)
{
	double level = alpha / (double)(cells ? cells : 1);
	double low = 0, high = sd;

	if (isnan(stats_power(n, 0, sd, level)) || !(power > 0) || !(power < 1))
		return NAN;
	while (stats_power(n, high, sd, level) < power)
		high *= 2;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (stats_power(n, middle, sd, level) < power)
			low = middle;
		else
			high = middle;
	}
	return exp(high);
}

struct question {
	double effect, sd, level, power, distance;
};

static bool finds(const struct question *q, size_t n)
{
	return stats_power(n, q->effect, q->sd, q->level) >= q->power;
}

static bool shows_same(const struct question *q, size_t n)
{
	double df = (double)n - 1;
	double need = (stats_t_quantile(0.95, df) + stats_t_quantile(q->level, df)) * q->sd / q->distance;

	return (double)n >= need * need;
}

/* The smallest n from 2 up that answers; both questions stay answered once they are. */
static size_t smallest(const struct question *q, bool (*answered)(const struct question *q, size_t n))
{
	size_t low = 1, high = 2;

	while (!answered(q, high)) {
		if (high >= STATS_BLOCKS_MAX)
			return 0;
		low = high;
		high = high * 2 < STATS_BLOCKS_MAX ? high * 2 : STATS_BLOCKS_MAX;
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (answered(q, middle))
			high = middle;
		else
			low = middle;
	}
	return high;
}

size_t stats_blocks_for_effect(double effect, double sd, double alpha, double power, size_t cells)
{
	struct question q = { .effect = effect, .sd = sd, .level = alpha / (double)(cells ? cells : 1),
			      .power = power };

	if (!(fabs(effect) > 0) || !(sd > 0))
		return 0;
	return smallest(&q, finds);
}

size_t stats_blocks_for_same(double effect, double sd, double margin, double power)
{
	double up = log1p(margin) - effect, down = effect - log1p(-margin);
	struct question q = { .sd = sd, .distance = up < down ? up : down };
	double off_centre = fabs(up - down);

	if (!(q.distance > 0) || !(sd > 0))
		return 0;
	q.level = off_centre < 0.2 * (up + down) ? (1 + power) / 2 : power;
	return smallest(&q, shows_same);
}
