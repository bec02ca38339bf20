#include "images/probe/measure.h"

#include <string.h>

#include "images/probe/clock.h"
#include "images/probe/machine.h"

#define WARM_UP 50      /* kicks: an emulator translates the code when it first runs */
#define TURNS 256       /* of a waiting loop between two looks at the counter */
#define IDLE_NS 200000  /* of the undisturbed loop, before each kick */
#define HEALTH_SAMPLES 20 /* where other measurements stand beside it */
#define RATE 1000000000ull
#define LOOK_NS 100000000u /* of waiting, between two looks at what the host says */

struct run {
	struct blk *b;
	const struct job *job;
	const struct measure_hooks *hooks;
	struct measured *m;
	bool recording;
	uint64_t limit, stamp, next_word, done;
	bool nudging; /* a further request is under way, with that id */
	uint16_t nudge_id;
	struct error *e;
};

/* What the interrupt handler sees. */
static struct {
	struct virtio *virtio;
	struct ring_watch wanted;
	volatile bool armed;
	volatile uint16_t seen, any; /* 0 or 1, waited for as for a ring */
	volatile uint64_t at;
	volatile uint64_t count;
	uint64_t ignored; /* the number of the one that is lost on us, 0: none */
} irq;

static void on_interrupt(uint64_t at)
{
	irq.virtio->ops->acknowledge(irq.virtio);
	if (++irq.count == irq.ignored)
		return;
	irq.any = 1;
	if (irq.armed && ring_seen(&irq.wanted)) {
		irq.armed = false;
		irq.at = at;
		irq.seen = 1;
	}
}

static void add(struct distribution *d, uint64_t counts)
{
	histogram_add(&d->ns, clock_ns(counts));
	d->min = d->n == 0 || counts < d->min ? counts : d->min;
	d->max = counts > d->max ? counts : d->max;
	d->sum += counts;
	d->n++;
}

/* From one reading to a later one, less n times what a reading takes. */
static int span(const struct run *r, uint64_t from, uint64_t to, unsigned n, uint64_t *counts)
{
	*counts = 0;
	if (to < from)
		return error_set(r->e, STATUS_FAILED, "the processor's counter ran backwards, from %llu to %llu",
				 (unsigned long long)from, (unsigned long long)to);
	if (to - from > n * r->stamp)
		*counts = to - from - n * r->stamp;
	return 0;
}

static int silent(const struct run *r)
{
	return blk_silent(r->b, MEASURE_SILENCE_S * 1000000000ull, r->e);
}

/*
 * Turn until a word of memory looks as wanted or the time is over. 1: it does; 0: it does not; -1: the counter is
 * broken. The same code waits for a device and counts undisturbed: what it counts can be compared.
 */
static __attribute__((noinline)) int turn(const struct run *r, const struct ring_watch *w, uint64_t until,
					  uint64_t *turns)
{
	uint64_t last = 0;

	for (;;) {
		unsigned left = TURNS;
		uint64_t now;

		while (left && !ring_seen(w))
			left--;
		*turns += TURNS - left;
		if (left)
			return 1;
		now = machine_counter();
		if (now <= last)
			return error_set(r->e, STATUS_FAILED, "the processor's counter %s at %llu", now == last ? "stands still" :
					 "ran backwards", (unsigned long long)now);
		if (now > until)
			return ring_seen(w); /* who was stopped for long gets a last look */
		last = now;
	}
}

/* Between two measurements: a word to the host now and then. */
static int done(struct run *r, uint64_t n)
{
	uint64_t now = machine_counter();

	r->done += n;
	if (!r->recording || now < r->next_word)
		return 0;
	r->next_word = now + clock_hz();
	if (!r->hooks->progress(r->hooks->context, r->done))
		return error_set(r->e, STATUS_FAILED, "the host ended the job");
	return 0;
}

static int take_all(struct run *r, unsigned n)
{
	int got = blk_reap(r->b, r->e);

	if (got < 0)
		return -1;
	if ((unsigned)got != n)
		return error_set(r->e, STATUS_FAILED, "%u requests looked done, but %d are", n, got);
	return 0;
}

static int kick_once(struct run *r)
{
	struct virtio_notify notify = r->b->virtio->notify;
	unsigned n = r->job->requests;
	uint64_t before, after, seen, turns = 0, kick, all;
	struct ring_watch w = {0};
	int got = 1;

	ring_quiet(&r->b->ring);
	if (blk_add(r->b, n, r->e) < 0)
		return -1;
	if (n) {
		w = ring_watch(&r->b->ring, (uint16_t)n);
		ring_publish(&r->b->ring);
	}
	before = machine_counter();
	virtio_kick(&notify);
	after = machine_counter();
	if (n)
		got = turn(r, &w, after + r->limit, &turns);
	seen = machine_counter();
	if (got <= 0)
		return got < 0 ? -1 : silent(r);
	if (span(r, before, after, 1, &kick) < 0 || span(r, before, seen, 2, &all) < 0 || take_all(r, n) < 0)
		return -1;
	if (r->recording) {
		add(&r->m->kick, kick);
		if (n) {
			add(&r->m->done_poll, all);
			add(&r->m->per_request, all / n);
		}
	}
	return done(r, n ? n : 1);
}

static int irq_once(struct run *r)
{
	struct virtio_notify notify = r->b->virtio->notify;
	unsigned n = r->job->requests;
	const struct ring_watch flag = {.at = &irq.seen, .mask = 1, .value = 1};
	uint64_t before, turns = 0, counts = 0;
	int got;

	if (blk_add(r->b, n, r->e) < 0)
		return -1;
	irq.wanted = ring_watch(&r->b->ring, (uint16_t)n);
	irq.seen = 0;
	ring_arm(&r->b->ring, (uint16_t)n);
	irq.armed = true;
	ring_publish(&r->b->ring);
	before = machine_counter();
	virtio_kick(&notify);
	got = turn(r, &flag, before + r->limit, &turns);
	if (got < 0)
		return -1;
	if (got == 0)
		return ring_seen(&irq.wanted) ? error_set(r->e, STATUS_FAILED, "the device is done with %u request%s, and no "
							  "interrupt told so for %d s", n, n == 1 ? "" : "s", MEASURE_SILENCE_S) :
						silent(r);
	if (irq.at < before)
		r->m->early += r->recording;
	else if (span(r, before, irq.at, 1, &counts) < 0)
		return -1;
	if (take_all(r, n) < 0)
		return -1;
	if (r->recording)
		add(&r->m->done_irq, counts);
	return done(r, n);
}

uint64_t measure_share(uint64_t turns, uint64_t time, uint64_t turns_idle, uint64_t time_idle)
{
	/* By way of rates, so that nothing overflows. */
	uint64_t rate = time ? turns * RATE / time : 0, idle = time_idle ? turns_idle * RATE / time_idle : 0;

	return idle ? rate * 1000000 / idle : 0;
}

static int cpu_once(struct run *r)
{
	static const volatile uint16_t never;
	const struct ring_watch idle = {.at = &never, .mask = 1, .value = 1};
	struct virtio_notify notify = r->b->virtio->notify;
	unsigned n = r->job->requests;
	uint64_t start, before, seen, turns_idle = 0, turns = 0, time_idle, time_out;
	struct ring_watch w;
	int got;

	ring_quiet(&r->b->ring);
	start = machine_counter();
	if (turn(r, &idle, start + clock_counts(IDLE_NS), &turns_idle) < 0)
		return -1;
	seen = machine_counter();
	if (span(r, start, seen, 1, &time_idle) < 0 || blk_add(r->b, n, r->e) < 0)
		return -1;
	w = ring_watch(&r->b->ring, (uint16_t)n);
	ring_publish(&r->b->ring);
	before = machine_counter();
	virtio_kick(&notify);
	got = turn(r, &w, before + r->limit, &turns);
	seen = machine_counter();
	if (got <= 0)
		return got < 0 ? -1 : silent(r);
	if (span(r, before, seen, 1, &time_out) < 0 || take_all(r, n) < 0)
		return -1;
	if (r->recording) {
		r->m->turns_idle += turns_idle;
		r->m->time_idle += time_idle;
		r->m->turns_out += turns;
		r->m->time_out += time_out;
		histogram_add(&r->m->cpu_left, measure_share(turns, time_out, turns_idle, time_idle));
	}
	return done(r, n);
}

static int health_once(struct run *r)
{
	uint64_t a, b, c, port_write = 0, loop;
	uint32_t x = 1;
	uint16_t port;
	bool has_port = machine_deaf_port(&port);

	a = machine_counter();
	for (unsigned i = 0; i < MEASURE_TURNS; i++) {
		x = x * 1664525 + 1013904223;
		__asm__ volatile("" : "+r"(x)); /* a turn is a turn: no compiler may join them */
	}
	b = machine_counter();
	if (has_port)
		machine_out8(port, 0);
	c = machine_counter();
	if (span(r, a, b, 1, &loop) < 0 || span(r, b, c, 1, &port_write) < 0)
		return -1;
	if (r->recording) {
		add(&r->m->loop, loop);
		if (has_port)
			add(&r->m->port_write, port_write);
	}
	return done(r, 1);
}

/* Put n more under way and notify if the device wants that. */
static int submit(struct run *r, unsigned n)
{
	if (blk_add(r->b, n, r->e) < 0)
		return -1;
	ring_publish(&r->b->ring);
	if (!ring_wants_kick(&r->b->ring))
		return 0;
	/* Who leaves one out believes that it was written. */
	if (++r->m->kicks != r->job->omit_kick || !r->recording)
		virtio_kick(&r->b->virtio->notify);
	return 0;
}

/*
 * One further request on the same queue. It is kicked whatever the device has asked for, and an interrupt is asked for
 * behind all that is done: with EVENT_IDX either has been asked for once, which is over, so that neither would come.
 */
static void nudge(struct run *r)
{
	struct ring *ring = &r->b->ring;
	struct error why = {0};

	if (r->nudging)
		error_set(&why, STATUS_FAILED, "the last one is still under way");
	else if (ring->nfree == 0)
		error_set(&why, STATUS_FAILED, "the queue is full");
	if (why.status) {
		r->hooks->nudged(r->hooks->context, why.text, false);
		return;
	}
	while (ring_arm(ring, (uint16_t)(ring_done(ring) + 1)))
		;
	r->nudge_id = ring->free[ring->nfree - 1];
	r->nudging = blk_add(r->b, 1, &why) == 0;
	ring_publish(ring);
	virtio_kick(&r->b->virtio->notify);
	r->hooks->nudged(r->hooks->context, r->nudging ? NULL : why.text, false);
}

/* Whether it is among what was taken back just now. */
static bool nudge_back(struct run *r)
{
	if (!r->nudging || r->b->ring.busy[r->nudge_id])
		return false;
	r->nudging = false;
	r->hooks->nudged(r->hooks->context, NULL, true);
	return true;
}

/*
 * What an interrupt calls for: empty the ring until the device has nothing new when interrupts are wanted again, then
 * refill it. In this order drivers of operating systems do it: so there may be an interrupt during the refill.
 */
static int serve(struct run *r, uint64_t *issued, uint64_t total)
{
	uint64_t taken = 0, more;

	do {
		int got;

		ring_quiet(&r->b->ring);
		got = blk_reap(r->b, r->e);
		if (got < 0)
			return -1;
		taken += (unsigned)got;
	} while (ring_arm(&r->b->ring, 1));
	taken -= nudge_back(r); /* no part of the job */
	r->m->requests += taken;
	more = total - *issued < taken ? total - *issued : taken;
	*issued += more;
	if (more && submit(r, (unsigned)more) < 0)
		return -1;
	return done(r, taken);
}

/* The used ring is not looked at meanwhile: what is lost stays lost. */
static int await_interrupt(struct run *r)
{
	const struct ring_watch flag = {.at = &irq.any, .mask = 1, .value = 1};
	uint64_t start = machine_counter(), turns = 0;
	int got;

	while ((got = turn(r, &flag, machine_counter() + clock_counts(LOOK_NS), &turns)) == 0) {
		if (!r->recording && machine_counter() - start > r->limit)
			return ring_done(&r->b->ring) ? error_set(r->e, STATUS_FAILED, "the device is done with requests, and no "
								  "interrupt told so for %d s", MEASURE_SILENCE_S) : silent(r);
		if (!r->recording)
			continue;
		if (done(r, 0) < 0)
			return -1;
		if (r->hooks->nudge(r->hooks->context))
			nudge(r);
	}
	irq.any = 0;
	return got < 0 ? -1 : 0;
}

/* A fault that was asked for and had no occasion would be taken for one that does no harm. */
static int check_faults(const struct run *r)
{
	const struct job *j = r->job;

	if (r->recording && j->omit_kick > r->m->kicks)
		return error_set(r->e, STATUS_FAILED, "--omit-kick=%u: there were only %llu kicks", (unsigned)j->omit_kick,
				 (unsigned long long)r->m->kicks);
	if (r->recording && j->ignore_interrupt > irq.count)
		return error_set(r->e, STATUS_FAILED, "--ignore-interrupt=%u: there were only %llu interrupts",
				 (unsigned)j->ignore_interrupt, (unsigned long long)irq.count);
	return 0;
}

static int events(struct run *r, uint64_t total)
{
	uint64_t issued = total < r->job->depth ? total : r->job->depth, start;

	r->m->requests = r->m->kicks = 0;
	irq.count = 0;
	irq.ignored = r->recording ? r->job->ignore_interrupt : 0;
	irq.any = 0;
	start = machine_counter();
	ring_arm(&r->b->ring, 1);
	if (submit(r, (unsigned)issued) < 0)
		return -1;
	while (r->m->requests < total || r->nudging)
		if (await_interrupt(r) < 0 || serve(r, &issued, total) < 0)
			return -1;
	r->m->interrupts = irq.count;
	return check_faults(r) < 0 ? -1 : span(r, start, machine_counter(), 1, &r->m->elapsed);
}

static int repeat(struct run *r, int (*once)(struct run *r), uint32_t n)
{
	while (n--)
		if (once(r) < 0)
			return -1;
	return 0;
}

static uint32_t kicks_of(const struct run *r, enum job_mode mode)
{
	bool beside = r->job->mode == JOB_ALL && mode == JOB_HEALTH; /* the accelerator is no concern of the job's length */
	uint32_t n = beside && r->job->count > HEALTH_SAMPLES ? HEALTH_SAMPLES : r->job->count;

	return !r->recording && n > WARM_UP ? WARM_UP : n;
}

static int run(struct run *r, enum job_mode mode)
{
	static int (*const once[JOB_MODES])(struct run *r) = {
		[JOB_KICK] = kick_once, [JOB_DONE_IRQ] = irq_once, [JOB_CPU] = cpu_once, [JOB_HEALTH] = health_once,
	};
	bool interrupts = mode == JOB_DONE_IRQ || mode == JOB_EVENTS;
	uint64_t before = r->done;
	int ret;

	machine_handler(interrupts ? on_interrupt : NULL);
	machine_interrupts(interrupts);
	ret = mode == JOB_EVENTS ? events(r, kicks_of(r, mode)) : repeat(r, once[mode], kicks_of(r, mode));
	machine_interrupts(false);
	machine_handler(NULL);
	if (r->recording && mode != JOB_HEALTH)
		r->m->total += r->done - before;
	return ret;
}

static int run_job(struct run *r, bool recording)
{
	static const enum job_mode parts[] = { JOB_KICK, JOB_DONE_IRQ, JOB_EVENTS, JOB_CPU, JOB_HEALTH };
	int ret = 0;

	r->recording = recording;
	r->done = 0;
	r->next_word = machine_counter() + clock_hz();
	if (r->job->mode != JOB_ALL)
		return run(r, r->job->mode);
	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]) && ret == 0; i++)
		ret = run(r, parts[i]);
	return ret;
}

static int check(const struct blk *b, const char *option, uint32_t value, struct error *e)
{
	if (value > b->ring.capacity)
		return error_set(e, STATUS_FAILED, "--%s=%u: the queue's %u entries hold %u requests (of %u each)", option,
				 (unsigned)value, b->ring.size, b->ring.capacity, b->ring.chain);
	return 0;
}

int measure(struct blk *b, const struct job *job, const struct measure_hooks *hooks, struct measured *m, struct error *e)
{
	struct run r = {.b = b, .job = job, .hooks = hooks, .m = m, .e = e, .limit = MEASURE_SILENCE_S * clock_hz(),
			.stamp = clock_stamp()};
	bool disk = job->mode != JOB_HEALTH, events_too = job->mode == JOB_EVENTS || job->mode == JOB_ALL;
	int ret;

	memset(m, 0, sizeof(*m));
	if ((disk && job->mode != JOB_EVENTS && check(b, "requests", job->requests, e) < 0) ||
	    (events_too && check(b, "depth", job->depth, e) < 0))
		return -1;
	irq.virtio = b->virtio;
	irq.armed = false;
	ret = run_job(&r, false);
	if (ret == 0) {
		hooks->begin(hooks->context);
		ret = run_job(&r, true);
		hooks->end(hooks->context);
	}
	return ret;
}
