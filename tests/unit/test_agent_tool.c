/* guest/agent_tool.c: programs that are found, run, heard and ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "guest/agent_tool.h"
#include "tests/unit/scratch.h"

struct calls {
	unsigned n, last; /* the call that says no, 0: none */
};

static bool count(void *context)
{
	struct calls *c = context;

	return ++c->n != c->last;
}

static void run(struct agent_tool *t, const char *script, struct calls *calls)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	struct error e = { 0 };

	*t = (struct agent_tool){ .second = calls ? count : NULL, .context = calls };
	if (agent_tool_run(t, "/bin/sh", argv, &e) < 0)
		fail_msg("%s", e.text);
}

static void end(struct agent_tool *t)
{
	text_free(&t->output);
	text_free(&t->complaints);
}

static void both_outputs_are_kept(void **state)
{
	struct agent_tool t;

	(void)state;
	run(&t, "echo one; echo two >&2; read -r line || echo no input; exit 7", NULL);
	assert_string_equal(text_get(&t.output), "one\nno input\n");
	assert_string_equal(text_get(&t.complaints), "two\n");
	assert_int_equal(t.status, 7);
	assert_false(t.cut);
	end(&t);
	run(&t, "kill -9 $$", NULL);
	assert_int_equal(t.status, 128 + 9);
	end(&t);
}

/* More than a pipe holds, on both at once, and more than is kept. */
static void much_output(void **state)
{
	struct agent_tool t;

	(void)state;
	run(&t, "head -c 1000000 /dev/zero | tr '\\0' a >&2 & head -c 1000000 /dev/zero | tr '\\0' b; wait", NULL);
	assert_int_equal(t.output.length, 1000000);
	assert_int_equal(t.complaints.length, 1000000);
	assert_false(t.cut);
	end(&t);
	run(&t, "head -c 9000000 /dev/zero | tr '\\0' a", NULL);
	assert_true(t.cut && t.output.length <= AGENT_TOOL_MOST_BYTES);
	assert_int_equal(t.status, 0);
	end(&t);
}

/* The whole group of processes, also one that does not want to. */
static void it_is_ended(void **state)
{
	static const char *const scripts[] = { "echo a; sleep 60", "trap '' TERM; sleep 60 & sleep 60; sleep 60" };
	time_t began = time(NULL);

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct calls calls = { .last = 2 };
		struct agent_tool t;

		run(&t, scripts[i], &calls);
		assert_int_equal(calls.n, 2);
		assert_true(t.status > 128);
		end(&t);
	}
	assert_true(time(NULL) - began < 20);
}

static void it_is_found(void **state)
{
	char path[300], *before = strdup(getenv("PATH")), *own;
	struct error e = { 0 };

	assert_non_null(before);
	own = strdup(scratch_text(*state, "kickbench-tool", "#!/bin/sh\n"));
	assert_int_equal(agent_tool_find("kickbench-tool", path, sizeof(path), &e), -1);
	holds(e.text, "there is no kickbench-tool in this guest (looked in ");
	setenv("PATH", ((struct scratch *)*state)->folder, 1);
	assert_int_equal(agent_tool_find("kickbench-tool", path, sizeof(path), &(struct error){ 0 }), -1); /* no program yet */
	chmod(own, 0755);
	assert_int_equal(agent_tool_find("kickbench-tool", path, sizeof(path), &(struct error){ 0 }), 0);
	assert_string_equal(path, own);
	unsetenv("PATH"); /* as an init program has it */
	assert_int_equal(agent_tool_find("sh", path, sizeof(path), &(struct error){ 0 }), 0);
	setenv("PATH", before, 1);
	free(before);
	free(own);
}

static void it_cannot_be_started(void **state)
{
	char *argv[] = { (char *)"x", NULL };
	struct agent_tool t = { 0 };
	struct error e = { 0 };

	(void)state;
	assert_int_equal(agent_tool_run(&t, "/nonexistent/x", argv, &e), -1);
	holds(e.text, "/nonexistent/x cannot be started: No such file");
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_outputs_are_kept),
		cmocka_unit_test(much_output),
		cmocka_unit_test(it_is_ended),
		cmocka_unit_test_setup_teardown(it_is_found, scratch_open, scratch_close),
		cmocka_unit_test(it_cannot_be_started),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
