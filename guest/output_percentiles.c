#include "guest/output_parts.h"

#include "guest/format.h"
#include "guest/report.h"

void output_latency(struct text *out, const char *label, const struct moments *m)
{
	double mean = moments_mean(m), stdev = moments_stdev(m);
	const struct latency_unit *unit;
	char min[FORMAT_SIZE], max[FORMAT_SIZE];

	if (m->n == 0)
		return;
	unit = format_latency_unit(m->min, m->max, stdev);
	format_number(min, m->min / unit->divisor, FORMAT_LATENCY_DIGITS, false, "");
	format_number(max, m->max / unit->divisor, FORMAT_LATENCY_DIGITS, false, "");
	text_add(out, "    %s (%s): min=%s, max=%s, avg=%5.2f, stdev=%5.2f\n", label, unit->name, min, max,
		 mean / (double)unit->divisor, stdev / (double)unit->divisor);
}

void output_percentiles(struct text *out, const char *label, const struct histogram *h, const struct job *job)
{
	uint64_t value[JOB_MAX_PERCENTILES];
	const struct latency_unit *unit;
	unsigned n = job->npercentiles, precision = job->percentile_precision, per_line;
	int width;

	if (!h || n == 0 || histogram_total(h) == 0)
		return;
	for (unsigned i = 0; i < n; i++)
		value[i] = histogram_percentile(h, job->percentiles[i]);
	unit = format_percentile_unit(value[0], value[n - 1]);
	/* fio takes the width from the value cut down, the values themselves are rounded up */
	width = (int)format_digits(value[n - 1] / unit->divisor);
	if (width < 5)
		width = 5;
	per_line = 73 / (precision + 10 + (unsigned)width);
	if (per_line == 0)
		per_line = 1;

	text_add(out, "    %s percentiles (%s):\n", label, unit->name);
	for (unsigned i = 0; i < n; i++) {
		bool last = i == n - 1, line_ends = (i + 1) % per_line == 0;

		if (i % per_line == 0)
			text_add(out, "     |");
		text_add(out, " %*.*fth=[%*llu]%s", (int)precision + 3, (int)precision, job->percentiles[i], width,
			 (unsigned long long)format_percentile(value[i], unit), last ? "\n" : ",");
		if (!last && line_ends)
			text_add(out, "\n");
	}
}

/* One unit of the distribution, five classes to a line. */
static void classes(struct text *out, const char *unit, const uint64_t *count, unsigned n, uint64_t total)
{
	unsigned on_line = 0;

	for (unsigned i = 0; i < n; i++) {
		if (count[i] == 0)
			continue;
		if (on_line == 5) {
			text_add(out, "\n");
			on_line = 0;
		}
		if (on_line++ == 0)
			text_add(out, "  lat (%s)   : ", unit);
		else
			text_add(out, ", ");
		text_add(out, "%s=%.2f%%", report_lat_ms_names[i], report_percent(count[i], total, 0.01));
	}
	if (on_line)
		text_add(out, "\n");
}

void output_distribution(struct text *out, const struct job_result *r)
{
	uint64_t total = report_ios(r);

	classes(out, "nsec", r->lat_ns, LAT_NS_CLASSES, total);
	classes(out, "usec", r->lat_us, LAT_US_CLASSES, total);
	classes(out, "msec", r->lat_ms, LAT_MS_CLASSES, total);
}
