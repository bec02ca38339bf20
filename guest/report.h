/* What both forms of the report compute from a result, by fio's rules. */
#ifndef KB_REPORT_H
#define KB_REPORT_H

#include "guest/result.h"

/* The runtime of a direction in ms, rounded up, at least 1 where something was done; else 0. */
uint64_t report_runtime_ms(const struct direction *d);

/* bytes (or I/Os) per second of a count done in so many ms; 0 for 0 ms. */
uint64_t report_rate(uint64_t count, uint64_t runtime_ms);

/* All reports of one group in one direction. */
struct group_direction {
	uint64_t bytes, bw;                   /* bw: of all bytes over the longest runtime, bytes/s */
	uint64_t min_bw, max_bw;              /* slowest and fastest report, bytes/s */
	uint64_t min_runtime_ms, max_runtime_ms; /* 0: nothing in this direction */
};

struct group_direction report_group(const struct run_result *result, unsigned groupid, enum ddir ddir);

/* Share of the mean of the bandwidth samples (KiB/s) in the group's bandwidth (bytes/s): percent, at most 100. */
double report_share(double mean_kib, uint64_t group_bw);

/* count in percent of total; a share that is not zero shows as at least `least`. 0 for total 0. */
double report_percent(uint64_t count, uint64_t total, double least);

/* User or system time in percent of the summed runtime. */
double report_cpu(uint64_t us, uint64_t runtime_ms);

uint64_t report_sum(const uint64_t *counts, unsigned n);
uint64_t report_ios(const struct job_result *r); /* of all directions */

/* Upper bounds of the distribution's classes; the last of ms is ">=2000". */
extern const char *const report_lat_ms_names[LAT_MS_CLASSES]; /* the first ten are those of ns and us */
extern const char *const report_depth_names[DEPTH_CLASSES];   /* 1 2 4 … >=64 */
extern const char *const report_batch_names[DEPTH_CLASSES];   /* 0 4 8 … >=64 */

/* "Thu Jan  1 00:00:00 1970" of now, local time, without a newline. */
void report_time(char out[32], long long *seconds, unsigned *ms);

#endif
