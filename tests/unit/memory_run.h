/* A dataset that never was a folder: one metric, IOPS, from a function of its place. For many cells and many blocks. */
#ifndef KB_TESTS_MEMORY_RUN_H
#define KB_TESTS_MEMORY_RUN_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/dataset.h"

struct memory_place {
	unsigned cell, variant, block, repeat; /* all 0.. */
};

struct memory_run {
	unsigned cells, blocks, repeats;
	bool unpaired;
	double boot_s, trial_s; /* from which the points get their times; 0: they have none */
	double (*iops)(const struct memory_place *at); /* NAN: the trial is missing */
};

/* Standard normal, the same on every machine: the sum of twelve uniform numbers less six, of splitmix64. */
static inline double memory_noise(uint64_t seed, const struct memory_place *at)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15u + ((uint64_t)at->cell << 40) + ((uint64_t)at->variant << 36) +
		     ((uint64_t)at->block << 8) + at->repeat;
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		uint64_t z = x += 0x9e3779b97f4a7c15u;

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
		sum += (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
	}
	return sum;
}

static inline void memory_fill(struct dataset *d, const struct memory_run *r)
{
	double now = 1700000000;
	unsigned trial = 0;

	for (unsigned block = 0; block < r->blocks; block++)
		for (unsigned variant = 0; variant < 2; variant++) {
			now += r->boot_s;
			for (unsigned repeat = 0; repeat < r->repeats; repeat++)
				for (unsigned cell = 0; cell < r->cells; cell++) {
					struct memory_place at = { cell, variant, block, repeat };
					struct observation *o = &d->observation[(cell * 2 + variant) * r->blocks + block];
					double iops = r->iops(&at);

					trial++;
					o->planned = 1;
					o->boot = 2 * block + variant + 1;
					if (isnan(iops)) {
						o->status = OBSERVED_MISSING;
						continue;
					}
					o->ok = 1;
					o->value[METRIC_IOPS] = (repeat ? o->value[METRIC_IOPS] * repeat + iops : iops) / (repeat + 1);
					d->point[d->npoints] = (struct point){ .trial = trial, .boot = o->boot, .block = block, .cell = cell,
									       .variant = variant, .started = r->trial_s > 0 ? now : NAN };
					d->point[d->npoints++].value[METRIC_IOPS] = iops;
					now += r->trial_s;
				}
		}
}

static inline struct dataset *memory_dataset(const struct memory_run *r)
{
	struct dataset *d = calloc(1, sizeof(*d));
	json_t *names = json_array();
	char name[32];

	d->run = json_pack("{s:i,s:o}", "seed", 1, "names", names);
	d->path = strdup("memory");
	d->name = "memory";
	d->primary_name = "iops";
	d->primary = METRIC_IOPS;
	d->nblocks = r->blocks;
	d->repeats = r->repeats;
	d->margin = 0.03;
	d->alpha = 0.05;
	d->paired = !r->unpaired;
	d->nvariants = d->nslots = 2;
	d->variant = calloc(2, sizeof(*d->variant));
	d->variant[0] = "none";
	d->variant[1] = "kickfd";
	d->ncells = r->cells;
	d->cell = calloc(r->cells, sizeof(*d->cell));
	for (unsigned i = 0; i < r->cells; i++) {
		snprintf(name, sizeof(name), "cell %u", i);
		json_array_append_new(names, json_string(name));
		d->cell[i] = (struct dataset_cell){ json_string_value(json_array_get(names, i)), "linux" };
	}
	d->ntrials = d->nok = (size_t)2 * r->cells * r->blocks * r->repeats;
	d->point = calloc(d->ntrials, sizeof(*d->point));
	d->observation = calloc((size_t)2 * r->cells * r->blocks, sizeof(*d->observation));
	for (size_t i = 0; i < (size_t)2 * r->cells * r->blocks; i++)
		for (int m = 0; m < METRICS; m++)
			d->observation[i].value[m] = NAN;
	d->effective = json_array();
	d->seen = json_object();
	d->nsources = 1;
	d->source = calloc(1, sizeof(*d->source));
	d->source[0] = (struct dataset_source){ "", d->path, d->run };
	memory_fill(d, r);
	return d;
}

#endif
