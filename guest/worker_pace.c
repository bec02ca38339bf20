/* rate, rate_iops, thinktime and latency_target: when the next unit may be issued. Rules: fio's. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "guest/worker_internal.h"

/* So that a stop is noticed soon. */
#define NAP_NS 20000000u

void worker_pace_open(struct worker *w)
{
	const struct job *job = w->setup.job;
	struct pace *p = &w->pace;

	for (unsigned d = 0; d < DDIRS; d++) {
		p->rate[d] = job->rate_iops[d] ? job->rate_iops[d] * job_bs_min(job, (enum ddir)d) : job->rate[d];
		p->rates |= p->rate[d] && (d == DDIR_READ ? rw_reads(job->rw) : d == DDIR_WRITE && rw_writes(job->rw));
	}
	p->thinks = job->thinktime_us != 0;
	p->targets = job->latency_target_us != 0;
	p->random = random64_stream(w->setup.seed, 0x70616365 + (uint64_t)w->setup.index);
	p->low = p->targets ? 1 : w->depth;
	p->high = w->depth + 1; /* none has failed yet */
	w->queue.limit = p->low;
	w->result->latency_depth = w->queue.limit;
}

static uint64_t completed(const struct worker *w)
{
	uint64_t ios = 0;

	for (unsigned d = 0; d < DDIRS; d++)
		ios += w->dir[d].ios;
	return ios;
}

static void begin_window(struct worker *w, uint64_t now)
{
	w->pace.window_ns = now;
	w->pace.window_ios = completed(w);
	w->pace.failed = 0;
}

void worker_pace_begin(struct worker *w, uint64_t now)
{
	struct pace *p = &w->pace;

	p->begin_ns = now;
	p->thought_at = completed(w);
	memset(p->issued, 0, sizeof(p->issued));
	memset(p->next_ns, 0, sizeof(p->next_ns));
	begin_window(w, now);
}

enum loop_end worker_sleep_until(struct worker *w, uint64_t then)
{
	for (;;) {
		uint64_t now = worker_clock(w), left;
		struct timespec nap = {0};

		worker_report_if_asked(w); /* nothing is in flight */
		if (*w->stop)
			return LOOP_STOPPED;
		if (now >= w->deadline)
			return LOOP_DEADLINE;
		if (now >= then)
			return LOOP_ON;
		left = (then < w->deadline ? then : w->deadline) - now;
		nap.tv_nsec = left < NAP_NS ? (long)left : (long)NAP_NS;
		nanosleep(&nap, NULL);
	}
}

static enum loop_end state_of(struct worker *w)
{
	if (worker_failed(w))
		return LOOP_FAILED;
	if (*w->stop)
		return LOOP_STOPPED;
	return w->now >= w->deadline ? LOOP_DEADLINE : LOOP_ON;
}

/* Latencies are not to see the pause: what is in flight comes home first. */
static enum loop_end quiesce(struct worker *w)
{
	worker_queue_drain(w);
	return state_of(w);
}

/* ---- thinktime ---- */

static enum loop_end think(struct worker *w)
{
	const struct job *job = w->setup.job;
	unsigned blocks = job->thinktime_blocks ? job->thinktime_blocks : 1;
	uint64_t start, spin;
	enum loop_end end;

	if (completed(w) - w->pace.thought_at < blocks)
		return LOOP_ON;
	end = quiesce(w);
	if (end != LOOP_ON)
		return end;
	start = worker_clock(w);
	spin = start + job->thinktime_spin_us * 1000;
	while (worker_clock(w) < spin && w->now < w->deadline && !*w->stop)
		;
	end = worker_sleep_until(w, start + job->thinktime_us * 1000);
	w->pace.thought_at = completed(w);
	return end;
}

/* ---- rates ---- */

/* When the next one of this direction is due: by what was issued, or at the end of another random gap. */
static uint64_t due_ns(struct worker *w, enum ddir ddir)
{
	struct pace *p = &w->pace;
	uint64_t rate = p->rate[ddir];
	double mean, u;

	if (w->setup.job->rate_process == RATE_LINEAR)
		return p->issued[ddir] / rate * 1000000000u +
		       (uint64_t)((double)(p->issued[ddir] % rate) * 1e9 / (double)rate);
	mean = 1e9 * (double)job_bs_min(w->setup.job, ddir) / (double)rate;
	u = ((double)(random64_next(&p->random) >> 11) + 1) / 9007199254740992.0; /* in (0, 1] */
	return p->next_ns[ddir] + (uint64_t)(-log(u) * mean);
}

void worker_pace_issued(struct worker *w, const struct io *io)
{
	struct pace *p = &w->pace;

	if (!p->rate[io->ddir])
		return;
	p->issued[io->ddir] += io->length;
	p->next_ns[io->ddir] = due_ns(w, io->ddir);
}

/* A direction that is ahead of its rate lets the other one go, or both wait for the first that is due. */
static enum loop_end wait_for_rate(struct worker *w, enum ddir *ddir)
{
	const struct job *job = w->setup.job;
	struct pace *p = &w->pace;
	enum ddir other = *ddir == DDIR_READ ? DDIR_WRITE : DDIR_READ;
	uint64_t now = clock_elapsed(p->begin_ns, worker_clock(w));
	enum loop_end end;

	if (p->next_ns[*ddir] <= now)
		return LOOP_ON;
	if (rw_mixes(job->rw) && job->rwmixread % 100) {
		if (p->next_ns[other] < p->next_ns[*ddir])
			*ddir = other;
		if (p->next_ns[*ddir] <= now)
			return LOOP_ON;
	}
	end = quiesce(w);
	return end == LOOP_ON ? worker_sleep_until(w, p->begin_ns + p->next_ns[*ddir]) : end;
}

/* ---- latency_target ---- */

static void set_depth(struct worker *w, unsigned depth)
{
	w->queue.limit = depth;
	w->result->latency_depth = depth;
}

/*
 * The depth kept its latency for a window: try a higher one, twice as much until one has failed, half of the
 * way up to that afterwards. None is left: one more window, which alone is reported. True: it is over. Other than
 * in fio a failure of the whole depth counts as one; there the search then goes on for ever.
 */
static bool target_kept(struct worker *w)
{
	const struct job *job = w->setup.job;
	struct pace *p = &w->pace;
	unsigned depth = w->queue.limit, next;

	p->low = depth;
	next = p->high > w->depth ? depth * 2 : (depth + p->high) / 2;
	if (next > w->depth)
		next = w->depth;
	if (!job->latency_run && next == depth) {
		if (p->last_window)
			return true;
		p->last_window = true;
		worker_begin_recording(w);
	}
	set_depth(w, next);
	begin_window(w, w->now);
	return false;
}

/* It did not: half of the way down. What is in flight at the higher depth must not fail the lower one. */
static void target_missed(struct worker *w)
{
	struct pace *p = &w->pace;
	unsigned depth = w->queue.limit;

	if (depth == 1 && w->setup.job->latency_run) {
		begin_window(w, w->now);
		return;
	}
	if (depth == 1) {
		note_send(&w->notes, "kickio: %s: latency_target=%lluus is not met even at a depth of 1",
			  w->setup.job->name, (unsigned long long)w->setup.job->latency_target_us);
		WORKER_FAIL(w, ETIMEDOUT, "max latency exceeded");
		return;
	}
	p->high = depth;
	if (p->low == depth)
		p->low--;
	set_depth(w, (depth + p->low) / 2 ? (depth + p->low) / 2 : 1);
	p->last_window = false;
	worker_queue_drain(w);
	begin_window(w, w->now);
}

void worker_pace_latency(struct worker *w, uint64_t ns)
{
	w->pace.failed += ns > w->setup.job->latency_target_us * 1000;
}

/* One above the target fails a percentile of 100 at once; all others are looked at when a window is over. */
static enum loop_end check_target(struct worker *w)
{
	const struct job *job = w->setup.job;
	struct pace *p = &w->pace;
	double percentile = job->latency_percentile > 0 ? job->latency_percentile : 100;
	uint64_t ios = completed(w) - p->window_ios;

	if (p->failed && percentile >= 100) {
		target_missed(w);
		return state_of(w);
	}
	if (clock_elapsed(p->window_ns, worker_clock(w)) < job->latency_window_us * 1000 || ios == 0)
		return LOOP_ON;
	if (100.0 * (double)(ios - (p->failed < ios ? p->failed : ios)) / (double)ios < percentile)
		target_missed(w);
	else if (target_kept(w))
		return LOOP_COMPLETE;
	return state_of(w);
}

enum loop_end worker_pace(struct worker *w, enum ddir *ddir)
{
	enum loop_end end = LOOP_ON;

	if (w->pace.thinks)
		end = think(w);
	if (end == LOOP_ON && w->pace.targets)
		end = check_target(w);
	if (end == LOOP_ON && w->pace.rates && w->pace.rate[*ddir])
		end = wait_for_rate(w, ddir);
	return end;
}
