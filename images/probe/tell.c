#include "images/probe/tell.h"

#include "images/probe/clock.h"

static const struct {
	unsigned bit;
	const char *name;
} features[] = {
	{VIRTIO_ANY_LAYOUT, "ANY_LAYOUT"}, {VIRTIO_EVENT_IDX, "EVENT_IDX"}, {VIRTIO_VERSION_1, "VERSION_1"},
	{VIRTIO_RING_PACKED, "RING_PACKED"},
};

/* A number in thousandths, as a decimal. */
static void add_milli(struct text *out, uint64_t milli)
{
	text_add(out, "%llu.%03u", (unsigned long long)(milli / 1000), (unsigned)(milli % 1000));
}

static void add_ratio(struct text *out, const char *key, uint64_t a, uint64_t b)
{
	uint64_t micro = a * 1000000 / b;

	text_add(out, ",\"%s\":%llu.%06u", key, (unsigned long long)(micro / 1000000), (unsigned)(micro % 1000000));
}

static void add_distribution(struct text *out, const char *key, const struct distribution *d)
{
	bool first = true;

	if (d->n == 0)
		return;
	text_add(out, ",\"%s\":{\"N\":%llu,\"mean\":", key, (unsigned long long)d->n);
	add_milli(out, clock_ns(d->sum * 1000 / d->n));
	text_add(out, ",\"min\":%llu,\"max\":%llu,\"bins\":{", (unsigned long long)clock_ns(d->min),
		 (unsigned long long)clock_ns(d->max));
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!d->ns.count[i])
			continue;
		text_add(out, "%s\"%llu\":%llu", first ? "" : ",", (unsigned long long)histogram_value(i),
			 (unsigned long long)d->ns.count[i]);
		first = false;
	}
	text_add(out, "}}");
}

static void add_device(struct text *out, const struct blk *b)
{
	const struct virtio *v = b->virtio;
	bool first = true;

	text_add(out, ",\"transport\":\"%s\",\"ring\":\"%s\",\"queue_size\":%u,\"notify\":\"%s\",\"irq\":\"%s\",\"features\":[",
		 v->ops->name, b->ring.packed ? "packed" : "split", b->ring.size, v->notify.place.pio ? "pio" : "mmio",
		 v->message ? "msix" : "intx");
	for (unsigned i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		if (!virtio_has(v, features[i].bit))
			continue;
		text_add(out, "%s\"%s\"", first ? "" : ",", features[i].name);
		first = false;
	}
	text_add(out, "]");
}

static void add_job(struct text *out, const struct job *job)
{
	text_add(out, "{\"name\":");
	text_add_json_string(out, job->name);
	text_add(out, ",\"mode\":\"%s\",\"op\":\"%s\",\"bs\":%u,\"requests\":%u,\"depth\":%u,\"count\":%u",
		 job_mode_name(job->mode), job_op_name(job->op), (unsigned)job->bytes, (unsigned)job->requests,
		 (unsigned)job->depth, (unsigned)job->count);
	if (job->omit_kick)
		text_add(out, ",\"omit_kick\":%u", (unsigned)job->omit_kick);
	if (job->ignore_interrupt)
		text_add(out, ",\"ignore_interrupt\":%u", (unsigned)job->ignore_interrupt);
}

/* Not histogram_percentile(): there is no floating point here. */
static uint64_t median(const struct histogram *h, uint64_t n)
{
	uint64_t seen = 0;
	unsigned i = 0;

	while (i < HISTOGRAM_BUCKETS - 1 && (seen += h->count[i]) * 2 < n)
		i++;
	return histogram_value(i);
}

static void add_cpu(struct text *out, const struct measured *m)
{
	uint64_t n = histogram_total(&m->cpu_left);

	if (!n || !m->turns_idle)
		return;
	add_ratio(out, "cpu_left", measure_share(m->turns_out, m->time_out, m->turns_idle, m->time_idle), 1000000);
	add_ratio(out, "cpu_left_median", median(&m->cpu_left, n), 1000000);
	text_add(out, ",\"turn_ns\":");
	add_milli(out, clock_ns(m->time_idle * 1000 / m->turns_idle));
}

static void add_events(struct text *out, const struct measured *m)
{
	if (!m->requests)
		return;
	add_ratio(out, "kicks_per_request", m->kicks, m->requests);
	add_ratio(out, "interrupts_per_request", m->interrupts, m->requests);
	text_add(out, ",\"kicks\":%llu,\"interrupts\":%llu,\"completed\":%llu,\"request_ns\":", (unsigned long long)m->kicks,
		 (unsigned long long)m->interrupts, (unsigned long long)m->requests);
	add_milli(out, clock_ns(m->elapsed * 1000 / m->requests));
}

void tell_measured(struct text *out, const struct job *job, const struct blk *b, const struct measured *m)
{
	add_job(out, job);
	text_add(out, ",\"total\":%llu", (unsigned long long)m->total);
	text_add(out, ",\"tsc_hz\":%llu,\"stamp_ns\":", (unsigned long long)clock_hz());
	add_milli(out, clock_ns(clock_stamp() * 1000));
	if (b)
		add_device(out, b);
	add_distribution(out, "kick", &m->kick);
	add_distribution(out, "done_poll", &m->done_poll);
	add_distribution(out, "per_request", &m->per_request);
	add_distribution(out, "done_irq", &m->done_irq);
	if (m->done_irq.n)
		text_add(out, ",\"early\":%llu", (unsigned long long)m->early);
	add_events(out, m);
	add_cpu(out, m);
	if (m->loop.n)
		text_add(out, ",\"loop_turns\":%u", MEASURE_TURNS);
	add_distribution(out, "loop", &m->loop);
	add_distribution(out, "port_write", &m->port_write);
	text_add(out, "}");
}
