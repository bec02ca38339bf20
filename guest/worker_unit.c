/* The end of a unit that did not go well, and what is done with completions beside counting them. */
#include <errno.h>
#include <string.h>

#include "guest/worker_internal.h"

static void tell_error(struct worker *w, const struct io *io, int error)
{
	static const char *const names[] = { "read", "write", "trim", "sync", "datasync" };

	note_send(&w->notes, "kickio: io_u error on file %s: %s: %s offset=%llu, buflen=%lu",
		  w->setup.files->file[io->file].path, strerror(error), names[io->ddir],
		  (unsigned long long)io->offset, (unsigned long)io->length);
	if (error == EINVAL && w->setup.job->direct && !ddir_flushes(io->ddir))
		note_send(&w->notes, "kickio: direct IO errored. The file system may not support it, or the block "
			  "size may not suit it. Try setting direct=0.");
}

/* Only these two are of a kind that leaves the rest of the device usable: fio's rule. */
static bool is_tolerated(const struct worker *w, enum ddir ddir, int error)
{
	unsigned kind = error == EILSEQ ? CONTINUE_VERIFY : ddir == DDIR_READ ? CONTINUE_READ : CONTINUE_WRITE;

	return (error == EIO || error == EILSEQ) && (w->setup.job->continue_on_error & kind);
}

static void fail_unit(struct worker *w, struct io *io, int error, const char *function)
{
	struct job_result *r = w->result;

	tell_error(w, io, error);
	if (w->setup.job->continue_on_error && r->total_errors++ == 0)
		r->first_error = error;
	if (!is_tolerated(w, io->ddir, error))
		WORKER_FAIL(w, error, "%s", function);
}

/* How far the file reaches; 0 where nobody knows. */
static uint64_t end_of_file(const struct worker *w, const struct io *io)
{
	return w->setup.files->file[io->file].target.bytes;
}

static void keep_whole(struct whole *whole, const struct io *io)
{
	if (whole->length == 0)
		*whole = (struct whole){ io->buffer, io->offset, io->length, 0 };
}

/*
 * A transfer that ended early goes on with the rest, as in fio, unless the file ends here. Nothing at all
 * moved means an end where none may be.
 */
bool worker_unit_failed(struct worker *w, struct io *io)
{
	struct whole *whole = &w->whole[io->index];
	bool flush = ddir_flushes(io->ddir);
	int error = io->error;

	if (!flush && !error) {
		keep_whole(whole, io);
		whole->moved += io->moved;
		io->offset += io->moved;
		io->buffer = (char *)io->buffer + io->moved;
		io->length -= io->moved;
		if (io->length == 0)
			return false;
		publish(&w->dir[io->ddir].short_ios, w->dir[io->ddir].short_ios + 1);
		if (io->moved && end_of_file(w, io) && io->offset == end_of_file(w, io))
			io->length = 0;
		if (io->moved)
			return false;
	}
	fail_unit(w, io, error ? error : EIO, error ? "io_u error" : "full resid");
	if (!flush)
		publish(&w->dir[io->ddir].ios, w->dir[io->ddir].ios + 1); /* issued, as fio counts it */
	worker_unit_whole(w, io);
	if (!flush && (w->verify || w->flights)) {
		io->error = error ? error : EIO;
		worker_over(w, io);
	}
	return true;
}

void worker_unit_whole(struct worker *w, struct io *io)
{
	struct whole *whole = &w->whole[io->index];

	if (whole->length == 0)
		return;
	io->buffer = whole->buffer;
	io->offset = whole->offset;
	io->length = whole->length;
	io->moved = whole->moved;
	whole->length = 0;
}

bool worker_generate(struct worker *w, struct io *io)
{
	return generator_next(&w->generator, io);
}

void worker_watch(struct worker *w, struct io *io, uint64_t slat, uint64_t clat, uint64_t lat)
{
	struct joblog_latency took = {
		w->slat ? slat : JOBLOG_NONE, w->clat ? clat : JOBLOG_NONE, w->lat ? lat : JOBLOG_NONE,
	};

	if (w->log)
		joblog_add(w->log, io->ddir, io->offset, io->length, &took, w->now);
	if (w->pace.targets && !w->reading_back)
		worker_pace_latency(w, lat);
	if (w->verify || w->flights)
		worker_over(w, io);
}

void worker_count_flush(struct worker *w, uint64_t ns)
{
	struct job_result *r = w->result;

	r->syncs++;
	moments_add(&r->sync_lat, ns);
	histogram_add(&r->sync_histogram, ns);
}

bool worker_flush_due(struct worker *w, const struct io *io)
{
	const struct job *job = w->setup.job;
	uint64_t n;

	if (io->ddir != DDIR_WRITE)
		return false;
	n = w->writes++;
	if (n == 0)
		return false;
	w->flush_kind = job->fsync && n % job->fsync == 0 ? DDIR_SYNC : DDIR_DATASYNC;
	return w->flush_kind == DDIR_SYNC || (job->fdatasync && n % job->fdatasync == 0);
}
