#include <errno.h>
#include <string.h>

#include "guest/worker_internal.h"

static void usage_now(const struct worker *w, struct rusage *u)
{
#ifdef RUSAGE_THREAD
	getrusage(w->setup.thread ? RUSAGE_THREAD : RUSAGE_SELF, u);
#else
	getrusage(RUSAGE_SELF, u);
#ifdef CLOCK_THREAD_CPUTIME_ID
	/* The processor time of the thread alone, but not how it divides; the other counts are the process's. */
	struct timespec t;

	if (w->setup.thread && clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0) {
		u->ru_utime = (struct timeval){ .tv_sec = t.tv_sec, .tv_usec = t.tv_nsec / 1000 };
		u->ru_stime = (struct timeval){0};
	}
#endif
#endif
}

static uint64_t us_between(const struct timeval *from, const struct timeval *to)
{
	return (uint64_t)((int64_t)(to->tv_sec - from->tv_sec) * 1000000 + (to->tv_usec - from->tv_usec));
}

static void store_usage(struct worker *w, struct job_result *r)
{
	struct rusage now;

	usage_now(w, &now);
	r->user_us = us_between(&w->usage.ru_utime, &now.ru_utime);
	r->system_us = us_between(&w->usage.ru_stime, &now.ru_stime);
	r->context_switches = (uint64_t)(now.ru_nvcsw - w->usage.ru_nvcsw + now.ru_nivcsw - w->usage.ru_nivcsw);
	r->major_faults = (uint64_t)(now.ru_majflt - w->usage.ru_majflt);
	r->minor_faults = (uint64_t)(now.ru_minflt - w->usage.ru_minflt);
}

/* Only counts are forgotten: what identifies the job stays. */
static void reset_counts(struct worker *w)
{
	struct job_result *r = w->result;

	for (unsigned d = 0; d < DDIRS; d++)
		direction_reset(&r->dir[d]);
	memset(&r->sync_lat, 0, sizeof(r->sync_lat));
	memset(&r->sync_histogram, 0, sizeof(r->sync_histogram));
	memset(w->class_count, 0, LATENCY_CLASSES * sizeof(*w->class_count));
	memset(r->depth, 0, sizeof(r->depth));
	memset(r->submit, 0, sizeof(r->submit));
	memset(r->complete, 0, sizeof(r->complete));
	r->syncs = r->total_errors = 0;
	r->first_error = 0;
	generator_set_limits(&w->generator);
}

void worker_begin_recording(struct worker *w)
{
	reset_counts(w);
	usage_now(w, &w->usage);
	slot_store(&w->setup.slot->recording_ns, clock_monotonic_ns());
	slot_store(&w->setup.slot->phase, PHASE_RUN);
	w->start_ns = worker_clock(w);
	worker_pace_begin(w, w->start_ns);
	if (w->log)
		joblog_counts_reset(w->log); /* a second time: latency_target */
	else if (w->opened_log)
		joblog_start(w->opened_log, w->dir, w->start_ns);
	w->log = w->opened_log;
	w->watched |= w->log != NULL;
}

static void flush_all(struct worker *w)
{
	const struct file_set *files = w->setup.files;

	slot_store(&w->setup.slot->phase, PHASE_FLUSH);
	for (unsigned i = 0; i < files->count; i++) {
		int error = files->file[i].fd < 0 ? 0 : os_flush(files->file[i].fd);

		if (error)
			WORKER_FAIL(w, error, "fsync");
	}
}

/* The unit is created when it is issued, and alone: nothing lies between. */
static void complete_synchronous(struct job_result *r)
{
	uint64_t ios = 0;

	for (unsigned d = 0; d < DDIRS; d++) {
		struct direction *dir = &r->dir[d];

		ios += dir->ios;
		dir->lat = dir->clat;
		if (dir->lat_histogram)
			*dir->lat_histogram = dir->clat_histogram;
	}
	memset(r->depth, 0, sizeof(r->depth));
	memset(r->submit, 0, sizeof(r->submit));
	memset(r->complete, 0, sizeof(r->complete));
	r->depth[0] = ios + r->syncs;
	r->submit[1] = r->complete[1] = ios;
}

void worker_complete_result(struct job_result *r, const uint64_t class_count[LATENCY_CLASSES], uint64_t elapsed_ns)
{
	for (unsigned d = 0; d < DDIRS; d++)
		r->dir[d].runtime_us = 0;
	/* Reads of a job that only writes are those of its verification. */
	if (rw_reads(r->job->rw) || r->dir[DDIR_READ].ios)
		r->dir[DDIR_READ].runtime_us = elapsed_ns / 1000;
	if (rw_writes(r->job->rw))
		r->dir[DDIR_WRITE].runtime_us = elapsed_ns / 1000;
	r->runtime_ms = r->total_runtime_ms = (elapsed_ns + 999999) / 1000000;
	if (r->job->engine->synchronous)
		complete_synchronous(r);
	latency_store(r, class_count);
}

/* What a ramp counts is not reported. */
void worker_report(struct worker *w)
{
	struct slot *slot = w->setup.slot;
	struct job_result *r = &slot->snapshot;

	w->reported = slot_load(w->report_asked);
	job_result_store(r, w->result);
	if (slot->phase == PHASE_RAMP) {
		for (unsigned d = 0; d < DDIRS; d++)
			direction_reset(&r->dir[d]);
		r->syncs = 0;
	} else {
		worker_complete_result(r, w->class_count, clock_elapsed(w->start_ns, clock_ns(&w->clock)));
		store_usage(w, r);
	}
	slot_store(&slot->reported, w->reported);
}

/* start + us in ns; a sum beyond the clock's range is never. */
static uint64_t deadline_after(uint64_t start, uint64_t us)
{
	if (us == 0 || us > (UINT64_MAX - start) / 1000)
		return UINT64_MAX;
	return start + us * 1000;
}

/* The generator knows of loops: only a ramp comes back here before the end. */
static enum loop_end run_loops(struct worker *w)
{
	const struct job *job = w->setup.job;
	bool ramp = job->ramp_us != 0;

	for (;;) {
		enum loop_end end = w->engine->synchronous ? worker_loop(w) : worker_queue_loop(w);

		if (end == LOOP_READ_BACK) {
			worker_queue_drain(w);
			end = worker_read_back(w);
			if (end == LOOP_COMPLETE)
				continue;
		}
		/* What is in flight when the ramp is over goes on. */
		if (end == LOOP_DEADLINE && ramp) {
			ramp = false;
			worker_begin_recording(w);
			w->deadline = deadline_after(w->start_ns, job->runtime_us);
			continue;
		}
		/* A job that is through with its data before the ramp is over keeps what it has counted, as in fio. */
		worker_queue_drain(w);
		return worker_failed(w) ? LOOP_FAILED : end;
	}
}

static void start(struct worker *w)
{
	const struct job *job = w->setup.job;

	w->result->started = true;
	if (!job->ramp_us) {
		worker_begin_recording(w);
		w->deadline = deadline_after(w->start_ns, job->runtime_us);
		return;
	}
	usage_now(w, &w->usage);
	slot_store(&w->setup.slot->phase, PHASE_RAMP);
	w->start_ns = worker_clock(w);
	worker_pace_begin(w, w->start_ns);
	w->deadline = deadline_after(w->start_ns, job->ramp_us);
}

void worker_run(struct worker *w)
{
	const struct job *job = w->setup.job;
	bool writes = rw_writes(job->rw) && !job->verify_only;
	enum loop_end end;

	start(w);
	end = writes || !w->verify || !rw_writes(job->rw) ? run_loops(w) : worker_read_back(w);
	if (job->end_fsync && writes && end != LOOP_FAILED)
		flush_all(w);
	if (w->verify && writes && job->do_verify && end != LOOP_FAILED && end != LOOP_STOPPED)
		worker_verify_written(w);
	worker_complete_result(w->result, w->class_count, clock_elapsed(w->start_ns, worker_clock(w)));
	worker_verify_finish(w);
	store_usage(w, w->result);
	if (w->log)
		joblog_finish(w->log, w->now, &w->result->failure);
	slot_store(&w->setup.slot->phase, PHASE_DONE);
}
