#include "guest/monitor.h"

#include <stdlib.h>
#include <string.h>

#include "guest/joblog.h"
#include "guest/stall.h"

#define WAKE_NS 100000000u
#define PATIENCE_NS 30000000000u
#define DEFAULT_WINDOW_MS 500
#define MS UINT64_C(1000000)
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

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- samples ---- */

static uint64_t peek(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/*
 * The window is as long as it really was, and the next one starts where it ended: a late monitor stretches
 * one sample instead of shifting all that follow. No progress in a direction, no sample. When the next one is due.
 */
static uint64_t sample(struct sampler *s, const uint64_t count[DDIRS], uint64_t unit, uint64_t start,
		       unsigned window_ms, uint64_t now)
{
	uint64_t window = (window_ms ? window_ms : DEFAULT_WINDOW_MS) * MS, ms;

	if (!s->at_ns)
		s->at_ns = start;
	if (now < s->at_ns + window)
		return s->at_ns + window;
	ms = (now - s->at_ns) / 1000000;
	for (unsigned d = 0; d < DDIRS; d++) {
		if (count[d] > s->count[d])
			samples_add(&s->samples[d], (count[d] - s->count[d]) * 1000 / ms / unit);
		s->count[d] = count[d];
	}
	s->at_ns = now;
	return now + window;
}

/* Logs of every I/O make samples of every I/O; windows of a log are those of its rows. */
static uint64_t sample_clone(struct clone *c, uint64_t now)
{
	const struct job *job = c->job;
	uint64_t bytes[DDIRS], ios[DDIRS], next = UINT64_MAX;

	for (unsigned d = 0; d < DDIRS; d++) {
		bytes[d] = peek(&c->slot->result.dir[d].bytes);
		ios[d] = peek(&c->slot->result.dir[d].ios);
	}
	if (!joblog_samples_bw(job))
		next = sample(&c->bw, bytes, 1024, slot_load(&c->slot->recording_ns), joblog_bw_window_ms(job), now);
	if (!joblog_samples_iops(job))
		next = sooner(next, sample(&c->iops, ios, 1, slot_load(&c->slot->recording_ns), joblog_iops_window_ms(job),
					   now));
	return next;
}

static bool records(const struct clone *c)
{
	int phase = slot_load(&c->slot->phase);

	return phase == PHASE_RUN || phase == PHASE_VERIFY;
}

/* Samples that are due; when the next one is. */
static uint64_t sample_all(struct crew *crew, uint64_t now)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < crew->count; i++)
		if (records(&crew->clone[i]))
			next = sooner(next, sample_clone(&crew->clone[i], now));
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
	case PHASE_VERIFY:
		return 'V';
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
	/* It may have begun after `now` was read. */
	uint64_t ns = clock_elapsed(slot_load(&c->slot->recording_ns), now), bytes = 0, ios = 0;
	double by_time = -1, by_work = -1, loops = job->loops ? job->loops : 1;

	for (unsigned d = 0; d < DDIRS; d++) {
		bytes += peek(&c->slot->result.dir[d].bytes);
		ios += peek(&c->slot->result.dir[d].ios);
	}
	if (job->runtime_us)
		by_time = (double)job->runtime_us - (double)ns / 1000;
	if (!job->time_based && bytes && ns > ETA_AFTER_NS) {
		by_work = (double)ns / 1000 * ((double)c->files.limit * loops / (double)bytes - 1);
		if (job->number_ios && (double)ns / 1000 * ((double)job->number_ios * loops / (double)ios - 1) < by_work)
			by_work = (double)ns / 1000 * ((double)job->number_ios * loops / (double)ios - 1);
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
		p.running += phase >= PHASE_RAMP && phase < PHASE_DONE;
		p.files += slot_load(&c->slot->files);
		for (unsigned d = 0; phase >= PHASE_RUN && d < DDIRS; d++) {
			p.bytes[d] += peek(&c->slot->result.dir[d].bytes);
			p.ios[d] += peek(&c->slot->result.dir[d].ios);
		}
	}
	p.eta_us = eta_us(m->crew, now);
	m->progress_ns = now;
	m->hooks->progress(m->hooks->context, &p);
	if (m->hooks->maps && m->crew->verify)
		m->hooks->maps(m->hooks->context, m->crew->verify, false);
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

/* What the user, exitall and exitall_on_error end early. */
static void pass_on_stops(struct crew *crew)
{
	for (unsigned i = 0; i < crew->count; i++) {
		struct clone *c = &crew->clone[i];
		const struct job *job = c->job;

		if (*crew->stop)
			slot_store(&c->slot->stop, 1);
		if (c->exit_told || !clone_over(c))
			continue;
		c->exit_told = true;
		if (job->exitall || (job->exitall_on_error && c->slot->result.failure.error))
			crew_stop_group(crew, job->groupid, c);
	}
}

/* By the clock it should have ended: its runtime is over, or it was told to stop. */
static bool overdue(const struct clone *c, int phase, uint64_t now)
{
	if (slot_load(&c->slot->stop))
		return true;
	return phase == PHASE_RUN && c->job->runtime_us && now > slot_load(&c->slot->recording_ns) &&
	       (now - slot_load(&c->slot->recording_ns)) / 1000 > c->job->runtime_us;
}

/*
 * An I/O that never comes back must not keep the run from its end. As long as a clone gets on it is waited for;
 * flushes at the end take their time.
 */
static void look_for_hanging(struct monitor *m, struct clone *c, uint64_t now)
{
	uint64_t patience = m->hooks->patience_us ? m->hooks->patience_us * 1000 : PATIENCE_NS, ios = 0;
	struct note_sink sink = { m->hooks->note, m->hooks->context };
	int phase = slot_load(&c->slot->phase);

	if (!c->alive || (phase != PHASE_RAMP && phase != PHASE_RUN && phase != PHASE_VERIFY) ||
	    !overdue(c, phase, now)) {
		c->moved_ns = now;
		return;
	}
	for (unsigned d = 0; d < DDIRS; d++)
		ios += peek(&c->slot->result.dir[d].ios);
	if (ios != c->moved_ios)
		c->moved_ns = now;
	c->moved_ios = ios;
	if (now - c->moved_ns < patience)
		return;
	note_send(&sink, "kickio: %s: I/O in flight has not come back for %llu ms after its end was due; giving it up",
		  c->job->name, (unsigned long long)((now - c->moved_ns) / MS));
	crew_give_up(m->crew, c);
}

/* When the next report is due; one now, if it is or somebody asked. */
static int report_when_due(struct monitor *m, uint64_t now, uint64_t *next, struct error *e)
{
	uint64_t interval = m->hooks->report ? m->hooks->report_interval_us * 1000 : 0;
	bool due = interval && now >= m->report_ns + interval;
	int asked = *m->report_asked;

	if (due)
		m->report_ns += interval * ((now - m->report_ns) / interval);
	if (interval)
		*next = sooner(*next, m->report_ns + interval);
	if (!due && asked == m->reports_told)
		return 0;
	m->reports_told = asked;
	return m->hooks->report ? m->report(m->begin_context, eta_us(m->crew, now), e) : 0;
}

int monitor_watch(struct monitor *m, unsigned wave, uint64_t begin_ns, struct error *e)
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
		pass_on_stops(m->crew);
		for (unsigned i = 0; i < m->crew->count; i++)
			look_for_hanging(m, &m->crew->clone[i], now);
		next = sooner(next, sample_all(m->crew, now));
		if (interval && now >= m->progress_ns + interval)
			tell_progress(m, now);
		if (interval)
			next = sooner(next, m->progress_ns + interval);
		if (report_when_due(m, now, &next, e) < 0) {
			*m->crew->stop = -1;
			pass_on_stops(m->crew);
			return -1;
		}
		now = clock_monotonic_ns();
		crew_wait(m->crew, next > now ? next - now : 0);
		crew_check(m->crew, wave);
		stall_check(m->crew, wave, hooks);
		if (!wave_over(m->crew, wave))
			monitor_tell(m, false);
	}
	return 0;
}
