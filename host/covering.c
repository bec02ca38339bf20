/*
 * A greedy search in the manner of AETG (Cohen, Dalal, Fredman, Patton: The AETG System, IEEE Transactions on Software
 * Engineering 23(7), 1997): a row after the other, of several candidates the one that covers most. Two things are added: a
 * candidate is never led into a dead end by pairs that exclude each other (what is left to every option is counted along,
 * and a choice that leaves one nothing is taken back), and the whole is done several times over, as luck differs.
 */
#include "host/covering.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "guest/offsets.h"

#define CANDIDATES 30 /* of one row: AETG's authors saw no gain beyond 50 */
#define ATTEMPTS 40   /* of the whole, … */
#define MOST_WORK 400000000 /* … until so many pairs have been looked at: a second or two */
#define MOST_VALUES 4096    /* of all options together: tables have the square of it */

/* Values of all options are numbered through: value v of option o is first[o] + v. */
struct space {
	size_t noptions;
	unsigned nglobal;
	unsigned *first;  /* by option, and one more: nglobal */
	unsigned *option; /* by value */
	bool *allowed;    /* by value, by value: they may meet; false within an option */
	bool *possible;   /* … and some row holds both */
	bool *needed;     /* not covered yet */
	unsigned *nneeded; /* of a value: how many it still has to meet */
	uint64_t work;
	struct random64 random;
};

/* A row in the making. */
struct making {
	unsigned *value;   /* by option, numbered through; UINT_MAX: open */
	unsigned *refusals; /* by value: how many of the chosen ones it may not meet */
	unsigned *left;    /* by option: values without a refusal */
	unsigned *order;   /* options, as they are to be decided */
	unsigned *room;    /* to sort values in: noptions parts, as many as there are values each */
};

static bool *cell(bool *table, const struct space *s, unsigned a, unsigned b)
{
	return &table[(size_t)a * s->nglobal + b];
}

static void space_free(struct space *s)
{
	free(s->first);
	free(s->option);
	free(s->allowed);
	free(s->possible);
	free(s->needed);
	free(s->nneeded);
}

static int space_init(struct space *s, const unsigned *nvalues, size_t noptions, struct error *e)
{
	size_t total = 0, square;

	for (size_t o = 0; o < noptions && total <= MOST_VALUES; o++)
		total += nvalues[o];
	if (total > MOST_VALUES)
		return error_set(e, STATUS_USAGE, "the options have more than %d values together", MOST_VALUES);
	square = total * total;
	s->noptions = noptions;
	s->nglobal = (unsigned)total;
	s->first = calloc(noptions + 1, sizeof(*s->first));
	s->option = calloc(total + 1, sizeof(*s->option));
	s->allowed = calloc(square + 1, sizeof(*s->allowed));
	s->possible = calloc(square + 1, sizeof(*s->possible));
	s->needed = calloc(square + 1, sizeof(*s->needed));
	s->nneeded = calloc(total + 1, sizeof(*s->nneeded));
	if (!s->first || !s->option || !s->allowed || !s->possible || !s->needed || !s->nneeded)
		return error_set(e, STATUS_HOST, "out of memory");
	for (size_t o = 0; o < noptions; o++) {
		s->first[o + 1] = s->first[o] + nvalues[o];
		for (unsigned g = s->first[o]; g < s->first[o + 1]; g++)
			s->option[g] = (unsigned)o;
	}
	return 0;
}

static void making_free(struct making *m)
{
	free(m->value);
	free(m->refusals);
	free(m->left);
	free(m->order);
	free(m->room);
}

static int making_init(struct making *m, const struct space *s)
{
	m->value = calloc(s->noptions + 1, sizeof(*m->value));
	m->refusals = calloc(s->nglobal + 1, sizeof(*m->refusals));
	m->left = calloc(s->noptions + 1, sizeof(*m->left));
	m->order = calloc(s->noptions + 1, sizeof(*m->order));
	m->room = calloc(s->noptions * (s->nglobal + 1) + 1, sizeof(*m->room));
	return m->value && m->refusals && m->left && m->order && m->room ? 0 : -1;
}

static void making_start(struct making *m, struct space *s)
{
	memset(m->refusals, 0, s->nglobal * sizeof(*m->refusals));
	for (size_t o = 0; o < s->noptions; o++) {
		m->value[o] = UINT_MAX;
		m->left[o] = s->first[o + 1] - s->first[o];
		m->order[o] = (unsigned)o;
	}
	for (size_t o = s->noptions; o > 1; o--) {
		size_t k = random64_below(&s->random, o);
		unsigned t = m->order[o - 1];

		m->order[o - 1] = m->order[k];
		m->order[k] = t;
	}
}

/* Choose value g. False: some option is left with nothing. It is chosen all the same, and has to be taken back. */
static bool choose(struct making *m, struct space *s, unsigned g)
{
	bool fine = true;

	m->value[s->option[g]] = g;
	for (unsigned h = 0; h < s->nglobal; h++)
		if (s->option[h] != s->option[g] && !*cell(s->allowed, s, g, h) && m->refusals[h]++ == 0)
			fine = --m->left[s->option[h]] > 0 && fine;
	s->work += s->nglobal;
	return fine;
}

static void take_back(struct making *m, const struct space *s, unsigned g)
{
	m->value[s->option[g]] = UINT_MAX;
	for (unsigned h = 0; h < s->nglobal; h++)
		if (s->option[h] != s->option[g] && !*cell(s->allowed, s, g, h) && --m->refusals[h] == 0)
			m->left[s->option[h]]++;
}

/* How many pairs value g would cover with those that are chosen. */
static unsigned gain(const struct making *m, struct space *s, unsigned g)
{
	unsigned count = 0;

	for (size_t o = 0; o < s->noptions; o++)
		count += m->value[o] != UINT_MAX && *cell(s->needed, s, g, m->value[o]);
	s->work += s->noptions;
	return count;
}

/* The option to decide next: one that has but one value left, else the first open one. */
static unsigned next_option(const struct making *m, const struct space *s)
{
	unsigned open = UINT_MAX;

	for (size_t i = 0; i < s->noptions; i++) {
		unsigned o = m->order[i];

		if (m->value[o] != UINT_MAX)
			continue;
		if (m->left[o] <= 1)
			return o;
		if (open == UINT_MAX)
			open = o;
	}
	return open;
}

/* The values that option o may still have, best first; those that cover as much in random order. */
static unsigned sort_values(const struct making *m, struct space *s, unsigned o, unsigned *list)
{
	unsigned n = 0, better[MOST_VALUES];

	for (unsigned g = s->first[o]; g < s->first[o + 1]; g++) {
		unsigned k, worth;

		if (m->refusals[g])
			continue;
		worth = gain(m, s, g);
		for (k = n++; k > 0 && (better[k - 1] < worth || (better[k - 1] == worth && random64_next(&s->random) & 1)); k--) {
			better[k] = better[k - 1];
			list[k] = list[k - 1];
		}
		better[k] = worth;
		list[k] = g;
	}
	return n;
}

/* Decide all options that are open. False: no row is like that; all is as it was then. */
static bool extend(struct making *m, struct space *s, size_t depth)
{
	unsigned o = next_option(m, s), *list = m->room + depth * (s->nglobal + 1), n;

	if (o == UINT_MAX)
		return true;
	n = sort_values(m, s, o, list);
	for (unsigned i = 0; i < n; i++) {
		if (choose(m, s, list[i]) && extend(m, s, depth + 1))
			return true;
		take_back(m, s, list[i]);
	}
	return false;
}

/* A row that holds a and b (may be one value): false when there is none. */
static bool make_row(struct making *m, struct space *s, unsigned a, unsigned b)
{
	making_start(m, s);
	if (a == b)
		return choose(m, s, a) && extend(m, s, 0);
	return choose(m, s, a) && !m->refusals[b] && choose(m, s, b) && extend(m, s, 0);
}

/* Which pairs that are allowed some row can hold: one row shows many of them at once. */
static size_t find_possible(struct making *m, struct space *s)
{
	size_t count = 0;

	for (unsigned a = 0; a < s->nglobal; a++)
		for (unsigned b = a + 1; b < s->nglobal; b++) {
			if (*cell(s->allowed, s, a, b) && !*cell(s->possible, s, a, b) && make_row(m, s, a, b))
				for (size_t x = 0; x < s->noptions; x++)
					for (size_t y = 0; y < s->noptions; y++)
						if (x != y)
							*cell(s->possible, s, m->value[x], m->value[y]) = true;
			count += *cell(s->possible, s, a, b);
		}
	return count;
}

/* The pair that the next candidate starts from: the value that has most to meet, and one of those. */
static void choose_start(struct space *s, unsigned *a, unsigned *b)
{
	unsigned best = 0, ties = 0, n;

	for (unsigned g = 0; g < s->nglobal; g++) {
		if (s->nneeded[g] > best) {
			best = s->nneeded[g];
			ties = 0;
		}
		if (s->nneeded[g] == best && random64_below(&s->random, ++ties) == 0)
			*a = g;
	}
	n = (unsigned)random64_below(&s->random, best);
	for (*b = 0; !*cell(s->needed, s, *a, *b) || n--; ++*b)
		;
}

static size_t count_new(struct space *s, const unsigned *row)
{
	size_t count = 0;

	for (size_t x = 0; x < s->noptions; x++)
		for (size_t y = x + 1; y < s->noptions; y++)
			count += *cell(s->needed, s, row[x], row[y]);
	return count;
}

static void cover(struct space *s, const unsigned *row)
{
	for (size_t x = 0; x < s->noptions; x++)
		for (size_t y = x + 1; y < s->noptions; y++)
			if (*cell(s->needed, s, row[x], row[y])) {
				*cell(s->needed, s, row[x], row[y]) = *cell(s->needed, s, row[y], row[x]) = false;
				s->nneeded[row[x]]--;
				s->nneeded[row[y]]--;
			}
}

struct rows {
	unsigned *value; /* numbered through */
	size_t n, room;
};

static int add_row(struct rows *rows, const struct space *s, const unsigned *row)
{
	if (rows->n == rows->room) {
		size_t room = rows->room ? 2 * rows->room : 32;
		unsigned *grown = realloc(rows->value, room * s->noptions * sizeof(*grown));

		if (!grown)
			return -1;
		rows->value = grown;
		rows->room = room;
	}
	memcpy(rows->value + rows->n++ * s->noptions, row, s->noptions * sizeof(*row));
	return 0;
}

/* Cover all that is possible once; gives up when it takes `most` rows. best: room for a row. */
static int attempt(struct making *m, struct space *s, size_t npairs, size_t most, unsigned *best, struct rows *rows)
{
	memcpy(s->needed, s->possible, (size_t)s->nglobal * s->nglobal * sizeof(*s->needed));
	for (unsigned g = 0; g < s->nglobal; g++) {
		s->nneeded[g] = 0;
		for (unsigned h = 0; h < s->nglobal; h++)
			s->nneeded[g] += *cell(s->needed, s, g, h);
	}
	rows->n = 0;
	while (npairs && rows->n < most) {
		size_t most_new = 0;

		for (int i = 0; i < CANDIDATES; i++) {
			unsigned a = 0, b = 0;
			size_t count;

			choose_start(s, &a, &b);
			if (!make_row(m, s, a, b)) /* cannot be: the pair is possible */
				continue;
			count = count_new(s, m->value);
			if (count > most_new) {
				most_new = count;
				memcpy(best, m->value, s->noptions * sizeof(*best));
			}
		}
		cover(s, best);
		npairs -= most_new;
		if (add_row(rows, s, best))
			return -1;
	}
	return npairs ? 1 : 0;
}

/* The only option there is has no pairs: a row for each of its values. */
static int single_option(struct making *m, struct space *s, struct rows *rows)
{
	for (unsigned g = 0; g < s->nglobal; g++) {
		m->value[0] = g;
		if (add_row(rows, s, m->value))
			return -1;
	}
	return 0;
}

static int search(struct making *m, struct space *s, size_t npairs, struct rows *kept)
{
	unsigned *best = calloc(s->noptions + 1, sizeof(*best));
	struct rows rows = { 0 };
	int status = best ? 0 : -1;

	s->work = 0;
	for (int i = 0; !status && i < ATTEMPTS && (i == 0 || s->work < MOST_WORK); i++) {
		int missed = attempt(m, s, npairs, i ? kept->n - 1 : SIZE_MAX, best, &rows);

		if (missed < 0)
			status = -1;
		if (!missed) { /* fewer than any before */
			struct rows t = *kept;

			*kept = rows;
			rows = t;
		}
	}
	free(rows.value);
	free(best);
	return status;
}

static int add_pair(struct covering_pair **list, size_t *n, const struct space *s, unsigned a, unsigned b)
{
	struct covering_pair *grown;

	if ((*n & (*n - 1)) == 0) { /* room grows by powers of two */
		grown = realloc(*list, (*n ? 2 * *n : 1) * sizeof(*grown));
		if (!grown)
			return -1;
		*list = grown;
	}
	(*list)[(*n)++] = (struct covering_pair){ s->option[a], a - s->first[s->option[a]], s->option[b], b - s->first[s->option[b]] };
	return 0;
}

static int name_pairs(struct space *s, struct covering *c)
{
	for (unsigned a = 0; a < s->nglobal; a++)
		for (unsigned b = s->first[s->option[a] + 1]; b < s->nglobal; b++)
			if (!*cell(s->allowed, s, a, b)) {
				if (add_pair(&c->impossible, &c->nimpossible, s, a, b))
					return -1;
			} else if (!*cell(s->possible, s, a, b)) {
				if (add_pair(&c->uncovered, &c->nuncovered, s, a, b))
					return -1;
			}
	return 0;
}

static void ask(struct space *s, covering_forbids forbids, void *context)
{
	for (unsigned a = 0; a < s->nglobal; a++)
		for (unsigned b = s->first[s->option[a] + 1]; b < s->nglobal; b++) {
			unsigned oa = s->option[a], ob = s->option[b];

			if (!forbids || !forbids(context, oa, a - s->first[oa], ob, b - s->first[ob]))
				*cell(s->allowed, s, a, b) = *cell(s->allowed, s, b, a) = true;
		}
}

int covering_make(const unsigned *nvalues, size_t noptions, covering_forbids forbids, void *context, uint64_t seed,
		  struct covering *out, struct error *e)
{
	struct space s = { .random = random64_stream(seed, noptions) };
	struct making m = { 0 };
	struct rows rows = { 0 };
	int status = -1;

	*out = (struct covering){ .noptions = noptions };
	if (space_init(&s, nvalues, noptions, e))
		goto out;
	if (making_init(&m, &s))
		goto memory;
	ask(&s, forbids, context);
	out->npairs = find_possible(&m, &s);
	if (name_pairs(&s, out))
		goto memory;
	if (noptions == 1 ? s.nglobal == 0 : out->npairs == 0) {
		error_set(e, STATUS_USAGE, "the values of the options exclude each other: not a single combination is possible");
		goto out;
	}
	if (noptions == 1 ? single_option(&m, &s, &rows) : search(&m, &s, out->npairs, &rows))
		goto memory;
	for (size_t i = 0; i < rows.n * noptions; i++)
		rows.value[i] -= s.first[s.option[rows.value[i]]];
	out->value = rows.value;
	out->nrows = rows.n;
	rows.value = NULL;
	status = 0;
	goto out;
memory:
	error_set(e, STATUS_HOST, "out of memory");
out:
	if (status)
		covering_free(out);
	free(rows.value);
	making_free(&m);
	space_free(&s);
	return status;
}

void covering_free(struct covering *c)
{
	free(c->value);
	free(c->impossible);
	free(c->uncovered);
	*c = (struct covering){ 0 };
}
