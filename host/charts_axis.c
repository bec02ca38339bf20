/* Round values for axes, as texts with units. */
#include <math.h>
#include <string.h>

#include "host/charts_private.h"

void range_take(struct range *r, double value)
{
	if (!isfinite(value))
		return;
	r->low = fmin(r->low, value);
	r->high = fmax(r->high, value);
}

bool range_has(const struct range *r)
{
	return r->low <= r->high;
}

void range_pad(struct range *r, bool logarithmic)
{
	double room;

	if (logarithmic) {
		room = pow(r->high / r->low, 0.06);
		room = room < 1.01 ? 1.01 : room;
		r->low /= room;
		r->high *= room;
		return;
	}
	room = 0.06 * (r->high - r->low);
	room = room > 0 ? room : r->high ? 0.05 * fabs(r->high) : 1;
	r->low = r->low >= 0 && r->low < room ? 0 : r->low - room;
	r->high += room;
}

/* 1, 2, 2.5 or 5 times a power of ten (of base's multiples), so that at most `wanted` steps are in the span. */
static double round_step(double span, double base, unsigned wanted)
{
	static const double nice[] = { 1, 2, 2.5, 5, 10 };
	double least = span / base / wanted, power = pow(10, floor(log10(least)));

	for (size_t i = 0; i < 5; i++)
		if (nice[i] * power >= least * 0.9999)
			return nice[i] * power * base;
	return 10 * power * base;
}

static size_t linear_ticks(const struct range *r, double base, unsigned wanted, double tick[AXIS_TICKS])
{
	double step = round_step(r->high - r->low, base, wanted), first = ceil(r->low / step - 1e-9);
	size_t n = 0;

	for (; n < AXIS_TICKS && (first + (double)n) * step <= r->high * (1 + 1e-12) + step * 1e-9; n++)
		tick[n] = (first + (double)n) * step;
	return n;
}

static size_t log_ticks(const struct range *r, const double *digit, size_t ndigits, int stride, double tick[AXIS_TICKS])
{
	int first = (int)floor(log10(r->low)), last = (int)ceil(log10(r->high));
	size_t n = 0;

	for (int power = first; power <= last; power++) {
		if (power % stride)
			continue;
		for (size_t i = 0; i < ndigits; i++) {
			double v = digit[i] * pow(10, power);

			if (v < r->low * (1 - 1e-9) || v > r->high * (1 + 1e-9))
				continue;
			if (n < AXIS_TICKS)
				tick[n] = v;
			n++;
		}
	}
	return n;
}

size_t axis_ticks(const struct range *r, bool logarithmic, double step_base, unsigned wanted, double tick[AXIS_TICKS])
{
	static const double digits[] = { 1, 2, 5, 1, 3 };
	size_t n;

	if (!logarithmic || r->high / r->low < 5)
		return linear_ticks(r, step_base, wanted, tick);
	n = log_ticks(r, digits, 3, 1, tick);
	if (n > wanted)
		n = log_ticks(r, digits + 3, 2, 1, tick);
	for (int stride = 1; n > wanted || n > AXIS_TICKS; stride++)
		n = log_ticks(r, digits, 1, stride, tick);
	return n;
}

void axis_text(enum unit unit, double value, char out[METRIC_TEXT_SIZE])
{
	char *point, *end, *kept;

	metric_text(unit, value, out);
	point = strchr(out, '.');
	if (!point)
		return;
	end = point + 1 + strspn(point + 1, "0123456789");
	for (kept = end; kept[-1] == '0'; kept--)
		;
	if (kept[-1] == '.')
		kept--;
	memmove(kept, end, strlen(end) + 1);
}

/* Steps are round in the unit that the text will have: KiB and MiB are powers of 1024. */
static double base_of(enum unit unit, double high)
{
	double base = 1;

	if (unit == UNIT_BYTES || unit == UNIT_BYTES_PER_S)
		while (base * 1024 <= fabs(high))
			base *= 1024;
	return base;
}

void axis_set(struct drawing *d, char axis, const struct range *r, bool logarithmic, enum unit unit)
{
	double tick[AXIS_TICKS];
	size_t n = axis_ticks(r, logarithmic, base_of(unit, r->high), axis == 'x' ? 6 : 7, tick);

	text_add(&d->script, "set %crange [%.9g:%.9g]\n", axis, r->low, r->high);
	if (logarithmic)
		text_add(&d->script, "set logscale %c\n", axis);
	text_add(&d->script, "set %ctics (", axis);
	for (size_t i = 0; i < n; i++) {
		char text[METRIC_TEXT_SIZE];

		axis_text(unit, tick[i], text);
		text_add(&d->script, "%s'%s' %.9g", i ? ", " : "", text, tick[i]);
	}
	text_add(&d->script, ")\n");
}
