#include "guest/format.h"

#include <stdio.h>

unsigned format_digits(uint64_t v)
{
	unsigned n = 1;

	for (; v >= 10; v /= 10)
		n++;
	return n;
}

/* Integer v and a remainder of r/k with some decimals; the rounding may carry into v. */
static void with_decimals(char *out, uint64_t v, uint64_t r, uint64_t k, int decimals, const char *prefix,
			  const char *unit)
{
	char fraction[16];

	snprintf(fraction, sizeof(fraction), "%.*f", decimals, (double)r / (double)k);
	if (fraction[0] == '1')
		v++;
	snprintf(out, FORMAT_SIZE, "%llu%s%s%s", (unsigned long long)v, fraction + 1, prefix, unit);
}

void format_number(char out[FORMAT_SIZE], uint64_t v, unsigned digits, bool binary, const char *unit)
{
	static const char *const prefixes[2][7] = {
		{ "", "k", "M", "G", "T", "P", "E" },
		{ "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" },
	};
	uint64_t k = binary ? 1024 : 1000, r = 0;
	unsigned divided = 0;
	int room;

	while (divided < 6 && format_digits(v) > digits) {
		r = v % k;
		v /= k;
		divided++;
	}
	room = (int)digits - (int)format_digits(v);
	if (divided && room > 1) {
		with_decimals(out, v, r, k, room - 1, prefixes[binary][divided], unit);
		return;
	}
	if (divided && r >= k / 2)
		v++;
	snprintf(out, FORMAT_SIZE, "%llu%s%s", (unsigned long long)v, prefixes[binary][divided], unit);
}

static const struct latency_unit units[] = {
	{ "nsec", 1, 0 },
	{ "usec", 1000, 1 },
	{ "msec", 1000000, 2 },
};

const struct latency_unit *format_latency_unit(uint64_t min, uint64_t max, double stdev)
{
	if (min > 2000000 && max > 99999999 && stdev > 1000000)
		return &units[2];
	if (min > 2000 && max > 99999 && stdev > 1000)
		return &units[1];
	return &units[0];
}

const struct latency_unit *format_percentile_unit(uint64_t min, uint64_t max)
{
	if (min > 2000000 && max > 99999999)
		return &units[2];
	if (min > 2000 && max > 99999)
		return &units[1];
	return &units[0];
}

uint64_t format_percentile(uint64_t ns, const struct latency_unit *unit)
{
	for (unsigned i = 0; i < unit->thousands; i++)
		ns = (ns + 999) / 1000;
	return ns;
}
