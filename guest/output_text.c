#include "guest/output.h"

#include <string.h>

#include "guest/format.h"
#include "guest/os.h"
#include "guest/output_parts.h"
#include "guest/report.h"

const char kickio_version[] = "kickio-0.1.0";

static void header_line(struct text *out, const struct job *job)
{
	static const char letters[DDIRS] = { 'R', 'W', 'T' };

	text_add(out, "%s: (g=%u): rw=%s, bs=", job->name, job->groupid, rw_name(job->rw));
	for (int d = 0; d < DDIRS; d++) {
		char lo[FORMAT_SIZE], hi[FORMAT_SIZE];

		format_number(lo, job_bs_min(job, (enum ddir)d), FORMAT_DIGITS, true, "B");
		format_number(hi, job_bs_max(job, (enum ddir)d), FORMAT_DIGITS, true, "B");
		text_add(out, "(%c) %s-%s, ", letters[d], lo, hi);
	}
	text_add(out, "ioengine=%s, iodepth=%u\n", job->engine->name, job->iodepth);
	if (job->numjobs > 1)
		text_add(out, "...\n");
}

void output_text_header(struct text *out, const struct jobs *jobs)
{
	unsigned long threads = 0, processes = 0;

	for (size_t i = 0; i < jobs->count; i++) {
		const struct job *job = &jobs->job[i];

		header_line(out, job);
		if (job->thread || !os_has_processes)
			threads += job->numjobs;
		else
			processes += job->numjobs;
	}
	text_add(out, "%s\nStarting ", kickio_version);
	if (threads)
		text_add(out, "%lu thread%s", threads, threads > 1 ? "s" : "");
	if (threads && processes)
		text_add(out, " and ");
	if (processes)
		text_add(out, "%lu process%s", processes, processes > 1 ? "es" : "");
	text_add(out, "\n");
}

static void title(struct text *out, const struct job_result *r)
{
	const struct failure *f = &r->failure;
	char now[32];

	report_time(now, NULL, NULL);
	text_add(out, "%s: (groupid=%u, jobs=%u): err=%2d", r->job->name, r->groupid, r->members, f->error);
	if (f->error)
		text_add(out, " (file:%s, func=%s, error=%s)", f->where, f->function, f->text);
	text_add(out, ": pid=%ld: %s\n", r->pid, now);
	if (r->job->description)
		text_add(out, "  Description  : [%s]\n", r->job->description);
}

static void samples_line(struct text *out, const struct samples *s, uint64_t group_bw)
{
	double mean = s->mean, stdev = samples_stdev(s), share = report_share(mean, group_bw);
	uint64_t min = s->min, max = s->max;
	const char *unit = "  KiB";

	if (s->n == 0)
		return;
	if (mean > 1024.0 * 1024.0) {
		min = (uint64_t)((double)min / 1024);
		max = (uint64_t)((double)max / 1024);
		mean /= 1024;
		stdev /= 1024;
		unit = "  MiB";
	}
	text_add(out, "   bw (%s/s): min=%5llu, max=%5llu, per=%.2f%%, avg=%5.2f, stdev=%5.2f, samples=%llu\n", unit,
		 (unsigned long long)min, (unsigned long long)max, share, mean, stdev, (unsigned long long)s->n);
}

static void direction(struct text *out, const struct job_result *r, enum ddir ddir, uint64_t group_bw)
{
	static const char *const names[DDIRS] = { "read", "write", "trim" };
	const struct direction *d = &r->dir[ddir];
	uint64_t ms = report_runtime_ms(d), bw = report_rate(d->bytes, ms);
	char iops[FORMAT_SIZE], binary[FORMAT_SIZE], decimal[FORMAT_SIZE], io[FORMAT_SIZE];

	if (d->bytes == 0)
		return;
	format_number(iops, report_rate(d->ios, ms), FORMAT_DIGITS, false, "");
	format_number(binary, bw, FORMAT_DIGITS, true, "B/s");
	format_number(decimal, bw, FORMAT_DIGITS, false, "B/s");
	format_number(io, d->bytes, FORMAT_DIGITS, true, "B");
	text_add(out, "  %s: IOPS=%s, BW=%s (%s)(%s/%llumsec)%s\n", names[ddir], iops, binary, decimal, io,
		 (unsigned long long)ms, ddir == DDIR_WRITE ? "; 0 zone resets" : "");
	output_latency(out, "slat", &d->slat);
	output_latency(out, "clat", &d->clat);
	output_latency(out, " lat", &d->lat);
	output_percentiles(out, "slat", d->slat_histogram, r->job);
	output_percentiles(out, "clat", r->job->clat_percentiles ? &d->clat_histogram : NULL, r->job);
	output_percentiles(out, "lat", d->lat_histogram, r->job);
	samples_line(out, &d->bw, group_bw);
	if (d->iops.n)
		text_add(out, "   iops        : min=%5llu, max=%5llu, avg=%5.2f, stdev=%5.2f, samples=%llu\n",
			 (unsigned long long)d->iops.min, (unsigned long long)d->iops.max, d->iops.mean,
			 samples_stdev(&d->iops), (unsigned long long)d->iops.n);
}

static void depths(struct text *out, const char *label, const char *const *names, const uint64_t *count,
		   uint64_t total)
{
	text_add(out, "%s", label);
	for (unsigned i = 0; i < DEPTH_CLASSES; i++)
		text_add(out, "%s%s=%.1f%%", i ? ", " : "", names[i], report_percent(count[i], total, 0.1));
	text_add(out, "\n");
}

static void counts(struct text *out, const struct job_result *r)
{
	const struct direction *d = r->dir;

	depths(out, "  IO depths    : ", report_depth_names, r->depth, report_ios(r));
	depths(out, "     submit    : ", report_batch_names, r->submit, report_sum(r->submit, DEPTH_CLASSES));
	depths(out, "     complete  : ", report_batch_names, r->complete, report_sum(r->complete, DEPTH_CLASSES));
	text_add(out, "     issued rwts: total=%llu,%llu,%llu,%llu short=%llu,%llu,%llu,0 dropped=%llu,%llu,%llu,0\n",
		 (unsigned long long)d[0].ios, (unsigned long long)d[1].ios, (unsigned long long)d[2].ios,
		 (unsigned long long)r->syncs, (unsigned long long)d[0].short_ios, (unsigned long long)d[1].short_ios,
		 (unsigned long long)d[2].short_ios, (unsigned long long)d[0].dropped_ios,
		 (unsigned long long)d[1].dropped_ios, (unsigned long long)d[2].dropped_ios);
	if (r->job->continue_on_error)
		text_add(out, "     errors    : total=%llu, first_error=%d/<%s>\n", (unsigned long long)r->total_errors,
			 r->first_error, strerror(r->first_error));
	text_add(out, "     latency   : target=%llu, window=%llu, percentile=%.2f%%, depth=%u\n",
		 (unsigned long long)r->job->latency_target_us * 1000, (unsigned long long)r->job->latency_window_us,
		 r->job->latency_target_us ? r->job->latency_percentile : 100.0,
		 r->job->latency_target_us ? r->latency_depth : r->job->iodepth);
}

static void job_block(struct text *out, const struct job_result *r, const struct run_result *result)
{
	if (report_ios(r) == 0)
		return;
	title(out, r);
	for (int d = 0; d < DDIRS; d++)
		direction(out, r, (enum ddir)d, report_group(result, r->groupid, (enum ddir)d).bw);
	output_distribution(out, r);
	if (r->sync_lat.n) {
		text_add(out, "  fsync/fdatasync/sync_file_range:\n");
		output_latency(out, "sync", &r->sync_lat);
		output_percentiles(out, "sync", &r->sync_histogram, r->job);
	}
	text_add(out, "  cpu          : usr=%.2f%%, sys=%.2f%%, ctx=%llu, majf=%llu, minf=%llu\n",
		 report_cpu(r->user_us, r->total_runtime_ms), report_cpu(r->system_us, r->total_runtime_ms),
		 (unsigned long long)r->context_switches, (unsigned long long)r->major_faults,
		 (unsigned long long)r->minor_faults);
	counts(out, r);
}

static void group_line(struct text *out, const char *label, const struct group_direction *g)
{
	char bw[2][FORMAT_SIZE], min[2][FORMAT_SIZE], max[2][FORMAT_SIZE], io[2][FORMAT_SIZE];

	if (g->max_runtime_ms == 0)
		return;
	for (int i = 0; i < 2; i++) {
		format_number(bw[i], g->bw, FORMAT_DIGITS, i == 0, "B/s");
		format_number(min[i], g->min_bw, FORMAT_DIGITS, i == 0, "B/s");
		format_number(max[i], g->max_bw, FORMAT_DIGITS, i == 0, "B/s");
		format_number(io[i], g->bytes, FORMAT_DIGITS, i == 0, "B");
	}
	text_add(out, "%s: bw=%s (%s), %s-%s (%s-%s), io=%s (%s), run=%llu-%llumsec\n", label, bw[0], bw[1], min[0],
		 max[0], min[1], max[1], io[0], io[1], (unsigned long long)g->min_runtime_ms,
		 (unsigned long long)g->max_runtime_ms);
}

static void disks(struct text *out, const struct run_result *result)
{
	if (result->ndisks == 0)
		return;
	text_add(out, "\nDisk stats (read/write):\n");
	for (size_t i = 0; i < result->ndisks; i++) {
		const struct disk_util *u = &result->disk[i];

		text_add(out, "  %s: ios=%llu/%llu, merge=%llu/%llu, ticks=%llu/%llu, in_queue=%llu, util=%.2f%%\n",
			 u->name, (unsigned long long)u->ios[0], (unsigned long long)u->ios[1],
			 (unsigned long long)u->merges[0], (unsigned long long)u->merges[1],
			 (unsigned long long)u->ticks_ms[0],
			 (unsigned long long)u->ticks_ms[1], (unsigned long long)u->in_queue_ms,
			 u->util > 100 ? 100.0 : u->util);
	}
}

void output_text(struct text *out, const struct jobs *jobs, const struct run_result *result)
{
	static const char *const labels[DDIRS] = { "   READ", "  WRITE", "   TRIM" };

	(void)jobs;
	text_add(out, "\n");
	for (size_t i = 0; i < result->nreports; i++)
		job_block(out, result->report[i], result);
	for (unsigned group = 0; group < result->ngroups; group++) {
		text_add(out, "\nRun status group %u (all jobs):\n", group);
		for (int d = 0; d < DDIRS; d++) {
			struct group_direction g = report_group(result, group, (enum ddir)d);

			group_line(out, labels[d], &g);
		}
	}
	disks(out, result);
}
