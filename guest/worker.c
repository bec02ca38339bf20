#include <errno.h>
#include <string.h>

#include "guest/worker_internal.h"

enum loop_end { LOOP_DEADLINE, LOOP_STOPPED, LOOP_COMPLETE, LOOP_FAILED };

/* ---- the loop ---- */

/* The monitor looks at these two while the job runs. */
static inline void publish(uint64_t *place, uint64_t value)
{
	__atomic_store_n(place, value, __ATOMIC_RELAXED);
}

static inline void record(struct worker *w, struct direction *d, uint64_t ns)
{
	unsigned bucket = histogram_index(ns);
	unsigned class = w->classes.of_bucket[bucket];

	d->clat_histogram.count[bucket]++;
	moments_add(&d->clat, ns);
	if (__builtin_expect(class == LATENCY_STRADDLES, 0))
		class = latency_class(ns);
	w->class_count[class]++;
	publish(&d->ios, d->ios + 1);
	publish(&d->bytes, d->bytes + w->io.moved);
}

static int fail_io(struct worker *w, int error, const char *function)
{
	static const char *const names[] = { "read", "write", "trim", "sync" };
	const char *path = w->setup.files->file[w->io.file].path;

	note_send(&w->notes, "kickio: io_u error on file %s: %s: %s offset=%llu, buflen=%lu", path, strerror(error),
		  names[w->io.ddir], (unsigned long long)w->io.offset, (unsigned long)w->io.length);
	if (error == EINVAL && w->setup.job->direct && w->io.ddir != DDIR_SYNC)
		note_send(&w->notes, "kickio: direct IO errored. The file system may not support it, or the block "
			  "size may not suit it. Try setting direct=0.");
	return WORKER_FAIL(w, error, "%s", function);
}

/*
 * The transfer ended early: go on with the rest, as fio does, unless the file ends here. Nothing at all
 * moved means an end where none may be.
 */
static int finish_short(struct worker *w, struct direction *d, uint64_t file_end)
{
	struct io whole = w->io;
	uint32_t moved = w->io.moved;

	while (moved < whole.length) {
		publish(&d->short_ios, d->short_ios + 1);
		if (w->io.moved == 0) {
			fail_io(w, EIO, "full resid");
			break;
		}
		w->io.offset += w->io.moved;
		w->io.buffer = (char *)w->io.buffer + w->io.moved;
		w->io.length -= w->io.moved;
		if (file_end && w->io.offset == file_end)
			break;
		w->engine->queue(w->engine_state, &w->io);
		if (w->io.error) {
			fail_io(w, w->io.error, "io_u error");
			break;
		}
		moved += w->io.moved;
	}
	w->io = whole; /* after a failure as well: the buffer is freed by its start */
	w->io.moved = moved;
	return w->setup.slot->result.failure.error ? -1 : 0;
}

static int sync_file(struct worker *w)
{
	struct job_result *r = &w->setup.slot->result;
	enum ddir ddir = w->io.ddir;
	uint64_t start, took;

	w->writes_until_sync = w->fsync_every;
	w->io.ddir = DDIR_SYNC;
	start = clock_ns(&w->clock);
	w->engine->queue(w->engine_state, &w->io);
	took = clock_elapsed(start, clock_ns(&w->clock));
	if (w->io.error)
		return fail_io(w, w->io.error, "io_u error");
	w->io.ddir = ddir;
	r->syncs++;
	moments_add(&r->sync_lat, took);
	histogram_add(&r->sync_histogram, took);
	return 0;
}

/*
 * Synchronous engines: one unit, whose latency is the call's time. No clock is read but right before and
 * after the call, and the second reading serves as the time of day for the deadline.
 */
static enum loop_end sync_loop(struct worker *w, uint64_t deadline)
{
	struct direction *dir = w->setup.slot->result.dir;
	uint64_t start, now;

	for (;;) {
		struct direction *d;

		if (!generator_next(&w->generator, &w->io))
			return LOOP_COMPLETE;
		d = &dir[w->io.ddir];
		if (w->fsync_every && w->io.ddir == DDIR_WRITE && w->writes_until_sync-- == 0) {
			if (sync_file(w) < 0)
				return LOOP_FAILED;
			w->writes_until_sync--;
		}

		start = clock_ns(&w->clock);
		w->engine->queue(w->engine_state, &w->io);
		now = clock_ns(&w->clock);

		if (__builtin_expect(w->io.error != 0, 0)) {
			publish(&d->ios, d->ios + 1); /* issued, as fio counts it */
			fail_io(w, w->io.error, "io_u error");
			return LOOP_FAILED;
		}
		if (__builtin_expect(w->io.moved < w->io.length, 0)) {
			if (finish_short(w, d, w->setup.files->file[w->io.file].target.bytes) < 0)
				return LOOP_FAILED;
			now = clock_ns(&w->clock);
		}
		record(w, d, clock_elapsed(start, now));
		if (now >= deadline)
			return LOOP_DEADLINE;
		if (*w->stop)
			return LOOP_STOPPED;
	}
}

/* ---- around the loop ---- */

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

/* Forget what the ramp counted. Only counts: what identifies the job stays. */
static void reset_counts(struct worker *w)
{
	struct job_result *r = &w->setup.slot->result;

	for (unsigned d = 0; d < DDIRS; d++)
		direction_reset(&r->dir[d]);
	memset(&r->sync_lat, 0, sizeof(r->sync_lat));
	memset(&r->sync_histogram, 0, sizeof(r->sync_histogram));
	memset(w->class_count, 0, sizeof(w->class_count));
	r->syncs = 0;
	generator_set_limits(&w->generator);
}

static void begin_recording(struct worker *w)
{
	usage_now(w, &w->usage);
	slot_store(&w->setup.slot->recording_ns, clock_monotonic_ns());
	slot_store(&w->setup.slot->phase, PHASE_RUN);
}

static void flush_all(struct worker *w)
{
	const struct file_set *files = w->setup.files;

	slot_store(&w->setup.slot->phase, PHASE_FLUSH);
	for (unsigned i = 0; i < files->count; i++) {
		int error = os_flush(files->file[i].fd);

		if (error)
			WORKER_FAIL(w, error, "fsync");
	}
}

/* What follows from the counts, so that the loop need not keep it. */
static void complete_result(struct worker *w, uint64_t elapsed_ns)
{
	const struct job *job = w->setup.job;
	struct job_result *r = &w->setup.slot->result;
	uint64_t ios = 0;

	for (unsigned d = 0; d < DDIRS; d++) {
		ios += r->dir[d].ios;
		/* The unit is created when it is issued: nothing lies between. */
		r->dir[d].lat = r->dir[d].clat;
	}
	if (rw_reads(job->rw))
		r->dir[DDIR_READ].runtime_us = elapsed_ns / 1000;
	if (rw_writes(job->rw))
		r->dir[DDIR_WRITE].runtime_us = elapsed_ns / 1000;
	r->runtime_ms = r->total_runtime_ms = (elapsed_ns + 999999) / 1000000;
	r->depth[0] = ios + r->syncs;
	r->submit[1] = r->complete[1] = ios;
	latency_store(r, w->class_count);
	store_usage(w, r);
}

/* start + us in ns; a sum beyond the clock's range is never. */
static uint64_t deadline_after(uint64_t start, uint64_t us)
{
	if (us == 0 || us > (UINT64_MAX - start) / 1000)
		return UINT64_MAX;
	return start + us * 1000;
}

void worker_run(struct worker *w)
{
	const struct job *job = w->setup.job;
	struct job_result *r = &w->setup.slot->result;
	enum loop_end end = LOOP_DEADLINE;
	uint64_t start;

	r->started = true;
	w->writes_until_sync = w->fsync_every;
	start = clock_ns(&w->clock);
	if (job->ramp_us) {
		usage_now(w, &w->usage);
		slot_store(&w->setup.slot->phase, PHASE_RAMP);
		end = sync_loop(w, deadline_after(start, job->ramp_us));
	}
	/* A job that is through with its data before the ramp is over keeps what it has counted, as in fio. */
	if (end == LOOP_DEADLINE) {
		if (job->ramp_us)
			reset_counts(w);
		begin_recording(w);
		start = clock_ns(&w->clock);
		end = sync_loop(w, deadline_after(start, job->runtime_us));
	}
	if (job->end_fsync && rw_writes(job->rw) && end != LOOP_FAILED)
		flush_all(w);
	complete_result(w, clock_elapsed(start, clock_ns(&w->clock)));
	slot_store(&w->setup.slot->phase, PHASE_DONE);
}
