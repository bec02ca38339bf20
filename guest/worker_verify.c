/* What a worker does beside its I/O when the job verifies, or is watched for stalls. */
#include <errno.h>

#include "guest/worker_internal.h"

int worker_verify_open(struct worker *w)
{
	struct verify_setup setup = {
		.job = w->setup.job, .index = w->setup.index, .depth = w->depth, .files = w->setup.files,
		.store = w->setup.verify, .notes = &w->notes, .failure = &w->result->failure,
	};

	w->flights = w->setup.flights;
	if (w->setup.job->verify == VERIFY_NONE)
		return 0;
	w->verify = verify_open(&setup);
	return w->verify ? 0 : -1;
}

void worker_prepare(struct worker *w, struct io *io)
{
	if (w->verify)
		verify_prepare(w->verify, io);
	if (w->flights)
		flight_begin(w->flights, io);
}

/* Without verify_fatal all of the rest is looked at, too, before the job fails. */
static void found_bad(struct worker *w)
{
	const struct job *job = w->setup.job;

	if (job->continue_on_error & CONTINUE_VERIFY) {
		if (w->result->total_errors++ == 0)
			w->result->first_error = EILSEQ;
	} else if (job->verify_fatal) {
		WORKER_FAIL(w, EILSEQ, "verify");
	} else {
		w->mismatch = true;
	}
}

void worker_over(struct worker *w, struct io *io)
{
	if (w->flights)
		flight_end(w->flights, io);
	if (w->verify && verify_complete(w->verify, io))
		found_bad(w);
}

enum loop_end worker_read_back(struct worker *w)
{
	uint64_t deadline = w->deadline, start = worker_clock(w);
	enum loop_end end;

	w->deadline = UINT64_MAX;
	w->reading_back = true;
	verify_begin(w->verify);
	end = w->engine->synchronous ? worker_loop(w) : worker_queue_loop(w);
	worker_queue_drain(w);
	w->reading_back = false;
	w->deadline = deadline;
	w->read_back_ns += clock_elapsed(start, worker_clock(w));
	return worker_failed(w) ? LOOP_FAILED : end;
}

enum loop_end worker_verify_written(struct worker *w)
{
	const struct file_set *files = w->setup.files;

	for (unsigned i = 0; i < files->count; i++) {
		int error = os_flush(files->file[i].fd);

		if (error) {
			WORKER_FAIL(w, error, "fsync");
			return LOOP_FAILED;
		}
	}
	/* What is read back from memory proves nothing. */
	if (!w->setup.job->direct)
		files_drop_cache(files, &w->notes);
	slot_store(&w->setup.slot->phase, PHASE_VERIFY);
	return worker_read_back(w);
}

void worker_verify_finish(struct worker *w)
{
	const struct job *job = w->setup.job;
	struct direction *dir = w->dir;
	uint64_t us = w->read_back_ns / 1000;

	if (w->mismatch)
		WORKER_FAIL(w, EILSEQ, "verify");
	if (!us || !rw_writes(job->rw))
		return;
	/* Writing and reading back take turns. */
	dir[DDIR_WRITE].runtime_us -= us < dir[DDIR_WRITE].runtime_us ? us : dir[DDIR_WRITE].runtime_us;
	if (!rw_reads(job->rw))
		dir[DDIR_READ].runtime_us = us;
	if (!dir[DDIR_WRITE].ios)
		dir[DDIR_WRITE].runtime_us = 0;
}
