/* host/cell.c: which status wins, and the record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/cell.h"
#include "tests/unit/scratch.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void add(struct cell_result *r, const char *name, enum cell_status status, const char *message)
{
	struct cell_check check = { .status = status, .seconds = 0.5 };
	struct error e = { 0 };

	snprintf(check.name, sizeof(check.name), "%s", name);
	snprintf(check.message, sizeof(check.message), "%s", message);
	assert_int_equal(cell_add(r, &check, &e), 0);
}

static void names_go_both_ways(void **state)
{
	static const char *const names[] = { "pass", "skipped", "fail", "stalled", "corrupt" };
	enum cell_status status;

	(void)state;
	assert_int_equal(COUNT(names), CELL_STATUSES);
	for (unsigned i = 0; i < COUNT(names); i++) {
		assert_string_equal(cell_status_name((enum cell_status)i), names[i]);
		assert_int_equal(cell_status_parse(names[i], &status), 0);
		assert_int_equal(status, i);
	}
	assert_int_equal(cell_status_parse("passed", &status), -1);
	assert_int_equal(cell_status_parse("", &status), -1);
}

/* '-': skip of the whole cell; else a check with the status of that number. */
static void the_heaviest_wins(void **state)
{
	static const struct { const char *checks; enum cell_status status; const char *reason; } rows[] = {
		{ "", CELL_PASS, "" },
		{ "000", CELL_PASS, "" },
		{ "010", CELL_PASS, "" },          /* a check that was skipped is no skipped cell */
		{ "-", CELL_SKIPPED, "skip 0" },
		{ "0-", CELL_SKIPPED, "skip 1" },
		{ "--", CELL_SKIPPED, "skip 0" },  /* the first reason stays */
		{ "2-", CELL_FAIL, "check 0: message 0" },
		{ "-2", CELL_FAIL, "check 1: message 1" },
		{ "0220", CELL_FAIL, "check 1: message 1" },
		{ "0231", CELL_STALLED, "check 2: message 2" },
		{ "432", CELL_CORRUPT, "check 0: message 0" },
		{ "234", CELL_CORRUPT, "check 2: message 2" },
		{ "00000000000000000000000000000000000000003", CELL_STALLED, "check 40: message 40" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cell_result r = { 0 };
		size_t nchecks = 0;

		for (size_t k = 0; rows[i].checks[k]; k++) {
			char name[32], message[32];

			snprintf(name, sizeof(name), rows[i].checks[k] == '-' ? "skip %zu" : "check %zu", k);
			snprintf(message, sizeof(message), "message %zu", k);
			if (rows[i].checks[k] == '-')
				cell_skip(&r, name);
			else
				add(&r, name, (enum cell_status)(rows[i].checks[k] - '0'), message);
			nchecks += rows[i].checks[k] != '-';
		}
		assert_int_equal(r.status, rows[i].status);
		assert_string_equal(r.reason, rows[i].reason);
		assert_int_equal(r.nchecks, nchecks);
		cell_result_free(&r);
		assert_null(r.check);
	}
}

static void a_long_message_is_cut_and_fits(void **state)
{
	struct cell_result r = { 0 };
	char message[512];

	(void)state;
	memset(message, 'm', sizeof(message) - 1);
	message[sizeof(message) - 1] = '\0';
	add(&r, "name", CELL_FAIL, message);
	assert_int_equal(strncmp(r.reason, "name: mmm", 9), 0);
	assert_true(strlen(r.reason) > 300);
	cell_result_free(&r);
}

static struct matrix *read_matrix(struct scratch *s)
{
	struct matrix_request request = { .which = "quick", .seed = 1 };
	struct error e = { 0 };
	struct matrix *m;

	request.file = scratch_text(s, "m.ini", "[disk]\nsize = 64M\n[matrix quick]\nring = packed\nqueues = 1\n");
	if (matrix_read(&request, &m, &e))
		fail_msg("%s", e.text);
	return m;
}

static const char *string_at(const json_t *record, const char *key)
{
	return json_string_value(json_object_get(record, key));
}

static void the_record_holds_all(void **state)
{
	struct scratch *s = *state;
	struct matrix *m = read_matrix(s);
	struct cell_result r = { .seconds = 2.5, .started = "2026-01-31T12:00:00Z", .accel = "tcg", .guest_kernel = "6.1.0" };
	struct cell_check check = { .name = "verify \xc3\xa9", .status = CELL_CORRUPT, .message = "bad byte \xff", .seconds = 1.25,
				    .argv = json_pack("[s]", "--rw=read"), .evidence = json_pack("{s:i}", "block", 7) };
	struct error e = { 0 };
	json_t *record, *first;

	add(&r, "serial", CELL_PASS, "");
	assert_int_equal(cell_add(&r, &check, &e), 0);
	r.effective = json_pack("{s:{}}", "verified");
	record = cell_json(m, &m->cell[0], &r, "kickbench regress --only it");
	assert_non_null(record);
	assert_string_equal(string_at(record, "schema"), "kickbench-cell/1");
	assert_int_equal(json_integer_value(json_object_get(record, "cell")), 1);
	assert_string_equal(string_at(record, "name"), "ring=packed,queues=1");
	assert_string_equal(string_at(json_object_get(record, "options"), "ring"), "packed");
	assert_string_equal(string_at(json_object_get(record, "options"), "queues"), "1");
	assert_string_equal(string_at(record, "status"), "corrupt");
	assert_string_equal(string_at(record, "reason"), "verify ??: bad byte ?"); /* no UTF-8 as a whole: no byte above 127 stays */
	assert_true(json_real_value(json_object_get(record, "seconds")) == 2.5);
	assert_string_equal(string_at(record, "started"), "2026-01-31T12:00:00Z");
	assert_string_equal(string_at(record, "accel"), "tcg");
	assert_true(json_is_null(json_object_get(record, "qemu_version")));
	assert_string_equal(string_at(record, "guest_kernel"), "6.1.0");
	assert_true(json_is_object(json_object_get(record, "effective")));
	assert_string_equal(string_at(record, "console"), "console/000001.log");
	assert_string_equal(string_at(record, "reproduce"), "kickbench regress --only it");
	assert_int_equal(json_array_size(json_object_get(record, "checks")), 2);
	first = json_array_get(json_object_get(record, "checks"), 0);
	assert_string_equal(string_at(first, "name"), "serial");
	assert_string_equal(string_at(first, "status"), "pass");
	assert_true(json_is_null(json_object_get(first, "message")));
	assert_true(json_is_null(json_object_get(first, "argv")));
	assert_true(json_is_null(json_object_get(first, "evidence")));
	first = json_array_get(json_object_get(record, "checks"), 1);
	assert_string_equal(string_at(first, "name"), "verify \xc3\xa9");
	assert_string_equal(string_at(first, "message"), "bad byte ?");
	assert_true(json_real_value(json_object_get(first, "seconds")) == 1.25);
	assert_string_equal(json_string_value(json_array_get(json_object_get(first, "argv"), 0)), "--rw=read");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(first, "evidence"), "block")), 7);
	json_decref(record);
	cell_result_free(&r);
	matrix_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_go_both_ways),
		cmocka_unit_test(the_heaviest_wins),
		cmocka_unit_test(a_long_message_is_cut_and_fits),
		cmocka_unit_test_setup_teardown(the_record_holds_all, scratch_open, scratch_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
