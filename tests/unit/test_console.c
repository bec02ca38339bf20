/* Scripts on scripted consoles: logins as Linux and the BSDs print them, and what can go wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "tests/unit/scratch.h"
#include "tests/unit/scripted_console.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct console_variable values[] = {
	{ "USER", "root", false, false },
	{ "PASSWORD", "a.b$USER", false, true }, /* nothing in a value is replaced again */
	{ "PROMPT", "[#$] $", true, false },
	{ "FOLDER", "/var/kick.bench", false, false },
};
static const struct console_variables variables = { values, COUNT(values) };

static const struct console_step login[] = {
	{ (char *)"name", (char *)"login: $", NULL, (char *)"$USER\n", 5, 10 },
	{ (char *)"password", (char *)"[Pp]assword: *$", (char *)"$PROMPT", (char *)"$PASSWORD\n", 5, 14 },
	{ (char *)"prompt", (char *)"$PROMPT", NULL, (char *)"cd $FOLDER; echo kb:$?\n", 1, 19 },
	{ (char *)"done", (char *)"kb:0", NULL, NULL, 1, 23 },
};
static const struct console_reaction reactions[] = {
	{ (char *)"pager", (char *)"--More--", (char *)" ", NULL, 30 },
	{ (char *)"refused", (char *)"Login incorrect", NULL, (char *)"wrong user or password", 33 },
	{ (char *)"folder", (char *)"cd: ([^\n]*)\n", NULL, (char *)"the folder cannot be used", 36 },
};
static const struct console_script script = { "x.ini", "login", login, COUNT(login), reactions, COUNT(reactions) };

static const struct turn usual[] = {
	{ NULL, "\033[2JBooting...\r\n[    0.1] x\r\r\n\r\nDebian ttyS0\r\n\r\nhost login: ", false },
	{ "root\n", "Password: ", false },
	{ "a.b$USER\n", "\r\nLinux host\r\n\033[?2004hroot@host:~# ", true },
	{ "cd /var/kick.bench; echo kb:$?\n", "kb:0\r\n", false },
	{ NULL, NULL, false },
};

static void test_login(void **state)
{
	(void)state;
	for (size_t chunk = 0; chunk < 3; chunk++) { /* all at once, byte by byte, two by two */
		struct error e = { 0 };
		struct text typed = { 0 };

		if (scripted_run(usual, chunk, false, &script, &variables, NULL, &typed, &e))
			fail_msg("%s", e.text);
		assert_string_equal(text_get(&typed), "root\na.b$USER\ncd /var/kick.bench; echo kb:$?\n");
		text_free(&typed);
	}
}

static void test_no_password_and_pager(void **state)
{
	static const struct turn turns[] = {
		{ NULL, "login: ", false },
		{ "root\n", "Message of the day\r\n--More--", false },
		{ " ", "\b\b\b\b\b\b\b\b        \b\b\b\b\b\b\b\b the rest\r\n$ ", true },
		{ "cd /var/kick.bench; echo kb:$?\n", "kb:0\r\n", false },
		{ NULL, NULL, false },
	};
	struct error e = { 0 };
	struct text typed = { 0 };

	(void)state;
	if (scripted_run(turns, 1, false, &script, &variables, NULL, &typed, &e))
		fail_msg("%s", e.text);
	text_free(&typed);
}

static void fails(const struct turn *turns, bool off, const volatile sig_atomic_t *interrupted, struct error *e)
{
	struct text typed = { 0 };

	assert_int_equal(scripted_run(turns, 0, off, &script, &variables, interrupted, &typed, e), -1);
	assert_int_equal(e->status, STATUS_INCOMPLETE);
	assert_null(strstr(e->text, "a.b")); /* the password is in no message */
	text_free(&typed);
}

static void test_wrong_password(void **state)
{
	static const struct turn turns[] = {
		{ NULL, "login: ", false },
		{ "root\n", "Password: ", false },
		{ "a.b$USER\n", "\r\nLogin incorrect\r\nlogin: ", true },
		{ NULL, NULL, false },
	};
	struct error e = { 0 };

	(void)state;
	fails(turns, false, NULL, &e);
	holds(e.text, "x.ini:19: [login prompt]: wrong user or password; the last lines of the console:");
	holds(e.text, "\n  | Login incorrect\n  | login: ");
}

static void test_no_prompt(void **state)
{
	static const struct turn turns[] = {
		{ NULL, "login: ", false },
		{ "root\n", "Password: ", false },
		{ "a.b$USER\n", "\r\nYou have \033[1mmail\033[0m.\r\n", true },
		{ NULL, NULL, false },
	};
	struct error e = { 0 };

	(void)state;
	fails(turns, false, NULL, &e);
	holds(e.text, "x.ini:19: [login prompt]: nothing has matched \"$PROMPT\" within 1 s; the last lines");
	holds(e.text, "\n  | You have mail.");
}

static void test_guest_off(void **state)
{
	static const struct turn turns[] = { { NULL, "login: ", false }, { "root\n", "\r\nreboot: Power down\r\n", false }, { NULL, NULL, false } };
	struct error e = { 0 };

	(void)state;
	fails(turns, true, NULL, &e);
	holds(e.text, "x.ini:14: [login password]: the guest is off while \"[Pp]assword: *$\" was awaited");
	holds(e.text, "reboot: Power down");
}

static void test_interrupted(void **state)
{
	static const struct turn turns[] = { { NULL, NULL, false } };
	volatile sig_atomic_t interrupted = 2;
	struct error e = { 0 };

	(void)state;
	fails(turns, false, &interrupted, &e);
	assert_string_equal(e.text, "interrupted by signal 2");
}

/* The failure's own words, as its parentheses caught them; the echo of the command is none. */
static void test_failure_group(void **state)
{
	static const struct turn turns[] = {
		{ NULL, "# ", false },
		{ "cd /var/kick.bench; echo kb:$?\n", "sh: cd: no such folder\r\nkb:1\r\n# ", false },
		{ NULL, NULL, false },
	};
	const struct console_script part = { "x.ini", "login", login + 2, 2, reactions, COUNT(reactions) };
	struct error e = { 0 };
	struct text typed = { 0 };

	(void)state;
	assert_int_equal(scripted_run(turns, 1, false, &part, &variables, NULL, &typed, &e), -1);
	holds(e.text, "[login done]: the folder cannot be used: no such folder;");
	text_free(&typed);
}

static void test_endless_answers(void **state)
{
	static struct turn turns[202];
	struct error e = { 0 };

	(void)state;
	turns[0] = (struct turn){ NULL, "--More--\r\n", false };
	for (size_t i = 1; i < 201; i++)
		turns[i] = (struct turn){ " ", "--More--\r\n", true };
	fails(turns, false, NULL, &e);
	holds(e.text, "[answer pager] was given 50 times and asked for again");
}

static void test_expand(void **state)
{
	static const struct { const char *text; bool expression; const char *want; } cases[] = {
		{ "$USER:$USERS:$?:$", false, "root:$USERS:$?:$" },
		{ "$FOLDER/x", true, "/var/kick\\.bench/x" },
		{ "$FOLDER/x", false, "/var/kick.bench/x" },
		{ "(^|\n)$PROMPT", true, "(^|\n)[#$] $" },
		{ "$PASSWORD", false, "a.b$USER" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct text out = { 0 };

		console_expand(cases[i].text, &variables, cases[i].expression, &out);
		assert_string_equal(text_get(&out), cases[i].want);
		text_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_login),
		cmocka_unit_test(test_no_password_and_pager),
		cmocka_unit_test(test_wrong_password),
		cmocka_unit_test(test_no_prompt),
		cmocka_unit_test(test_guest_off),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_failure_group),
		cmocka_unit_test(test_endless_answers),
		cmocka_unit_test(test_expand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
