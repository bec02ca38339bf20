#include "host/history.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/compare_private.h" /* gathering and measuring: a ratio is that of the run's own report */
#include "host/history_change.h"
#include "host/view_differ.h"

struct history *history_new(const struct history_options *options)
{
	struct history *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->options = *options;
	h->index = json_object();
	if (!h->index) {
		free(h);
		return NULL;
	}
	return h;
}

static void run_clear(struct history_run *r)
{
	free(r->folder);
	free(r->emulator);
	free(r->host);
	json_decref(r->run);
}

void history_free(struct history *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->nruns; i++)
		run_clear(&h->run[i]);
	for (size_t i = 0; i < h->nseries; i++) {
		free(h->series[i].point);
		free(h->series[i].change);
	}
	free(h->run);
	free(h->series);
	json_decref(h->index);
	free(h);
}

/* ---- a run ---- */

static double time_of(const char *text)
{
	struct tm tm = { 0 };
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm) : NULL;

	return rest && !*rest ? (double)timegm(&tm) : NAN;
}

/* An import's own date says when it was made, so that its trials are asked first. */
static double started_of(const struct dataset *d)
{
	double first = NAN;

	if (json_is_true(json_object_get(d->run, "imported")))
		for (size_t i = 0; i < d->npoints; i++)
			first = fmin(first, d->point[i].started); /* a NAN yields to a number */
	return isnan(first) ? time_of(json_string_value(json_object_get(d->run, "started"))) : first;
}

static const char *most_seen(const struct dataset *d, const char *set)
{
	const char *name, *most = NULL;
	json_int_t count = 0;
	json_t *n;

	json_object_foreach(json_object_get(d->seen, set), name, n)
		if (json_integer_value(n) > count) {
			count = json_integer_value(n);
			most = name;
		}
	return most;
}

static const char *text_in(const json_t *run, const char *object, const char *key)
{
	const char *s = json_string_value(json_object_get(json_object_get(run, object), key));

	return s ? s : "";
}

static char *host_of(const json_t *run)
{
	json_int_t cpus = json_integer_value(json_object_get(json_object_get(run, "environment"), "cpus"));
	const char *part[] = { text_in(run, "environment", "host"), text_in(run, "environment", "cpu") };
	struct text t = { 0 };

	for (size_t i = 0; i < 2; i++)
		if (*part[i])
			text_add(&t, "%s%s", t.length ? ", " : "", part[i]);
	if (cpus > 0)
		text_add(&t, "%s%lld CPU%s", t.length ? ", " : "", (long long)cpus, cpus == 1 ? "" : "s");
	return t.failed ? NULL : t.data ? t.data : strdup("");
}

static int take_run(struct history *h, const struct dataset *d, struct error *e)
{
	const char *seen = most_seen(d, "qemu_version"), *told = view_accel(d->run);
	struct history_run r = { .started = started_of(d), .margin = d->margin, .accel = told ? told : "" }, *grown;

	if (isnan(r.started))
		return error_set(e, STATUS_USAGE, "%s: run.json does not tell when the run started", d->path);
	r.folder = strdup(d->path);
	r.emulator = strdup(seen ? seen : text_in(d->run, "versions", "hypervisor"));
	r.host = host_of(d->run);
	r.run = json_copy(d->run); /* names live on in what both hold */
	grown = realloc(h->run, (h->nruns + 1) * sizeof(*grown));
	if (grown)
		h->run = grown;
	if (!grown || !r.folder || !r.emulator || !r.host || !r.run) {
		run_clear(&r);
		return error_set(e, STATUS_HOST, "out of memory");
	}
	json_object_del(r.run, "plan");
	h->run[h->nruns++] = r;
	return 0;
}

/* ---- its points ---- */

/* The number that belongs to a key; a new one is the next of *count. */
static size_t number_of(struct history *h, const struct text *key, size_t *count)
{
	json_t *at = json_object_get(h->index, text_get(key));

	if (at)
		return (size_t)json_integer_value(at);
	json_object_set_new(h->index, text_get(key), json_integer((json_int_t)*count));
	return (*count)++;
}

/* U+0001 between names, which begin with the kind of key. */
static void key_of(const struct history_series *s, bool group, struct text *key)
{
	text_add(key, "%s\1%s\1%s\1%s\1%s\1%s", group ? "group" : s->baseline ? "ratio" : "value", s->cell, s->guest, s->accel,
		 s->host, metric_info(s->metric)->name);
	if (!group)
		text_add(key, "\1%s\1%s", s->variant, s->baseline ? s->baseline : "");
}

static struct history_series *series_of(struct history *h, const struct history_series *like)
{
	struct text key = { 0 }, group = { 0 };
	size_t before = h->nseries, groups = json_object_size(h->index) - h->nseries, i;
	struct history_series *grown;

	key_of(like, false, &key);
	key_of(like, true, &group);
	i = number_of(h, &key, &h->nseries);
	if (i == before) {
		grown = realloc(h->series, h->nseries * sizeof(*grown));
		if (!grown) {
			h->nseries--;
		} else {
			h->series = grown;
			grown[i] = *like;
			grown[i].group = number_of(h, &group, &groups);
		}
	}
	text_free(&key);
	text_free(&group);
	return i < h->nseries ? &h->series[i] : NULL;
}

static int add_point(struct history *h, const struct history_series *like, const struct history_point *p)
{
	struct history_series *s = series_of(h, like);
	struct history_point *grown;

	if (!s)
		return -1;
	if (s->npoints && s->point[s->npoints - 1].run == p->run)
		return 0; /* the name twice in a run */
	grown = realloc(s->point, (s->npoints + 1) * sizeof(*grown));
	if (!grown)
		return -1;
	s->point = grown;
	grown[s->npoints++] = *p;
	s->nvalues += isfinite(p->value);
	return 0;
}

/* Of one variant alone: all its complete blocks, whether or not the other side's are. */
static void value_of(const struct dataset *d, unsigned cell, unsigned variant, enum metric metric, double *logs,
		     struct history_point *p)
{
	unsigned partner = d->baseline == 0 ? 1 : 0; /* with disks, whose baseline it is */
	struct stats_paired s;
	double sum = 0;
	bool zero = false;
	size_t n = 0;

	for (size_t block = 0; block < d->nblocks; block++) {
		const struct observation *o = variant == d->baseline && d->nvariants > 1 ? dataset_baseline(d, cell, partner, block) :
					      dataset_candidate(d, cell, variant, block);

		p->mismatch |= o->mismatch;
		if (!observation_complete(o) || !isfinite(o->value[metric]))
			continue;
		sum += o->value[metric];
		zero |= o->value[metric] <= 0;
		logs[n++] = o->value[metric] > 0 ? log(o->value[metric]) : 0;
	}
	stats_paired(logs, zero ? 0 : n, &s);
	p->blocks = (unsigned)n;
	p->kind = n == 0 ? EFFECT_NO_DATA : zero ? EFFECT_ZERO : n == 1 ? EFFECT_SINGLE : isnan(s.low95) ? EFFECT_CONSTANT : EFFECT_INTERVAL;
	p->value = zero ? sum / (double)n : s.ratio;
	p->low = s.low95;
	p->high = s.high95;
}

static void ratio_of(const struct dataset *d, const struct finding *f, enum metric metric, struct gathered *g,
		     struct history_point *p)
{
	struct effect effect;

	compare_measure(d, f, metric, g, &effect);
	for (size_t block = 0; block < d->nblocks; block++)
		for (unsigned side = 0; side < 2; side++)
			p->mismatch |= finding_side(d, f, side, block)->mismatch;
	p->kind = effect.kind;
	p->blocks = effect.complete;
	p->value = effect.estimate.ratio;
	p->low = effect.kind == EFFECT_INTERVAL ? effect.estimate.low95 : NAN;
	p->high = effect.kind == EFFECT_INTERVAL ? effect.estimate.high95 : NAN;
}

static int take_variant(struct history *h, const struct dataset *d, unsigned cell, unsigned v, enum metric metric,
			struct gathered *g)
{
	const struct history_run *r = &h->run[h->nruns - 1];
	struct history_series like = { .cell = d->cell[cell].name, .guest = d->cell[cell].guest, .variant = d->variant[v],
				       .accel = r->accel, .host = r->host, .metric = metric,
				       .place = v == d->baseline ? 0 : v < d->baseline ? v + 1 : v };
	struct history_point p = { .run = h->nruns - 1, .planned = true };
	struct finding f = { .cell = cell, .variant = v };

	if (h->options.variant && strcmp(h->options.variant, d->variant[v]) != 0)
		return 0;
	value_of(d, cell, v, metric, g->log[0], &p);
	if (add_point(h, &like, &p))
		return -1;
	if (v == d->baseline)
		return 0;
	like.baseline = d->variant[d->baseline];
	p.mismatch = false;
	ratio_of(d, &f, metric, g, &p);
	return add_point(h, &like, &p);
}

int history_add(struct history *h, const struct dataset *d, struct error *e)
{
	enum metric metric = h->options.metric == METRICS ? d->primary : h->options.metric;
	struct gathered g = { 0 };
	int rc = -1;

	if (take_run(h, d, e))
		return -1;
	if (gathered_make(&g, d->nblocks))
		goto out;
	for (unsigned cell = 0; cell < d->ncells; cell++) {
		if (h->options.cell && fnmatch(h->options.cell, d->cell[cell].name, 0) != 0)
			continue;
		for (unsigned v = 0; v < d->nvariants; v++)
			if (take_variant(h, d, cell, v, metric, &g))
				goto out;
	}
	rc = 0;
out:
	gathered_free(&g);
	return rc ? error_set(e, STATUS_HOST, "out of memory") : 0;
}

/* ---- order ---- */

/* Pointers into the runs: by their place in the array it is known which is which. */
static int by_time(const void *a, const void *b)
{
	const struct history_run *x = *(const struct history_run *const *)a, *y = *(const struct history_run *const *)b;

	return x->started != y->started ? (x->started > y->started ? 1 : -1) : strcmp(x->folder, y->folder);
}

static int by_run(const void *a, const void *b)
{
	const struct history_point *x = a, *y = b;

	return (x->run > y->run) - (x->run < y->run);
}

static int by_group(const void *a, const void *b)
{
	const struct history_series *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (!x->baseline != !y->baseline)
		return x->baseline ? 1 : -1;
	return x->place != y->place ? (x->place > y->place ? 1 : -1) : strcmp(x->variant, y->variant);
}

/* Runs of the host and accelerator between the first and the last point, which have none of their own: gaps. */
static int fill(const struct history *h, struct history_series *s)
{
	size_t first = s->point[0].run, last = s->point[s->npoints - 1].run, n = 0, next = 0;
	struct history_point *all = calloc(last - first + 1, sizeof(*all));

	if (!all)
		return -1;
	for (size_t run = first; run <= last; run++) {
		if (s->point[next].run == run)
			all[n++] = s->point[next++];
		else if (strcmp(h->run[run].accel, s->accel) == 0 && strcmp(h->run[run].host, s->host) == 0)
			all[n++] = (struct history_point){ .run = run, .value = NAN, .low = NAN, .high = NAN };
	}
	free(s->point);
	s->point = all;
	s->npoints = n;
	return 0;
}

/* Runs by time; *rank: by their number so far. */
static int sort_runs(struct history *h, size_t **rank)
{
	const struct history_run **order = calloc(h->nruns + 1, sizeof(*order));
	struct history_run *sorted = calloc(h->nruns + 1, sizeof(*sorted));

	*rank = calloc(h->nruns + 1, sizeof(**rank));
	if (!order || !sorted || !*rank) {
		free(order);
		free(sorted);
		return -1;
	}
	for (size_t i = 0; i < h->nruns; i++)
		order[i] = &h->run[i];
	qsort(order, h->nruns, sizeof(*order), by_time);
	for (size_t i = 0; i < h->nruns; i++) {
		sorted[i] = *order[i];
		(*rank)[order[i] - h->run] = i;
	}
	free(h->run);
	h->run = sorted;
	free(order);
	return 0;
}

int history_finish(struct history *h, struct error *e)
{
	size_t *rank;
	int rc = sort_runs(h, &rank);

	for (size_t i = 0; rc == 0 && i < h->nseries; i++) {
		struct history_series *s = &h->series[i];

		for (size_t k = 0; k < s->npoints; k++)
			s->point[k].run = rank[s->point[k].run];
		qsort(s->point, s->npoints, sizeof(*s->point), by_run);
		h->guests |= strcmp(s->guest, h->series[0].guest) != 0;
		h->accels |= strcmp(s->accel, h->series[0].accel) != 0;
		h->hosts |= strcmp(s->host, h->series[0].host) != 0;
		rc = fill(h, s);
	}
	free(rank);
	if (rc == 0 && h->nseries)
		qsort(h->series, h->nseries, sizeof(*h->series), by_group);
	return rc || history_changes(h) ? error_set(e, STATUS_HOST, "out of memory") : 0;
}

/* ---- words ---- */

void history_date(double started, char out[HISTORY_DATE_SIZE])
{
	time_t t = (time_t)started;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(out, HISTORY_DATE_SIZE, "%Y-%m-%d %H:%M", &tm))
		snprintf(out, HISTORY_DATE_SIZE, "not told");
}

static const char *kernel_of(const json_t *run, const char *guest)
{
	const json_t *g;
	size_t i;

	json_array_foreach(json_object_get(run, "guests"), i, g) {
		const char *name = json_string_value(json_object_get(g, "name"));

		if (name && strcmp(name, guest) == 0)
			return json_string_value(json_object_get(g, "kernel"));
	}
	return NULL;
}

void history_label(const struct history *h, const struct history_series *s, size_t run, enum history_by by, struct text *out)
{
	const struct history_run *r = &h->run[run];
	const char *name = by == HISTORY_KERNEL ? kernel_of(r->run, s->guest) : r->emulator;
	char date[HISTORY_DATE_SIZE];

	history_date(r->started, date);
	text_add(out, "%s", by == HISTORY_DATE ? date : name && *name ? name : "not told");
}

void history_differ(const struct history *h, size_t before, size_t after, json_t *lines)
{
	const json_t *run[2] = { h->run[before].run, h->run[after].run }, *variant;
	static const char *const label[2] = { "before", "after" };
	struct text names = { 0 };
	size_t i;

	view_differ(run, label, lines, &names);
	json_array_foreach(json_object_get(run[1], "variants"), i, variant)
		view_differ_settings(run, label, json_string_value(json_object_get(variant, "name")), lines, &names);
	text_free(&names);
}
