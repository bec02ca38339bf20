/* The disk of a cell: its size, and that nothing is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/regress_disk.h"
#include "tests/unit/scratch.h"

static struct matrix_cell cell_of(uint64_t bytes, bool readonly)
{
	struct matrix_cell cell = { .number = 3, .bytes = bytes, .block_size = 512, .readonly = readonly };

	settings_default(&cell.settings);
	cell.settings.size = bytes;
	return cell;
}

static void a_disk_is_sparse_and_goes(void **state)
{
	struct matrix_cell cell = cell_of(3ull << 40, false);
	struct scratch *s = *state;
	struct regress_disk d;
	struct error e = { 0 };
	char path[REGRESS_DISK_PATH];
	struct stat st;

	assert_int_equal(regress_disk_make(&cell, scratch_path(s, "state"), true, &d, &e), 0);
	assert_int_equal(stat(d.path, &st), 0);
	assert_int_equal(st.st_size, 3ull << 40);
	assert_true(st.st_blocks < 64);
	assert_int_equal(stat(d.log, &st), 0);
	assert_int_equal(st.st_size, 0);
	strcpy(path, d.path);
	regress_disk_remove(&d);
	assert_int_equal(access(path, F_OK), -1);
	settings_free(&cell.settings);
}

static void what_a_killed_one_left_is_swept(void **state)
{
	struct matrix_cell cell = cell_of(512, false);
	struct scratch *s = *state;
	struct regress_disk d;
	struct error e = { 0 };

	assert_int_equal(regress_disk_make(&cell, scratch_path(s, "state"), true, &d, &e), 0);
	regress_disk_sweep(&(struct matrix){ .cell = &cell, .ncells = 1 }, scratch_path(s, "state"));
	assert_int_equal(access(d.path, F_OK), -1);
	assert_int_equal(access(d.log, F_OK), -1);
	settings_free(&cell.settings);
}

/* Also where disk.path = says; nothing that only begins like ours goes with it. */
static void what_was_left_elsewhere_is_swept(void **state)
{
	struct matrix_cell cell = cell_of(512, false);
	struct scratch *s = *state;
	struct regress_disk d;
	struct error e = { 0 };
	char other[REGRESS_DISK_PATH + 32];

	cell.settings.path = strdup(scratch_path(s, "elsewhere"));
	assert_int_equal(regress_disk_make(&cell, scratch_path(s, "state"), true, &d, &e), 0);
	assert_non_null(strstr(d.path, "/elsewhere/regress/"));
	snprintf(other, sizeof(other), "%s/cell-phones.raw", d.folder);
	fclose(fopen(other, "w"));
	regress_disk_sweep(&(struct matrix){ .cell = &cell, .ncells = 1 }, scratch_path(s, "state"));
	assert_int_equal(access(d.path, F_OK), -1);
	assert_int_equal(access(d.log, F_OK), -1);
	assert_int_equal(access(other, F_OK), 0);
	settings_free(&cell.settings);
}

static void too_large_for_the_file_system_is_told(void **state)
{
	struct matrix_cell cell = cell_of(INT64_MAX / 512 * 512, false);
	struct scratch *s = *state;
	struct regress_disk d;
	struct error e = { 0 };

	assert_int_equal(regress_disk_make(&cell, scratch_path(s, "state"), false, &d, &e), -1);
	assert_int_not_equal(d.error, 0);
	assert_string_equal(d.path, "");
	settings_free(&cell.settings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_disk_is_sparse_and_goes, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(what_a_killed_one_left_is_swept, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(what_was_left_elsewhere_is_swept, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(too_large_for_the_file_system_is_told, scratch_open, scratch_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
