/* What the probe (images/probe) told of one trial. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "host/measured_probe.h"

/* 1: *out is set; 0: absent or null; -1: it is something else. */
static int number_of(const json_t *object, const char *key, double *out, struct error *e)
{
	const json_t *value = json_object_get(object, key);

	if (!value || json_is_null(value))
		return 0;
	if (!json_is_number(value) || !(json_number_value(value) >= 0))
		return error_set(e, STATUS_FAILED, "\"%s\" is not a number from 0", key);
	*out = json_number_value(value);
	return 1;
}

static void add(struct counter *c, double sum, double of)
{
	c->sum += sum;
	c->ios += of;
}

static int take_bins(const json_t *bins, struct histogram *h, struct error *e)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)bins, key, value) {
		unsigned long long ns;
		char *end;

		errno = 0;
		ns = strtoull(key, &end, 10);
		if (errno || end == key || *end || *key == '-' || !json_is_integer(value) || json_integer_value(value) < 0)
			return error_set(e, STATUS_FAILED, "bin \"%s\" is not a count at a time", key);
		h->count[histogram_index(ns)] += (uint64_t)json_integer_value(value);
	}
	return 0;
}

/* The median of one distribution: a host that is away for milliseconds spoils a mean of microseconds. mean: NULL or for it. */
static int take_median(const json_t *probe, const char *key, double unit, struct counter *into, struct counter *mean,
		       struct error *e)
{
	const json_t *d = json_object_get(probe, key);
	struct histogram *h;
	double told = 0;
	int have;

	if (!json_is_object(d))
		return 0;
	have = number_of(d, "mean", &told, e);
	h = have < 0 ? NULL : calloc(1, sizeof(*h));
	if (!h) {
		error_set(e, STATUS_HOST, "out of memory"); /* unless something was wrong before */
		return error_context(e, "%s", key);
	}
	if (take_bins(json_object_get(d, "bins"), h, e)) {
		free(h);
		return error_context(e, "%s", key);
	}
	if (histogram_total(h) > 0)
		add(into, (double)histogram_percentile(h, 50) * unit, 1);
	if (mean && have)
		add(mean, told, 1);
	free(h);
	return 0;
}

static int take_events(struct measured *m, const json_t *probe, struct error *e)
{
	double kicks = 0, interrupts = 0, of = 0;
	int have = number_of(probe, "completed", &of, e);

	if (have <= 0 || number_of(probe, "kicks", &kicks, e) < 0 || number_of(probe, "interrupts", &interrupts, e) < 0)
		return e->status ? -1 : 0;
	add(&m->sums.probe_kicks, kicks, of);
	add(&m->sums.probe_interrupts, interrupts, of);
	return 0;
}

int measured_add_probe(struct measured *m, const json_t *probe, double *requests, struct error *e)
{
	struct measured_sums *s = &m->sums;
	double left = 0, turns = 0;
	int have;

	*requests = -1;
	if (number_of(probe, "total", requests, e) < 0 ||
	    take_median(probe, "kick", 1, &s->kick_ns, NULL, e) ||
	    take_median(probe, "done_poll", 1, &s->done_poll_ns, NULL, e) ||
	    take_median(probe, "per_request", 1, &s->per_request_ns, NULL, e) ||
	    take_median(probe, "done_irq", 1, &s->done_irq_ns, &s->done_irq_mean_ns, e) || take_events(m, probe, e))
		return -1;
	have = number_of(probe, "cpu_left_median", &left, e);
	if (have > 0)
		add(&s->cpu_left, 100 * left, 1);
	if (have < 0 || number_of(probe, "loop_turns", &turns, e) < 0 ||
	    (turns > 0 && take_median(probe, "loop", 1 / turns, &s->loop_ns, NULL, e)) ||
	    take_median(probe, "port_write", 1, &s->port_write_ns, NULL, e))
		return -1;
	return 0;
}
