/* What expressions see of a console: made by hand from what terminals, shells and boot loaders print. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "host/console_text.h"

static void feed(struct console_text *t, const char *bytes)
{
	console_text_feed(t, bytes, strlen(bytes));
}

static bool sees(const struct console_text *t, const char *expression, struct console_match *m)
{
	struct console_match ignored;
	regex_t r;
	bool found;

	assert_int_equal(regcomp(&r, expression, REG_EXTENDED), 0);
	found = console_text_match(t, &r, m ? m : &ignored);
	regfree(&r);
	return found;
}

static void test_escapes(void **state)
{
	static const char *const noise[] = {
		"\033[2J\033[1;1Hlogin: ",             /* a boot loader's clear and home */
		"\033[?2004hlogin: ",                  /* bracketed paste */
		"\033]0;root@host: ~\alogin: ",        /* a title, ended by BEL */
		"\033]0;root@host: ~\033\\login: ",    /* and by ST */
		"\033(B\033[mlogin: ", "\0337\0338login: ",
		"\033[38;5;12ml\033[0mo\033[1mgin\033[m: ",
	};

	(void)state;
	for (size_t i = 0; i < 7; i++) {
		struct console_text t = { 0 };

		feed(&t, noise[i]);
		console_text_idle(&t, CONSOLE_QUIET_MS);
		assert_string_equal(text_get(&t.said), "login: ");
		assert_true(sees(&t, "^login: $", NULL));
		console_text_free(&t);
		for (const char *p = noise[i]; *p; p++)
			console_text_feed(&t, p, 1);
		assert_string_equal(text_get(&t.said), "login: ");
		console_text_free(&t);
	}
}

static void test_end_needs_silence(void **state)
{
	struct console_text t = { 0 };

	(void)state;
	feed(&t, "100 # ");
	assert_false(sees(&t, "# $", NULL));
	console_text_idle(&t, CONSOLE_QUIET_MS - 1);
	assert_false(sees(&t, "# $", NULL));
	assert_true(sees(&t, "100", NULL));
	console_text_idle(&t, CONSOLE_QUIET_MS);
	assert_true(sees(&t, "# $", NULL));
	feed(&t, "of 200\n");
	console_text_idle(&t, CONSOLE_QUIET_MS);
	assert_false(sees(&t, "# $", NULL));
	console_text_free(&t);
}

static void test_echo(void **state)
{
	static const char *const echoes[] = {
		"echo kb-done:$?; true kb-done:0\r\n",
		"echo kb-done:$?; true kb-\r\ndone:0\r\n",      /* wrapped by the terminal */
		"echo kb-done:$?; true kb-d \rone:0\r\n",       /* by a line editor */
		"e\becho kb-done:$?; true kb-done:0\r\n",       /* typed ahead, drawn again */
		"\033[Kecho kb-done:$?;\033[C true kb-done:0\r\n",
	};
	const char *typed = "echo kb-done:$?; true kb-done:0\n";

	(void)state;
	for (size_t i = 0; i < sizeof(echoes) / sizeof(echoes[0]); i++) {
		struct console_text t = { 0 };

		feed(&t, "# ");
		console_text_typed(&t, typed, strlen(typed));
		for (const char *p = echoes[i]; *p; p++) {
			console_text_feed(&t, p, 1);
			console_text_idle(&t, CONSOLE_QUIET_MS); /* a slow terminal */
			if (sees(&t, "kb-done:[0-9]", NULL))
				fail_msg("the echo \"%s\" counts as an answer", echoes[i]);
		}
		feed(&t, "kb-done:0\r\n# ");
		console_text_idle(&t, CONSOLE_QUIET_MS);
		assert_true(sees(&t, "kb-done:0", NULL));
		console_text_free(&t);
	}
}

/* Typed without an echo: what begins like it is held back for a second, not for ever. */
static void test_no_echo(void **state)
{
	struct console_text t = { 0 };

	(void)state;
	console_text_typed(&t, "# all\n", 6);
	feed(&t, "\nwelcome\n# ");
	console_text_idle(&t, CONSOLE_QUIET_MS);
	assert_false(sees(&t, "# $", NULL));
	assert_true(sees(&t, "welcome", NULL));
	console_text_idle(&t, CONSOLE_ECHO_MS);
	assert_true(sees(&t, "# $", NULL));
	console_text_free(&t);
}

static void test_wrapped(void **state)
{
	struct console_text t = { 0 };
	char line[CONSOLE_COLUMNS + 1];

	(void)state;
	memset(line, '.', sizeof(line));
	memcpy(line + CONSOLE_COLUMNS - 4, "kb-d", 5);
	feed(&t, "\n");
	feed(&t, line);
	feed(&t, "\r\none:0\r\n");
	assert_true(sees(&t, "kb-done:0", NULL));
	console_text_free(&t);
	feed(&t, "kb-d\r\none:0\r\n"); /* two lines, not a wrapped one */
	assert_false(sees(&t, "kb-done:0", NULL));
	console_text_free(&t);
}

static void test_consume_and_group(void **state)
{
	struct console_text t = { 0 };
	struct console_match m;

	(void)state;
	feed(&t, "kb:failed: disk full\nlogin: again\n");
	assert_true(sees(&t, "failed: ([^\n]*)", &m));
	assert_string_equal(m.group, "disk full");
	console_text_consume(&t, &m);
	assert_false(sees(&t, "failed", NULL));
	assert_true(sees(&t, "^\nlogin", NULL));
	console_text_free(&t);
}

static void test_tail(void **state)
{
	struct console_text t = { 0 };
	struct text out = { 0 };

	(void)state;
	for (int i = 1; i <= 30; i++) {
		char line[32];

		snprintf(line, sizeof(line), "line %d\r\n\r\n", i);
		feed(&t, line);
	}
	feed(&t, "\033[1mno \303\251nd");
	console_text_tail(&t, 3, &out);
	assert_string_equal(text_get(&out), "\n  | line 29\n  | line 30\n  | no ??nd");
	text_free(&out);
	console_text_tail(&t, 100, &out);
	assert_memory_equal(text_get(&out), "\n  | line 1\n  | line 2\n", 22);
	text_free(&out);
	console_text_free(&t);
	console_text_tail(&t, 3, &out);
	assert_string_equal(text_get(&out), "");
	text_free(&out);
}

/* A megabyte of compiler output: the memory stays small and the last lines are there. */
static void test_much(void **state)
{
	struct console_text t = { 0 };

	(void)state;
	for (int i = 0; i < 20000; i++)
		feed(&t, "  CC  some/long/name/of/a/file.c -O2 -Wall -Wextra\r\n");
	feed(&t, "kb-done:0\r\n");
	assert_true(t.said.length < 100000);
	assert_int_equal(t.said.length, t.mask.length);
	assert_true(sees(&t, "kb-done:0", NULL));
	console_text_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_end_needs_silence),
		cmocka_unit_test(test_echo),
		cmocka_unit_test(test_no_echo),
		cmocka_unit_test(test_wrapped),
		cmocka_unit_test(test_consume_and_group),
		cmocka_unit_test(test_tail),
		cmocka_unit_test(test_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
