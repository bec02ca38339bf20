#include "guest/report.h"

#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

const char *const report_lat_ms_names[LAT_MS_CLASSES] = {
	"2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000",
};
const char *const report_depth_names[DEPTH_CLASSES] = { "1", "2", "4", "8", "16", "32", ">=64" };
const char *const report_batch_names[DEPTH_CLASSES] = { "0", "4", "8", "16", "32", "64", ">=64" };

uint64_t report_runtime_ms(const struct direction *d)
{
	if (d->runtime_us == 0 && d->ios > 0)
		return 1;
	return (d->runtime_us + 999) / 1000;
}

uint64_t report_rate(uint64_t count, uint64_t runtime_ms)
{
	if (runtime_ms == 0)
		return 0;
	return (uint64_t)((unsigned __int128)count * 1000 / runtime_ms);
}

struct group_direction report_group(const struct run_result *result, unsigned groupid, enum ddir ddir)
{
	struct group_direction g = { .min_bw = UINT64_MAX };

	for (size_t i = 0; i < result->nreports; i++) {
		const struct job_result *r = result->report[i];
		const struct direction *d = &r->dir[ddir];
		uint64_t ms = report_runtime_ms(d), bw;

		if (r->groupid != groupid || d->ios == 0)
			continue;
		bw = report_rate(d->bytes, ms);
		g.bytes += d->bytes;
		if (g.min_runtime_ms == 0 || ms < g.min_runtime_ms)
			g.min_runtime_ms = ms;
		if (ms > g.max_runtime_ms)
			g.max_runtime_ms = ms;
		if (bw < g.min_bw)
			g.min_bw = bw;
		if (bw > g.max_bw)
			g.max_bw = bw;
	}
	if (g.max_runtime_ms == 0)
		g.min_bw = 0;
	g.bw = report_rate(g.bytes, g.max_runtime_ms);
	return g;
}

double report_share(double mean_kib, uint64_t group_bw)
{
	double share;

	if (group_bw <= 1024)
		return 100.0;
	/* fio cuts the mean to a whole number here, and only here */
	share = (double)(int64_t)mean_kib * 100.0 / ((double)group_bw / 1024.0);
	return share > 100.0 ? 100.0 : share;
}

double report_percent(uint64_t count, uint64_t total, double least)
{
	double percent;

	if (count == 0 || total == 0)
		return 0.0;
	percent = 100.0 * (double)count / (double)total;
	return percent < least ? least : percent;
}

double report_cpu(uint64_t us, uint64_t runtime_ms)
{
	/* fio counts processor time in whole milliseconds */
	return runtime_ms ? (double)(us / 1000) * 100.0 / (double)runtime_ms : 0.0;
}

uint64_t report_sum(const uint64_t *counts, unsigned n)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += counts[i];
	return sum;
}

uint64_t report_ios(const struct job_result *r)
{
	uint64_t ios = 0;

	for (int d = 0; d < DDIRS; d++)
		ios += r->dir[d].ios;
	return ios;
}

void report_time(char out[32], long long *seconds, unsigned *ms)
{
	struct timeval now;
	struct tm tm;
	time_t t;

	gettimeofday(&now, NULL);
	t = now.tv_sec;
	if (!localtime_r(&t, &tm) || strftime(out, 32, "%a %b %e %H:%M:%S %Y", &tm) == 0)
		strcpy(out, "?");
	if (seconds)
		*seconds = (long long)now.tv_sec;
	if (ms)
		*ms = (unsigned)(now.tv_usec / 1000);
}
