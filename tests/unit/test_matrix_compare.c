/* Two matrices compared: what failed newly, what was fixed, what is not there; and the command that does it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/command.h"
#include "tests/unit/matrix_runs.h"

static struct run changed(size_t cell, const char *status, const char *reason)
{
	struct run r = run_small;

	r.cell[cell].status = status;
	r.cell[cell].reason = reason;
	return r;
}

/* before and after, compared; *worse. */
static struct text compared(struct scratch *s, const struct run *before, const struct run *after, unsigned *worse)
{
	struct matrix_folder a = run_read(s, "a", before), b = run_read(s, "b", after);
	struct text t = { 0 };
	struct error e = { 0 };

	if (matrix_compare_text(&a, &b, &t, worse, &e))
		fail_msg("%s", e.text);
	matrix_folder_free(&a);
	matrix_folder_free(&b);
	return t;
}

static void each_kind_is_told(void **state)
{
	static const struct { size_t cell; const char *before, *after, *title, *line; unsigned worse; } cases[] = {
		{ 0, "pass", "fail", "NEW FAILURES\n  fail, was pass: transport=modern, ring=split, queues=1\n", "1 new failure, 1 still failing", 1 },
		{ 0, "skipped", "stalled", "NEW FAILURES\n  stalled, was skipped: ", "1 new failure, ", 1 },
		{ 0, "fail", "pass", "FIXED\n  pass, was fail: ", "0 new failures, 1 still failing, 1 fixed, ", 0 },
		{ 0, "fail", "corrupt", "  corrupt, was fail: ", "2 still failing", 0 },
		{ 0, "fail", "skipped", "FAILED, AND NOT TRIED NOW\n  skipped, was fail: ", "1 not tried now", 0 },
		{ 0, "pass", "skipped", "PASSED, AND NOT TRIED NOW\n  skipped, was pass: ", "1 not tried now", 0 },
		{ 0, "pass", NULL, "PASSED, AND NOT TRIED NOW\n  missing, was pass: ", "1 not tried now", 0 },
		{ 0, "skipped", "pass", "PASS, AND WERE NOT TRIED BEFORE\n  pass, was skipped: ", "1 tried now", 0 },
		{ 0, "skipped", "skipped", "NOT TRIED EITHER TIME, FOR ANOTHER REASON NOW\n  skipped: transport=modern, ring=split, queues=1\n"
		  "      A       one\n      B       two\n", "1 not tried for another\nreason, 0 new, 0 gone, 4 as before\n", 0 },
		{ 0, NULL, "skipped", "FOR ANOTHER REASON NOW\n  skipped, was missing: ", "1 not tried for another\nreason", 0 },
		{ 0, "pass", "pass", "STILL FAILING\n  corrupt: transport=modern, ring=packed, queues=2\n      B       block 17 is old\n",
		  "0 new failures, 1 still failing, 0 fixed, 0 not tried now, 0 tried now, 0 new, 0 gone, 5 as before\n", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run before = changed(cases[i].cell, cases[i].before, "one"), after = changed(cases[i].cell, cases[i].after, "two");
		unsigned worse = 99;
		struct text t = compared(*state, &before, &after, &worse);

		holds(text_get(&t), cases[i].title);
		holds(text_get(&t), cases[i].line);
		assert_int_equal(worse, cases[i].worse);
		text_free(&t);
		assert_int_equal(scratch_close(state), 0); /* a folder without the last one's cells */
		assert_int_equal(scratch_open(state), 0);
	}
}

/* Another way of failing: both reasons are told. */
static void reasons_that_differ(void **state)
{
	struct run before = changed(1, "fail", "the size is wrong"), after = run_small;
	unsigned worse;
	struct text t = compared(*state, &before, &after, &worse);

	holds(text_get(&t), "      A       the size is wrong\n      B       block 17 is old\n      again   kickbench regress --only ");
	assert_int_equal(worse, 0);
	text_free(&t);
}

/* What newly fails, against what passes: the cell that failed before says nothing of it. */
static void new_failures_have_something_in_common(void **state)
{
	struct run after = changed(2, "fail", "no"); /* legacy, split, 2: legacy passes nowhere else */
	unsigned worse;
	struct text t = compared(*state, &run_small, &after, &worse);

	holds(text_get(&t), "  The failing cell has, and no passing cell has: transport=legacy.\n");
	assert_int_equal(worse, 1);
	text_free(&t);
}

static void cells_come_and_go(void **state)
{
	struct run after = run_small;
	unsigned worse;
	struct text t;

	after.seed = 8;
	after.kernel = "6.12.0";
	after.option[2].value[1] = "4";
	for (size_t i = 1; i < 4; i++)
		after.cell[i].value[2] = "4";
	t = compared(*state, &run_small, &after, &worse);
	holds(text_get(&t), "guest kernel: A 6.1.0, B 6.12.0\n");
	holds(text_get(&t), "option queues: A 1, 2, B 1, 4\n");
	holds(text_get(&t), "seed: other cells");
	holds(text_get(&t), "NEW FAILURES\n  corrupt: transport=modern, ring=packed, queues=4\n"); /* nobody knew of it */
	holds(text_get(&t), "NEW CELLS\n  pass: transport=legacy, ring=split, queues=4\n");
	holds(text_get(&t), "GONE CELLS\n  was corrupt: transport=modern, ring=packed, queues=2\n");
	holds(text_get(&t), "1 new failure, 0 still failing, 0 fixed, 0 not tried now, 0 tried now, 2 new, 3 gone, 3 as before\n");
	assert_int_equal(worse, 1);
	text_free(&t);
}

/* ---- the commands ---- */

static char output[1 << 16];
static struct error problem;

static int call(struct scratch *s, const struct command *c, ...)
{
	char *argv[16] = { (char *)c->name }, path[600];
	int argc = 1, status;
	va_list ap;
	FILE *in;

	va_start(ap, c);
	while ((argv[argc] = va_arg(ap, char *)))
		argc++;
	va_end(ap);
	snprintf(path, sizeof(path), "%s", scratch_path(s, "output"));
	unlink(path);
	argv[argc++] = (char *)"-o";
	argv[argc++] = path;
	argv[argc] = NULL;
	problem = (struct error){ 0 };
	status = c->run(argc, argv, &problem);
	in = fopen(path, "r");
	output[in ? fread(output, 1, sizeof(output) - 1, in) : 0] = '\0';
	if (in)
		fclose(in);
	return status;
}

static void the_commands(void **state)
{
	struct scratch *s = *state;
	struct run clean = changed(1, "pass", NULL), cut = changed(1, NULL, NULL);
	char a[512], b[512], c[512], none[512], other[512];

	snprintf(a, sizeof(a), "%s", run_make(s, "clean", &clean));
	snprintf(b, sizeof(b), "%s", run_make(s, "small", &run_small));
	snprintf(c, sizeof(c), "%s", run_make(s, "cut", &cut));
	scratch_text(s, "run/run.json", "{\"schema\":\"kickbench-run/1\"}");
	snprintf(other, sizeof(other), "%s", scratch_path(s, "run"));
	assert_int_equal(call(s, &cmd_compare, a, b, NULL), 1);
	holds(output, "NEW FAILURES\n");
	assert_int_equal(call(s, &cmd_compare, b, a, NULL), 0);
	holds(output, "FIXED\n");
	assert_int_equal(call(s, &cmd_compare, a, c, NULL), 3);
	holds(problem.text, "1 of 6 cells have not been run");
	for (size_t i = 0; i < 6; i++)
		clean.cell[i].status = "skipped";
	snprintf(none, sizeof(none), "%s", run_make(s, "none", &clean));
	assert_int_equal(call(s, &cmd_compare, a, none, NULL), 3);
	holds(problem.text, "none: not one cell could be tried");
	assert_int_equal(call(s, &cmd_report, none, "--format", "text", NULL), 3);
	assert_int_equal(call(s, &cmd_compare, a, NULL), 2);
	holds(problem.text, "name a second one");
	assert_int_equal(call(s, &cmd_compare, other, b, NULL), 2);
	holds(problem.text, "small is a regression matrix and ");
	assert_int_equal(call(s, &cmd_compare, b, other, NULL), 2);
	holds(problem.text, "small is a regression matrix and ");
	assert_int_equal(call(s, &cmd_compare, a, b, "--metric", "iops", NULL), 2);
	holds(problem.text, "--metric is for runs");
	assert_int_equal(call(s, &cmd_compare, a, b, "--format", "junit", NULL), 2);
	holds(problem.text, "compared as text");
	assert_int_equal(call(s, &cmd_report, a, NULL), 0);
	assert_int_equal(call(s, &cmd_report, b, "--format", "junit", NULL), 1);
	holds(output, "<testsuite name=\"regress.quick\" tests=\"6\" failures=\"1\" errors=\"0\" skipped=\"1\"");
	assert_int_equal(call(s, &cmd_report, c, "--format", "json", NULL), 3);
	holds(problem.text, "cut: 1 of 6 cells have not been run");
	assert_int_equal(call(s, &cmd_report, b, "--format", "csv", NULL), 2);
	holds(problem.text, "no report format csv: it is one of text, html, json, junit");
	assert_int_equal(call(s, &cmd_report, b, "--layout", "sweep", NULL), 2);
	holds(problem.text, "one layout");
}

#define each(test) cmocka_unit_test_setup_teardown(test, scratch_open, scratch_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		each(each_kind_is_told),
		each(reasons_that_differ),
		each(new_failures_have_something_in_common),
		each(cells_come_and_go),
		each(the_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
