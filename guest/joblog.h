/*
 * fio's log files of one clone: latencies, bandwidth, IOPS, histograms; a row per I/O or per window.
 * Rows are gathered in two chunks per file: while the worker fills one, a thread of the log writes the
 * other, so that memory is bounded and no I/O in flight waits for a log, unless the disk of the logs is
 * slower than they grow.
 */
#ifndef KB_JOBLOG_H
#define KB_JOBLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/engine.h"
#include "guest/job.h"
#include "guest/result.h"

struct joblog;

/* What an I/O took, in ns. A part that the job does not measure (disable_…, no slat) is JOBLOG_NONE. */
#define JOBLOG_NONE UINT64_MAX
struct joblog_latency {
	uint64_t slat, clat, lat;
};

/*
 * Create the files that the job asks for; index counts the clones of the whole run from 0. *log is NULL when
 * it asks for none. -1 with failure filled when a file cannot be created or memory is short.
 */
int joblog_open(struct joblog **log, const struct job *job, unsigned index, struct failure *failure);

/*
 * Recording begins, after a ramp: the zero of the time column. d: the job's result, one per direction, of which
 * the histograms are read; the samples of bandwidth and IOPS are put there when joblog_samples_…() says so.
 */
void joblog_start(struct joblog *log, struct direction *d, uint64_t now_ns);

/* What was counted is forgotten, and the clock runs on: histograms begin at zero again. */
void joblog_counts_reset(struct joblog *log);

/*
 * One completed I/O, with ddir, offset and length (the whole of it) as issued, at now_ns (the clock's
 * reading that ended it). Nothing happens before joblog_start(). Call it behind `if (log)` after the counts and histograms of the direction.
 */
void joblog_add(struct joblog *log, enum ddir ddir, uint64_t offset, uint32_t length,
		const struct joblog_latency *took, uint64_t now_ns);

/* The last I/O is over: write everything out. -1 with failure filled if not all has arrived. */
int joblog_finish(struct joblog *log, uint64_t now_ns, struct failure *failure);

/* Also of a log that was not finished, and NULL. */
void joblog_close(struct joblog *log);

/* True when joblog_add() takes a sample of bandwidth or IOPS of every I/O, as fio does, so that nobody else must. */
bool joblog_samples_bw(const struct job *job);
bool joblog_samples_iops(const struct job *job);

/* Milliseconds of a sampling window: bwavgtime and iopsavgtime, unless the averages of a log say otherwise. */
unsigned joblog_bw_window_ms(const struct job *job);
unsigned joblog_iops_window_ms(const struct job *job);

#endif
