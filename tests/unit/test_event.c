/* The table of events: what each needs and refuses; how what a guest saw of an error is judged; the look at an image. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "guest/verify_block.h"
#include "host/event_disk.h"
#include "host/event_plug.h"
#include "host/event_private.h"
#include "tests/unit/scratch.h"

/* ---- the table ---- */

static struct matrix_cell a_cell(void)
{
	struct matrix_cell cell = { .number = 1, .bytes = 64ull << 20, .block_size = 512, .write_cache = true };

	settings_default(&cell.settings);
	machine_default(&cell.machine);
	return cell;
}

static void test_table(void **state)
{
	(void)state;
	assert_null(event_get("none"));
	assert_null(event_get("eio"));
	assert_non_null(event_row(11));
	assert_null(event_row(12));
	for (size_t i = 0; event_row(i); i++) {
		const struct event *v = event_row(i);

		assert_ptr_equal(event_get(v->name), v);
		assert_true(strlen(v->help) > 10 && strlen(v->name) < 32);
		assert_true(v->refused && v->needs && v->run);
	}
}

static void expect_refused(const struct matrix_cell *cell, const char *name, const char *piece)
{
	const char *why = event_get(name)->refused(cell);

	if (!piece && why)
		fail_msg("%s is refused: %s", name, why);
	if (piece && !why)
		fail_msg("%s is not refused", name);
	if (piece)
		holds(why, piece);
}

static void test_refusals(void **state)
{
	struct matrix_cell cell = a_cell();

	(void)state;
	for (size_t i = 0; event_row(i); i++) {
		expect_refused(&cell, event_row(i)->name, NULL);
		cell.readonly = true;
		expect_refused(&cell, event_row(i)->name, "read-only");
		cell.readonly = false;
		cell.bytes = 512;
		expect_refused(&cell, event_row(i)->name, "too small");
		cell.bytes = 1 << 20;
		expect_refused(&cell, event_row(i)->name, NULL);
		cell.settings.backend = BACKEND_NULL;
		expect_refused(&cell, event_row(i)->name, "no file");
		cell.settings.backend = BACKEND_MEMORY;
		expect_refused(&cell, event_row(i)->name, NULL);
	}
	cell.write_cache = false;
	expect_refused(&cell, "eio-flush", "no flush");
	expect_refused(&cell, "eio-write", NULL);
	cell.machine.type = (char *)"microvm";
	expect_refused(&cell, "unplug", "cannot be unplugged");
	expect_refused(&cell, "rebind", NULL);
}

/* The rule of an event as JSON, NULL without; policy: what has to be said. */
static json_t *rule_of(const char *name, const char *policy)
{
	struct matrix_cell cell = a_cell();
	struct event_needs needs = { .rule = "left from before", .policy = "too", .no_log = "too" };
	struct text room = { 0 };
	json_t *rule = NULL;

	event_get(name)->needs(&cell, &needs, &room);
	if (needs.rule)
		assert_non_null(rule = json_loads(needs.rule, 0, NULL));
	assert_int_equal(needs.no_log != NULL, !strcmp(name, "save-restore"));
	if (policy)
		assert_string_equal(needs.policy, policy);
	else
		assert_null(needs.policy);
	text_free(&room);
	return rule;
}

static void expect_rule(const char *name, const char *policy, const char *iotype, int error, bool placed)
{
	json_t *rule = rule_of(name, policy);
	json_int_t sector = json_integer_value(json_object_get(rule, "sector"));

	assert_non_null(rule);
	assert_string_equal(json_string_value(json_object_get(rule, "iotype")), iotype);
	assert_string_equal(json_string_value(json_object_get(rule, "event")), "none");
	assert_int_equal(json_integer_value(json_object_get(rule, "errno")), error);
	assert_true(json_is_true(json_object_get(rule, "once"))); /* other jobs follow */
	/* In the middle of the first 2 MiB, and at the start of 4 KiB. */
	assert_int_equal(placed, sector > 2000 && sector < 2100 && sector % 8 == 0);
	json_decref(rule);
}

static void test_needs(void **state)
{
	(void)state;
	expect_rule("eio-read", "report", "read", 5, true);
	expect_rule("eio-write", "report", "write", 5, true);
	expect_rule("eio-flush", "report", "flush", 5, false);
	expect_rule("enospc", "enospace", "write", 28, true);
	expect_rule("werror-stop", "stop", "write", 5, true);
	assert_null(rule_of("reset", NULL));
	assert_null(rule_of("save-restore", NULL));
	assert_null(rule_of("unplug", NULL));
}

static void test_area(void **state)
{
	static const uint64_t sizes[] = { EVENT_LEAST, (1 << 20) + 512, 3 << 20, 64ull << 20, 2ull << 40 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct event_area a = event_area_of(sizes[i]);

		assert_true(a.part > 0 && a.part % 65536 == 0 && EVENT_CLONES * a.part <= sizes[i] && a.part <= 4 << 20);
		assert_true(a.place % EVENT_BLOCK == 0 && a.place > EVENT_BLOCK && a.place + 2 * EVENT_BLOCK < a.part);
	}
}

/* ---- jobs ---- */

static bool has_word(const struct event_job *job, const char *word)
{
	for (size_t i = 0; i < job->argc; i++)
		if (!strcmp(job->argv[i], word))
			return true;
	return false;
}

static void test_jobs(void **state)
{
	struct event_area area = event_area_of(64 << 20);
	struct event_job job;

	(void)state;
	event_job_once(&job, &area, true, "randwrite", 2);
	assert_true(has_word(&job, "--verify=crc32c") && has_word(&job, "--direct=1") && has_word(&job, "--ioengine=psync"));
	assert_true(has_word(&job, "--numjobs=2") && has_word(&job, "--offset_increment=2097152") && has_word(&job, "--size=2097152"));
	event_job_once(&job, &area, false, "write", 1);
	assert_false(has_word(&job, "--direct=1"));
	assert_false(has_word(&job, "--numjobs=1"));
	event_job_timed(&job, &area, true, 4);
	assert_true(has_word(&job, "--runtime=4") && has_word(&job, "--iodepth=8") && has_word(&job, "--ioengine=libaio"));
	event_job_timed(&job, &area, false, 4);
	assert_true(has_word(&job, "--ioengine=psync"));
	assert_true(job.argc < EVENT_WORDS - 4);
}

/* ---- errors ---- */

#define LINE(kind, offset) "kickio: io_u error on file /dev/vda: Input/output error: " kind " offset=" offset ", buflen=4096\n"
#define JOB(total, first, reads, writes, syncs) "{\"jobname\":\"event\",\"error\":0,\"total_err\":" total ",\"first_error\":" first \
	",\"read\":{\"total_ios\":" reads "},\"write\":{\"total_ios\":" writes "},\"sync\":{\"total_ios\":" syncs "}}"

static json_t *result_of(const char *notes, const char *jobs)
{
	json_t *list = json_loads(jobs, 0, NULL), *result;

	assert_non_null(list);
	result = json_pack("{s:i,s:s,s:{s:o}}", "status", 0, "notes", notes, "fio", "jobs", list);
	assert_non_null(result);
	return result;
}

/* piece NULL: it is right. */
static void expect_errors(const char *notes, const char *jobs, const struct event_expected *x, const char *piece)
{
	json_t *result = result_of(notes, jobs);
	struct event_errors errors;
	struct text why = { 0 };
	bool right;

	event_errors_read(result, x, &errors);
	right = event_errors_right(&errors, x, &why);
	if (piece && right)
		fail_msg("taken for right: %s", notes);
	if (!piece && !right)
		fail_msg("%s", text_get(&why));
	holds(text_get(&why), piece ? piece : "");
	text_free(&why);
	json_decref(result);
}

static void test_errors(void **state)
{
	const struct event_expected write = { .kind = "write", .place = 1052672, .writes = 1024 };
	const struct event_expected sync = { .kind = "sync" };
	const char *one = "[" JOB("1", "5", "511", "512", "0") "," JOB("0", "0", "512", "512", "0") "]";
	const char *two = "[" JOB("1", "5", "511", "512", "0") "," JOB("1", "5", "512", "512", "0") "]";
	const char *none = "[" JOB("0", "0", "0", "1024", "0") "]";

	(void)state;
	expect_errors("kickio: something else\n" LINE("write", "1052672"), one, &write, NULL);
	expect_errors(LINE("write", "1048576"), one, &write, "not the one that the device gave"); /* ends where the place begins */
	expect_errors(LINE("write", "1048577"), one, &write, NULL);
	expect_errors(LINE("write", "1056768"), one, &write, "1 of 1 errors");
	expect_errors(LINE("read", "1052672"), one, &write, "not the one that the device gave: kickio: io_u error");
	expect_errors(LINE("write", "1052672") LINE("write", "8192"), two, &write, "1 of 2 errors");
	expect_errors(LINE("write", "1052672") LINE("write", "1052672"), two, &write, "the guest saw 2");
	expect_errors("", none, &write, "came back without an error");
	expect_errors("", one, &write, "the guest saw 1 (0 told of)");
	expect_errors(LINE("write", "1052672"), "[" JOB("1", "6", "0", "1024", "0") "]", &write, "errno 6");
	expect_errors("kickio: io_u error on file /dev/vda: Input/output error: sync offset=0, buflen=0\n", one, &sync, NULL);
	expect_errors(LINE("write", "0"), one, &sync, "not the one");
}

static void test_went_on(void **state)
{
	struct event_expected x = { .kind = "write", .writes = 1024, .syncs = 62 };
	json_t *result = result_of("", "[" JOB("1", "5", "511", "512", "60") "," JOB("0", "0", "512", "512", "2") "]");
	struct event_errors errors;
	struct text why = { 0 };

	(void)state;
	event_errors_read(result, &x, &errors);
	json_decref(result);
	assert_true(event_went_on(&errors, &x, &why));
	assert_string_equal(text_get(&why), "");
	x.reads = 1024;
	assert_false(event_went_on(&errors, &x, &why));
	assert_string_equal(text_get(&why), "it ended with 1023 of 1024 reads");
	text_reset(&why);
	x.reads = 0;
	x.writes = 2048;
	x.syncs = 63;
	assert_false(event_went_on(&errors, &x, &why));
	assert_string_equal(text_get(&why), "it ended with 1024 of 2048 writes, 62 of 63 flushes");
	text_free(&why);
}

static void test_lines(void **state)
{
	uint64_t offset = 0, bytes = 0;
	char kind[16];

	(void)state;
	assert_true(event_error_line("kickio: io_u error on file /a offset=7, buflen=9: x: read offset=512, buflen=1024", kind, &offset, &bytes));
	assert_string_equal(kind, "read");
	assert_true(offset == 512 && bytes == 1024);
	assert_false(event_error_line("kickio: io_u error on file /dev/vda", kind, &offset, &bytes));
	assert_false(event_error_line("kickio: io_u error on file /dev/vda: averyveryverylongword offset=1, buflen=2", kind, &offset, &bytes));
	assert_false(event_error_line("kickio: verify: torn offset=1, buflen=2", kind, &offset, &bytes));
}

/* ---- the image ---- */

/* An image of `blocks` of 1 KiB as a job with map 0xab would leave it, all at generation 2. */
static void make_image(struct scratch *s, unsigned blocks)
{
	char *bytes = calloc(blocks, 1024);

	assert_non_null(bytes);
	for (unsigned i = 0; i < 2 * blocks; i++) {
		struct verify_header h = { .map = 0xab, .offset = 512ull * i, .start = 1024ull * (i / 2), .length = 1024, .generation = 2,
					   .file = verify_file_number("/dev/vda"), .kind = VERIFY_CRC32C };

		sector_seal(bytes + 512 * i, &h);
	}
	scratch_bytes(s, "image", bytes, blocks * 1024);
	free(bytes);
}

static void change_byte(const char *path, long at)
{
	FILE *f = fopen(path, "r+");
	int c;

	assert_non_null(f);
	fseek(f, at, SEEK_SET);
	c = fgetc(f);
	fseek(f, at, SEEK_SET);
	fputc(c ^ 1, f);
	fclose(f);
}

static void expect_look(const char *image, const char *runs, bool cut, uint64_t blocks, uint64_t bad, const char *piece)
{
	json_t *body = json_pack("{s:[{s:s,s:s,s:i,s:i,s:s}]}", "verify_map", "path", "/dev/vda", "map", "00000000000000ab", "unit", 1024,
				 "blocks", 16, "runs", runs);
	struct map_copy *maps = map_copy_new();
	struct event_disk disk;
	struct error e = { 0 };

	assert_int_equal(map_copy_take(maps, body, &e), 0);
	if (event_disk_look(maps, image, cut, &disk, &e))
		fail_msg("%s", e.text);
	assert_int_equal(disk.blocks, blocks);
	assert_int_equal(disk.bad, bad);
	holds(text_get(&disk.first), piece);
	text_free(&disk.first);
	map_copy_free(maps);
	json_decref(body);
}

static void test_image(void **state)
{
	struct scratch *s = *state;
	struct map_copy *maps = map_copy_new();
	struct event_disk disk;
	struct error e = { 0 };

	make_image(s, 16);
	expect_look(s->path, "0+10:2", false, 16, 0, "");
	expect_look(s->path, "0+8:2", false, 8, 0, ""); /* the rest was never written */
	expect_look(s->path, "0+8:2,8:3", false, 9, 1, "offset 8192 holds an earlier generation, and generation 3 was completed there");
	expect_look(s->path, "0+8:2,8:3-2", false, 9, 0, ""); /* one failed: either will do */
	expect_look(s->path, "0+8:2,8:1", false, 9, 1, "a generation that nobody wrote");
	expect_look(s->path, "0+8:2,8:1", true, 9, 0, ""); /* the guest could not tell all */
	expect_look(s->path, "0+8:2,8:3", true, 9, 1, "an earlier generation");
	change_byte(s->path, 3 * 1024 + 512 + 300);
	expect_look(s->path, "0+10:2", false, 16, 1, "offset 3584 holds data that its checksum does not fit");
	expect_look(s->path, "4+c:2", false, 12, 0, "");
	assert_int_equal(event_disk_look(maps, "/nowhere/at all", false, &disk, &e), -1);
	holds(e.text, "/nowhere/at all");
	map_copy_free(maps);
}

/* ---- plugging ---- */

static void test_plug(void **state)
{
	json_t *found = json_pack("{s:i,s:b,s:s,s:s,s:s,s:i}", "addr", 0x1a, "packed", 1, "iothread", "/objects/iothread2", "serial", "kb-disk0",
				  "werror", "", "num-queues", 4);
	json_t *want = json_pack("{s:s,s:s,s:s,s:s,s:s,s:b,s:s,s:s,s:i}", "driver", "virtio-blk-pci", "id", "ua-disk0", "bus", "pci.0", "drive",
				 "kb-again0", "addr", "3.2", "packed", 1, "iothread", "iothread2", "serial", "kb-disk0", "num-queues", 4);
	json_t *have = event_plug_arguments("virtio-blk-pci", "ua-disk0", "pci.0", "kb-again0", found);

	(void)state;
	if (!json_equal(have, want))
		fail_msg("%s", json_dumps(have, JSON_SORT_KEYS));
	json_decref(found);
	json_decref(want);
	json_decref(have);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_needs),
		cmocka_unit_test(test_area),
		cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_went_on),
		cmocka_unit_test(test_lines),
		cmocka_unit_test_setup_teardown(test_image, scratch_open, scratch_close),
		cmocka_unit_test(test_plug),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
