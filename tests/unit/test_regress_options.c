/* The command line of kickbench regress, and the one that it prints for a cell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/regress_options.h"

static int parse(char *line, struct regress_options *o, struct error *e)
{
	char *argv[24], *save = NULL;
	int argc = 0;

	for (char *w = strtok_r(line, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	argv[argc] = NULL;
	*e = (struct error){ 0 };
	return regress_options_parse(argc, argv, o, e);
}

static void all_of_them(void **state)
{
	char line[] = "regress --full --guest bsd --only ring=packed --only queues=2,ring=split --seed 7 --list -o DIR --set disk.size=1M "
		      "--connect qemu:///system --bisect mine.ini";
	struct regress_options o;
	struct error e;

	(void)state;
	assert_int_equal(parse(line, &o, &e), 0);
	assert_string_equal(o.which, "full");
	assert_int_equal(o.nonly, 2);
	assert_string_equal(o.only[0], "ring=packed");
	assert_string_equal(o.only[1], "queues=2,ring=split");
	assert_int_equal(o.seed, 7);
	assert_true(o.list && o.bisect && o.seed_set);
	assert_string_equal(o.output, "DIR");
	assert_int_equal(o.nset, 2);
	assert_string_equal(o.set[0], "disk.size=1M");
	assert_string_equal(o.set[1], "scenario.guests=bsd");
	assert_string_equal(o.connect, "qemu:///system");
	assert_string_equal(o.scenario, "mine.ini");
	regress_options_free(&o);
}

static void nothing_is_the_usual(void **state)
{
	char line[] = "regress";
	struct regress_options o;
	struct error e;

	(void)state;
	assert_int_equal(parse(line, &o, &e), 0);
	assert_null(o.which);
	assert_null(o.scenario);
	assert_int_equal(o.seed, REGRESS_SEED);
	regress_options_free(&o);
}

static void refusals_name_the_word(void **state)
{
	static const struct {
		const char *line, *says;
	} row[] = {
		{ "regress --frob", "--frob" },
		{ "regress --only", "--only needs a value" },
		{ "regress --seed 1x", "--seed 1x" },
		{ "regress --seed -1", "--seed -1" },
		{ "regress --quick --full", "quick and full" },
		{ "regress --matrix mine --quick", "mine and quick" },
		{ "regress a.ini b.ini", "b.ini" },
		{ "regress --connect a --connect b", "one --connect" },
		{ "regress --resume DIR --only x=1", "--resume takes all from its folder" },
		{ "regress --resume DIR --seed 1", "--resume takes all from its folder" },
		{ "regress --resume DIR mine.ini", "--resume takes all from its folder" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct regress_options o;
		struct error e;
		char line[128];

		strcpy(line, row[i].line);
		assert_int_equal(parse(line, &o, &e), -1);
		assert_int_equal(e.status, STATUS_USAGE);
		if (!strstr(e.text, row[i].says))
			fail_msg("%s: \"%s\" does not say %s", row[i].line, e.text, row[i].says);
		regress_options_free(&o);
	}
}

static void resume_and_bisect_go_together(void **state)
{
	char line[] = "regress --resume DIR --bisect";
	struct regress_options o;
	struct error e;

	(void)state;
	assert_int_equal(parse(line, &o, &e), 0);
	assert_string_equal(o.resume, "DIR");
	assert_true(o.bisect);
	regress_options_free(&o);
}

static void a_line_that_reproduces_can_be_pasted(void **state)
{
	const char *const set[] = { "guest.kernel_args=a b", "disk.size=1M" };
	const struct regress_line usual = { .which = "quick" };
	const struct regress_line other = { .which = "full", .set = set, .nset = 2, .scenario = "my file.ini", .connect = "qemu:///system" };
	struct text t = { 0 };

	(void)state;
	regress_reproduce(&usual, "ring=packed,queues=2", &t);
	assert_string_equal(text_get(&t), "kickbench regress --only ring=packed,queues=2");
	text_reset(&t);
	regress_reproduce(&other, "ring=packed,qemu.x=it's", &t);
	assert_string_equal(text_get(&t), "kickbench regress --only 'ring=packed,qemu.x=it'\\''s' --matrix full --set 'guest.kernel_args=a b' "
			    "--set disk.size=1M --connect qemu:///system 'my file.ini'");
	text_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_them),
		cmocka_unit_test(nothing_is_the_usual),
		cmocka_unit_test(refusals_name_the_word),
		cmocka_unit_test(resume_and_bisect_go_together),
		cmocka_unit_test(a_line_that_reproduces_can_be_pasted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
