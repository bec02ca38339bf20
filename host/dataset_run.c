/* run.json: names, settings of the verdict, and the plan. */
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/dataset_private.h"
#include "host/scenario.h"

/*
 * A small damaged or hostile file must not ask for all memory: what is made by cells, variants and blocks has to be in
 * proportion to the trials that the file lists. A side (of a cell) becomes a comparison, 3 KB; an observation takes 200
 * bytes. A plan has at least a trial for every other of them; where runs are not paired, a cell of many runs makes
 * room for as many in all others.
 */
#define PER_TRIAL 16
#define MOST_SIDES 20000
#define MOST_OBSERVATIONS 1000000

static const char *text_of(const json_t *object, const char *key, struct error *e)
{
	const char *s = json_string_value(json_object_get(object, key));

	if (!s)
		error_set(e, STATUS_USAGE, "\"%s\" is missing or no text", key);
	return s;
}

static int whole_of(const json_t *object, const char *key, unsigned min, unsigned max, unsigned *out,
		    struct error *e)
{
	const json_t *value = json_object_get(object, key);
	json_int_t n = json_integer_value(value);

	if (!json_is_integer(value) || n < (json_int_t)min || n > (json_int_t)max)
		return error_set(e, STATUS_USAGE, "\"%s\" is missing or not within %u to %u", key, min, max);
	*out = (unsigned)n;
	return 0;
}

static double fraction_of(const json_t *object, const char *key, double otherwise)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : otherwise;
}

static int find_variant(const struct dataset *d, const char *name, unsigned *out, struct error *e)
{
	for (size_t i = 0; i < d->nvariants; i++) {
		if (strcmp(d->variant[i], name) == 0) {
			*out = (unsigned)i;
			return 0;
		}
	}
	return error_set(e, STATUS_USAGE, "there is no variant \"%s\"", name);
}

static unsigned fail_on_of(const json_t *names)
{
	static const struct { const char *name; unsigned bit; } known[] = {
		{ "worse", FAIL_WORSE }, { "better", FAIL_BETTER }, { "unclear", FAIL_UNCLEAR },
		{ "stalled", FAIL_STALLED }, { "corrupt", FAIL_CORRUPT },
	};
	unsigned mask = 0;
	const json_t *name;
	size_t i;

	json_array_foreach(names, i, name)
		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (json_is_string(name) && strcmp(json_string_value(name), known[k].name) == 0)
				mask |= known[k].bit;
	return mask;
}

static int read_names(struct dataset *d, struct error *e)
{
	const json_t *variants = json_object_get(d->run, "variants"), *cells = json_object_get(d->run, "cells");

	d->nvariants = json_array_size(variants);
	d->ncells = json_array_size(cells);
	if (d->nvariants == 0 || d->ncells == 0)
		return error_set(e, STATUS_USAGE, "it names no %s", d->nvariants ? "cells" : "variants");
	d->variant = calloc(d->nvariants, sizeof(*d->variant));
	d->cell = calloc(d->ncells, sizeof(*d->cell));
	if (!d->variant || !d->cell)
		return error_set(e, STATUS_HOST, "out of memory");
	for (size_t i = 0; i < d->nvariants; i++) {
		d->variant[i] = text_of(json_array_get(variants, i), "name", e);
		if (!d->variant[i])
			return error_context(e, "variants[%zu]", i);
	}
	for (size_t i = 0; i < d->ncells; i++) {
		d->cell[i].name = text_of(json_array_get(cells, i), "name", e);
		d->cell[i].guest = text_of(json_array_get(cells, i), "guest", e);
		if (!d->cell[i].name || !d->cell[i].guest)
			return error_context(e, "cells[%zu]", i);
	}
	return 0;
}

/* Only of a run whose plan tells where each block was measured. */
static int read_hosts(struct dataset *d, struct error *e)
{
	const json_t *hosts = json_object_get(d->run, "hosts");
	size_t n = json_array_size(hosts);

	if (n < 2 || !d->paired)
		return 0;
	d->host = calloc(n, sizeof(*d->host));
	d->block_host = calloc(d->nblocks, sizeof(*d->block_host));
	if (!d->host || !d->block_host)
		return error_set(e, STATUS_HOST, "out of memory");
	d->nhosts = n;
	for (size_t i = 0; i < n; i++) {
		d->host[i] = text_of(json_array_get(hosts, i), "label", e);
		if (!d->host[i])
			return error_context(e, "hosts[%zu]", i);
	}
	return 0;
}

static int read_scenario(struct dataset *d, struct error *e)
{
	const json_t *s = json_object_get(d->run, "scenario");
	const char *baseline = text_of(s, "baseline", e), *pairing = text_of(s, "pairing", e);

	d->name = text_of(s, "name", e);
	d->primary_name = text_of(s, "primary", e);
	if (!baseline || !pairing || !d->name || !d->primary_name || find_variant(d, baseline, &d->baseline, e) ||
	    whole_of(s, "blocks", 1, 100000, &d->nblocks, e) || whole_of(s, "repeats", 1, 100000, &d->repeats, e))
		return -1;
	d->primary = metric_find(d->primary_name);
	if (d->primary == METRICS)
		return error_set(e, STATUS_USAGE, "there is no metric \"%s\"", d->primary_name);
	d->disks = strcmp(pairing, "disks") == 0;
	d->paired = strcmp(pairing, "none") != 0;
	d->margin = fraction_of(s, "margin", 0.03);
	d->fail_margin = fraction_of(s, "fail_margin", 0);
	d->alpha = fraction_of(s, "alpha", 0.05);
	if (!(d->margin > 0 && d->margin < 1) || !(d->fail_margin >= 0 && d->fail_margin < 1) ||
	    !(d->alpha > 0 && d->alpha < 1))
		return error_set(e, STATUS_USAGE, "\"margin\", \"fail_margin\" or \"alpha\" is no fraction");
	d->fail_on = fail_on_of(json_object_get(s, "fail_on"));
	return 0;
}

/* Where a boot's variant is kept: see dataset_baseline(). partner: the boot's other variant. */
static size_t slot_of(const struct dataset *d, unsigned variant, unsigned partner)
{
	return d->disks && variant == d->baseline ? d->nvariants + partner : variant;
}

static int read_boot_trials(struct dataset *d, const json_t *boot, struct planned_trial **at, struct error *e)
{
	const json_t *trials = json_object_get(boot, "trials"), *variants = json_object_get(boot, "variants"), *t;
	unsigned number, block, partner = d->baseline;
	size_t i;

	if (whole_of(boot, "boot", 1, INT_MAX, &number, e) || whole_of(boot, "block", 1, d->nblocks, &block, e))
		return -1;
	if (d->nhosts) {
		unsigned host;

		if (whole_of(boot, "host", 1, (unsigned)d->nhosts, &host, e))
			return -1;
		d->block_host[block - 1] = host - 1;
	}
	json_array_foreach(variants, i, t) {
		unsigned v = d->baseline;

		if (!json_is_string(t) || find_variant(d, json_string_value(t), &v, e))
			return error_set(e, STATUS_USAGE, "\"variants\" is not a list of names");
		if (v != d->baseline)
			partner = v;
	}
	json_array_foreach(trials, i, t) {
		struct planned_trial *p = (*at)++;
		const char *variant = text_of(t, "variant", e);

		if (!variant || find_variant(d, variant, &p->variant, e) ||
		    whole_of(t, "trial", 1, INT_MAX, &p->number, e) ||
		    whole_of(t, "cell", 0, (unsigned)d->ncells - 1, &p->cell, e))
			return error_context(e, "trials[%zu]", i);
		p->boot = number;
		p->block = p->slot_block = block - 1;
		p->slot = (size_t)p->cell * d->nslots + slot_of(d, p->variant, partner);
	}
	return 0;
}

/*
 * Runs that are not paired: whatever their block, the boots of a cell and variant are its runs, in the order of the
 * plan, so that every observation is one.
 */
static int number_runs(struct dataset *d, struct planned_trial *trial, struct error *e)
{
	struct { unsigned boot, runs; } *slot = calloc(d->ncells * d->nslots, sizeof(*slot));

	if (!slot)
		return error_set(e, STATUS_HOST, "out of memory");
	d->nblocks = 1;
	for (size_t i = 0; i < d->ntrials; i++) {
		struct planned_trial *p = &trial[i];

		if (slot[p->slot].boot != p->boot) {
			slot[p->slot].boot = p->boot;
			slot[p->slot].runs++;
		}
		p->slot_block = slot[p->slot].runs - 1;
		if (slot[p->slot].runs > d->nblocks)
			d->nblocks = slot[p->slot].runs;
	}
	free(slot);
	return 0;
}

static int read_plan(struct dataset *d, struct planned_trial **trial, struct error *e)
{
	const json_t *boots = json_object_get(json_object_get(d->run, "plan"), "boots"), *boot;
	struct planned_trial *at;
	size_t i;

	json_array_foreach(boots, i, boot)
		d->ntrials += json_array_size(json_object_get(boot, "trials"));
	if (d->ntrials == 0)
		return error_set(e, STATUS_USAGE, "the plan holds no trials");
	*trial = at = calloc(d->ntrials, sizeof(**trial));
	if (!at)
		return error_set(e, STATUS_HOST, "out of memory");
	json_array_foreach(boots, i, boot) {
		if (read_boot_trials(d, boot, &at, e))
			return error_context(e, "plan boots[%zu]", i);
	}
	return 0;
}

/* Is a * b (b > 0) at most `most`, or what so many trials may have? */
static int in_proportion(const struct dataset *d, size_t a, size_t b, size_t most, struct error *e)
{
	size_t planned = d->ntrials > SIZE_MAX / PER_TRIAL ? SIZE_MAX : PER_TRIAL * d->ntrials;

	if (a <= (planned > most ? planned : most) / b)
		return 0;
	return error_set(e, STATUS_USAGE, "it claims %zu cells, %zu variants and %u blocks for a plan of %zu trials: that is damaged",
			 d->ncells, d->nvariants, d->nblocks, d->ntrials);
}

static int make_observations(struct dataset *d, struct error *e)
{
	size_t n;

	if (in_proportion(d, d->ncells * d->nslots, d->nblocks, MOST_OBSERVATIONS, e))
		return -1;
	n = d->ncells * d->nslots * d->nblocks;
	d->observation = calloc(n, sizeof(*d->observation));
	if (!d->observation)
		return error_set(e, STATUS_HOST, "out of memory");
	for (size_t i = 0; i < n; i++)
		for (int m = 0; m < METRICS; m++)
			d->observation[i].value[m] = NAN;
	return 0;
}

int dataset_read_run(struct dataset *d, struct planned_trial **trial, struct error *e)
{
	if (read_names(d, e) || read_scenario(d, e) || read_hosts(d, e))
		return -1;
	d->nslots = d->disks ? 2 * d->nvariants : d->nvariants;
	if (read_plan(d, trial, e) || in_proportion(d, d->ncells, d->nslots, MOST_SIDES, e) ||
	    (!d->paired && number_runs(d, *trial, e)) || make_observations(d, e))
		return -1;
	for (size_t i = 0; i < d->ntrials; i++)
		(*trial)[i].observation = (*trial)[i].slot * d->nblocks + (*trial)[i].slot_block;
	return 0;
}
