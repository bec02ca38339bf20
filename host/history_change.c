#include "host/history_change.h"

#include <math.h>
#include <stdlib.h>

#include "host/stats_change.h"
#include "host/stats_welch.h"

#define MOST_DRAWN 300000000 /* values, in all series together: about two seconds */
#define MOST_DRAWS 9999
#define LEAST_DRAWS 999

/* The values of a series with data, their logs, and the points that they come from. */
struct values {
	double *log;
	size_t *point, n;
};

static int values_make(struct values *v, size_t n)
{
	v->log = calloc(n, sizeof(*v->log));
	v->point = calloc(n, sizeof(*v->point));
	return v->log && v->point ? 0 : -1;
}

static void values_free(struct values *v)
{
	free(v->log);
	free(v->point);
}

static void values_take(struct values *v, const struct history_series *s)
{
	v->n = 0;
	for (size_t i = 0; i < s->npoints; i++)
		if (isfinite(s->point[i].value)) {
			v->log[v->n] = log(s->point[i].value);
			v->point[v->n++] = i;
		}
}

static enum history_search search_of(const struct history_series *s)
{
	double low = HUGE_VAL, high = 0;

	for (size_t i = 0; i < s->npoints; i++) {
		double value = s->point[i].value;

		if (s->point[i].kind == EFFECT_ZERO)
			return HISTORY_ZERO;
		if (isfinite(value)) {
			low = fmin(low, value);
			high = fmax(high, value);
		}
	}
	if (s->nvalues < STATS_CHANGE_MIN)
		return HISTORY_TOO_FEW;
	return high > low * (1 + 1e-9) ? HISTORY_SEARCHED : HISTORY_CONSTANT;
}

/* The same series gets the same answer, whatever stands beside it (FNV-1a of its names). */
static uint64_t seed_of(const struct history_series *s)
{
	const char *name[] = { s->cell, s->guest, s->variant, s->baseline ? s->baseline : "", metric_info(s->metric)->name };
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		for (const char *c = name[i];; c++) {
			hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
			if (!*c)
				break;
		}
	return hash;
}

static void describe(const struct values *v, size_t begin, size_t at, size_t end, struct history_change *c)
{
	struct stats_welch w;

	stats_welch(v->log + begin, at - begin, v->log + at, end - at, &w);
	c->before = v->point[at - 1];
	c->after = v->point[at];
	c->from = exp(w.mean[0]);
	c->to = exp(w.mean[1]);
	c->ratio = w.ratio;
	c->low = w.low95;
	c->high = w.high95;
}

static int look(struct history *h, struct history_series *s, struct values *v)
{
	size_t share, draws;
	struct stats_change *found;

	values_take(v, s);
	share = MOST_DRAWN / v->n / h->nsearched;
	draws = share > MOST_DRAWS ? MOST_DRAWS : share < LEAST_DRAWS ? LEAST_DRAWS : share;
	found = calloc(v->n / STATS_CHANGE_SIDE, sizeof(*found));
	s->change = calloc(v->n / STATS_CHANGE_SIDE, sizeof(*s->change));
	if (!found || !s->change || stats_changes(v->log, v->n, HISTORY_ALPHA, seed_of(s), draws, found, &s->nchanges)) {
		free(found);
		return -1;
	}
	for (size_t i = 0; i < s->nchanges; i++) {
		struct history_change *c = &s->change[i];

		describe(v, i ? found[i - 1].at : 0, found[i].at, i + 1 < s->nchanges ? found[i + 1].at : v->n, c);
		c->p = found[i].p;
		c->p_all = fmin(1, c->p * (double)h->nsearched);
	}
	free(found);
	return 0;
}

int history_changes(struct history *h)
{
	struct values v = { 0 };
	int rc = values_make(&v, h->nruns + 1);

	for (size_t i = 0; i < h->nseries; i++) {
		h->series[i].search = search_of(&h->series[i]);
		h->nsearched += h->series[i].search == HISTORY_SEARCHED;
	}
	for (size_t i = 0; rc == 0 && i < h->nseries; i++)
		if (h->series[i].search == HISTORY_SEARCHED)
			rc = look(h, &h->series[i], &v);
	values_free(&v);
	return rc;
}

/* ---- in the order of time ---- */

static int by_runs(const void *a, const void *b)
{
	const struct history_mark *x = a, *y = b;

	if (x->after != y->after)
		return x->after < y->after ? -1 : 1;
	if (x->before != y->before)
		return x->before < y->before ? -1 : 1;
	return (x->series > y->series) - (x->series < y->series);
}

int history_marks(const struct history *h, struct history_mark **out, size_t *n)
{
	size_t all = 0;

	for (size_t i = 0; i < h->nseries; i++)
		all += h->series[i].nchanges;
	*n = 0;
	*out = calloc(all + 1, sizeof(**out));
	if (!*out)
		return -1;
	for (size_t i = 0; i < h->nseries; i++) {
		const struct history_series *s = &h->series[i];

		for (size_t k = 0; k < s->nchanges; k++)
			(*out)[(*n)++] = (struct history_mark){ s, &s->change[k], s->point[s->change[k].before].run,
								s->point[s->change[k].after].run };
	}
	qsort(*out, *n, sizeof(**out), by_runs);
	return 0;
}
