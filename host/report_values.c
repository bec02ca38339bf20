#include "host/report_values.h"

#include <math.h>

/* A ratio with three significant digits at least. */
static void factor(double ratio, struct text *out)
{
	static const double step[] = { 0.00995, 0.0995, 9.9995, 99.995, 999.95 };
	static const int decimals[] = { 5, 4, 3, 2, 1 };
	size_t i = 0;

	while (i < 5 && ratio >= step[i])
		i++;
	if (i == 5)
		text_add(out, ">1000");
	else if (ratio < 0.001)
		text_add(out, "<0.001");
	else
		text_add(out, "%.*f", decimals[i], ratio);
}

void report_ratio(const struct effect *e, struct text *out)
{
	const struct stats_paired *s = &e->estimate;

	if (isnan(s->ratio)) {
		text_add(out, "-");
		return;
	}
	factor(s->ratio, out);
	if (e->kind != EFFECT_INTERVAL)
		return;
	text_add(out, " [");
	factor(s->low95, out);
	text_add(out, ", ");
	factor(s->high95, out);
	text_add(out, "]");
}

void report_p(double p, struct text *out)
{
	if (isnan(p))
		text_add(out, "-");
	else if (p < 0.0001)
		text_add(out, "<0.0001");
	else
		text_add(out, "%.4f", p);
}

const char *report_note(const struct effect *e, enum metric metric)
{
	if (e->kind == EFFECT_ZERO)
		return "zero or below: no ratio";
	if (e->kind == EFFECT_CONSTANT)
		return "constant: not tested";
	return metric_info(metric)->higher_is_better ? "higher is better" : "lower is better";
}
