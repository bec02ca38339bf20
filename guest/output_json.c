/* The JSON report, written by hand: members in fio's order, "key" : value, two blanks per level. */
#include "guest/output.h"

#include <stdio.h>

#include "guest/report.h"

struct json {
	struct text *out;
	unsigned depth;
	bool first; /* nothing in the current object or list yet */
	bool plus;
};

/* Begin a member (key NULL: an element of a list). */
static void member(struct json *j, const char *key)
{
	text_add(j->out, "%s%*s", j->first ? "\n" : ",\n", (int)(2 * j->depth), "");
	j->first = false;
	if (key)
		text_add(j->out, "\"%s\" : ", key);
}

static void begin(struct json *j, const char *key, char bracket)
{
	if (j->depth)
		member(j, key);
	text_add(j->out, "%c", bracket);
	j->depth++;
	j->first = true;
}

static void finish(struct json *j, char bracket)
{
	j->depth--;
	text_add(j->out, "\n%*s%c", (int)(2 * j->depth), "", bracket);
	j->first = false;
}

static void integer(struct json *j, const char *key, uint64_t v)
{
	member(j, key);
	text_add(j->out, "%llu", (unsigned long long)v);
}

static void real(struct json *j, const char *key, double v)
{
	member(j, key);
	text_add(j->out, "%f", v);
}

static void string(struct json *j, const char *key, const char *s)
{
	member(j, key);
	text_add_json_string(j->out, s);
}

/* Options that were written without a value are left out, as fio 3.33 does. */
static void written(struct json *j, const char *key, const struct written *w, size_t n)
{
	begin(j, key, '{');
	for (size_t i = 0; i < n; i++)
		if (w[i].value)
			string(j, w[i].name, w[i].value);
	finish(j, '}');
}

static void percentiles(struct json *j, const struct histogram *h, const struct job *job)
{
	begin(j, "percentile", '{');
	for (unsigned i = 0; i < job->npercentiles; i++) {
		char key[32];

		snprintf(key, sizeof(key), "%f", job->percentiles[i]);
		integer(j, key, histogram_percentile(h, job->percentiles[i]));
	}
	finish(j, '}');
}

static void bins(struct json *j, const struct histogram *h)
{
	begin(j, "bins", '{');
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		char key[32];

		if (h->count[i] == 0)
			continue;
		snprintf(key, sizeof(key), "%llu", (unsigned long long)histogram_value(i));
		integer(j, key, h->count[i]);
	}
	finish(j, '}');
}

/* h NULL: this kind has no percentiles. */
static void latency(struct json *j, const char *key, const struct moments *m, const struct histogram *h,
		    const struct job *job)
{
	begin(j, key, '{');
	integer(j, "min", m->min);
	integer(j, "max", m->max);
	real(j, "mean", moments_mean(m));
	real(j, "stddev", moments_stdev(m));
	integer(j, "N", m->n);
	if (h && m->n) {
		percentiles(j, h, job);
		if (j->plus)
			bins(j, h);
	}
	finish(j, '}');
}

static void direction(struct json *j, const char *key, const struct direction *d, const struct job *job,
		      uint64_t group_bw)
{
	uint64_t ms = report_runtime_ms(d), bw = report_rate(d->bytes, ms);

	begin(j, key, '{');
	integer(j, "io_bytes", d->bytes);
	integer(j, "io_kbytes", d->bytes / 1024);
	integer(j, "bw_bytes", bw);
	integer(j, "bw", bw / 1024);
	real(j, "iops", ms ? 1000.0 * (double)d->ios / (double)ms : 0.0);
	integer(j, "runtime", ms);
	integer(j, "total_ios", d->ios);
	integer(j, "short_ios", d->short_ios);
	integer(j, "drop_ios", d->dropped_ios);
	latency(j, "slat_ns", &d->slat, d->slat_histogram, job);
	latency(j, "clat_ns", &d->clat, job->clat_percentiles ? &d->clat_histogram : NULL, job);
	latency(j, "lat_ns", &d->lat, d->lat_histogram, job);
	integer(j, "bw_min", d->bw.min);
	integer(j, "bw_max", d->bw.max);
	real(j, "bw_agg", d->bw.n ? report_share(d->bw.mean, group_bw) : 0.0);
	real(j, "bw_mean", d->bw.mean);
	real(j, "bw_dev", samples_stdev(&d->bw));
	integer(j, "bw_samples", d->bw.n);
	integer(j, "iops_min", d->iops.min);
	integer(j, "iops_max", d->iops.max);
	real(j, "iops_mean", d->iops.mean);
	real(j, "iops_stddev", samples_stdev(&d->iops));
	integer(j, "iops_samples", d->iops.n);
	finish(j, '}');
}

static void shares(struct json *j, const char *key, const char *const *names, const uint64_t *count, unsigned n,
		   uint64_t total, double least)
{
	begin(j, key, '{');
	for (unsigned i = 0; i < n; i++)
		real(j, names[i], report_percent(count[i], total, least));
	finish(j, '}');
}

static void distributions(struct json *j, const struct job_result *r)
{
	uint64_t ios = report_ios(r);

	shares(j, "iodepth_level", report_depth_names, r->depth, DEPTH_CLASSES, ios, 0.1);
	shares(j, "iodepth_submit", report_batch_names, r->submit, DEPTH_CLASSES,
	       report_sum(r->submit, DEPTH_CLASSES), 0.1);
	shares(j, "iodepth_complete", report_batch_names, r->complete, DEPTH_CLASSES,
	       report_sum(r->complete, DEPTH_CLASSES), 0.1);
	shares(j, "latency_ns", report_lat_ms_names, r->lat_ns, LAT_NS_CLASSES, ios, 0.01);
	shares(j, "latency_us", report_lat_ms_names, r->lat_us, LAT_US_CLASSES, ios, 0.01);
	shares(j, "latency_ms", report_lat_ms_names, r->lat_ms, LAT_MS_CLASSES, ios, 0.01);
}

static void job(struct json *j, const struct job_result *r, const struct run_result *result)
{
	static const char *const names[DDIRS] = { "read", "write", "trim" };
	/* fio has no estimate in a run's first three seconds and says so with INT_MAX */
	uint64_t eta = result->elapsed_us < 3000000 || result->eta_us == UINT64_MAX ? 2147483647
										   : result->eta_us / 1000000;

	begin(j, NULL, '{');
	string(j, "jobname", r->job->name);
	integer(j, "groupid", r->groupid);
	integer(j, "error", (uint64_t)r->failure.error);
	integer(j, "eta", eta);
	integer(j, "elapsed", (result->elapsed_us + 999999) / 1000000);
	written(j, "job options", r->job->written, r->job->nwritten);
	for (int d = 0; d < DDIRS; d++)
		direction(j, names[d], &r->dir[d], r->job, report_group(result, r->groupid, (enum ddir)d).bw);
	begin(j, "sync", '{');
	integer(j, "total_ios", r->syncs);
	latency(j, "lat_ns", &r->sync_lat, &r->sync_histogram, r->job);
	finish(j, '}');
	integer(j, "job_runtime", r->total_runtime_ms);
	real(j, "usr_cpu", report_cpu(r->user_us, r->total_runtime_ms));
	real(j, "sys_cpu", report_cpu(r->system_us, r->total_runtime_ms));
	integer(j, "ctx", r->context_switches);
	integer(j, "majf", r->major_faults);
	integer(j, "minf", r->minor_faults);
	distributions(j, r);
	if (r->job->continue_on_error) {
		integer(j, "total_err", r->total_errors);
		integer(j, "first_error", (uint64_t)r->first_error);
	}
	integer(j, "latency_depth", r->job->latency_target_us ? r->latency_depth : r->job->iodepth);
	integer(j, "latency_target", r->job->latency_target_us * 1000); /* ns, as fio 3.33 has it; the window in us */
	real(j, "latency_percentile", r->job->latency_target_us ? r->job->latency_percentile : 100.0);
	integer(j, "latency_window", r->job->latency_window_us);
	if (r->job->description)
		string(j, "desc", r->job->description);
	finish(j, '}');
}

static void disk_util(struct json *j, const struct run_result *result)
{
	if (result->ndisks == 0)
		return;
	begin(j, "disk_util", '[');
	for (size_t i = 0; i < result->ndisks; i++) {
		const struct disk_util *u = &result->disk[i];

		begin(j, NULL, '{');
		string(j, "name", u->name);
		integer(j, "read_ios", u->ios[0]);
		integer(j, "write_ios", u->ios[1]);
		integer(j, "read_merges", u->merges[0]);
		integer(j, "write_merges", u->merges[1]);
		integer(j, "read_ticks", u->ticks_ms[0]);
		integer(j, "write_ticks", u->ticks_ms[1]);
		integer(j, "in_queue", u->in_queue_ms);
		real(j, "util", u->util > 100 ? 100.0 : u->util);
		finish(j, '}');
	}
	finish(j, ']');
}

void output_json(struct text *out, const struct jobs *jobs, const struct run_result *result, bool plus)
{
	struct json j = { .out = out, .plus = plus };
	long long seconds;
	unsigned ms;
	char now[32];

	report_time(now, &seconds, &ms);
	begin(&j, NULL, '{');
	string(&j, "fio version", kickio_version);
	integer(&j, "timestamp", (uint64_t)seconds);
	integer(&j, "timestamp_ms", (uint64_t)seconds * 1000 + ms);
	string(&j, "time", now);
	if (jobs->nglobal)
		written(&j, "global options", jobs->global, jobs->nglobal);
	begin(&j, "jobs", '[');
	for (size_t i = 0; i < result->nreports; i++)
		job(&j, result->report[i], result);
	finish(&j, ']');
	disk_util(&j, result);
	finish(&j, '}');
	text_add(out, "\n");
}
