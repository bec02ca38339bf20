/* host/matrix_common.c: what failing cells have in common. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/matrix_common.h"

#define P MATRIX_PASSED
#define F MATRIX_FAILED
#define U MATRIX_UNTRIED

static struct matrix_common find(const unsigned *value, const enum matrix_outcome *outcome, size_t ncells, size_t noptions)
{
	struct matrix_common c;
	struct error e = { 0 };

	assert_int_equal(matrix_common_find(value, outcome, ncells, noptions, &c, &e), 0);
	return c;
}

static void is_value(const struct matrix_factor *f, unsigned a, unsigned value, unsigned cells)
{
	assert_false(f->pair);
	assert_int_equal(f->a, a);
	assert_int_equal(f->value_a, value);
	assert_int_equal(f->cells, cells);
}

static void is_pair(const struct matrix_factor *f, unsigned a, unsigned value_a, unsigned b, unsigned value_b, unsigned cells)
{
	assert_true(f->pair);
	assert_int_equal(f->a, a);
	assert_int_equal(f->value_a, value_a);
	assert_int_equal(f->b, b);
	assert_int_equal(f->value_b, value_b);
	assert_int_equal(f->cells, cells);
}

/* Option 1 = 1 fails. Its pairs say nothing more, and an option that never changes says nothing at all. */
static void one_value(void **state)
{
	static const unsigned value[] = { 0, 0, 5, 0, 1, 5, 1, 0, 5, 1, 1, 5 };
	static const enum matrix_outcome outcome[] = { P, F, P, F };
	struct matrix_common c = find(value, outcome, 4, 3);

	(void)state;
	assert_int_equal(c.failed, 2);
	assert_int_equal(c.passed, 2);
	assert_true(c.all);
	assert_int_equal(c.nfactors, 1);
	is_value(&c.factor[0], 1, 1, 2);
	matrix_common_free(&c);
}

/* All of two by two by two, where both of the first options have to be 1. */
static void one_pair(void **state)
{
	unsigned value[8 * 3];
	enum matrix_outcome outcome[8];
	struct matrix_common c;

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		for (unsigned k = 0; k < 3; k++)
			value[i * 3 + k] = i >> k & 1;
		outcome[i] = (i & 3) == 3 ? F : P;
	}
	c = find(value, outcome, 8, 3);
	assert_true(c.all);
	assert_int_equal(c.nfactors, 1);
	is_pair(&c.factor[0], 0, 1, 1, 1, 2);
	matrix_common_free(&c);
}

/* Two faults: option 0 = 1 (three cells), and 1 = 2 (two): neither is in all five, the heavier comes first. */
static void two_faults(void **state)
{
	static const unsigned value[] = { 0, 0, 0, 1, 1, 0, 1, 1, 1, 0, 0, 2, 0, 2 };
	static const enum matrix_outcome outcome[] = { P, P, F, F, F, F, F };
	struct matrix_common c = find(value, outcome, 7, 2);

	(void)state;
	assert_false(c.all);
	assert_int_equal(c.failed, 5);
	is_value(&c.factor[0], 0, 1, 3);
	is_value(&c.factor[1], 1, 2, 2);
	assert_int_equal(c.nfactors, 2);
	matrix_common_free(&c);
}

/* What was not tried neither passes nor fails: with cell 2 passing there would be nothing left. */
static void untried_cells_do_not_count(void **state)
{
	static const unsigned value[] = { 0, 1, 1, 1 };
	enum matrix_outcome outcome[] = { P, F, U, U };
	struct matrix_common c = find(value, outcome, 4, 1);

	(void)state;
	assert_int_equal(c.nfactors, 1);
	is_value(&c.factor[0], 0, 1, 1);
	matrix_common_free(&c);
	outcome[2] = P;
	c = find(value, outcome, 4, 1);
	assert_int_equal(c.nfactors, 0);
	matrix_common_free(&c);
}

static void nothing_to_tell(void **state)
{
	static const unsigned value[] = { 0, 1 };
	static const enum matrix_outcome all_fail[] = { F, F }, all_pass[] = { P, P };
	struct matrix_common c = find(value, all_fail, 2, 1);

	(void)state;
	assert_int_equal(c.nfactors, 0);
	assert_int_equal(c.failed, 2);
	assert_int_equal(c.passed, 0);
	c = find(value, all_pass, 2, 1);
	assert_int_equal(c.nfactors, 0);
	c = find(value, all_pass, 0, 1);
	assert_int_equal(c.passed, 0);
	c = find(value, (const enum matrix_outcome[]){ P, F }, 2, 0); /* no options */
	assert_int_equal(c.nfactors, 0);
	matrix_common_free(&c);
}

/* Three options have to meet, and every two of them are in a cell that passes. */
static void three_together_are_not_found(void **state)
{
	static const unsigned value[] = { 1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0 };
	static const enum matrix_outcome outcome[] = { P, P, P, F };
	struct matrix_common c = find(value, outcome, 4, 4);

	(void)state;
	assert_int_equal(c.failed, 1);
	assert_int_equal(c.nfactors, 0);
	matrix_common_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_value),
		cmocka_unit_test(one_pair),
		cmocka_unit_test(two_faults),
		cmocka_unit_test(untried_cells_do_not_count),
		cmocka_unit_test(nothing_to_tell),
		cmocka_unit_test(three_together_are_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
