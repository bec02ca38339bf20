/* run.json of a matrix: what it says, and what a folder that goes on has to find again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "host/regress_file.h"
#include "tests/unit/scratch.h"

static char *rings[] = { (char *)"split", (char *)"packed" }, *queues[] = { (char *)"1", (char *)"2" };
static struct matrix_option options[] = {
	{ .name = (char *)"ring", .value = rings, .nvalues = 2 }, { .name = (char *)"queues", .value = queues, .nvalues = 2 },
};
static unsigned first[] = { 0, 1 }, second[] = { 1, 0 };

struct bench {
	struct matrix_cell cell[2];
	struct scenario scenario;
	struct guest guest;
	struct matrix matrix;
	struct prepared prepared;
	struct regress r;
};

/* As a matrix of two cells; nothing in it is freed. */
static void make(struct bench *b)
{
	static const char *const set[] = { "disk.size=1M" }, *const only[] = { "ring=split", "ring=packed" };

	*b = (struct bench){ .cell = { { .number = 1, .name = (char *)"ring=split,queues=2", .value = first },
				       { .number = 2, .name = (char *)"ring=packed,queues=1", .value = second } } };
	b->guest = (struct guest){ .name = (char *)"linux", .image = (char *)"images/linux" };
	b->scenario = (struct scenario){ .name = (char *)"regress", .file = (char *)"regress.ini", .guest = &b->guest, .nguests = 1 };
	b->matrix = (struct matrix){ .scenario = &b->scenario, .name = (char *)"quick", .seed = 7, .option = options, .noptions = 2,
				     .cell = b->cell, .ncells = 2, .covering = { .npairs = 4 } };
	b->prepared = (struct prepared){ .accel = { .used = ACCEL_TCG, .why = "as asked", .qemu_version = "QEMU 7.2.22" },
					 .image = { .kernel_version = (char *)"Linux 6.1.0" } };
	machine_default(&b->prepared.machine);
	b->r = (struct regress){ .matrix = &b->matrix, .line = { .set = set, .nset = 1 }, .only = only, .nonly = 2 };
	b->r.x = (struct experiment){ .scenario = &b->scenario, .prepared = &b->prepared, .nprepared = 1, .facts = json_object() };
}

static void done(struct bench *b)
{
	json_decref(b->r.x.facts);
	machine_free(&b->prepared.machine);
}

static void it_says_what_the_format_says(void **state)
{
	struct bench b;
	json_t *run, *cell;

	(void)state;
	make(&b);
	run = regress_file_make(&b.r);
	assert_non_null(run);
	assert_string_equal(json_string_value(json_object_get(run, "schema")), "kickbench-regress/1");
	assert_int_equal(json_integer_value(json_object_get(run, "seed")), 7);
	assert_string_equal(json_string_value(json_object_get(json_object_get(run, "scenario"), "matrix")), "quick");
	assert_string_equal(json_string_value(json_object_get(json_object_get(run, "accel"), "used")), "tcg");
	assert_int_equal(json_array_size(json_object_get(run, "options")), 2);
	cell = json_array_get(json_object_get(run, "cells"), 1);
	assert_int_equal(json_integer_value(json_object_get(cell, "cell")), 2);
	assert_string_equal(json_string_value(json_object_get(json_object_get(cell, "options"), "ring")), "packed");
	assert_string_equal(json_string_value(json_object_get(json_object_get(cell, "options"), "queues")), "1");
	assert_int_equal(json_array_size(json_object_get(run, "sessions")), 0);
	json_decref(run);
	done(&b);
}

static void the_line_comes_back(void **state)
{
	struct regress_file_line line;
	struct error e = { 0 };
	struct bench b;
	json_t *run;

	(void)state;
	make(&b);
	run = regress_file_make(&b.r);
	assert_int_equal(regress_file_line(run, &line, &e), 0);
	assert_string_equal(line.which, "quick");
	assert_int_equal(line.seed, 7);
	assert_int_equal(line.nset, 1);
	assert_string_equal(line.set[0], "disk.size=1M");
	assert_int_equal(line.nonly, 2);
	assert_string_equal(line.only[1], "ring=packed");
	regress_file_line_free(&line);
	json_array_append_new(json_object_get(run, "set"), json_integer(3));
	assert_int_equal(regress_file_line(run, &line, &e), -1);
	assert_int_equal(e.status, STATUS_USAGE);
	json_decref(run);
	done(&b);
}

static void other_parties_or_other_cells_are_refused(void **state)
{
	struct scratch *s = *state;
	struct error e = { 0 };
	struct bench b;
	json_t *run;

	make(&b);
	assert_int_equal(store_create(scratch_path(s, "run"), NULL, "x", STORE_MATRIX, &b.r.store, &e), 0);
	run = regress_file_make(&b.r);
	assert_int_equal(regress_file_same(&b.r, run, &e), 0);
	b.prepared.accel.used = ACCEL_KVM;
	assert_int_equal(regress_file_same(&b.r, run, &e), -1);
	assert_non_null(strstr(e.text, "began under tcg and would go on under kvm"));
	error_clear(&e);
	b.prepared.accel.used = ACCEL_TCG;
	snprintf(b.prepared.accel.qemu_version, sizeof(b.prepared.accel.qemu_version), "QEMU 10.0.2");
	assert_int_equal(regress_file_same(&b.r, run, &e), -1);
	assert_non_null(strstr(e.text, "began under QEMU 7.2.22 and would go on under QEMU 10.0.2"));
	error_clear(&e);
	snprintf(b.prepared.accel.qemu_version, sizeof(b.prepared.accel.qemu_version), "QEMU 7.2.22");
	b.prepared.image.kernel_version = NULL;
	assert_int_equal(regress_file_same(&b.r, run, &e), -1);
	assert_non_null(strstr(e.text, "began under Linux 6.1.0 and would go on under nothing"));
	error_clear(&e);
	b.prepared.image.kernel_version = (char *)"Linux 6.1.0";
	b.cell[1].name = (char *)"ring=packed,queues=2";
	assert_int_equal(regress_file_same(&b.r, run, &e), -1);
	assert_non_null(strstr(e.text, "its cells are others"));
	json_decref(run);
	store_close(b.r.store);
	done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_says_what_the_format_says),
		cmocka_unit_test(the_line_comes_back),
		cmocka_unit_test_setup_teardown(other_parties_or_other_cells_are_refused, scratch_open, scratch_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
