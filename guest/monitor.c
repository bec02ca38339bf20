#include "guest/monitor.h"

#include <stdlib.h>
#include <string.h>

#define WAKE_NS 100000000u
#define SAMPLE_NS 500000000u
#define ETA_AFTER_NS 1000000000u

int monitor_open(struct monitor *m, struct error *e)
{
	m->states = calloc(m->crew->count + 1, 1);
	if (!m->states)
		return error_errno(e, STATUS_FAILED, "monitor");
	return 0;
}

void monitor_close(struct monitor *m)
{
	free(m->states);
	m->states = NULL;
}

/* ---- samples ---- */

static uint64_t peek(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/*
 * The window is as long as it really was, and the next one starts where it ended: a late monitor stretches
 * one sample instead of shifting all that follow. No progress in a direction, no sample.
 */
static void take_sample(struct clone *c, uint64_t now)
{
	uint64_t ms = (now - c->sampled_ns) / 1000000;

	for (unsigned d = 0; d < DDIRS; d++) {
		uint64_t bytes = peek(&c->slot->result.dir[d].bytes), ios = peek(&c->slot->result.dir[d].ios);

		if (bytes > c->sampled_bytes[d]) {
			samples_add(&c->bw[d], (bytes - c->sampled_bytes[d]) * 1000 / ms / 1024);
			samples_add(&c->iops[d], (ios - c->sampled_ios[d]) * 1000 / ms);
		}
		c->sampled_bytes[d] = bytes;
		c->sampled_ios[d] = ios;
	}
	c->sampled_ns = now;
}

/* Samples that are due; when the next one is. */
static uint64_t sample_all(struct crew *crew, uint64_t now)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < crew->count; i++) {
		struct clone *c = &crew->clone[i];

		if (slot_load(&c->slot->phase) != PHASE_RUN)
			continue;
		if (!c->sampled_ns)
			c->sampled_ns = c->slot->recording_ns;
		if (now >= c->sampled_ns + SAMPLE_NS)
			take_sample(c, now);
		if (c->sampled_ns + SAMPLE_NS < next)
			next = c->sampled_ns + SAMPLE_NS;
	}
	return next;
}

/* ---- progress ---- */

static char state_letter(const struct clone *c)
{
	static const char io[] = { 'R', 'W', 'r', 'w', 'M', 'm' }; /* by enum rw */

	if (c->doomed)
		return 'X';
	switch ((enum phase)slot_load(&c->slot->phase)) {
	case PHASE_NONE:
		return 'P';
	case PHASE_SETUP:
	case PHASE_READY:
		return 'I';
	case PHASE_RAMP:
		return '/';
	case PHASE_RUN:
		return io[c->job->rw];
	case PHASE_FLUSH:
		return 'F';
	case PHASE_DONE:
		return 'E';
	case PHASE_REAPED:
		break;
	}
	return c->killed_by ? 'K' : c->slot->result.failure.error ? 'X' : '_';
}

/* How long a clone that records will go on at its pace so far. */
static uint64_t clone_eta_us(const struct clone *c, uint64_t now)
{
	const struct job *job = c->job;
	uint64_t ns = now - c->slot->recording_ns, bytes = 0, ios = 0;
	double by_time = -1, by_work = -1;

	for (unsigned d = 0; d < DDIRS; d++) {
		bytes += peek(&c->slot->result.dir[d].bytes);
		ios += peek(&c->slot->result.dir[d].ios);
	}
	if (job->runtime_us)
		by_time = (double)job->runtime_us - (double)ns / 1000;
	if (!job->time_based && bytes && ns > ETA_AFTER_NS) {
		by_work = (double)ns / 1000 * ((double)c->files.limit / (double)bytes - 1);
		if (job->number_ios && (double)ns / 1000 * ((double)job->number_ios / (double)ios - 1) < by_work)
			by_work = (double)ns / 1000 * ((double)job->number_ios / (double)ios - 1);
	}
	if (by_time < 0 && by_work < 0)
		return job->runtime_us ? 0 : UINT64_MAX;
	if (by_work >= 0 && (by_time < 0 || by_work < by_time))
		return (uint64_t)by_work;
	/* Work that may end before the time does, but cannot be judged yet. */
	if (!job->time_based && by_work < 0 && ns <= ETA_AFTER_NS)
		return UINT64_MAX;
	return (uint64_t)by_time;
}

static uint64_t eta_us(const struct crew *crew, uint64_t now)
{
	uint64_t longest = 0;

	for (unsigned i = 0; i < crew->count; i++) {
		const struct clone *c = &crew->clone[i];
		int phase = slot_load(&c->slot->phase);
		uint64_t eta;

		if (c->doomed || phase > PHASE_RUN)
			continue;
		eta = phase == PHASE_RUN ? clone_eta_us(c, now) : UINT64_MAX;
		if (eta > longest)
			longest = eta;
	}
	return longest;
}

static void tell_progress(struct monitor *m, uint64_t now)
{
	struct progress p = { .elapsed_us = (now - m->start_ns) / 1000, .states = m->states };

	for (unsigned i = 0; i < m->crew->count; i++) {
		const struct clone *c = &m->crew->clone[i];
		int phase = slot_load(&c->slot->phase);

		m->states[i] = state_letter(c);
		p.running += phase >= PHASE_RAMP && phase <= PHASE_FLUSH;
		p.files += slot_load(&c->slot->files);
		for (unsigned d = 0; phase >= PHASE_RUN && d < DDIRS; d++) {
			p.bytes[d] += peek(&c->slot->result.dir[d].bytes);
			p.ios[d] += peek(&c->slot->result.dir[d].ios);
		}
	}
	p.eta_us = eta_us(m->crew, now);
	m->progress_ns = now;
	m->hooks->progress(m->hooks->context, &p);
}

/* ---- notes ---- */

static void tell_notes(struct monitor *m, struct clone *c)
{
	const struct run_hooks *hooks = m->hooks;
	char *line = c->slot->notes + c->notes_seen, *end;

	for (; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (hooks->note)
			hooks->note(hooks->context, line);
		*end = '\n';
	}
	c->notes_seen = (size_t)(line - c->slot->notes);
}

static void tell_failure(struct monitor *m, struct clone *c)
{
	const struct failure *f = &c->slot->result.failure;
	struct note_sink sink = { m->hooks->note, m->hooks->context };

	c->failure_told = true;
	note_send(&sink, "kickio: pid=%ld, err=%d/file:%s, func=%s, error=%s", c->slot->result.pid, f->error, f->where,
		  f->function, f->text);
}

void monitor_tell(struct monitor *m, bool before_go)
{
	for (unsigned i = 0; i < m->crew->count; i++) {
		struct clone *c = &m->crew->clone[i];

		/* Once let go, a clone may be writing its notes. */
		if (clone_over(c) || (before_go && slot_load(&c->slot->phase) == PHASE_READY))
			tell_notes(m, c);
		if (clone_over(c) && c->slot->result.failure.error && !c->failure_told)
			tell_failure(m, c);
	}
}

/* ---- the watch ---- */

static bool wave_over(const struct crew *crew, unsigned wave)
{
	for (unsigned i = 0; i < crew->count; i++)
		if (crew->clone[i].wave == wave && !clone_over(&crew->clone[i]))
			return false;
	return true;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void monitor_watch(struct monitor *m, unsigned wave, uint64_t begin_ns)
{
	const struct run_hooks *hooks = m->hooks;
	uint64_t interval = hooks->progress ? hooks->interval_us * 1000 : 0;

	while (!wave_over(m->crew, wave)) {
		uint64_t now = clock_monotonic_ns(), next = now + WAKE_NS;

		if (!m->begun && now >= begin_ns) {
			m->begun = true;
			m->begin(m->begin_context);
		} else if (!m->begun) {
			next = sooner(next, begin_ns);
		}
		next = sooner(next, sample_all(m->crew, now));
		if (interval && now >= m->progress_ns + interval)
			tell_progress(m, now);
		if (interval)
			next = sooner(next, m->progress_ns + interval);
		now = clock_monotonic_ns();
		crew_wait(m->crew, next > now ? next - now : 0);
		crew_check(m->crew, wave);
		if (!wave_over(m->crew, wave))
			monitor_tell(m, false);
	}
}
