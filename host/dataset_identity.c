/* Trials that may not be added up: what they ran under differs, as after a resume on another host. */
#include <stdlib.h>
#include <string.h>

#include "guest/text.h"
#include "host/dataset_private.h"

/*
 * A part of a trial's identity, and whether it is the host's. What a variant can set is compared within a variant of a cell,
 * what is the host's over all variants: a difference between hosts would be taken for one between variants.
 */
static const struct part {
	const char *key, *name;
	bool of_host;
} parts[] = {
	{ "accel", "accelerator", false },
	{ "cpu", "CPU model", false },
	{ "host", "host", true },
	{ "host_cpu", "host CPU", true },
	{ "microcode", "microcode", true },
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

/* The first trial of one side of a cell, or of those that share a host. */
struct first {
	const struct shared_text *identity;
	unsigned trial;
};

/* NULL: they agree in all that both tell. */
static const struct part *difference(const json_t *a, const json_t *b, bool of_host)
{
	for (size_t i = 0; i < PARTS; i++) {
		const json_t *x = json_object_get(a, parts[i].key), *y = json_object_get(b, parts[i].key);

		if (parts[i].of_host == of_host && json_is_string(x) && json_is_string(y) && !json_equal(x, y))
			return &parts[i];
	}
	return NULL;
}

/* All blocks of a side: none of them is judged. */
static void spoil(struct dataset *d, const struct planned_trial *p)
{
	for (size_t block = 0; block < d->nblocks; block++)
		d->observation[p->slot * d->nblocks + block].mismatch = true;
}

/* Once for a variant and part: where one cell has it others have it, too. */
static void tell(struct dataset *d, const struct planned_trial *p, const struct part *part, unsigned first, const json_t *a,
		 const json_t *b, unsigned *told)
{
	json_t *seen = json_array_get(d->effective, p->variant), *set = json_object_get(seen, "mismatch");
	unsigned bit = 1u << (part - parts);
	struct text t = { 0 };

	if (told[p->variant] & bit)
		return;
	told[p->variant] |= bit;
	if (!set)
		json_object_set_new(seen, "mismatch", set = json_object());
	text_add(&t, "%s: %s in trial %u, %s in trial %u: such trials are not added up", part->name,
		 json_string_value(json_object_get(a, part->key)), first, json_string_value(json_object_get(b, part->key)),
		 p->number);
	json_object_set_new(set, text_get(&t), json_integer(json_integer_value(json_object_get(seen, "boots"))));
	text_free(&t);
}

/* Compare a trial with the first of its kind. Texts of equal trials are the same text. */
static void look(struct dataset *d, const struct planned_trial *p, struct first *first, bool of_host, unsigned *told)
{
	const struct part *part;
	json_t *a, *b;

	if (!first->identity)
		*first = (struct first){ .identity = p->record->identity, .trial = p->number };
	if (first->identity == p->record->identity)
		return;
	a = json_loads(first->identity->text, 0, NULL);
	b = json_loads(p->record->identity->text, 0, NULL);
	part = difference(a, b, of_host);
	if (part) {
		tell(d, p, part, first->trial, a, b, told);
		spoil(d, p);
	}
	json_decref(a);
	json_decref(b);
}

int identity_check(struct dataset *d, const struct planned_trial *trial, struct error *e)
{
	size_t blocks = d->nhosts > 1 ? d->nblocks : 1;
	struct first *side = calloc(d->ncells * d->nslots, sizeof(*side)), *host = calloc(d->ncells * blocks, sizeof(*host));
	unsigned *told = calloc(d->nvariants, sizeof(*told));
	int status = side && host && told ? 0 : error_set(e, STATUS_HOST, "out of memory");

	for (size_t i = 0; status == 0 && i < d->ntrials; i++) {
		const struct planned_trial *p = &trial[i];

		if (p->record->status != OBSERVED_OK || !p->record->identity)
			continue;
		look(d, p, &side[p->slot], false, told);
		look(d, p, &host[p->cell * blocks + (blocks > 1 ? p->block : 0)], true, told);
	}
	free(side);
	free(host);
	free(told);
	return status;
}
