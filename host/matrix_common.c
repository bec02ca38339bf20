#include "host/matrix_common.h"

#include <stdlib.h>
#include <string.h>

struct search {
	const unsigned *value;
	const enum matrix_outcome *outcome;
	size_t ncells, noptions, room;
	struct matrix_common *out;
};

static bool has(const struct search *s, size_t cell, const struct matrix_factor *f)
{
	const unsigned *value = s->value + cell * s->noptions;

	return value[f->a] == f->value_a && (!f->pair || value[f->b] == f->value_b);
}

/* How many failing cells have it; 0 when a passing one does. */
static unsigned failing_with(const struct search *s, const struct matrix_factor *f)
{
	unsigned n = 0;

	for (size_t cell = 0; cell < s->ncells; cell++) {
		if (s->outcome[cell] == MATRIX_UNTRIED || !has(s, cell, f))
			continue;
		if (s->outcome[cell] == MATRIX_PASSED)
			return 0;
		n++;
	}
	return n;
}

/* Found before, or it holds a value that is a factor alone. */
static bool known(const struct search *s, const struct matrix_factor *f)
{
	for (size_t i = 0; i < s->out->nfactors; i++) {
		const struct matrix_factor *k = &s->out->factor[i];

		if (!k->pair && ((k->a == f->a && k->value_a == f->value_a) || (f->pair && k->a == f->b && k->value_a == f->value_b)))
			return true;
		if (k->pair && f->pair && k->a == f->a && k->b == f->b && k->value_a == f->value_a && k->value_b == f->value_b)
			return true;
	}
	return false;
}

static int consider(struct search *s, struct matrix_factor f)
{
	struct matrix_common *c = s->out;

	if (known(s, &f))
		return 0;
	f.cells = failing_with(s, &f);
	if (f.cells == 0)
		return 0;
	if (c->nfactors == s->room) {
		size_t room = s->room ? 2 * s->room : 16;
		struct matrix_factor *more = realloc(c->factor, room * sizeof(*more));

		if (!more)
			return -1;
		c->factor = more;
		s->room = room;
	}
	c->factor[c->nfactors++] = f;
	return 0;
}

static int values_of(struct search *s, size_t cell)
{
	const unsigned *value = s->value + cell * s->noptions;

	for (unsigned a = 0; a < s->noptions; a++)
		if (consider(s, (struct matrix_factor){ .a = a, .value_a = value[a] }))
			return -1;
	return 0;
}

/* An option with one value in all cells that were tried makes no pair more than its other half is. */
static bool constant(const struct search *s, unsigned option)
{
	const unsigned *first = NULL;

	for (size_t cell = 0; cell < s->ncells; cell++) {
		const unsigned *value = &s->value[cell * s->noptions + option];

		if (s->outcome[cell] == MATRIX_UNTRIED)
			continue;
		if (first && *value != *first)
			return false;
		first = value;
	}
	return true;
}

static int pairs_of(struct search *s, size_t cell)
{
	const unsigned *value = s->value + cell * s->noptions;

	for (unsigned a = 0; a < s->noptions; a++) {
		if (constant(s, a))
			continue;
		for (unsigned b = a + 1; b < s->noptions; b++)
			if (!constant(s, b) && consider(s, (struct matrix_factor){ .a = a, .value_a = value[a], .pair = true, .b = b,
										   .value_b = value[b] }))
				return -1;
	}
	return 0;
}

static int order(const void *x, const void *y)
{
	const struct matrix_factor *f = x, *g = y;

	if (f->pair != g->pair)
		return f->pair ? 1 : -1;
	if (f->cells != g->cells)
		return f->cells > g->cells ? -1 : 1;
	if (f->a != g->a)
		return f->a < g->a ? -1 : 1;
	if (f->b != g->b)
		return f->b < g->b ? -1 : 1;
	if (f->value_a != g->value_a)
		return f->value_a < g->value_a ? -1 : 1;
	return f->value_b < g->value_b ? -1 : f->value_b > g->value_b;
}

/* Only those in every failing cell, when there are such; else what more than one has. */
static void choose(struct matrix_common *c)
{
	unsigned least = 2;
	size_t kept = 0;

	for (size_t i = 0; i < c->nfactors; i++)
		c->all |= c->factor[i].cells == c->failed;
	if (c->all)
		least = c->failed;
	for (size_t i = 0; i < c->nfactors; i++)
		if (c->factor[i].cells >= least)
			c->factor[kept++] = c->factor[i];
	c->nfactors = kept;
	if (kept)
		qsort(c->factor, kept, sizeof(*c->factor), order);
}

int matrix_common_find(const unsigned *value, const enum matrix_outcome *outcome, size_t ncells, size_t noptions,
		       struct matrix_common *out, struct error *e)
{
	struct search s = { .value = value, .outcome = outcome, .ncells = ncells, .noptions = noptions, .out = out };
	int rc = 0;

	*out = (struct matrix_common){ 0 };
	for (size_t cell = 0; cell < ncells; cell++) {
		out->passed += outcome[cell] == MATRIX_PASSED;
		out->failed += outcome[cell] == MATRIX_FAILED;
	}
	if (out->passed == 0 || out->failed == 0)
		return 0;
	for (size_t cell = 0; cell < ncells && rc == 0; cell++)
		if (outcome[cell] == MATRIX_FAILED)
			rc = values_of(&s, cell);
	for (size_t cell = 0; cell < ncells && rc == 0; cell++)
		if (outcome[cell] == MATRIX_FAILED)
			rc = pairs_of(&s, cell);
	if (rc) {
		matrix_common_free(out);
		return error_set(e, STATUS_HOST, "out of memory");
	}
	choose(out);
	return 0;
}

void matrix_common_free(struct matrix_common *c)
{
	free(c->factor);
	*c = (struct matrix_common){ 0 };
}
