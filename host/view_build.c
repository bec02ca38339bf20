#include "host/view_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "guest/text.h"

/* ---- observations ---- */

static bool every_partner(const struct view_origin *o)
{
	return o->d->disks && o->variant == o->d->baseline && o->partner == ANY_PARTNER;
}

static size_t runs_of(const struct view_origin *o)
{
	if (!o->d)
		return 0;
	return o->d->nblocks * (every_partner(o) && o->d->nvariants > 1 ? o->d->nvariants - 1 : 1);
}

static const struct observation *run_at(const struct view_origin *o, size_t i)
{
	unsigned partner = o->partner;

	if (!o->d->disks || o->variant != o->d->baseline)
		return dataset_candidate(o->d, o->cell, o->variant, i);
	if (every_partner(o)) {
		partner = (unsigned)(i / o->d->nblocks);
		partner += partner >= o->d->baseline && o->d->nvariants > 1;
	}
	return dataset_baseline(o->d, o->cell, partner, i % o->d->nblocks);
}

static int fill_observations(struct dataset *d, const struct view_origin *origin, struct error *e)
{
	size_t places = d->ncells * d->nvariants;

	for (size_t i = 0; i < places; i++)
		d->nblocks = runs_of(&origin[i]) > d->nblocks ? (unsigned)runs_of(&origin[i]) : d->nblocks;
	d->observation = calloc(places * d->nblocks, sizeof(*d->observation));
	if (!d->observation)
		return error_set(e, STATUS_HOST, "out of memory");
	for (size_t i = 0; i < places; i++) {
		size_t runs = runs_of(&origin[i]);

		for (size_t k = 0; k < d->nblocks; k++) {
			struct observation *o = &d->observation[i * d->nblocks + k];

			if (k < runs)
				*o = *run_at(&origin[i], k);
			for (int m = 0; m < METRICS && k >= runs; m++)
				o->value[m] = NAN;
			d->ntrials += o->planned;
			d->nok += o->ok;
		}
	}
	return 0;
}

/* ---- what is kept by trial ---- */

/* Where a cell and variant of a source went: 1 + its place in the view, 0 nowhere. */
static size_t *map_of(const struct dataset *view, const struct view_origin *origin, const struct dataset *source)
{
	size_t *map = calloc(source->ncells * source->nvariants, sizeof(*map));

	for (size_t i = 0; map && i < view->ncells * view->nvariants; i++)
		if (origin[i].d == source)
			map[origin[i].cell * source->nvariants + origin[i].variant] = i + 1;
	return map;
}

/* Of several baselines of pairing = disks only the boot of the partner counts. */
static bool other_boot(const struct view_origin *o, const struct point *p)
{
	return o->d->disks && o->variant == o->d->baseline && o->partner != ANY_PARTNER &&
	       dataset_baseline(o->d, o->cell, o->partner, p->block)->boot != p->boot;
}

static int take_trials(struct dataset *d, const struct view_origin *origin, const struct dataset *source, unsigned number,
		       struct error *e)
{
	size_t *map = map_of(d, origin, source);

	if (!map)
		return error_set(e, STATUS_HOST, "out of memory");
	for (size_t i = 0; i < source->npoints; i++) {
		struct point *p = &d->point[d->npoints];
		size_t to = map[source->point[i].cell * source->nvariants + source->point[i].variant];

		if (!to || other_boot(&origin[to - 1], &source->point[i]))
			continue;
		*p = source->point[i];
		p->source = number;
		p->cell = (unsigned)((to - 1) / d->nvariants);
		p->variant = (unsigned)((to - 1) % d->nvariants);
		d->npoints++;
	}
	for (size_t i = 0; i < source->nproblems; i++) {
		struct problem *p = &d->problem[d->nproblems];
		size_t to = map[source->problem[i].cell * source->nvariants + source->problem[i].variant];

		if (!to)
			continue;
		*p = source->problem[i];
		p->message = p->message ? strdup(p->message) : NULL;
		p->cell = (unsigned)((to - 1) / d->nvariants);
		p->variant = (unsigned)((to - 1) % d->nvariants);
		d->nproblems++;
	}
	free(map);
	d->ncut += source->ncut;
	d->nstray += source->nstray;
	return 0;
}

/* Add the counts of one {"accel":{"tcg":n}} to another. */
static void add_seen(json_t *into, const json_t *seen)
{
	const char *set, *text;
	json_t *counts, *n;

	json_object_foreach((json_t *)seen, set, counts) {
		json_t *sum = json_object_get(into, set);

		if (!sum)
			json_object_set_new(into, set, sum = json_object());
		json_object_foreach(counts, text, n)
			json_object_set_new(sum, text, json_integer(json_integer_value(n) +
								    json_integer_value(json_object_get(sum, text))));
	}
}

static int fill_trials(struct dataset *d, const struct view_parts *parts, struct error *e)
{
	size_t points = 1, problems = 1;

	for (size_t i = 0; i < parts->nfrom; i++) {
		points += parts->from[i]->npoints;
		problems += parts->from[i]->nproblems;
		d->repeats = parts->from[i]->repeats > d->repeats ? parts->from[i]->repeats : d->repeats;
		d->fail_on |= parts->from[i]->fail_on;
		add_seen(d->seen, parts->from[i]->seen);
	}
	d->point = calloc(points, sizeof(*d->point));
	d->problem = calloc(problems, sizeof(*d->problem));
	if (!d->point || !d->problem)
		return error_set(e, STATUS_HOST, "out of memory");
	for (unsigned i = 0; i < parts->nfrom; i++)
		if (take_trials(d, parts->origin, parts->from[i], i, e))
			return -1;
	return 0;
}

/* ---- names ---- */

static const char *string_in(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static int fill_names(struct dataset *d, struct error *e)
{
	const json_t *variants = json_object_get(d->run, "variants"), *cells = json_object_get(d->run, "cells");
	const json_t *sources = json_object_get(d->run, "sources");

	d->nvariants = d->nslots = json_array_size(variants);
	d->ncells = json_array_size(cells);
	d->nsources = sources ? json_array_size(sources) : 1;
	d->variant = calloc(d->nvariants + 1, sizeof(*d->variant));
	d->cell = calloc(d->ncells + 1, sizeof(*d->cell));
	d->source = calloc(d->nsources, sizeof(*d->source));
	if (!d->variant || !d->cell || !d->source)
		return error_set(e, STATUS_HOST, "out of memory");
	for (size_t i = 0; i < d->nvariants; i++)
		d->variant[i] = string_in(json_array_get(variants, i), "name");
	for (size_t i = 0; i < d->ncells; i++) {
		d->cell[i].name = string_in(json_array_get(cells, i), "name");
		d->cell[i].guest = string_in(json_array_get(cells, i), "guest");
	}
	for (size_t i = 0; i < d->nsources; i++) {
		const json_t *s = json_array_get(sources, i);

		d->source[i] = s ? (struct dataset_source){ string_in(s, "label"), string_in(s, "path"), json_object_get(s, "run") }
				 : (struct dataset_source){ "", d->path, d->run };
	}
	d->name = string_in(json_object_get(d->run, "scenario"), "name");
	return 0;
}

static char *paths_of(const struct view_parts *parts)
{
	struct text t = { 0 };

	for (size_t i = 0; i < parts->nfrom; i++)
		text_add(&t, "%s%s", i ? ", " : "", parts->from[i]->path);
	return t.failed ? NULL : t.data; /* the caller's now */
}

int view_build(const struct view_parts *parts, struct dataset **out, struct error *e)
{
	const struct dataset *like = parts->from[0];
	struct dataset *d = calloc(1, sizeof(*d));

	*out = NULL;
	if (!d) {
		json_decref(parts->run);
		json_decref(parts->effective);
		return error_set(e, STATUS_HOST, "out of memory");
	}
	d->run = parts->run;
	d->effective = parts->effective ? parts->effective : json_array();
	d->seen = json_object();
	d->path = paths_of(parts);
	d->primary = like->primary;
	d->primary_name = metric_info(like->primary)->name;
	d->margin = like->margin;
	d->fail_margin = like->fail_margin;
	d->alpha = like->alpha;
	d->paired = parts->paired;
	d->boot_s = parts->nfrom == 1 ? like->boot_s : NAN;
	if (!d->run || !d->effective || !d->seen || !d->path)
		error_set(e, STATUS_HOST, "out of memory");
	else if (fill_names(d, e) == 0 && fill_observations(d, parts->origin, e) == 0 && fill_trials(d, parts, e) == 0) {
		*out = d;
		return 0;
	}
	dataset_free(d);
	return -1;
}
