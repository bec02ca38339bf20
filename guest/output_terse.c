/* fio's terse report, version 3: a line per report, fields separated by semicolons, latencies in microseconds. */
#include "guest/output.h"

#include "guest/report.h"

#define TERSE_VERSION 3
#define TERSE_PERCENTILES 20

static void latency(struct text *out, const struct moments *m)
{
	text_add(out, ";%llu;%llu;%f;%f", (unsigned long long)(m->min / 1000), (unsigned long long)(m->max / 1000),
		 moments_mean(m) / 1000, moments_stdev(m) / 1000);
}

/* Always 20 of them. h NULL: the job has none. */
static void percentiles(struct text *out, const struct histogram *h, const struct job *job)
{
	for (unsigned i = 0; i < TERSE_PERCENTILES; i++) {
		if (!h || i >= job->npercentiles)
			text_add(out, ";0%%=0");
		else
			text_add(out, ";%f%%=%llu", job->percentiles[i],
				 (unsigned long long)histogram_percentile(h, job->percentiles[i]) / 1000);
	}
}

/* As report_share(), but here it is the group's rate that fio cuts to whole KiB/s, not the mean. */
static double share(const struct samples *s, uint64_t group_bw)
{
	double percent;

	if (s->n == 0)
		return 0;
	if (group_bw <= 1024)
		return 100;
	percent = s->mean * 100 / (double)(group_bw / 1024);
	return percent > 100 ? 100 : percent;
}

static void direction(struct text *out, const struct direction *d, const struct job *job, uint64_t group_bw)
{
	uint64_t ms = report_runtime_ms(d);

	text_add(out, ";%llu;%llu;%llu;%llu", (unsigned long long)(d->bytes / 1024),
		 (unsigned long long)(report_rate(d->bytes, ms) / 1024), (unsigned long long)report_rate(d->ios, ms),
		 (unsigned long long)ms);
	latency(out, &d->slat);
	latency(out, &d->clat);
	/* with both, those of lat are shown */
	percentiles(out, d->lat_histogram ? d->lat_histogram : job->clat_percentiles ? &d->clat_histogram : NULL, job);
	latency(out, &d->lat);
	text_add(out, ";%llu;%llu;%f%%;%f;%f", (unsigned long long)d->bw.min, (unsigned long long)d->bw.max,
		 share(&d->bw, group_bw), d->bw.mean, samples_stdev(&d->bw));
}

static void shares(struct text *out, const uint64_t *count, unsigned n, uint64_t total, int decimals, double least)
{
	for (unsigned i = 0; i < n; i++)
		text_add(out, ";%.*f%%", decimals, report_percent(count[i], total, least));
}

/* There are no columns for nanoseconds: they count in the first of the microseconds. */
static void distribution(struct text *out, const struct job_result *r)
{
	uint64_t us[LAT_US_CLASSES], ios = report_ios(r);

	for (unsigned i = 0; i < LAT_US_CLASSES; i++)
		us[i] = r->lat_us[i];
	us[0] += report_sum(r->lat_ns, LAT_NS_CLASSES);
	shares(out, us, LAT_US_CLASSES, ios, 2, 0.01);
	shares(out, r->lat_ms, LAT_MS_CLASSES, ios, 2, 0.01);
}

static void disks(struct text *out, const struct run_result *result)
{
	for (size_t i = 0; i < result->ndisks; i++) {
		const struct disk_util *u = &result->disk[i];

		text_add(out, ";%s;%llu;%llu;%llu;%llu;%llu;%llu;%llu;%.2f%%", u->name, (unsigned long long)u->ios[0],
			 (unsigned long long)u->ios[1], (unsigned long long)u->merges[0],
			 (unsigned long long)u->merges[1], (unsigned long long)u->ticks_ms[0],
			 (unsigned long long)u->ticks_ms[1], (unsigned long long)u->in_queue_ms,
			 u->util > 100 ? 100.0 : u->util);
	}
}

static void job_line(struct text *out, const struct job_result *r, const struct run_result *result)
{
	text_add(out, "%d;%s;%s;%u;%d", TERSE_VERSION, kickio_version, r->job->name, r->groupid, r->failure.error);
	for (int d = 0; d < DDIR_TRIM; d++)
		direction(out, &r->dir[d], r->job, report_group(result, r->groupid, (enum ddir)d).bw);
	text_add(out, ";%f%%;%f%%;%llu;%llu;%llu", report_cpu(r->user_us, r->total_runtime_ms),
		 report_cpu(r->system_us, r->total_runtime_ms), (unsigned long long)r->context_switches,
		 (unsigned long long)r->major_faults, (unsigned long long)r->minor_faults);
	shares(out, r->depth, DEPTH_CLASSES, report_ios(r), 1, 0.1);
	distribution(out, r);
	disks(out, result);
	if (r->job->continue_on_error)
		text_add(out, ";%llu;%d", (unsigned long long)r->total_errors, r->first_error);
	if (r->job->description)
		text_add(out, ";%s", r->job->description);
	text_add(out, "\n");
}

void output_terse(struct text *out, const struct run_result *result)
{
	for (size_t i = 0; i < result->nreports; i++)
		job_line(out, result->report[i], result);
}

void output_all(struct text *out, const struct jobs *jobs, const struct run_result *result)
{
	if (jobs->output_format & OUTPUT_TERSE)
		output_terse(out, result);
	if (jobs->output_format & (OUTPUT_JSON | OUTPUT_JSON_PLUS))
		output_json(out, jobs, result, jobs->output_format & OUTPUT_JSON_PLUS);
	if (jobs->output_format & OUTPUT_NORMAL)
		output_text(out, jobs, result);
}
