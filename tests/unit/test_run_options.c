/* host/run_options.c and the search for a scenario: what commands are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "host/run_options.h"
#include "host/session.h"
#include "tests/unit/scratch.h"

/* Parse a line of words; o's texts point into line. */
static int parse(char *line, const char *allowed, struct run_options *o, struct error *e)
{
	char *argv[16], *save = NULL;
	int argc = 0;

	for (char *w = strtok_r(line, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	argv[argc] = NULL;
	return run_options_parse(argc, argv, allowed, o, e);
}

static void all_of_them(void **state)
{
	char line[] = "run quick -o DIR --set a.b=1 --set=c.d=2 --fail-on worse --connect qemu:///system";
	struct run_options o;
	struct error e = { 0 };

	(void)state;
	assert_int_equal(parse(line, "osrcf", &o, &e), 0);
	assert_string_equal(o.scenario, "quick");
	assert_string_equal(o.output, "DIR");
	assert_int_equal(o.nset, 2);
	assert_string_equal(o.set[0], "a.b=1");
	assert_string_equal(o.set[1], "c.d=2");
	assert_string_equal(o.fail_on, "worse");
	assert_string_equal(o.connect, "qemu:///system");
	assert_null(o.resume);
	assert_null(o.xml);
	run_options_free(&o);
}

static void a_command_can_add_to_what_was_set(void **state)
{
	char line[] = "selftest quick --set scenario.against=variants --blocks 4";
	struct run_options o;
	struct error e = { 0 };

	(void)state;
	assert_int_equal(parse(line, "oscb", &o, &e), 0);
	assert_string_equal(o.blocks, "4");
	assert_int_equal(run_options_set(&o, "scenario.against=itself", &e), 0);
	assert_int_equal(o.nset, 2);
	assert_string_equal(o.set[1], "scenario.against=itself");
	run_options_free(&o);
}

static void refusals_name_the_word(void **state)
{
	static const struct { const char *line, *allowed, *text; } rows[] = {
		{ "plan --resume DIR", "sx", "plan takes no option --resume (see kickbench help plan)" },
		{ "clean --set a=1", "c", "clean takes no option --set (see kickbench help clean)" },
		{ "plan -o DIR", "sx", "plan takes no option --output (see kickbench help plan)" },
		{ "run --blocks 4", "osrcf", "run takes no option --blocks (see kickbench help run)" },
		{ "run --nonsense", "osrcf", "run: unknown option --nonsense (see kickbench help run)" },
		{ "run -q", "osrcf", "run: unknown option -q (see kickbench help run)" },
		{ "run --set", "osrcf", "run: option --set needs a value" },
		{ "run -o", "osrcf", "run: option -o needs a value" },
		{ "run one two", "osrcf", "run: one scenario at a time, here are 2: two" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct run_options o;
		struct error e = { 0 };
		char line[64];

		snprintf(line, sizeof(line), "%s", rows[i].line);
		assert_int_equal(parse(line, rows[i].allowed, &o, &e), -1);
		assert_int_equal(e.status, STATUS_USAGE);
		assert_string_equal(e.text, rows[i].text);
		run_options_free(&o);
	}
}

static void scenarios_are_found_by_path_and_by_name(void **state)
{
	struct scratch *s = *state;
	struct dirs d = { 0 };
	struct error e = { 0 };
	char path[1024], want[512];

	snprintf(d.data, sizeof(d.data), "%s", s->folder);
	snprintf(want, sizeof(want), "%s", scratch_text(s, "scenarios/unheard-of.ini", "x"));
	assert_int_equal(session_scenario(&d, "unheard-of", path, sizeof(path), &e), 0);
	assert_string_equal(path, want);
	assert_int_equal(session_scenario(&d, "unheard-of.ini", path, sizeof(path), &e), 0);
	assert_string_equal(path, want);
	assert_int_equal(session_scenario(&d, "no/such", path, sizeof(path), &e), 0); /* whoever opens it says so */
	assert_string_equal(path, "no/such");
	assert_int_equal(session_scenario(&d, "nowhere", path, sizeof(path), &e), -1);
	assert_int_equal(e.status, STATUS_USAGE);
	holds(e.text, "there is no scenario nowhere");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_them),
		cmocka_unit_test(a_command_can_add_to_what_was_set), cmocka_unit_test(refusals_name_the_word),
		cmocka_unit_test_setup_teardown(scenarios_are_found_by_path_and_by_name, scratch_open, scratch_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
