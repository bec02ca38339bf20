#include "host/parse.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int parse_u64(const char *text, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -1;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno || *end ? -1 : 0;
}

int parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "kmgtp";
	const char *unit;
	unsigned shift = 0;
	uint64_t v;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -1;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno)
		return -1;
	if (*end) {
		unit = strchr(units, tolower((unsigned char)*end));
		if (!unit || !*unit)
			return -1;
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
		if (*end && strcmp(end, "iB") && strcmp(end, "i") && strcmp(end, "B"))
			return -1;
	}
	if (shift && v >> (64 - shift))
		return -1;
	*bytes = v << shift;
	return 0;
}

/* Plain decimals: strtod alone would take 0x10, 1e400 and the locale's comma. */
static int parse_decimal(const char *text, double *value, const char **rest)
{
	size_t length = strspn(text, "0123456789.");
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -1;
	*value = strtod(text, &end);
	*rest = end;
	return end == text + length && isfinite(*value) ? 0 : -1;
}

int parse_duration(const char *text, double *seconds)
{
	static const struct { const char *name; double factor; } unit[] = {
		{ "", 1 }, { "s", 1 }, { "ms", 1e-3 }, { "us", 1e-6 }, { "m", 60 }, { "min", 60 }, { "h", 3600 },
	};
	const char *end;
	double v;

	if (parse_decimal(text, &v, &end))
		return -1;
	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
		if (!strcmp(end, unit[i].name)) {
			*seconds = v * unit[i].factor;
			return 0;
		}
	return -1;
}

int parse_fraction(const char *text, double *fraction)
{
	const char *end;
	double v;

	if (parse_decimal(text, &v, &end))
		return -1;
	if (!strcmp(end, "%"))
		v /= 100;
	else if (*end)
		return -1;
	if (v >= 1)
		return -1;
	*fraction = v;
	return 0;
}

int parse_bool(const char *text, bool *value)
{
	static const char *const words[] = { "off", "on", "no", "yes", "false", "true", "0", "1", NULL };
	int i = parse_word(text, words);

	if (i < 0)
		return -1;
	*value = i & 1;
	return 0;
}

bool parse_cpulist(const char *text)
{
	do {
		unsigned long first, last;
		char *end;

		if (!isdigit((unsigned char)*text))
			return false;
		first = last = strtoul(text, &end, 10);
		if (*end == '-') {
			text = end + 1;
			if (!isdigit((unsigned char)*text))
				return false;
			last = strtoul(text, &end, 10);
		}
		if (last < first || last > 4095)
			return false;
		text = end;
	} while (*text == ',' && *++text);
	return *text == '\0' && text[-1] != ',';
}

int parse_word(const char *text, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], text))
			return i;
	return -1;
}

void parse_size_back(uint64_t bytes, struct text *out)
{
	static const char units[] = "\0KMGT";
	size_t u = 0;

	while (bytes && bytes % 1024 == 0 && u + 1 < sizeof(units) - 1) {
		bytes /= 1024;
		u++;
	}
	text_add(out, "%" PRIu64, bytes);
	if (u)
		text_add(out, "%c", units[u]);
}
