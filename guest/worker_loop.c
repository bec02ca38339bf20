/* Synchronous engines: one unit, whose latency is the call's time. */
#include "guest/worker_internal.h"

enum loop_end worker_next_paced(struct worker *w, struct io *io)
{
	struct generator *g = &w->generator;
	bool mixed = g->mixed, more;
	enum ddir ddir = mixed ? generator_draw_ddir(g) : g->only, only = g->only;
	enum loop_end end = worker_pace(w, &ddir);

	if (end != LOOP_ON)
		return end;
	g->mixed = false;
	g->only = ddir;
	more = worker_generate(w, io);
	g->mixed = mixed;
	g->only = only;
	if (!more)
		return LOOP_COMPLETE;
	worker_pace_issued(w, io);
	return LOOP_ON;
}

static bool paced(const struct worker *w)
{
	return w->pace.rates || w->pace.thinks || w->pace.targets;
}

static void flush_now(struct worker *w, const struct io *before)
{
	struct io *io = &w->ios[w->depth];
	uint64_t start = worker_clock(w);

	io->ddir = w->flush_kind;
	io->file = before->file;
	io->fd = before->fd;
	if (w->flights)
		flight_begin(w->flights, io);
	w->engine->queue(w->engine_state, io);
	if (w->flights)
		flight_end(w->flights, io);
	if (io->error)
		worker_unit_failed(w, io);
	else
		worker_count_flush(w, clock_elapsed(start, worker_clock(w)));
}

/* The rest of a short transfer, until it is whole. False: it failed. */
static bool finish(struct worker *w, struct io *io)
{
	for (;;) {
		if (worker_unit_failed(w, io))
			return false;
		if (io->length == 0)
			break;
		w->engine->queue(w->engine_state, io);
	}
	worker_unit_whole(w, io);
	if (w->timed)
		worker_clock(w);
	return true;
}

/* What few jobs need before a unit is issued. */
static enum loop_end next_carefully(struct worker *w, struct io *io)
{
	enum loop_end end = LOOP_ON;

	if (worker_read_back_due(w))
		return LOOP_READ_BACK;
	if (w->reading_back)
		end = verify_next(w->verify, io) ? LOOP_ON : LOOP_COMPLETE;
	else if (paced(w))
		end = worker_next_paced(w, io);
	else if (!worker_generate(w, io))
		end = LOOP_COMPLETE;
	if (end == LOOP_ON && worker_flush_due(w, io))
		flush_now(w, io);
	if (worker_failed(w))
		return LOOP_FAILED;
	if (end == LOOP_ON)
		worker_prepare(w, io);
	return end;
}

/*
 * No clock is read but right before and after the call, and the second reading serves as the time of day for
 * the deadline.
 */
enum loop_end worker_loop(struct worker *w)
{
	struct io *io = w->ios;
	const bool timed = w->timed, reads_clock = timed || w->watched || w->deadline != UINT64_MAX;
	uint64_t took = 0;

	for (;;) {
		struct direction *d;
		enum loop_end end = LOOP_ON;

		if (__builtin_expect(w->careful, 0))
			end = next_carefully(w, io);
		else if (!generator_next(&w->generator, io))
			end = LOOP_COMPLETE;
		if (__builtin_expect(end != LOOP_ON, 0))
			return end;
		d = &w->dir[io->ddir];

		if (timed)
			io->created_ns = clock_ns(&w->clock);
		w->engine->queue(w->engine_state, io);
		if (reads_clock)
			worker_clock(w);

		if (__builtin_expect(io->error != 0 || io->moved < io->length, 0) && !finish(w, io)) {
			if (worker_failed(w))
				return LOOP_FAILED;
		} else {
			worker_count(d, io);
			if (timed) {
				took = clock_elapsed(io->created_ns, w->now);
				worker_clat(w, d, took);
			}
			if (__builtin_expect(w->watched, 0))
				worker_watch(w, io, UINT64_MAX, took, took);
		}
		io->created_ns = 0; /* not in flight, for who looks for stalls */
		if (w->now >= w->deadline)
			return LOOP_DEADLINE;
		worker_report_if_asked(w);
		if (*w->stop)
			return LOOP_STOPPED;
	}
}
