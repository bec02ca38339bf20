/*
 * host/covering.c, checked exhaustively: every pair that some row can hold is in a row, no row holds a pair that is
 * forbidden, and the lists of what cannot be are right. What some row can hold is found here by trying all rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/covering.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MOST 8 /* options of those shapes of which all rows are tried */

struct ban {
	unsigned a, value_a, b, value_b;
};

struct bans {
	const struct ban *ban;
	size_t n;
};

static int banned(void *context, unsigned a, unsigned value_a, unsigned b, unsigned value_b)
{
	const struct bans *bans = context;

	assert_true(a < b);
	for (size_t i = 0; i < bans->n; i++)
		if (bans->ban[i].a == a && bans->ban[i].value_a == value_a && bans->ban[i].b == b && bans->ban[i].value_b == value_b)
			return 1;
	return 0;
}

static bool row_is_allowed(const unsigned *row, size_t n, const struct bans *bans)
{
	for (unsigned a = 0; a < n; a++)
		for (unsigned b = a + 1; b < n; b++)
			if (banned((void *)bans, a, row[a], b, row[b]))
				return false;
	return true;
}

static bool rows_have(const struct covering *c, unsigned a, unsigned va, unsigned b, unsigned vb)
{
	for (size_t r = 0; r < c->nrows; r++)
		if (c->value[r * c->noptions + a] == va && c->value[r * c->noptions + b] == vb)
			return true;
	return false;
}

static bool list_has(const struct covering_pair *list, size_t n, unsigned a, unsigned va, unsigned b, unsigned vb)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += list[i].a == a && list[i].value_a == va && list[i].b == b && list[i].value_b == vb;
	assert_true(found <= 1);
	return found == 1;
}

/* Whether any row at all holds the pair: all rows are counted through, like the digits of a number. */
static bool some_row_holds(const unsigned *nvalues, size_t n, const struct bans *bans, unsigned a, unsigned va, unsigned b,
			   unsigned vb)
{
	unsigned row[MOST] = { 0 };
	size_t o;

	do {
		if (row[a] == va && row[b] == vb && row_is_allowed(row, n, bans))
			return true;
		for (o = 0; o < n && ++row[o] == nvalues[o]; o++)
			row[o] = 0;
	} while (o < n);
	return false;
}

static void check(const unsigned *nvalues, size_t n, const struct bans *bans, const struct covering *c)
{
	size_t possible = 0, impossible = 0, uncovered = 0;

	assert_int_equal(c->noptions, n);
	for (size_t r = 0; r < c->nrows; r++) {
		for (size_t o = 0; o < n; o++)
			assert_true(c->value[r * n + o] < nvalues[o]);
		assert_true(row_is_allowed(c->value + r * n, n, bans));
	}
	for (unsigned a = 0; a < n; a++)
		for (unsigned b = a + 1; b < n; b++)
			for (unsigned va = 0; va < nvalues[a]; va++)
				for (unsigned vb = 0; vb < nvalues[b]; vb++) {
					bool ban = banned((void *)bans, a, va, b, vb);
					bool can = !ban && (n > MOST || some_row_holds(nvalues, n, bans, a, va, b, vb));

					if (rows_have(c, a, va, b, vb) != can)
						fail_msg("pair %u=%u with %u=%u: %s", a, va, b, vb, can ? "is missing" : "cannot be");
					assert_int_equal(list_has(c->impossible, c->nimpossible, a, va, b, vb), ban);
					assert_int_equal(list_has(c->uncovered, c->nuncovered, a, va, b, vb), !ban && !can);
					possible += can;
					impossible += ban;
					uncovered += !ban && !can;
				}
	assert_int_equal(c->npairs, possible);
	assert_int_equal(c->nimpossible, impossible);
	assert_int_equal(c->nuncovered, uncovered);
}

static void make(const unsigned *nvalues, size_t n, const struct bans *bans, uint64_t seed, struct covering *c)
{
	struct error e = { 0 };

	if (covering_make(nvalues, n, banned, (void *)bans, seed, c, &e))
		fail_msg("%s", e.text);
}

/* No covering is smaller than the product of the two largest; max: what the literature or a good search reaches. */
static void shapes_are_covered_with_few_rows(void **state)
{
	static const struct { unsigned n, nvalues[20], max; } shapes[] = {
		{ 2, { 2, 2 }, 4 },
		{ 2, { 7, 5 }, 35 },
		{ 3, { 1, 1, 1 }, 1 },
		{ 3, { 2, 2, 2 }, 4 },             /* L4 */
		{ 4, { 3, 3, 3, 3 }, 9 },          /* L9 */
		{ 7, { 2, 2, 2, 2, 2, 2, 2 }, 7 }, /* Kleitman and Spencer 1973, Katona 1973: 6 is the least for 5 to 10 options */
		{ 10, { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 }, 8 },
		{ 13, { 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3 }, 19 }, /* AETG 15, PICT 18, IPO 17 as pairwise.org lists them */
		{ 5, { 4, 4, 4, 4, 4 }, 19 },      /* orthogonal array L16 */
		{ 9, { 4, 2, 2, 2, 3, 3, 4, 2, 2 }, 18 },    /* as [matrix quick] */
		{ 6, { 1, 9, 1, 8, 2, 2 }, 72 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(shapes); i++) {
		unsigned one = 0, two = 0;

		for (unsigned o = 0; o < shapes[i].n; o++) {
			unsigned v = shapes[i].nvalues[o];

			two = v > one ? one : v > two ? v : two;
			one = v > one ? v : one;
		}
		for (uint64_t seed = 0; seed < 3; seed++) {
			const struct bans none = { 0 };
			struct covering c;

			make(shapes[i].nvalues, shapes[i].n, &none, seed, &c);
			check(shapes[i].nvalues, shapes[i].n, &none, &c);
			if (c.nrows < one * two || c.nrows > shapes[i].max)
				fail_msg("shape %zu, seed %d: %zu rows, expected %u to %u", i, (int)seed, c.nrows, one * two, shapes[i].max);
			covering_free(&c);
		}
	}
}

/* Bans drawn at random, from few to so many that little or nothing is left. */
static void random_bans_are_kept(void **state)
{
	static const struct { unsigned n, nvalues[MOST]; } shapes[] = {
		{ 2, { 3, 3 } }, { 3, { 2, 3, 4 } }, { 4, { 2, 2, 2, 2 } }, { 5, { 3, 2, 4, 2, 2 } }, { 6, { 2, 3, 2, 3, 2, 2 } },
	};
	unsigned none_possible = 0, with_uncovered = 0;

	(void)state;
	for (unsigned round = 0; round < 400; round++) {
		const unsigned n = shapes[round % COUNT(shapes)].n, *nvalues = shapes[round % COUNT(shapes)].nvalues;
		struct ban list[200];
		struct bans bans = { list, 0 };
		struct covering c;
		struct error e = { 0 };

		srand(round);
		for (unsigned a = 0; a < n; a++)
			for (unsigned b = a + 1; b < n; b++)
				for (unsigned va = 0; va < nvalues[a]; va++)
					for (unsigned vb = 0; vb < nvalues[b]; vb++)
						if ((unsigned)rand() % 10 < round / 5 % 8)
							list[bans.n++] = (struct ban){ a, va, b, vb };
		if (covering_make(nvalues, n, banned, &bans, round, &c, &e) == 0) {
			check(nvalues, n, &bans, &c);
			with_uncovered += c.nuncovered > 0;
		} else {
			assert_int_equal(e.status, STATUS_USAGE);
			assert_non_null(strstr(e.text, "not a single combination is possible"));
			for (unsigned va = 0; va < nvalues[0]; va++)
				for (unsigned vb = 0; vb < nvalues[1]; vb++)
					assert_false(some_row_holds(nvalues, n, &bans, 0, va, 1, vb));
			none_possible++;
		}
		covering_free(&c);
	}
	assert_true(none_possible > 10);  /* both have been seen, or this test tests nothing */
	assert_true(with_uncovered > 10);
}

/* 0=0 goes with 1=0 alone, and 1=0 not with 2=0: 0=0 with 2=0 is not forbidden, and cannot be. */
static void what_follows_from_other_pairs_is_named(void **state)
{
	static const unsigned nvalues[] = { 2, 2, 2 };
	static const struct ban list[] = { { 0, 0, 1, 1 }, { 1, 0, 2, 0 } };
	const struct bans bans = { list, COUNT(list) };
	struct covering c;

	(void)state;
	make(nvalues, 3, &bans, 1, &c);
	check(nvalues, 3, &bans, &c);
	assert_int_equal(c.nuncovered, 1);
	assert_memory_equal(&c.uncovered[0], (&(struct covering_pair){ 0, 0, 2, 0 }), sizeof(struct covering_pair));
	covering_free(&c);
}

/* A value that stands against everything leaves no trace in the rows. */
static void a_value_can_be_shut_out(void **state)
{
	static const unsigned nvalues[] = { 3, 2, 2 };
	static const struct ban list[] = { { 0, 1, 1, 0 }, { 0, 1, 1, 1 } };
	const struct bans bans = { list, COUNT(list) };
	struct covering c;

	(void)state;
	make(nvalues, 3, &bans, 5, &c);
	check(nvalues, 3, &bans, &c);
	assert_int_equal(c.nimpossible, 2);
	assert_int_equal(c.nuncovered, 2); /* with both values of option 2 */
	covering_free(&c);
}

static void a_single_option_has_a_row_for_each_value(void **state)
{
	static const unsigned nvalues[] = { 5 };
	struct covering c;
	struct error e = { 0 };

	(void)state;
	assert_int_equal(covering_make(nvalues, 1, NULL, NULL, 1, &c, &e), 0);
	assert_int_equal(c.nrows, 5);
	for (unsigned v = 0; v < 5; v++)
		assert_int_equal(c.value[v], v);
	assert_int_equal(c.npairs, 0);
	covering_free(&c);
}

static void the_seed_alone_decides(void **state)
{
	static const unsigned nvalues[] = { 4, 2, 2, 2, 3, 3, 3, 2, 2 };
	const struct bans none = { 0 };
	struct covering a, b, other;
	bool differ;

	(void)state;
	make(nvalues, COUNT(nvalues), &none, 77, &a);
	make(nvalues, COUNT(nvalues), &none, 77, &b);
	make(nvalues, COUNT(nvalues), &none, 78, &other);
	assert_int_equal(a.nrows, b.nrows);
	assert_memory_equal(a.value, b.value, a.nrows * COUNT(nvalues) * sizeof(*a.value));
	differ = other.nrows != a.nrows || memcmp(a.value, other.value, a.nrows * COUNT(nvalues) * sizeof(*a.value));
	assert_true(differ);
	covering_free(&a);
	covering_free(&b);
	covering_free(&other);
}

static void nothing_and_too_much_are_refused(void **state)
{
	static const unsigned many[] = { 4000, 97 };
	struct covering c;
	struct error e = { 0 };

	(void)state;
	assert_int_equal(covering_make(NULL, 0, NULL, NULL, 1, &c, &e), -1);
	assert_int_equal(e.status, STATUS_USAGE);
	error_clear(&e);
	assert_int_equal(covering_make(many, 2, NULL, NULL, 1, &c, &e), -1);
	assert_non_null(strstr(e.text, "more than 4096 values"));
	assert_null(c.value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_are_covered_with_few_rows),
		cmocka_unit_test(random_bans_are_kept),
		cmocka_unit_test(what_follows_from_other_pairs_is_named),
		cmocka_unit_test(a_value_can_be_shut_out),
		cmocka_unit_test(a_single_option_has_a_row_for_each_value),
		cmocka_unit_test(the_seed_alone_decides),
		cmocka_unit_test(nothing_and_too_much_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
