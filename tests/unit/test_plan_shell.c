/* host/plan_shell.c: quoting, and the script as a shell runs it, up to the import of what it left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/command.h"
#include "host/plan_shell.h"
#include "tests/unit/scratch.h"

static const char scenario[] =
	"[scenario]\nname = by-hand\nbaseline = a\nblocks = 2\nseed = 7\n[disk]\nsize = 16M\n[variant a]\nioeventfd = off\n"
	"[variant b]\nioeventfd = on\n[workload mix]\nrw = randrw\nrwmixread = 30, 70\nbs = 4k, 8k\nnumber_ios = 10\n"
	"[workload plain]\nrw = read\nbs = 4k\nnumber_ios = 10\n";

static void test_quote(void **state)
{
	static const char *const words[] = { "plain-1.2/x=y:z,%@+", "", "a b", "it's", "$HOME `id` \"x\" \\", "a\nb", "*?[;&|<>(){}#~!" };

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct text t = { 0 };
		char got[256] = "";
		FILE *p;

		text_add(&t, "printf %%s ");
		plan_shell_quote(words[i], &t);
		p = popen(text_get(&t), "r");
		assert_non_null(p);
		got[fread(got, 1, sizeof(got) - 1, p)] = '\0';
		assert_int_equal(pclose(p), 0);
		assert_string_equal(got, words[i]);
		text_free(&t);
	}
}

static void make_script(struct scratch *s, const char *text, const char *tool, struct plan **plan, struct scenario **out)
{
	struct text script = { 0 };
	struct error e = { 0 };

	if (scenario_read(scratch_text(s, "s.ini", text), NULL, 0, out, &e) || plan_make(*out, (*out)->seed, plan, &e) ||
	    plan_shell(*out, *plan, tool, &script, &e))
		fail_msg("%s", e.text);
	scratch_text(s, "plan.sh", text_get(&script));
	text_free(&script);
}

/* In the scratch folder. */
static int shell(struct scratch *s, const char *command)
{
	char line[2048];

	snprintf(line, sizeof(line), "cd '%s' && %s", s->folder, command);
	return WEXITSTATUS(system(line));
}

static size_t lines(struct scratch *s, const char *command)
{
	char line[2048];
	size_t n = 0;
	FILE *p;

	snprintf(line, sizeof(line), "cd '%s' && %s", s->folder, command);
	p = popen(line, "r");
	assert_non_null(p);
	while (fgets(line, sizeof(line), p))
		n++;
	pclose(p);
	return n;
}

/* What import makes of import.sh's lines. */
static json_t *import_all(struct scratch *s)
{
	char here[512], *line = NULL, *save;
	size_t room = 0;
	FILE *f = fopen(scratch_path(s, "o t/import.sh"), "r");
	json_t *run;

	assert_non_null(f);
	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(scratch_path(s, "o t")), 0);
	while (getline(&line, &room, f) > 0) {
		char *argv[64];
		int argc = 0;
		struct error e = { 0 };

		if (strncmp(line, "kickbench import ", 17))
			continue;
		*strstr(line, " || exit") = '\0';
		for (char *w = strtok_r(line + 10, " ", &save); w; w = strtok_r(NULL, " ", &save))
			argv[argc++] = w;
		if (cmd_import.run(argc, argv, &e))
			fail_msg("%s", e.text);
	}
	free(line);
	fclose(f);
	run = json_load_file("run/run.json", 0, NULL);
	assert_int_equal(chdir(here), 0);
	assert_non_null(run);
	return run;
}

/* The program beside the tests writes what it is asked to; its disk is a file. */
static void test_run(void **state)
{
	struct scratch *s = *state;
	struct plan *p;
	struct scenario *sc;
	char command[1024], tool[512];
	json_t *run, *boots, *boot;
	size_t i;

	make_script(s, scenario, "kickio", &p, &sc);
	assert_int_equal(shell(s, "sh -n plan.sh"), 0);
	if (system("command -v shellcheck >/dev/null") == 0)
		assert_int_equal(shell(s, "shellcheck plan.sh >&2"), 0);
	assert_non_null(realpath("build/plain/kickio", tool)); /* of the tree, in which tests run */
	snprintf(command, sizeof(command), "head -c 16M /dev/zero >\"d'k\" && TOOL='%s' DISK=\"$PWD/d'k\" OUT='o t' sh plan.sh </dev/null 2>err", tool);
	if (shell(s, command))
		fail_msg("the script failed: see %s", s->folder);
	assert_int_equal(lines(s, "ls 'o t' | grep txt"), p->ntrials);
	assert_int_equal(lines(s, "grep '^boot .: start the guest with variant [ab] (.*ioeventfd=o.*), then press Enter' err"), p->nboots);
	run = import_all(s);
	boots = json_object_get(json_object_get(run, "plan"), "boots");
	assert_int_equal(json_array_size(boots), p->nboots);
	assert_int_equal(json_array_size(json_object_get(run, "cells")), p->ncells);
	json_array_foreach(boots, i, boot) {
		size_t number = (size_t)json_integer_value(json_object_get(boot, "boot"));
		const struct plan_boot *b = &p->boot[number - 1];
		json_t *trials = json_object_get(boot, "trials");

		assert_int_equal(json_integer_value(json_object_get(boot, "block")), b->block + 1);
		assert_int_equal(json_array_size(trials), b->ntrials);
		assert_string_equal(json_string_value(json_object_get(json_array_get(trials, 0), "variant")), sc->variant[b->variant[0]].name);
	}
	assert_string_equal(json_string_value(json_object_get(json_object_get(run, "scenario"), "baseline")), "a");
	json_decref(run);
	plan_free(p);
	scenario_free(sc);
}

/* Only some boots; a command in front; a tool that fails now and then. */
static void test_parts(void **state)
{
	struct scratch *s = *state;
	struct plan *p;
	struct scenario *sc;

	make_script(s, scenario, "fio", &p, &sc);
	scratch_text(s, "guest", "#!/bin/sh\n[ $# = 1 ] && echo \"$1\" >>lines && case $1 in *bs=8k*) exit 5 ;; esac\necho {}\n");
	assert_int_equal(shell(s, "chmod +x guest && DISK='/dev/v d' GUEST='./guest' OUT=o sh plan.sh 3 4 </dev/null 2>err"), 1);
	assert_int_equal(lines(s, "grep '^boot ' err"), 2);
	assert_int_equal(lines(s, "cat lines"), p->boot[2].ntrials + p->boot[3].ntrials);
	assert_int_equal(lines(s, "grep \"^fio .* '--filename=/dev/v d'$\" lines"), p->boot[2].ntrials + p->boot[3].ntrials);
	assert_int_equal(lines(s, "grep 'failed with status 5' err"), 4);
	assert_int_equal(lines(s, "ls o | grep -c 'boot[12]' | grep 0"), 1);
	assert_int_equal(lines(s, "grep ' --block ' o/import.sh"), 2);
	assert_int_not_equal(shell(s, "sh plan.sh 2>err"), 0); /* which disk? */
	assert_int_equal(lines(s, "grep 'test disk as the guest names it' err"), 1);
	plan_free(p);
	scenario_free(sc);
}

static void test_refused(void **state)
{
	struct scratch *s = *state;
	struct scenario *sc;
	struct plan *p;
	struct text t = { 0 };
	struct error e = { 0 };
	static const char *const set[] = { "scenario.pairing=disks" };

	assert_int_equal(scenario_read(scratch_text(s, "s.ini", scenario), set, 1, &sc, &e), 0);
	assert_int_equal(plan_make(sc, 1, &p, &e), 0);
	assert_int_equal(plan_shell(sc, p, "kickio", &t, &e), -1);
	holds(e.text, "pairing=boots");
	text_free(&t);
	plan_free(p);
	scenario_free(sc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quote),
		cmocka_unit_test_setup_teardown(test_run, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_parts, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_refused, scratch_open, scratch_close),
	};

	return cmocka_run_group_tests_name("plan_shell", tests, NULL, NULL);
}
