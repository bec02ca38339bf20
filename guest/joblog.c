#include "guest/joblog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "guest/files.h"
#include "guest/joblog_file.h"
#include "guest/text.h"

#define DEFAULT_WINDOW_MS 500

/* Latencies of one direction since the window began. */
struct latency_window {
	uint64_t n, sum, max, begun_ms;
};

/* Work of one direction in the window that runs. */
struct work_window {
	uint64_t bytes, ios;
};

/* Bandwidth and IOPS have windows of a fixed length, which all directions share. */
struct work_log {
	struct log_file *file; /* NULL: not asked for */
	unsigned window_ms;    /* 0: a row per I/O */
	uint64_t begun_ms;
	struct work_window of[DDIRS];
};

struct latency_log {
	struct log_file *file;
	struct latency_window of[DDIRS];
};

struct joblog {
	const struct job *job;
	struct direction *dir;
	uint64_t start_ns;
	struct log_writer writer;
	struct latency_log slat, clat, lat;
	struct work_log bw, iops;
	struct log_file *histogram;
	uint64_t histogram_last_ms[DDIRS];
	bool histogram_begun[DDIRS];
	struct histogram histogram_before[DDIRS];
};

/* ---- what is sampled how ---- */

bool joblog_samples_bw(const struct job *job)
{
	return job->write_bw_log && job->log_avg_msec == 0;
}

bool joblog_samples_iops(const struct job *job)
{
	return job->write_iops_log && job->log_avg_msec == 0;
}

/* The log's window becomes that of the samples, unless the user set another; 0: the default. */
static unsigned window_ms(unsigned sampled_ms, unsigned averaged_ms, bool logged)
{
	if (sampled_ms == 0)
		sampled_ms = DEFAULT_WINDOW_MS;
	return logged && averaged_ms && sampled_ms == DEFAULT_WINDOW_MS ? averaged_ms : sampled_ms;
}

unsigned joblog_bw_window_ms(const struct job *job)
{
	return window_ms(job->bwavgtime_ms, job->log_avg_msec, job->write_bw_log != NULL);
}

unsigned joblog_iops_window_ms(const struct job *job)
{
	return window_ms(job->iopsavgtime_ms, job->log_avg_msec, job->write_iops_log != NULL);
}

/* ---- rows ---- */

static void add_row(struct joblog *l, struct log_file *f, uint64_t ms, uint64_t value, enum ddir ddir, uint32_t bs,
		    uint64_t offset)
{
	struct log_row *r = log_writer_row(&l->writer, f);

	*r = (struct log_row){ .ms = ms, .value = value, .ddir = (uint32_t)ddir, .bs = bs, .offset = offset };
}

static void end_latency_window(struct joblog *l, struct latency_log *log, enum ddir ddir, uint64_t ms)
{
	struct latency_window *w = &log->of[ddir];
	uint64_t mean;

	if (w->n == 0)
		return;
	mean = w->sum / w->n + (w->sum % w->n >= (w->n + 1) / 2);
	add_row(l, log->file, ms, l->job->log_max_value ? w->max : mean, ddir, 0, 0);
	*w = (struct latency_window){ .begun_ms = ms - ms % l->job->log_avg_msec };
}

/* As in fio, the I/O that is found to be beyond the window's end still counts in it. */
static void add_latency(struct joblog *l, struct latency_log *log, enum ddir ddir, uint64_t offset, uint32_t length,
			uint64_t ns, uint64_t ms)
{
	struct latency_window *w = &log->of[ddir];

	if (!log->file || ns == JOBLOG_NONE)
		return;
	if (l->job->log_avg_msec == 0) {
		add_row(l, log->file, ms, ns, ddir, length, offset);
		return;
	}
	w->n++;
	w->sum += ns;
	if (ns > w->max)
		w->max = ns;
	if (ms >= w->begun_ms + l->job->log_avg_msec)
		end_latency_window(l, log, ddir, ms);
}

/* A row for the window that is over, at its end; none for a direction or window without progress. */
static void end_work_window(struct joblog *l, struct work_log *log, uint64_t ms)
{
	for (unsigned d = 0; d < DDIRS; d++) {
		struct work_window *w = &log->of[d];
		uint64_t count = log == &l->bw ? w->bytes : w->ios;

		if (w->ios)
			add_row(l, log->file, log->begun_ms + log->window_ms,
				count * 1000 / log->window_ms / (log == &l->bw ? 1024 : 1), (enum ddir)d, 0, 0);
		*w = (struct work_window){0};
	}
	log->begun_ms += (ms - log->begun_ms) / log->window_ms * log->window_ms;
}

static void add_work(struct joblog *l, struct work_log *log, enum ddir ddir, uint32_t length, uint64_t ms)
{
	if (ms >= log->begun_ms + log->window_ms)
		end_work_window(l, log, ms);
	log->of[ddir].bytes += length;
	log->of[ddir].ios++;
}

/* What one I/O's latency makes of its size: thousands of bytes per second. */
static void add_bw(struct joblog *l, enum ddir ddir, uint64_t offset, uint32_t length,
		   const struct joblog_latency *took, uint64_t ms)
{
	uint64_t ns = took->clat != JOBLOG_NONE ? took->clat : took->lat, rate;

	if (l->bw.window_ms) {
		add_work(l, &l->bw, ddir, length, ms);
		return;
	}
	if (l->job->disable_bw || l->job->gtod_reduce || ns == JOBLOG_NONE)
		return;
	rate = ns ? (uint64_t)length * 1000000 / ns : 0;
	samples_add(&l->dir[ddir].bw, rate);
	add_row(l, l->bw.file, ms, rate, ddir, length, offset);
}

static void add_iops(struct joblog *l, enum ddir ddir, uint64_t offset, uint32_t length, uint64_t ms)
{
	if (l->iops.window_ms) {
		add_work(l, &l->iops, ddir, length, ms);
		return;
	}
	if (l->job->gtod_reduce)
		return;
	samples_add(&l->dir[ddir].iops, 1);
	add_row(l, l->iops.file, ms, 1, ddir, length, offset);
}

/* A row appears with the first I/O after the interval; the time it was late does not shift the next one. */
static void add_histogram(struct joblog *l, enum ddir ddir, uint32_t length, uint64_t ms)
{
	const struct histogram *now = &l->dir[ddir].clat_histogram;
	struct histogram *before = &l->histogram_before[ddir];
	unsigned interval = l->job->log_hist_msec;
	struct log_histogram_row *r;

	if (!l->histogram_begun[ddir]) {
		l->histogram_begun[ddir] = true;
		l->histogram_last_ms[ddir] = ms;
	}
	if (ms - l->histogram_last_ms[ddir] < interval)
		return;
	r = log_writer_row(&l->writer, l->histogram);
	r->ms = ms;
	r->bs = length;
	r->ddir = (uint32_t)ddir;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		r->counts.count[i] = now->count[i] - before->count[i];
	*before = *now;
	/* several intervals late: the next one begins now, or rows would follow each other at once */
	l->histogram_last_ms[ddir] += interval;
	if (ms - l->histogram_last_ms[ddir] >= interval)
		l->histogram_last_ms[ddir] = ms;
}

void joblog_add(struct joblog *l, enum ddir ddir, uint64_t offset, uint32_t length, const struct joblog_latency *took,
		uint64_t now_ns)
{
	uint64_t ms = now_ns > l->start_ns ? (now_ns - l->start_ns) / 1000000 : 0;

	if (!l->dir) /* a ramp */
		return;
	add_latency(l, &l->slat, ddir, offset, length, took->slat, ms);
	add_latency(l, &l->clat, ddir, offset, length, took->clat, ms);
	add_latency(l, &l->lat, ddir, offset, length, took->lat, ms);
	if (l->bw.file)
		add_bw(l, ddir, offset, length, took, ms);
	if (l->iops.file)
		add_iops(l, ddir, offset, length, ms);
	if (l->histogram && l->job->log_hist_msec && took->clat != JOBLOG_NONE)
		add_histogram(l, ddir, length, ms);
}

/* ---- files ---- */

/* PREFIX_KIND.N.log, without .N when all jobs share the file. */
static int open_file(struct joblog *l, unsigned index, const char *prefix, const char *kind, bool histogram,
		     struct log_file **file, struct failure *failure)
{
	struct text path = {0};
	int r;

	text_add(&path, "%s_%s", *prefix ? prefix : l->job->name, kind);
	if (l->job->per_job_logs)
		text_add(&path, ".%u", index + 1);
	text_add(&path, ".log");
	if (path.failed) {
		text_free(&path);
		return FAIL(failure, ENOMEM, "log name");
	}
	r = log_writer_add(&l->writer, text_get(&path), !l->job->per_job_logs, histogram, failure);
	text_free(&path);
	if (r == 0) {
		*file = &l->writer.file[l->writer.count - 1];
		(*file)->offset_column = l->job->log_offset;
		(*file)->coarseness = l->job->log_hist_coarseness;
	}
	return r;
}

/* What is not measured has no file, as in fio; that of slat is there even where an engine has none. */
static int open_latency_files(struct joblog *l, unsigned index, struct failure *failure)
{
	const struct job *job = l->job;
	const char *prefix = job->write_lat_log;

	if (!job->disable_lat && open_file(l, index, prefix, "lat", false, &l->lat.file, failure) < 0)
		return -1;
	if (!job->disable_slat && open_file(l, index, prefix, "slat", false, &l->slat.file, failure) < 0)
		return -1;
	if (!job->disable_clat && open_file(l, index, prefix, "clat", false, &l->clat.file, failure) < 0)
		return -1;
	return 0;
}

static int open_files(struct joblog *l, unsigned index, struct failure *failure)
{
	const struct job *job = l->job;

	if (job->write_lat_log && open_latency_files(l, index, failure) < 0)
		return -1;
	if (job->write_bw_log && open_file(l, index, job->write_bw_log, "bw", false, &l->bw.file, failure) < 0)
		return -1;
	if (job->write_iops_log && open_file(l, index, job->write_iops_log, "iops", false, &l->iops.file, failure) < 0)
		return -1;
	if (job->write_hist_log &&
	    open_file(l, index, job->write_hist_log, "clat_hist", true, &l->histogram, failure) < 0)
		return -1;
	return log_writer_start(&l->writer, failure);
}

int joblog_open(struct joblog **log, const struct job *job, unsigned index, struct failure *failure)
{
	struct joblog *l;

	*log = NULL;
	if (!job->write_lat_log && !job->write_bw_log && !job->write_iops_log && !job->write_hist_log)
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return FAIL(failure, ENOMEM, "logs");
	l->job = job;
	l->bw.window_ms = job->log_avg_msec ? joblog_bw_window_ms(job) : 0;
	l->iops.window_ms = job->log_avg_msec ? joblog_iops_window_ms(job) : 0;
	if (open_files(l, index, failure) < 0) {
		joblog_close(l);
		return -1;
	}
	*log = l;
	return 0;
}

void joblog_start(struct joblog *l, struct direction *d, uint64_t now_ns)
{
	l->dir = d;
	l->start_ns = now_ns;
}

void joblog_counts_reset(struct joblog *l)
{
	memset(l->histogram_before, 0, sizeof(l->histogram_before));
}

/* The last window of latencies is written although it is not over, those of bandwidth and IOPS are not. */
int joblog_finish(struct joblog *l, uint64_t now_ns, struct failure *failure)
{
	uint64_t ms = now_ns > l->start_ns ? (now_ns - l->start_ns) / 1000000 : 0;
	struct latency_log *const latency[] = { &l->lat, &l->slat, &l->clat };
	struct work_log *const work[] = { &l->bw, &l->iops };

	for (unsigned i = 0; i < sizeof(latency) / sizeof(latency[0]); i++)
		for (unsigned d = 0; latency[i]->file && d < DDIRS; d++)
			end_latency_window(l, latency[i], (enum ddir)d, ms);
	for (unsigned i = 0; i < sizeof(work) / sizeof(work[0]); i++)
		if (work[i]->file && work[i]->window_ms && ms >= work[i]->begun_ms + work[i]->window_ms)
			end_work_window(l, work[i], ms);
	return log_writer_finish(&l->writer, failure);
}

void joblog_close(struct joblog *l)
{
	if (!l)
		return;
	log_writer_close(&l->writer);
	free(l);
}
