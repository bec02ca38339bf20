/* host/matrix_select.c: which cells --only names, and what is said when it names none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/matrix_text.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define SMALL "[matrix quick]\ntransport = modern, legacy\nring = split, packed\nqueues = 1\nblock_size = 512, 4096\n"

static void a_name_selects_its_cell_again(void **state)
{
	const char *comma = "[matrix quick]\nring = split, packed\nkernel_args = a=1\\,2, b\nqueues = 1\n";
	const char *const texts[] = { SMALL, comma };

	(void)state;
	for (size_t k = 0; k < COUNT(texts); k++) {
		struct matrix *m = read_text(texts[k]);

		for (size_t i = 0; i < m->ncells; i++) {
			const char *only[] = { m->cell[i].name };
			struct matrix *again = read_only(texts[k], only, 1);

			assert_int_equal(again->ncells, 1);
			assert_string_equal(again->cell[0].name, m->cell[i].name);
			assert_int_equal(again->cell[0].number, m->cell[i].number);
			assert_memory_equal(again->cell[0].value, m->cell[i].value, m->noptions * sizeof(unsigned));
			matrix_free(again);
		}
		matrix_free(m);
	}
}

static void parts_select_all_that_match(void **state)
{
	const char *const part[] = { "ring=packed" }, *const two[] = { "ring=packed", "block_size=512" };
	const char *const both[] = { "block_size=4096,ring=split" };
	struct matrix *all = read_text(SMALL), *m;
	size_t packed = 0, either = 0;

	(void)state;
	for (size_t i = 0; i < all->ncells; i++) {
		packed += all->cell[i].settings.packed == TOGGLE_ON;
		either += all->cell[i].settings.packed == TOGGLE_ON || all->cell[i].block_size == 512;
	}
	m = read_only(SMALL, part, 1);
	assert_int_equal(m->ncells, packed);
	matrix_free(m);
	m = read_only(SMALL, two, 2); /* each cell once */
	assert_int_equal(m->ncells, either);
	matrix_free(m);
	m = read_only(SMALL, both, 1);
	assert_true(m->ncells > 0);
	for (size_t i = 0; i < m->ncells; i++)
		assert_true(m->cell[i].settings.packed == TOGGLE_OFF && m->cell[i].block_size == 4096);
	matrix_free(m);
	matrix_free(all);
}

#define WIDE "[guest g]\nvcpus = 4\n[matrix quick]\nring = split, packed\nqueues = 1, 2, 4\nqueue_size = 4, 16, 64\nblock_size = 512, 4096\n"

/* Of 36 cells the covering holds some nine: the others can be asked for by their whole name. */
static void a_whole_cell_is_made_for_the_purpose(void **state)
{
	static const char *const ring[] = { "split", "packed" }, *const queues[] = { "1", "2", "4" }, *const size[] = { "4", "16", "64" };
	struct matrix *all = read_text(WIDE);
	size_t rows = all->ncells, made = 0, there = 0;

	(void)state;
	matrix_free(all);
	for (unsigned i = 0; i < 18; i++) {
		char name[100];
		const char *only[] = { name, name };
		struct matrix *m;

		snprintf(name, sizeof(name), "block_size=4096,queues=%s,ring=%s,queue_size=%s", queues[i / 2 % 3], ring[i % 2], size[i / 6]);
		m = read_only(WIDE, only, 2); /* asked for twice, there once */
		assert_int_equal(m->ncells, 1);
		snprintf(name, sizeof(name), "ring=%s,queues=%s,queue_size=%s,block_size=4096", ring[i % 2], queues[i / 2 % 3], size[i / 6]);
		assert_string_equal(m->cell[0].name, name);
		if (m->cell[0].number > rows)
			made++;
		else
			there++;
		matrix_free(m);
	}
	assert_true(made > 5 && there >= 3);
}

static void what_selects_nothing_says_so(void **state)
{
	static const struct { const char *only, *message; } rows[] = {
		{ "ring=round", "--only ring=round: [matrix quick] has no ring=round; there are split, packed" },
		{ "rings=split", "--only rings=split: [matrix quick] has no option rings; there are transport, ring, queues, block_size" },
		{ "ring", "--only ring: expected OPTION=VALUE" },
		{ "", "--only : expected OPTION=VALUE" },
		{ "ring=split,", "--only ring=split,: expected OPTION=VALUE" },
		{ "ring=split,ring=packed", "--only ring=split,ring=packed: ring stands here twice" },
		{ "transport=legacy,ring=packed", "transport=legacy with ring=packed cannot be: a legacy device has no VERSION_1" },
		{ "transport=legacy,ring=packed,queues=1,block_size=512", "transport=legacy with ring=packed cannot be" },
	};

	(void)state;
	write_file(SMALL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct matrix_request request = { .file = FILE_NAME, .which = "quick", .seed = 1, .only = &rows[i].only, .nonly = 1 };

		assert_refused(&request, rows[i].message);
	}
	unlink(FILE_NAME);
}

/* Three values that no row has together: found by asking for all of them. */
static void three_values_need_not_meet(void **state)
{
	unsigned missing = 0;

	(void)state;
	write_file(WIDE);
	for (unsigned i = 0; i < 9; i++) {
		char only[100];
		const char *list[] = { only };
		const struct matrix_request request = { .file = FILE_NAME, .which = "quick", .seed = 7, .only = list, .nonly = 1 };
		struct error e = { 0 };
		struct matrix *m;

		snprintf(only, sizeof(only), "ring=packed,queues=%d,queue_size=%d", 1 << i % 3, 4 << 2 * (i / 3));
		if (matrix_read(&request, &m, &e)) {
			missing++;
			if (!strstr(e.text, "no cell of [matrix quick] has all of these values"))
				fail_msg("%s", e.text);
		}
		matrix_free(m);
	}
	assert_true(missing > 0);
	unlink(FILE_NAME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_selects_its_cell_again),
		cmocka_unit_test(parts_select_all_that_match),
		cmocka_unit_test(a_whole_cell_is_made_for_the_purpose),
		cmocka_unit_test(what_selects_nothing_says_so),
		cmocka_unit_test(three_values_need_not_meet),
	};

	return cmocka_run_group_tests(tests, matrix_folder_enter, matrix_folder_leave);
}
