/*
 * A regress folder as text, HTML, JUnit and JSON. With KB_HTML_PAGES=FOLDER in the environment the pages are kept there, for
 * tests/html/check.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "host/command.h"
#include "host/matrix_words.h"
#include "tests/unit/matrix_runs.h"
#include "tests/unit/xpath.h"

typedef int (*form)(const struct matrix_folder *f, struct text *out, struct error *e);

static int plain(const struct matrix_folder *f, struct text *out, struct error *e)
{
	return matrix_report_text(f, false, out, e);
}

static struct text written(const struct matrix_folder *f, form write)
{
	struct text t = { 0 };
	struct error e = { 0 };

	if (write(f, &t, &e))
		fail_msg("%s", e.text);
	assert_false(t.failed);
	return t;
}

static void lacks(const char *text, const char *piece)
{
	if (strstr(text, piece))
		fail_msg("\"%s\" is in \"%s\"", piece, text);
}

/* ---- text ---- */

static void text_has_it_all(void **state)
{
	struct matrix_folder f = run_read(*state, "run", &run_small);
	struct text t = written(&f, plain);
	char console[400];

	holds(text_get(&t), "quick: 6 cells, 11 of 11 pairs of 3 options, 10 tried\n");
	holds(text_get(&t), "ring=packed with transport=legacy (no packed ring in legacy devices)\n");
	holds(text_get(&t), "  guest       6.1.0\n");
	holds(text_get(&t), "  emulator    QEMU 7.2.22\n");
	holds(text_get(&t), "tcg (no KVM)\n");
	holds(text_get(&t), "cell  transport  ring    queues  status    seconds\n");
	holds(text_get(&t), "\n   2  modern     packed  2       corrupt       1.5\n");
	holds(text_get(&t), "The failing cell has, and no passing cell has: ring=packed and queues=2.\n");
	holds(text_get(&t), "Cell 2        corrupt\n  check       verify randwrite: corrupt: block 17 is old\n              offset 69632, expected generation 7\n");
	snprintf(console, sizeof(console), "  console     %s/console/000002.log\n", f.path);
	holds(text_get(&t), console);
	holds(text_get(&t), "  again       kickbench regress --only transport=modern,ring=packed,queues=2\n");
	holds(text_get(&t), "Skipped       cell 6: no such device\n");
	holds(text_get(&t), "\n4 passed, 0 failed, 0 stalled, 1 corrupt, 1 skipped, 0 missing\n");
	lacks(text_get(&t), "many lines");
	lacks(text_get(&t), "\033");
	assert_int_equal(matrix_status(&f, false), 1);
	assert_int_equal(matrix_status(&f, true), 1);
	text_free(&t);
	matrix_folder_free(&f);
}

static void colour_is_for_terminals(void **state)
{
	struct matrix_folder f = run_read(*state, "run", &run_small);
	struct text t = { 0 };
	struct error e = { 0 };

	assert_int_equal(matrix_report_text(&f, true, &t, &e), 0);
	holds(text_get(&t), "\033[31;1mcorrupt\033[m       1.5\n");
	holds(text_get(&t), "\033[32mpass\033[m ");
	text_free(&t);
	matrix_folder_free(&f);
}

/* What a guest or a scenario says may not work on the terminal. */
static void hostile_words_are_plain(void **state)
{
	struct run r = { .option = { { "a", { "1", "2" } }, { "<b>", { "\033[31m", "&\"" } } },
			 .cell = { { { "1", "\033[31m" }, .status = "fail", .reason = "<script>\033]0;x\007</script>",
				     .checks = "[{\"name\":\"</pre>&\\u001b[2J\",\"status\":\"fail\",\"message\":\"]]>\",\"evidence\":{\"<k>\":\"</pre>\"}}]",
				     .console = "</pre><script>\033[2J\nend" },
				   { { "2", "&\"" }, .status = "pass" } } };
	struct matrix_folder f = run_read(*state, "run", &r);
	struct text t = written(&f, plain), page = written(&f, matrix_report_html);

	lacks(text_get(&t), "\033");
	lacks(text_get(&t), "\007");
	lacks(text_get(&page), "<script");
	lacks(text_get(&page), "<b>=");
	lacks(text_get(&page), "\033");
	text_free(&t);
	text_free(&page);
	matrix_folder_free(&f);
}

/* Names give way to what they begin with, the one first that gains most, until the table fits 100 columns. */
static void wide_tables_have_a_legend(void **state)
{
	struct run r = { .option = { { "transport", { "modern", "transitional-device" } }, { "write_cache_of_the_disk", { "on", "off" } },
				     { "qemu.indirect_desc_and_more", { "on", "off" } }, { "notification", { "io", "io" } },
				     { "seg_max_of_the_device", { "1", "2" } } },
			 .cell = { { { "modern", "on", "off", "io", "1" }, .status = "pass" },
				   { { "transitional-device", "off", "on", "io", "2" }, .status = "pass" } } };
	struct matrix_folder f = run_read(*state, "run", &r);
	struct text t = written(&f, plain);

	/* 23 fixed, then 19, 23, 27 and 21 with 2 each: 121 in all; without the widest, for which its 6 letters stand, 100 */
	holds(text_get(&t), "cell  transport            write_cache_of_the_disk  qidam  seg_max_of_the_device  status    seconds\n");
	holds(text_get(&t), "qidam = qemu.indirect_desc_and_more\n  every cell: notification=io\n");
	text_free(&t);
	matrix_folder_free(&f);
}

static void clean_and_cut(void **state)
{
	struct run r = run_small;
	struct matrix_folder f;
	struct text t;

	r.cell[1].status = "pass";
	r.cell[1].reason = r.cell[1].checks = NULL;
	f = run_read(*state, "clean", &r);
	assert_int_equal(matrix_status(&f, false), 0);
	assert_int_equal(matrix_status(&f, true), 0);
	matrix_folder_free(&f);
	r.cell[2].status = r.cell[4].status = NULL;
	f = run_read(*state, "cut", &r);
	assert_int_equal(f.missing, 2);
	assert_int_equal(f.count[CELL_PASS], 3);
	assert_int_equal(matrix_status(&f, false), 3);
	assert_int_equal(matrix_status(&f, true), 125);
	t = written(&f, plain);
	holds(text_get(&t), "Missing       cells 3 and 5\n  go on       kickbench regress --resume ");
	holds(text_get(&t), "   3  legacy     split   2       missing         -\n");
	holds(text_get(&t), "\n3 passed, 0 failed, 0 stalled, 0 corrupt, 1 skipped, 2 missing\n");
	lacks(text_get(&t), "passing cell");
	text_free(&t);
	matrix_folder_free(&f);
}

/* One cell that was asked for: what it is stands below the table, and it is no base for what cells have in common. */
static void one_cell_alone(void **state)
{
	struct run r = { .option = { { "ring", { "split", "packed" } }, { "queues", { "1", "2" } } },
			 .cell = { { { "packed", "2" }, .status = "fail", .reason = "no" } } };
	struct matrix_folder f = run_read(*state, "run", &r);
	struct text t = written(&f, plain);

	holds(text_get(&t), "quick: 1 cell, 1 of 4 pairs of 2 options\n");
	holds(text_get(&t), "cell  status    seconds\n   1  fail          1.5\n  every cell: ring=packed, queues=2\n\nCell 1        fail\n  reason      no\n");
	text_free(&t);
	matrix_folder_free(&f);
}

/* Only skipped cells: nothing failed, but neither a CI nor git bisect must be told that all is well. */
static void all_skipped(void **state)
{
	struct run r = { .option = { { "a", { "1", "2" } } },
			 .cell = { { { "1" }, .status = "skipped", .reason = "no" }, { { "2" }, .status = "skipped", .reason = "no" } } };
	struct matrix_folder f = run_read(*state, "run", &r);
	struct text t = written(&f, plain);

	assert_int_equal(matrix_status(&f, false), 3);
	assert_int_equal(matrix_status(&f, true), 125);
	holds(text_get(&t), "Skipped       cells 1 and 2: no\n");
	text_free(&t);
	matrix_folder_free(&f);
}

/* A check that a passing cell has left out, with the cells; of a cell that was skipped as a whole it is not told again. */
static void left_out_checks_are_named(void **state)
{
	static const char none[] = "[{\"name\":\"discard\",\"status\":\"skipped\",\"message\":\"none here\",\"seconds\":0}]";
	static const char twice[] = "[{\"name\":\"discard\",\"status\":\"skipped\",\"message\":\"none here\",\"seconds\":0},"
		"{\"name\":\"discard\",\"status\":\"skipped\",\"message\":\"not yet\",\"seconds\":0}]";
	struct run r = { .option = { { "a", { "1", "2", "3" } } },
			 .cell = { { { "1" }, .status = "pass", .checks = none }, { { "2" }, .status = "fail", .reason = "no", .checks = twice },
				   { { "3" }, .status = "skipped", .reason = "no such", .checks = none } } };
	struct matrix_folder f = run_read(*state, "run", &r);
	struct text t = written(&f, plain), page = written(&f, matrix_report_html);

	holds(text_get(&t), "Skipped       cell 3: no such\nUnchecked     cells 1 and 2: discard: none here\nUnchecked     cell 2: discard: not yet\n");
	holds(text_get(&page), "<dt>unchecked</dt><dd>cells 1 and 2: discard: none here</dd>");
	text_free(&t);
	for (size_t i = 0; i < 3; i++)
		json_object_set_new(json_array_get(f.cells, i), "effective",
				    json_pack("{s:[s,s]}", "unverified", "event_idx", i == 1 ? "queues" : "packed"));
	t = written(&f, plain);
	holds(text_get(&t), "Unchecked     cell 1: whether the guest has event_idx, packed as asked for\n"
	      "Unchecked     cell 2: whether the guest has event_idx, queues as asked for\n");
	text_free(&t);
	text_free(&page);
	matrix_folder_free(&f);
}

/* Whoever looks at a matrix while it runs is not to start it a second time. */
static void one_that_runs(void **state)
{
	static const char hint[] = "did not say that it ended";
	struct run r = run_small;
	struct matrix_folder f;
	struct text t;

	r.cell[5].status = NULL;
	f = run_read(*state, "run", &r);
	json_object_set_new(f.run, "sessions", json_pack("[{s:s,s:s}]", "started", "x", "ended", "y"));
	t = written(&f, plain);
	lacks(text_get(&t), hint);
	text_free(&t);
	json_object_set_new(f.run, "sessions", json_pack("[{s:s,s:s},{s:s,s:n}]", "started", "x", "ended", "y", "started", "z", "ended"));
	t = written(&f, plain);
	holds(text_get(&t), hint);
	text_free(&t);
	matrix_folder_free(&f);
}

/* A console's lines stay lines, what the message has said comes once, and a long one is cut at column 100. */
static void lines_stay_lines(void **state)
{
	static const char checks[] = "[{\"name\":\"boot\",\"status\":\"fail\",\"message\":\"the guest is off\",\"seconds\":0,"
		"\"evidence\":{\"error\":\"the guest is off\\n  | [    0.04]  first+0x1\\n\\n  | second "
		"-----------------------------------------------------------------------------------------------\",\"n\":3}}]";
	struct run r = { .option = { { "a", { "1", "2" } } },
			 .cell = { { { "1" }, .status = "pass" }, { { "2" }, .status = "fail", .reason = "boot: the guest is off", .checks = checks } } };
	struct matrix_folder f = run_read(*state, "run", &r);
	struct text t = written(&f, plain), page = written(&f, matrix_report_html), xml = written(&f, matrix_report_junit);

	/* 14 and 2 for the bar, "second ", and 76 dashes: 99 */
	holds(text_get(&t), "  check       boot: fail: the guest is off\n              n 3\n              | [    0.04]  first+0x1\n              | second "
	      "----------------------------------------------------------------------------\342\200\246\n  console ");
	holds(text_get(&page), "<pre>[    0.04]  first+0x1&#10;second ---");
	holds(text_get(&xml), "type=\"fail\">boot: fail: the guest is off (n 3)&#10;  | [    0.04]  first+0x1&#10;");
	text_free(&t);
	text_free(&page);
	text_free(&xml);
	matrix_folder_free(&f);
}

/* One failing cell has many pairs of its own: a few of them, and that they are no answer. */
static void one_failing_cell_does_not_tell(void **state)
{
	struct run r = { .option = { { "a", { "1", "2" } }, { "b", { "1", "2" } }, { "c", { "1", "2" } }, { "d", { "1", "2" } } },
			 .cell = { { { "1", "1", "1", "1" }, .status = "pass" }, { { "1", "1", "2", "2" }, .status = "fail", .reason = "no" },
				   { { "2", "2", "2", "1" }, .status = "pass" }, { { "2", "2", "1", "2" }, .status = "pass" } } };
	struct matrix_folder f = run_read(*state, "run", &r);
	struct text t = written(&f, plain);

	/* a-c, a-d, b-c, b-d, c-d; a=1 with b=1 passes in cell 1 */
	holds(text_get(&t), "One failing cell does not tell why. What it has, and no passing cell has: a=1 and c=2; a=1 and d=2;\nb=1 and c=2; and 2 more.\n");
	text_free(&t);
	matrix_folder_free(&f);
	r.cell[4] = (struct run_cell){ { "1", "2", "2", "2" }, .status = "pass" };
	r.cell[5] = (struct run_cell){ { "2", "1", "2", "2" }, .status = "pass" };
	f = run_read(*state, "run", &r);
	t = written(&f, plain);
	holds(text_get(&t), "Every two values of the failing cell are in a passing one, too");
	text_free(&t);
	matrix_folder_free(&f);
}

static void causes_come_with_their_why(void **state)
{
	static const struct { const char *check, *want; } cases[] = {
		{ "{\"evidence\":{\"cause\":\"kick lost\",\"why\":\"avail 3, last_avail 2\",\"n\":1}}", "kick lost: avail 3, last_avail 2" },
		{ "{\"evidence\":{\"cause\":\"guest dead\"}}", "guest dead" },
		{ "{\"evidence\":{\"a_b\":1.5,\"c\":true,\"d\":null,\"e\":[1]}}", "a b 1.5, c yes" },
		{ "{\"message\":\"no progress: kick lost: n 1\",\"evidence\":{\"cause\":\"kick lost\",\"why\":\"n 1\"}}", "" },
		{ "{\"evidence\":null}", "" },
		{ "{\"message\":\"off: a\",\"evidence\":{\"error\":\"off: a b\",\"x\":\"y\"}}", "x y" },
		{ "{}", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *check = json_loads(cases[i].check, 0, NULL);
		struct text t = { 0 };

		matrix_evidence(check, &t);
		assert_string_equal(text_get(&t), cases[i].want);
		text_free(&t);
		json_decref(check);
	}
}

static void consoles_end_is_shown(void **state)
{
	struct matrix_folder f = run_read(*state, "run", &run_small);
	char *tail = matrix_console_tail(&f, 1, 2);

	assert_non_null(tail);
	assert_string_equal(tail, "second\nthe end");
	free(tail);
	tail = matrix_console_tail(&f, 1, 100);
	assert_string_equal(tail, "first\nsecond\nthe end");
	free(tail);
	assert_null(matrix_console_tail(&f, 0, 2)); /* no file */
	json_object_set_new(json_array_get(f.cells, 1), "console", json_string("../run/console/000002.log"));
	assert_null(matrix_console_tail(&f, 1, 2)); /* out of the folder */
	matrix_folder_free(&f);
}

/* ---- the other forms ---- */

static void keep(const char *name, const struct text *page)
{
	const char *folder = getenv("KB_HTML_PAGES");
	char path[512];
	FILE *out;

	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/%s.html", folder, name);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(page->data, 1, page->length, out), page->length);
	assert_int_equal(fclose(out), 0);
}

static void html_is_whole(void **state)
{
	struct matrix_folder f = run_read(*state, "run", &run_small);
	struct text page = written(&f, matrix_report_html);

	assert_int_equal(strncmp(text_get(&page), "<!DOCTYPE html>", 15), 0);
	holds(text_get(&page), "4 passed, 0 failed, 0 stalled, 1 corrupt, 1 skipped, 0 missing");
	holds(text_get(&page), "no passing cell has: ring=packed and queues=2.");
	holds(text_get(&page), "<details id=\"cell-2\" open>");
	holds(text_get(&page), "<details id=\"cell-1\"><summary>");
	holds(text_get(&page), "title=\"queues=2 with ring=packed\">0/1</td>");
	holds(text_get(&page), "title=\"queues=1 with ring=packed\">1</td>");
	holds(text_get(&page), "title=\"ring=packed with transport=legacy\">\342\200\223</td>");
	holds(text_get(&page), "title=\"queues=1 with transport=legacy\">?</td>");
	holds(text_get(&page), "<pre>first&#10;second&#10;the end</pre>");
	holds(text_get(&page), "</main></body></html>\n");
	lacks(text_get(&page), "http:");
	lacks(text_get(&page), " src=");
	keep("matrix", &page);
	text_free(&page);
	matrix_folder_free(&f);
}

/* As wide as --full may be: nothing overflows. */
static void html_of_many_options(void **state)
{
	struct run r = { .option = { { "transport", { "modern", "transitional", "legacy", "mmio" } }, { "qemu.indirect_desc", { "on", "off" } },
				     { "event", { "none", "reset-in-mid-job", "save-and-restore" } }, { "queue_size", { "2", "1024" } },
				     { "size", { "2199023255552", "4294967808" } }, { "write_cache", { "on", "off" } },
				     { "a_name_without_end_and_without_mercy", { "<img src=x onerror=alert(1)>", "2" } },
				     { "block_size", { "512", "4096" } } } };
	static const char *const status[] = { "pass", "fail", "stalled", "corrupt", "skipped", NULL };
	struct matrix_folder f;
	struct text page;

	for (size_t i = 0; i < RUN_CELLS; i++) {
		for (size_t k = 0; k < RUN_OPTIONS; k++) {
			size_t n = 0;

			while (n < 4 && r.option[k].value[n])
				n++;
			r.cell[i].value[k] = r.option[k].value[(i >> (k % 3)) % n];
		}
		r.cell[i].status = status[i % 6];
		r.cell[i].reason = i % 6 ? "a_reason_that_has_no_blanks_at_all_and_goes_on_and_on_without_a_place_to_break_it_which_a_path_may_be" : NULL;
		r.cell[i].checks = i % 6 ? RUN_LOST_WRITE : NULL;
	}
	f = run_read(*state, "run", &r);
	page = written(&f, matrix_report_html);
	lacks(text_get(&page), "<img");
	keep("matrix-wide", &page);
	text_free(&page);
	matrix_folder_free(&f);
}

static void junit_counts(void **state)
{
	static const struct { const char *path; double want; } cases[] = {
		{ "count(//testcase)", 7 }, { "number(//testsuite/@tests)", 7 },
		{ "count(//testcase/failure)", 2 }, { "number(//testsuite/@failures)", 2 },
		{ "count(//testcase/error)", 2 }, { "number(//testsuite/@errors)", 2 },
		{ "count(//testcase/skipped[@message])", 1 }, { "number(//testsuite/@skipped)", 1 },
		{ "count(//testcase[@classname='regress.quick'])", 7 },
		{ "count(//testcase[1]/*[not(self::system-out)])", 0 },
		{ "count(//failure[@type='corrupt'][@message='old <data>'])", 1 },
		{ "count(//failure[contains(., 'verify randwrite: corrupt: block 17 is old (offset 69632')][contains(., 'regress --only a=3')])", 1 },
		{ "count(//failure[contains(., 'size: pass')])", 0 },
		{ "count(//error[@type='stalled'])", 1 }, { "count(//error[@type='missing'])", 1 },
		{ "number(//testcase[1]/@time)", 1.5 }, { "number(//testsuite/@time)", 9 },
		{ "count(//testcase[contains(system-out, 'verify randwrite: corrupt: block 17 is old (offset 69632')])", 1 },
	};
	struct run r = { .option = { { "a", { "1", "2", "3", "4" } } },
			 .cell = { { { "1" }, .status = "pass" }, { { "2" }, .status = "fail", .reason = "no" },
				   { { "3" }, .status = "corrupt", .reason = "old <data>", .checks = RUN_LOST_WRITE },
				   { { "4" }, .status = "stalled", .reason = "still" }, { { "1" }, .status = "skipped", .reason = "not here" },
				   { { "2" }, .status = NULL }, { { "1" }, .status = "pass" } } };
	struct matrix_folder f = run_read(*state, "run", &r);
	struct text xml = written(&f, matrix_report_junit);
	xmlDoc *doc = xmlReadMemory(xml.data, (int)xml.length, NULL, NULL, 0);

	assert_non_null(doc);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (xpath_number(doc, cases[i].path) != cases[i].want)
			fail_msg("%s is %g, not %g in %s", cases[i].path, xpath_number(doc, cases[i].path), cases[i].want, xml.data);
	xmlFreeDoc(doc);
	text_free(&xml);
	matrix_folder_free(&f);
}

static void json_is_one_document(void **state)
{
	struct run r = run_small;
	struct matrix_folder f;
	struct text text;
	json_t *d, *cells;

	r.cell[5].status = NULL;
	f = run_read(*state, "run", &r);
	text = written(&f, matrix_report_json);
	d = json_loads(text_get(&text), 0, NULL);
	assert_non_null(d);
	cells = json_object_get(d, "cells");
	assert_string_equal(json_string_value(json_object_get(d, "schema")), "kickbench-regress-report/1");
	assert_int_equal(json_integer_value(json_object_get(d, "status")), 1);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(d, "counts"), "missing")), 1);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(d, "pairs"), "possible")), 11);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(d, "pairs"), "tried")), 10);
	assert_int_equal(json_array_size(json_object_get(d, "common")), 1);
	assert_int_equal(json_array_size(cells), 6);
	assert_string_equal(json_string_value(json_object_get(json_array_get(cells, 1), "reason")), "block 17 is old");
	assert_string_equal(json_string_value(json_object_get(json_array_get(cells, 5), "status")), "missing");
	assert_null(json_object_get(json_object_get(d, "run"), "cells"));
	json_decref(d);
	text_free(&text);
	matrix_folder_free(&f);
}

/* ---- folders that are damaged, or of another day ---- */

static void refused(struct scratch *s, const char *name, const char *text, const char *message)
{
	struct matrix_folder f;
	struct error e = { 0 };
	char path[128];

	run_make(s, "bad", &run_small);
	snprintf(path, sizeof(path), "bad/%s", name);
	scratch_text(s, path, text);
	assert_int_equal(matrix_folder_read(scratch_path(s, "bad"), &f, &e), -1);
	assert_int_equal(e.status, STATUS_USAGE);
	holds(e.text, message);
	holds(e.text, s->folder);
}

static void what_cannot_be_read_is_named(void **state)
{
	struct scratch *s = *state;
	struct matrix_folder f;
	struct error e = { 0 };

	refused(s, "run.json", "{", "run.json:1:");
	refused(s, "run.json", "{\"schema\":\"kickbench-regress/2\"}", "schema is kickbench-regress/2, expected kickbench-regress/1");
	refused(s, "run.json", "{\"schema\":\"kickbench-regress/1\"}", "options are missing");
	refused(s, "run.json", "{\"schema\":\"kickbench-regress/1\",\"options\":[{\"name\":\"a\",\"values\":[]}],\"cells\":[]}", "options[0]");
	refused(s, "run.json", "{\"schema\":\"kickbench-regress/1\",\"options\":[],\"cells\":7}", "cells are missing");
	refused(s, "run.json", "{\"schema\":\"kickbench-regress/1\",\"options\":[],\"cells\":[{\"cell\":-1,\"name\":\"x\"}]}", "cells[0]");
	refused(s, "run.json",
		"{\"schema\":\"kickbench-regress/1\",\"options\":[{\"name\":\"a\",\"values\":[\"1\"]}],\"cells\":[{\"cell\":1,\"name\":\"x\"}]}",
		"cells[0] does not tell a");
	refused(s, "cells/000002.json", "", "cells/000002.json");
	refused(s, "cells/000002.json", "{\"schema\":\"kickbench-cell/2\"}", "schema is kickbench-cell/2");
	refused(s, "cells/000002.json", "{\"schema\":\"kickbench-cell/1\",\"cell\":3,\"name\":\"x\"}", "is of another cell");
	refused(s, "cells/000002.json",
		"{\"schema\":\"kickbench-cell/1\",\"cell\":2,\"name\":\"transport=modern,ring=packed,queues=2\",\"status\":\"fine\"}", "status");
	refused(s, "cells/000002.json",
		"{\"schema\":\"kickbench-cell/1\",\"cell\":2,\"name\":\"transport=modern,ring=packed,queues=2\",\"status\":\"pass\",\"checks\":[1]}",
		"checks[0]");
	assert_int_equal(matrix_folder_read(scratch_path(s, "nowhere"), &f, &e), -1);
	holds(e.text, "is no run folder");
}

static void which_folders_are_matrices(void **state)
{
	struct scratch *s = *state;

	assert_true(matrix_folder_is(run_make(s, "run", &run_small)));
	scratch_text(s, "other/run.json", "{\"schema\":\"kickbench-run/1\"}");
	assert_false(matrix_folder_is(scratch_path(s, "other")));
	scratch_text(s, "newer/run.json", "{\"schema\":\"kickbench-regress/9\"}"); /* it is one, which is refused when it is read */
	assert_true(matrix_folder_is(scratch_path(s, "newer")));
	scratch_text(s, "broken/run.json", "[");
	assert_false(matrix_folder_is(scratch_path(s, "broken")));
	assert_false(matrix_folder_is(scratch_path(s, "nowhere")));
}

#define each(test) cmocka_unit_test_setup_teardown(test, scratch_open, scratch_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		each(text_has_it_all),
		each(colour_is_for_terminals),
		each(hostile_words_are_plain),
		each(wide_tables_have_a_legend),
		each(clean_and_cut),
		each(one_cell_alone),
		each(all_skipped),
		each(left_out_checks_are_named),
		each(one_that_runs),
		each(lines_stay_lines),
		each(one_failing_cell_does_not_tell),
		cmocka_unit_test(causes_come_with_their_why),
		each(consoles_end_is_shown),
		each(html_is_whole),
		each(html_of_many_options),
		each(junit_counts),
		each(json_is_one_document),
		each(what_cannot_be_read_is_named),
		each(which_folders_are_matrices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
