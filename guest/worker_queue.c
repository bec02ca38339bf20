/*
 * Asynchronous engines: units are created and queued until the depth is reached, handed over together, and
 * those that are over are reaped together. Of each the clock is read when it is created; when it was handed
 * over and when it was over it shares with its batch, as in fio.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "guest/worker_internal.h"

/* 1, 2-3, 4-7 … 64 and more units in flight. */
static inline unsigned depth_class(unsigned n)
{
	unsigned class = n ? 31 - (unsigned)__builtin_clz(n) : 0;

	return class < DEPTH_CLASSES - 1 ? class : DEPTH_CLASSES - 1;
}

/* 0, 1-4, 5-8, 9-16 … 65 and more units in a call. */
static inline unsigned batch_class(unsigned n)
{
	unsigned class;

	if (n <= 4)
		return n != 0;
	class = 31 - (unsigned)__builtin_clz(n - 1);
	return class < DEPTH_CLASSES ? class : DEPTH_CLASSES - 1;
}

/* ---- the end of a unit ---- */

static inline void add(struct moments *m, struct histogram *h, uint64_t ns)
{
	moments_add(m, ns);
	if (h)
		histogram_add(h, ns);
}

static inline void record(struct worker *w, struct direction *d, struct io *io, bool queued)
{
	uint64_t now = w->now, issued = queued ? io->issued_ns : io->created_ns;
	uint64_t clat = clock_elapsed(issued, now), slat = clock_elapsed(io->created_ns, issued), lat = slat + clat;

	worker_count(d, io);
	if (w->timed) {
		if (w->clat)
			worker_clat(w, d, clat);
		if (w->slat && queued)
			add(&d->slat, d->slat_histogram, slat);
		if (w->lat)
			add(&d->lat, d->lat_histogram, lat);
	}
	if (__builtin_expect(w->watched, 0))
		worker_watch(w, io, queued ? slat : UINT64_MAX, clat, lat);
}

static void flushed(struct worker *w, struct io *io)
{
	w->queue.flushing = false;
	if (w->flights)
		flight_end(w->flights, io);
	if (io->error)
		worker_unit_failed(w, io);
	else
		worker_count_flush(w, clock_elapsed(io->created_ns, worker_clock(w)));
	io->created_ns = 0;
}

/* Anything but a unit that is whole and well. */
static void complete_oddly(struct worker *w, struct io *io, bool queued)
{
	struct queue *q = &w->queue;
	bool failed;

	if (ddir_flushes(io->ddir)) {
		flushed(w, io);
		return;
	}
	failed = worker_unit_failed(w, io);
	if (!failed && io->length) {
		q->again[q->nagain++] = io;
		q->was_short = true;
		return;
	}
	if (!failed) {
		worker_unit_whole(w, io);
		record(w, &w->dir[io->ddir], io, queued);
	}
	io->created_ns = 0;
	q->idle[q->nidle++] = io;
}

/* It is idle again, or waits to go on. */
static inline void complete(struct worker *w, struct io *io, bool queued)
{
	struct queue *q = &w->queue;

	if (__builtin_expect(ddir_flushes(io->ddir) || io->error != 0 || io->moved < io->length ||
			     (q->was_short && w->whole[io->index].length), 0)) {
		complete_oddly(w, io, queued);
		return;
	}
	record(w, &w->dir[io->ddir], io, queued);
	io->created_ns = 0; /* not in flight */
	q->idle[q->nidle++] = io;
}

/* Fewer than min after a signal. False: the engine cannot tell. */
static bool reap(struct worker *w, unsigned min)
{
	struct queue *q = &w->queue;
	unsigned max = q->complete_max && q->complete_max < q->flying ? q->complete_max : q->flying;
	int n;

	if (min > q->flying)
		min = q->flying;
	n = w->engine->reap(w->engine_state, min, max < min ? min : max, q->done);
	if (n < 0) {
		q->stuck = true;
		WORKER_FAIL(w, -n, "reap");
		return false;
	}
	w->result->complete[batch_class((unsigned)n)]++;
	worker_clock(w);
	q->flying -= (unsigned)n;
	for (int i = 0; i < n; i++)
		complete(w, q->done[i], true);
	return true;
}

/* ---- handing over ---- */

/* The first n of those that wait. */
static void stamp_issued(struct worker *w, unsigned n)
{
	struct queue *q = &w->queue;

	if (w->timed)
		worker_clock(w);
	for (unsigned i = 0; i < n; i++)
		q->pending[i]->issued_ns = w->now;
	q->npending -= n;
	if (q->npending)
		memmove(q->pending, q->pending + n, q->npending * sizeof(struct io *));
	w->result->submit[batch_class(n)]++;
}

/* The system takes none now: something has to come back first. */
static bool make_room(struct worker *w)
{
	const struct timespec nap = { .tv_nsec = 1000000 };

	if (w->queue.flying > w->queue.npending)
		return reap(w, 1);
	nanosleep(&nap, NULL);
	return true;
}

static bool commit(struct worker *w)
{
	struct queue *q = &w->queue;

	w->result->depth[depth_class(q->flying)] += q->npending;
	if (!w->engine->commit) {
		q->npending = 0;
		return true;
	}
	while (q->npending) {
		int n = w->engine->commit(w->engine_state);

		if (n < 0) {
			q->stuck = true;
			WORKER_FAIL(w, -n, "commit");
			return false;
		}
		if (n > 0)
			stamp_issued(w, (unsigned)n);
		else if (!make_room(w))
			return false;
	}
	return true;
}

static void done_at_once(struct worker *w, struct io *io)
{
	w->result->depth[depth_class(w->queue.flying + 1)]++;
	if (!w->engine->commit) {
		w->result->submit[1]++;
		w->result->complete[1]++;
	}
	if (w->timed || w->watched || w->deadline != UINT64_MAX)
		worker_clock(w);
	complete(w, io, false);
}

static bool queue_unit(struct worker *w, struct io *io)
{
	struct queue *q = &w->queue;

	for (;;) {
		switch (w->engine->queue(w->engine_state, io)) {
		case ENGINE_QUEUED:
			q->flying++;
			q->pending[q->npending++] = io;
			if (!w->engine->commit) {
				io->issued_ns = w->timed ? worker_clock(w) : 0;
				w->result->submit[1]++;
			}
			return q->npending < q->batch || commit(w);
		case ENGINE_DONE:
			done_at_once(w, io);
			return true;
		case ENGINE_BUSY:
			if ((q->npending && !commit(w)) || !make_room(w))
				return false;
		}
	}
}

/* Something in flight is over. */
static bool wait_for_one(struct worker *w)
{
	return (!w->queue.npending || commit(w)) && (!w->queue.flying || reap(w, 1)) && !worker_failed(w);
}

/* There is one unit for flushes, so the earlier one must be over; and it counts against the depth as others do. */
static bool queue_flush(struct worker *w, const struct io *before)
{
	struct queue *q = &w->queue;
	struct io *io = &w->ios[w->depth];

	while (q->flushing)
		if (!wait_for_one(w))
			return false;
	io->ddir = w->flush_kind;
	io->file = before->file;
	io->fd = before->fd;
	io->created_ns = worker_clock(w);
	q->flushing = true;
	if (w->flights)
		flight_begin(w->flights, io);
	if (!queue_unit(w, io))
		return false;
	while (q->flying >= q->limit)
		if (!wait_for_one(w))
			return false;
	return true;
}

/* ---- the loop ---- */

static bool queue_rests(struct worker *w)
{
	while (w->queue.nagain)
		if (!queue_unit(w, w->queue.again[--w->queue.nagain]))
			return false;
	return true;
}

static enum loop_end next(struct worker *w, struct io *io)
{
	enum loop_end end = LOOP_ON;

	if (__builtin_expect(!w->careful, 1))
		return generator_next(&w->generator, io) ? LOOP_ON : LOOP_COMPLETE;
	if (worker_read_back_due(w))
		return LOOP_READ_BACK;
	if (w->reading_back)
		end = verify_next(w->verify, io) ? LOOP_ON : LOOP_COMPLETE;
	else if (w->pace.rates || w->pace.thinks || w->pace.targets)
		end = worker_next_paced(w, io);
	else if (!worker_generate(w, io))
		end = LOOP_COMPLETE;
	if (end == LOOP_ON)
		worker_prepare(w, io);
	return end;
}

/* Queue new units until the depth is reached; at most that many, should they be done at once. */
static enum loop_end fill(struct worker *w)
{
	struct queue *q = &w->queue;

	if (q->nagain && !queue_rests(w))
		return LOOP_FAILED;
	for (unsigned i = 0; i < q->limit && q->flying < q->limit; i++) {
		/* Taken first: waiting for a pace may reap, and so may a flush. */
		struct io *io = q->idle[--q->nidle];
		enum loop_end end = next(w, io);

		if (end != LOOP_ON) {
			q->idle[q->nidle++] = io;
			return end;
		}
		if (__builtin_expect(w->careful, 0) && worker_flush_due(w, io) && !queue_flush(w, io))
			return LOOP_FAILED;
		if (w->timed)
			io->created_ns = clock_ns(&w->clock);
		if (!queue_unit(w, io))
			return LOOP_FAILED;
		if (__builtin_expect(q->nagain && !queue_rests(w), 0))
			return LOOP_FAILED;
	}
	return LOOP_ON;
}

/* As fio waits: for at least the least batch once the depth is reached, until it has fallen to the low mark. */
static bool settle(struct worker *w)
{
	struct queue *q = &w->queue;
	bool full = q->flying >= q->limit;

	do {
		/* Who only polls leaves a batch that is not whole waiting for the rest of it. */
		if (q->npending && (q->complete_min || q->npending >= q->flying) && !commit(w))
			return false;
		if (q->flying && !reap(w, q->complete_min))
			return false;
	} while (full && q->flying > q->low && !*w->stop);
	return true;
}

enum loop_end worker_queue_loop(struct worker *w)
{
	struct queue *q = &w->queue;
	enum loop_end end = LOOP_ON;

	for (;;) {
		if (end == LOOP_ON)
			end = fill(w);
		else if (!queue_rests(w))
			end = LOOP_FAILED;
		if (end != LOOP_ON && end != LOOP_COMPLETE)
			return end;
		if (end == LOOP_COMPLETE && q->flying == 0 && q->nagain == 0)
			return worker_failed(w) ? LOOP_FAILED : LOOP_COMPLETE;
		if (q->flying && !settle(w))
			return LOOP_FAILED;
		if (worker_failed(w))
			return LOOP_FAILED;
		if (w->now >= w->deadline)
			return LOOP_DEADLINE;
		worker_report_if_asked(w);
		if (*w->stop)
			return LOOP_STOPPED;
	}
}

void worker_queue_drain(struct worker *w)
{
	struct queue *q = &w->queue;

	while (!q->stuck && (q->flying || q->nagain)) {
		while (worker_failed(w) && q->nagain) {
			struct io *io = q->again[--q->nagain];

			worker_unit_whole(w, io);
			q->idle[q->nidle++] = io;
		}
		if (!queue_rests(w) || (q->npending && !commit(w)) || (q->flying && !reap(w, 1)))
			return;
	}
}

/* ---- around it ---- */

static struct io **new_list(const struct worker *w)
{
	return calloc(w->depth + 1, sizeof(struct io *));
}

int worker_queue_open(struct worker *w)
{
	const struct job *job = w->setup.job;
	struct queue *q = &w->queue;

	q->batch = job->iodepth_batch ? job->iodepth_batch : w->depth + 1;
	q->complete_min = job->iodepth_batch_complete_min;
	q->complete_max = job->iodepth_batch_complete_max;
	if (q->complete_max == 0 && q->complete_min > 1)
		q->complete_max = q->complete_min; /* as in fio; only what nobody chose takes all that is there */
	q->low = job->iodepth_low ? job->iodepth_low : w->depth;
	q->idle = new_list(w);
	q->pending = new_list(w);
	q->again = new_list(w);
	q->done = new_list(w);
	if (!q->idle || !q->pending || !q->again || !q->done)
		return WORKER_FAIL(w, ENOMEM, "calloc");
	for (unsigned i = w->depth; i > 0; i--)
		q->idle[q->nidle++] = &w->ios[i - 1];
	return 0;
}

void worker_queue_close(struct worker *w)
{
	free(w->queue.idle);
	free(w->queue.pending);
	free(w->queue.again);
	free(w->queue.done);
}
