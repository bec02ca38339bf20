/*
 * What the parts of the worker share: worker_open.c prepares, worker.c runs, worker_loop.c does one I/O after
 * the other with a synchronous engine, worker_queue.c keeps many in flight with the others, worker_unit.c
 * ends a unit that did not go well, worker_pace.c waits where a job is not to go as fast as it can,
 * worker_verify.c reads back what was written.
 */
#ifndef KB_WORKER_INTERNAL_H
#define KB_WORKER_INTERNAL_H

#include <stdbool.h>
#include <sys/resource.h>

#include "guest/flight.h"
#include "guest/generator.h"
#include "guest/joblog.h"
#include "guest/latency.h"
#include "guest/verify.h"
#include "guest/worker.h"

enum loop_end { LOOP_ON, LOOP_DEADLINE, LOOP_STOPPED, LOOP_COMPLETE, LOOP_FAILED, LOOP_READ_BACK };

/* A unit of which a part has been moved: what it was when it was issued. */
struct whole {
	void *buffer;
	uint64_t offset;
	uint32_t length, moved;
};

/* Units of asynchronous engines; arrays have room for all units and the one for flushes. */
struct queue {
	unsigned flying;  /* queued and not reaped */
	unsigned limit;   /* of flying: iodepth, or what latency_target allows */
	struct io **idle; /* a stack: the buffer used last is in the cache */
	unsigned nidle;
	struct io **pending; /* queued and not committed, in order */
	unsigned npending;
	struct io **again; /* the rest of short transfers, to be queued once more */
	unsigned nagain;
	struct io **done;
	unsigned batch, complete_min, complete_max, low;
	bool was_short; /* some unit once was */
	bool flushing; /* the unit for flushes is in flight */
	bool stuck;    /* the engine cannot tell any more what is in flight */
};

struct pace {
	bool rates, thinks, targets;
	uint64_t begin_ns;
	uint64_t issued[DDIRS];  /* bytes */
	uint64_t rate[DDIRS];    /* bytes per second, 0: unlimited */
	uint64_t next_ns[DDIRS]; /* when the next may be issued, after begin_ns */
	struct random64 random;
	uint64_t thought_at; /* completed I/Os at the last pause */
	/* latency_target */
	unsigned low, high;
	uint64_t window_ns, window_ios, failed;
	bool last_window;
};

/* What the loop touches comes first and together: after every system call it has to be fetched again. */
struct worker {
	const volatile int *stop;
	const unsigned *report_asked; /* in the slot */
	unsigned reported;            /* the snapshot that was made last */
	const struct engine *engine;
	void *engine_state;
	struct direction *dir;      /* of the slot's result */
	struct job_result *result;
	struct io *ios;             /* by index; behind them the one for flushes */
	uint64_t *class_count;      /* in the slot */
	uint64_t now;               /* the last reading of the clock */
	bool timed;    /* latencies are taken, so that the clock is read before and after */
	bool careful;  /* something is to be done before a unit is issued: paces, flushes */
	bool watched;  /* somebody looks at each completion: logs, latency_target */
	bool slat, clat, lat; /* not disabled */
	struct generator generator;
	struct clock clock;
	struct queue queue;
	uint64_t deadline;
	struct joblog *log; /* NULL: none, or not yet recording */
	uint64_t writes;    /* issued, where flushes follow them */
	enum ddir flush_kind;

	struct flights *flights; /* NULL: nobody looks for stalls */
	struct verify *verify;   /* NULL: the job does not verify */
	bool reading_back;       /* units come from verify_next() */
	bool mismatch;           /* a block was bad, and the job went on */
	uint64_t read_back_ns;

	struct pace pace;
	struct whole *whole; /* by io->index; length 0: the unit is whole */
	struct worker_setup setup;
	struct joblog *opened_log;
	uint64_t start_ns; /* of recording */
	struct rusage usage;
	struct note_sink notes;
	struct latency_table classes;
	unsigned depth;
};

#define WORKER_FAIL(w, error, ...) FAIL(&(w)->result->failure, error, __VA_ARGS__)

/* The monitor looks at these while the job runs. */
static inline void publish(uint64_t *place, uint64_t value)
{
	__atomic_store_n(place, value, __ATOMIC_RELAXED);
}

static inline uint64_t worker_clock(struct worker *w)
{
	return w->now = clock_ns(&w->clock);
}

/* One completed unit: everything but slat and lat, which synchronous engines do not have beside clat. */
static inline void worker_count(struct direction *d, const struct io *io)
{
	publish(&d->ios, d->ios + 1);
	publish(&d->bytes, d->bytes + io->moved);
}

static inline void worker_clat(struct worker *w, struct direction *d, uint64_t ns)
{
	unsigned bucket = histogram_index(ns);
	unsigned class = w->classes.of_bucket[bucket];

	d->clat_histogram.count[bucket]++;
	moments_add(&d->clat, ns);
	if (__builtin_expect(class == LATENCY_STRADDLES, 0))
		class = latency_class(ns);
	w->class_count[class]++;
}

static inline bool worker_failed(const struct worker *w)
{
	return w->result->failure.error != 0;
}

/* ---- worker_unit.c ---- */

/*
 * A unit came back in error or short. True: it is over, and failed (counted, told; the job fails unless
 * continue_on_error lets it pass). False: *io is now what is left of it, to be issued again, or when
 * io->length is 0 it is whole and moved says how much that was.
 */
bool worker_unit_failed(struct worker *w, struct io *io);

/* The unit as it was issued. Does nothing to one that was never short. */
void worker_unit_whole(struct worker *w, struct io *io);

/*
 * generator_next() for all but the two places that are hot: it is inlined only where a file has a single call
 * of it.
 */
bool worker_generate(struct worker *w, struct io *io);

/* For those who look at each completion. slat: UINT64_MAX where there is none. */
void worker_watch(struct worker *w, struct io *io, uint64_t slat, uint64_t clat, uint64_t lat);

/* What a flush took. */
void worker_count_flush(struct worker *w, uint64_t ns);

/* ---- worker_pace.c ---- */

void worker_pace_open(struct worker *w);
void worker_pace_begin(struct worker *w, uint64_t now); /* recording, or a ramp, begins */

/*
 * Wait as rate, thinktime and latency_target want it. LOOP_ON: issue one; *ddir is its direction, which may have
 * been changed where the other one is late.
 */
enum loop_end worker_pace(struct worker *w, enum ddir *ddir);
void worker_pace_issued(struct worker *w, const struct io *io);
void worker_pace_latency(struct worker *w, uint64_t ns); /* of a completed unit */

/* Sleep until then, the deadline or the stop of the run. LOOP_ON: it is then. */
enum loop_end worker_sleep_until(struct worker *w, uint64_t then);

/* ---- worker_verify.c ---- */

int worker_verify_open(struct worker *w);

/* A unit is about to be handed to the engine; for jobs that verify, or watch for stalls. */
void worker_prepare(struct worker *w, struct io *io);

/* It is over, whole or failed, and not a flush. */
void worker_over(struct worker *w, struct io *io);

/* Is it time to read back what was written lately? The loop then ends with LOOP_READ_BACK. */
static inline bool worker_read_back_due(const struct worker *w)
{
	return w->verify && !w->reading_back && verify_due(w->verify);
}

/* Read back what was written and not read back yet; nothing is in flight. Why that ended. */
enum loop_end worker_read_back(struct worker *w);

/* The phase after a job that wrote: everything to the medium, out of the cache, and back. */
enum loop_end worker_verify_written(struct worker *w);

/* Runtimes, and the failure if there was a bad block. After worker_complete_result(). */
void worker_verify_finish(struct worker *w);

/* ---- the loops ---- */

/* The next unit, paced. LOOP_ON, or why there is none. */
enum loop_end worker_next_paced(struct worker *w, struct io *io);

/* A flush of w->flush_kind has to go before this unit: after every so many writes, before the next one. */
bool worker_flush_due(struct worker *w, const struct io *io);

enum loop_end worker_loop(struct worker *w);
enum loop_end worker_queue_loop(struct worker *w);

/* Wait for everything in flight. */
void worker_queue_drain(struct worker *w);
int worker_queue_open(struct worker *w);
void worker_queue_close(struct worker *w);

/* Somebody wants a report: put a snapshot into the slot. Between two I/Os, or it would not be whole. */
void worker_report(struct worker *w);

static inline void worker_report_if_asked(struct worker *w)
{
	if (__builtin_expect(__atomic_load_n(w->report_asked, __ATOMIC_RELAXED) != w->reported, 0))
		worker_report(w);
}

/* Forget what was counted, ramp and all: recording begins here. */
void worker_begin_recording(struct worker *w);

#endif
