#include "host/plan.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TRIALS 999999 /* their files have six digits */

/* splitmix64 (Steele, Lea, Flood 2014): a stream that a seed alone decides, on every machine. */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint64_t draw_below(uint64_t *state, uint64_t n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n, v;

	do
		v = draw(state);
	while (v >= limit);
	return v % n;
}

static void shuffle(unsigned *list, size_t n, uint64_t *state)
{
	while (n > 1) {
		size_t k = (size_t)draw_below(state, n--);
		unsigned t = list[n];

		list[n] = list[k];
		list[k] = t;
	}
}

static void count_up(unsigned *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		list[i] = (unsigned)i;
}

uint64_t plan_offset_seed(const struct plan *p, unsigned block, unsigned cell)
{
	unsigned within = 0; /* its guest, whose cells stand together */
	uint64_t state;

	while (within < cell && p->cell[cell - within - 1].guest == p->cell[cell].guest)
		within++;
	state = p->seed ^ ((uint64_t)(block + 1) << 32 | (within + 1));
	return draw(&state) >> 1;
}

/* The cells of one guest in the order of one block; order has room for all cells. */
static size_t draw_cells(const struct plan *p, unsigned guest, unsigned *order, uint64_t *state)
{
	size_t n = 0;

	for (unsigned c = 0; c < p->ncells; c++)
		if (p->cell[c].guest == guest)
			order[n++] = c;
	shuffle(order, n, state);
	return n;
}

static void add_trial(struct plan *p, const struct plan_boot *boot, unsigned cell, unsigned variant, unsigned repeat)
{
	struct plan_trial *t = &p->trial[p->ntrials];

	*t = (struct plan_trial){ .number = (unsigned)++p->ntrials, .boot = boot->number - 1, .block = boot->block,
				  .cell = cell, .variant = variant, .repeat = repeat };
}

static struct plan_boot *add_boot(struct plan *p, unsigned block, unsigned guest)
{
	struct plan_boot *b = &p->boot[p->nboots];

	*b = (struct plan_boot){ .number = (unsigned)++p->nboots, .block = block, .guest = guest,
				 .first_trial = (unsigned)p->ntrials };
	return b;
}

/* Every variant gets a boot; all boots of the block take their cells in the same order. */
static void block_of_boots(struct plan *p, const struct scenario *s, unsigned block, unsigned guest, unsigned *order,
			   unsigned *variants, uint64_t *state)
{
	size_t n = draw_cells(p, guest, order, state);

	count_up(variants, s->nvariants);
	shuffle(variants, s->nvariants, state);
	for (size_t v = 0; v < s->nvariants; v++) {
		struct plan_boot *b = add_boot(p, block, guest);

		b->variant[0] = variants[v];
		b->ndisks = 1;
		for (unsigned repeat = 0; repeat < s->repeats; repeat++)
			for (size_t c = 0; c < n; c++)
				add_trial(p, b, order[c], variants[v], repeat);
		b->ntrials = (unsigned)p->ntrials - b->first_trial;
	}
}

/*
 * Every trial gets a boot. The variants of a cell stand together, in an order drawn for it, so that what is
 * compared is close in time.
 */
static void block_of_trials(struct plan *p, const struct scenario *s, unsigned block, unsigned guest, unsigned *order,
			    unsigned *variants, uint64_t *state)
{
	size_t n = draw_cells(p, guest, order, state);

	for (unsigned repeat = 0; repeat < s->repeats; repeat++)
		for (size_t c = 0; c < n; c++) {
			count_up(variants, s->nvariants);
			shuffle(variants, s->nvariants, state);
			for (size_t v = 0; v < s->nvariants; v++) {
				struct plan_boot *b = add_boot(p, block, guest);

				b->variant[0] = variants[v];
				b->ndisks = 1;
				b->ntrials = 1;
				add_trial(p, b, order[c], variants[v], repeat);
			}
		}
}

/*
 * One boot with both variants as disks. Slot (PCI address) and backing file are swapped from block to block:
 * four blocks see every combination. Within a cell the two take turns, who begins is drawn.
 */
static void block_of_disks(struct plan *p, const struct scenario *s, unsigned block, unsigned guest, unsigned *order,
			   uint64_t first, uint64_t *state)
{
	size_t n = draw_cells(p, guest, order, state);
	struct plan_boot *b = add_boot(p, block, guest);
	unsigned swap_slot = (unsigned)((block + first) & 1), swap_file = (unsigned)((block / 2 + (first >> 1)) & 1);

	b->ndisks = 2;
	b->variant[swap_slot] = 0;
	b->variant[!swap_slot] = 1;
	b->file[0] = swap_file;
	b->file[1] = !swap_file;
	for (unsigned repeat = 0; repeat < s->repeats; repeat++)
		for (size_t c = 0; c < n; c++) {
			unsigned begins = (unsigned)(draw(state) & 1);

			add_trial(p, b, order[c], begins, repeat);
			add_trial(p, b, order[c], !begins, repeat);
		}
	b->ntrials = (unsigned)p->ntrials - b->first_trial;
}

int plan_make(const struct scenario *s, uint64_t seed, struct plan **out, struct error *e)
{
	size_t boots;
	struct plan *p = calloc(1, sizeof(*p));
	unsigned *order = NULL, *variants = NULL, *guests = NULL;
	uint64_t state = seed, first, trials;

	*out = NULL;
	if (!p)
		return error_set(e, STATUS_HOST, "out of memory");
	p->seed = seed;
	p->nblocks = s->blocks;
	if (plan_cells(s, p, e))
		goto fail;
	trials = (uint64_t)s->blocks * p->ncells * s->nvariants * s->repeats;
	if (trials > MOST_TRIALS) {
		error_at(e, STATUS_USAGE, s->file, 0, "%llu trials in %u blocks, %zu cells, %zu variants and %u repeats: at most %d",
			 (unsigned long long)trials, s->blocks, p->ncells, s->nvariants, s->repeats, MOST_TRIALS);
		goto fail;
	}
	boots = s->fresh_boot == FRESH_BOOT_PER_TRIAL ? trials
	      : (size_t)s->blocks * s->nguests * (s->pairing == PAIRING_DISKS ? 1 : s->nvariants);
	p->boot = calloc(boots, sizeof(*p->boot));
	p->trial = calloc(trials, sizeof(*p->trial));
	order = calloc(p->ncells, sizeof(*order));
	variants = calloc(s->nvariants, sizeof(*variants));
	guests = calloc(s->nguests, sizeof(*guests));
	if (!p->boot || !p->trial || !order || !variants || !guests) {
		error_set(e, STATUS_HOST, "out of memory");
		goto fail;
	}
	first = draw(&state);
	for (unsigned block = 0; block < s->blocks; block++) {
		count_up(guests, s->nguests);
		shuffle(guests, s->nguests, &state);
		for (size_t g = 0; g < s->nguests; g++)
			if (s->pairing == PAIRING_DISKS)
				block_of_disks(p, s, block, guests[g], order, first, &state);
			else if (s->fresh_boot == FRESH_BOOT_PER_TRIAL)
				block_of_trials(p, s, block, guests[g], order, variants, &state);
			else
				block_of_boots(p, s, block, guests[g], order, variants, &state);
	}
	*out = p;
	p = NULL;
fail:
	free(order);
	free(variants);
	free(guests);
	plan_free(p);
	return *out ? 0 : -1;
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->ncells; i++) {
		for (size_t k = 0; k < p->cell[i].argc; k++)
			free(p->cell[i].argv[k]);
		free(p->cell[i].argv);
		free(p->cell[i].name);
		free(p->cell[i].point);
	}
	free(p->cell);
	free(p->boot);
	free(p->trial);
	free(p);
}

static double trial_seconds(const struct cell *c, const struct pace *pace, bool *exact)
{
	double by_ios, by_bytes, s;

	if (c->fixed_s > 0)
		return c->fixed_s;
	by_ios = (double)c->ios / pace->iops;
	by_bytes = (double)c->bytes / pace->bandwidth;
	s = by_ios > by_bytes ? by_ios : by_bytes;
	if (c->limit_s > 0 && s > c->limit_s)
		return c->limit_s;
	*exact = false;
	return s;
}

const struct pace pace_usual = { .boot_s = 2.5, .stop_s = 0.5, .trial_s = 0.3, .iops = 8000, .bandwidth = 5e8, .restore = 1e9 };

double plan_seconds(const struct scenario *s, const struct plan *p, const struct pace *pace, bool *exact)
{
	double total = 0;

	*exact = pace->measured;
	for (size_t b = 0; b < p->nboots; b++) {
		const struct plan_boot *boot = &p->boot[b];
		bool dirty[2] = { false, false };

		total += pace->boot_s + pace->stop_s;
		for (unsigned t = 0; t < boot->ntrials; t++) {
			const struct plan_trial *trial = &p->trial[boot->first_trial + t];
			const struct cell *c = &p->cell[trial->cell];

			total += pace->trial_s + trial_seconds(c, pace, exact);
			if (c->on_files) /* how long laying them out takes is not known */
				*exact = false;
			dirty[boot->ndisks > 1 && trial->variant == boot->variant[1]] |= c->writes;
		}
		for (unsigned d = 0; d < boot->ndisks; d++) {
			const struct settings *disk = &s->variant[boot->variant[d]].settings;

			if (dirty[d] && disk->backend != BACKEND_NULL && disk->backend != BACKEND_NBD)
				total += (double)disk->size / pace->restore;
		}
	}
	return total;
}
