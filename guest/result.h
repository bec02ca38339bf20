/*
 * What a run measured, ready to be reported. Workers fill one struct job_result each without locks;
 * the runner merges them after the join. No OS calls in here.
 */
#ifndef KB_RESULT_H
#define KB_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/histogram.h"
#include "guest/job.h"

/*
 * Count, extremes, mean and deviation of integers, without a division per sample: sums of the
 * distances from the first sample (exact for the mean, double for the squares).
 */
struct moments {
	uint64_t n, min, max;
	uint64_t base; /* the first sample */
	int64_t sum;   /* of (sample - base) */
	double sum2;   /* of (sample - base) squared */
};

static inline void moments_add(struct moments *m, uint64_t v)
{
	int64_t d;

	if (m->n++ == 0) {
		m->min = m->max = m->base = v;
		return;
	}
	if (v < m->min)
		m->min = v;
	if (v > m->max)
		m->max = v;
	d = (int64_t)(v - m->base);
	m->sum += d;
	m->sum2 += (double)d * (double)d;
}

double moments_mean(const struct moments *m);
double moments_stdev(const struct moments *m); /* sample deviation (n-1); 0 for n <= 1 */
void moments_merge(struct moments *into, const struct moments *from); /* as if all samples were one set */

/* Samples of bandwidth (KiB/s) or IOPS taken about every 500 ms. */
struct samples {
	uint64_t n, min, max;
	double mean, m2; /* m2: sum of squared distances from the mean */
};

void samples_add(struct samples *s, uint64_t v);
double samples_stdev(const struct samples *s);
void samples_sum(struct samples *into, const struct samples *from); /* fio >= 3.13 group rule: all added */

/* Distribution classes of fio's "lat (nsec|usec|msec)" lines. */
#define LAT_NS_CLASSES 10
#define LAT_US_CLASSES 10
#define LAT_MS_CLASSES 12
#define DEPTH_CLASSES 7

struct direction {
	uint64_t ios, bytes, short_ios, dropped_ios;
	uint64_t runtime_us;
	struct moments slat, clat, lat;
	struct histogram clat_histogram;
	struct histogram *slat_histogram, *lat_histogram; /* NULL unless their percentiles are asked for */
	struct samples bw, iops;
};

/* Forget what was counted; the histograms stay where they are. */
void direction_reset(struct direction *d);

struct failure {
	int error;          /* errno, 0 = none */
	char where[48];     /* "worker.c:123" */
	char function[32];  /* "io_u error" style words, as in fio's title line */
	char text[160];
};

/* One job, or several merged by group_reporting. Large (about 60 KiB): allocate it. */
struct job_result {
	const struct job *job;
	unsigned groupid;
	unsigned members;
	long pid; /* of the first member */
	struct failure failure;
	struct direction dir[DDIRS];
	uint64_t syncs;
	struct moments sync_lat;
	struct histogram sync_histogram;
	uint64_t user_us, system_us, context_switches, major_faults, minor_faults;
	uint64_t total_runtime_ms; /* summed over members: what cpu percentages refer to */
	uint64_t runtime_ms;       /* longest member */
	uint64_t lat_ns[LAT_NS_CLASSES], lat_us[LAT_US_CLASSES], lat_ms[LAT_MS_CLASSES]; /* clat, all directions */
	uint64_t depth[DEPTH_CLASSES], submit[DEPTH_CLASSES], complete[DEPTH_CLASSES];
	unsigned latency_depth; /* that latency_target has arrived at, else iodepth */
	uint64_t total_errors; /* that continue_on_error let pass, and the errno of the first */
	int first_error;
	bool started; /* false: failed in setup, or never got to run */
};

/*
 * A copy with histograms of its own; NULL without memory. Free it with job_result_free(), which takes NULL.
 * Not for the results in the slots: those histograms lie in shared memory.
 */
struct job_result *job_result_copy(const struct job_result *from);

/* Copy into a result that has the same histograms, which stay where they are. */
void job_result_store(struct job_result *into, const struct job_result *from);

void job_result_free(struct job_result *r);

/* Add one member to another of the same group (fio's rules). */
void job_result_merge(struct job_result *into, const struct job_result *from);

struct disk_util {
	char name[64];
	uint64_t ios[2], merges[2], ticks_ms[2], in_queue_ms;
	double util; /* percent */
};

struct run_result {
	struct job_result **report; /* in print order, group members merged where asked */
	size_t nreports;
	unsigned ngroups;
	struct disk_util *disk;
	size_t ndisks;
	int signal;          /* that ended the run, 0 none */
	unsigned failed_jobs; /* exit status, 128 when ended by a signal */
	uint64_t elapsed_us;
	uint64_t eta_us;     /* of a report during the run: time that is left, UINT64_MAX unknown. 0 at the end */
};

void run_result_free(struct run_result *r);

#endif
