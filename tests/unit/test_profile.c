/* Profiles: the ones that come with kickbench, on scripted consoles of their systems; and files that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "host/profile.h"
#include "tests/unit/scratch.h"
#include "tests/unit/scripted_console.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define INSTALL "sh kickio/guest/install.sh "

/* Tests run in the project's folder or in the build folder's; the file tells its place. */
static const char *source_tree(void)
{
	static char path[1024];
	const char *slash;

	snprintf(path, sizeof(path), "%s", __FILE__);
	slash = strstr(path, "tests/unit/");
	path[slash > path ? slash - path - 1 : 0] = '\0';
	return *path ? path : ".";
}

static void read_shipped(const char *name, struct profile *p)
{
	struct error e = { 0 };
	char *file = profile_file(name, source_tree());

	if (profile_read(file, p, &e))
		fail_msg("%s", e.text);
	free(file);
}

static void test_shipped(void **state)
{
	static const struct { const char *name, *os, *agent, *tar; } all[] = { /* bsd-facts: what each calls them */
		{ "linux", "Linux", "/dev/ttyS1", "/dev/vdb" },
		{ "openbsd", "OpenBSD", "/dev/cua01", "/dev/rsd1c" },
		{ "freebsd", "FreeBSD", "/dev/cuau1", "/dev/vtbd1" },
		{ "netbsd", "NetBSD", "/dev/tty01", "/dev/rld1d" },
		{ "dragonfly", "DragonFly", "/dev/cuaa1", "/dev/vbd1" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(all); i++) {
		struct profile p;

		read_shipped(all[i].name, &p);
		assert_string_equal(p.os, all[i].os);
		assert_string_equal(p.agent, all[i].agent);
		assert_string_equal(p.tar, all[i].tar);
		assert_true(p.login);
		assert_int_equal(!strcmp(p.status, "run"), i == 0);
		for (size_t k = 0; k < PROFILE_INSTALL; k++)
			assert_true(p.script[k].nsteps > 0);
		assert_int_equal(p.script[PROFILE_INSTALL].nsteps, 0);
		profile_free(&p);
	}
}

static void play(const struct profile *p, enum profile_script script, const struct turn *turns, size_t chunk)
{
	char folder[64], kickio[96];
	const struct console_variable values[] = {
		{ "USER", p->user, false, false }, { "PASSWORD", "secret", false, true }, { "PROMPT", p->prompt, true, false },
		{ "AGENT", p->agent, false, false }, { "TAR", p->tar, false, false }, { "FOLDER", folder, false, false },
		{ "KICKIO", kickio, false, false },
	};
	const struct console_variables v = { values, COUNT(values) };
	struct error e = { 0 };
	struct text typed = { 0 };

	snprintf(folder, sizeof(folder), "%s", p->folder);
	snprintf(kickio, sizeof(kickio), "%s/kickio-agent", folder);
	if (scripted_run(turns, chunk, false, &p->script[script], &v, NULL, &typed, &e))
		fail_msg("%s", e.text);
	text_free(&typed);
}

static void test_openbsd(void **state)
{
	static const struct turn login[] = {
		{ NULL, "SeaBIOS\r\n>> OpenBSD/amd64 BOOT 3.65\r\nboot> ", false },
		{ "boot\n", "booting hd0a:/bsd: 17+4 [1+2]=0x1\r\nOpenBSD/amd64 (vm.example) (tty00)\r\n\r\nlogin: ", false },
		{ "root\n", "Password:", false },
		{ "secret\n", "\r\nOpenBSD 7.8 (GENERIC)\r\n\r\nYou have mail.\r\nvm# ", true },
		{ "exec env TERM=dumb PS1='kb-ready$ ' sh +o emacs +o vi\n", "kb-ready$ ", false },
		{ NULL, NULL, false },
	};
	static const struct turn late[] = { /* the loader went on by itself, and asks for the terminal */
		{ NULL, "root on sd0a\r\nOpenBSD/amd64 (vm) (tty00)\r\n\r\nlogin: ", false },
		{ "root\n", "Password:", false },
		{ "secret\n", "\r\nTerminal type? [vt220] ", true },
		{ "dumb\n", "vm# ", false },
		{ "exec env TERM=dumb PS1='kb-ready$ ' sh +o emacs +o vi\n", "kb-ready$ ", false },
		{ NULL, NULL, false },
	};
	static const struct turn prepare[] = {
		{ "mkdir -p /var/kickbench && cd /var/kickbench; echo kb-folder:$?\n", "kb-folder:0\r\nkb-ready$ ", false },
		{ "test \"$(dd if=/dev/rsd1c bs=512 count=1 2>/dev/null | dd bs=7 count=1 2>/dev/null)\" = kickio/; echo kb-archive:$?\n",
		  "kb-archive:0\r\nkb-ready$ ", false },
		{ "tar xf /dev/rsd1c; echo kb-unpack:$?\n", "kb-unpack:0\r\nkb-ready$ ", false },
		{ INSTALL "/var/kickbench/kickio-agent; echo kb-install:$?\n", "kb-kickio: kickio-0.1.0, built\r\nkb-install:0\r\nkb-ready$ ",
		  false },
		{ NULL, NULL, false },
	};
	static const struct turn start[] = {
		{ "nohup /var/kickbench/kickio-agent agent /dev/cua01 </dev/null >/dev/null 2>&1 &\n", "[1] 4711\r\nkb-ready$ ", false },
		{ "echo kb-start:$?\n", "kb-start:0\r\nkb-ready$ ", false },
		{ NULL, NULL, false },
	};
	static const struct turn check[] = {
		{ "echo \"kb-check:$(/var/kickbench/kickio-agent --version 2>/dev/null):\"\n", "kb-check:kickio-0.1.0:\r\nkb-ready$ ", false },
		{ NULL, NULL, false },
	};
	static const struct turn shared[] = { /* the shell's prompt comes late */
		{ "/var/kickbench/kickio-agent agent \"$(tty)\"; echo kb-agent:$?\n", "kb-ready$ @kb1 1 hello 2 0011aabb {}\n", false },
		{ NULL, NULL, false },
	};
	static const struct turn stop[] = { { "halt -p\n", "syncing disks... done\r\n", false }, { NULL, NULL, false } };
	struct profile p;

	(void)state;
	read_shipped("openbsd", &p);
	for (size_t chunk = 0; chunk < 2; chunk++) {
		play(&p, PROFILE_LOGIN, login, chunk);
		play(&p, PROFILE_LOGIN, late, chunk);
		play(&p, PROFILE_PREPARE, prepare, chunk);
		play(&p, PROFILE_START, start, chunk);
		play(&p, PROFILE_CHECK, check, chunk);
		play(&p, PROFILE_SHARED, shared, chunk);
		play(&p, PROFILE_STOP, stop, chunk);
	}
	profile_free(&p);
}

/* A folder that cannot be made is told at once, not by a step that waits for nothing. */
static void test_full_disk(void **state)
{
	static const struct turn turns[] = {
		{ "mkdir -p /var/tmp/kickbench && cd /var/tmp/kickbench; echo kb-folder:$?\n",
		  "mkdir: cannot create directory: No space left on device\r\nkb-folder:1\r\nkb-ready$ ", false },
		{ NULL, NULL, false },
	};
	const struct console_variable folder = { "FOLDER", "/var/tmp/kickbench", false, false };
	const struct console_variables v = { &folder, 1 };
	struct profile p;
	struct error e = { 0 };
	struct text typed = { 0 };

	(void)state;
	read_shipped("linux", &p);
	assert_int_equal(scripted_run(turns, 1, false, &p.script[PROFILE_PREPARE], &v, NULL, &typed, &e), -1);
	holds(e.text, "[prepare archive]: the folder for kickio cannot be made; the last lines");
	holds(e.text, "No space left on device");
	text_free(&typed);
	profile_free(&p);
}

/* The login of the others, as their manuals and published logs show it. */
static void test_other_logins(void **state)
{
	static const struct { const char *name; struct turn turn[5]; } all[] = {
		{ "freebsd", { { NULL, "FreeBSD/amd64 (vm) (ttyu0)\r\n\r\nlogin: ", false },
			       { "root\n", "Password:", false },
			       { "secret\n", "\r\nFreeBSD 14.1-RELEASE\r\nroot@vm:~ # ", true },
			       { "exec env TERM=dumb PS1='kb-ready$ ' /bin/sh +o emacs +o vi\n", "kb-ready$ ", false },
			       { NULL, NULL, false } } },
		{ "netbsd", { { NULL, "NetBSD/amd64 (vm) (constty)\r\n\r\nlogin: ", false },
			      { "root\n", "Password:", false },
			      { "secret\n", "\r\nWelcome to NetBSD!\r\n\r\nvm# ", true },
			      { "exec env TERM=dumb PS1='kb-ready$ ' /bin/sh +o emacs +o vi\n", "kb-ready$ ", false },
			      { NULL, NULL, false } } },
		{ "dragonfly", { { NULL, "DragonFly/x86_64 (vm) (ttyd0)\r\n\r\nlogin: ", false },
				 { "root\n", "Password:", false },
				 { "secret\n", "\r\nWelcome to DragonFly!\r\nvm# ", true },
				 { "exec env TERM=dumb PS1='kb-ready$ ' /bin/sh +o emacs +o vi\n", "kb-ready$ ", false },
				 { NULL, NULL, false } } },
		{ "linux", { { NULL, "\033[?2004lDebian GNU/Linux 12 debian ttyS0\r\r\n\r\ndebian login: ", false },
			     { "root\n", "Password: ", false },
			     { "secret\n", "\r\nLinux debian 6.1.0\r\r\n\033[?2004hroot@debian:~# ", true },
			     { "exec env TERM=dumb PS1='kb-ready$ ' /bin/sh\n", "kb-ready$ ", false },
			     { NULL, NULL, false } } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(all); i++) {
		struct profile p;

		read_shipped(all[i].name, &p);
		play(&p, PROFILE_LOGIN, all[i].turn, 1);
		profile_free(&p);
	}
}

static void test_bad(void **state)
{
	static const struct { const char *text, *message; } all[] = {
		{ "[login x]\nexpect = a\n", "has no section [guest]" },
		{ "[guest]\nos = X\n", ":1: [guest] needs the key agent" },
		{ "[guest]\nos = X\nagent = a\ncolour = red\n", ":4: unknown key colour in [guest] of a profile" },
		{ "[guest]\nos = X\nagent = a\nlogin = maybe\n", ":4: login = maybe: expected none or console" },
		{ "[guest]\nos = X\nagent = a\nboot_timeout = soon\n", ":4: boot_timeout = soon: expected a time" },
		{ "[guest]\nos = X\nagent = a\n", "has no step [login NAME], and login = console needs one" },
		{ "[guest]\nos = X\nagent = a\nlogin = none\n[logout x]\nsend = a\n", ":5: unknown section [logout]" },
		{ "[guest]\nos = X\nagent = a\nlogin = none\n[login x]\ntimeout = 5s\n", ":5: [login x] needs expect or send" },
		{ "[guest]\nos = X\nagent = a\nlogin = none\n[login x]\nexpect = a\ntimeout = -1\n", ":7: timeout = -1: expected" },
		{ "[guest]\nos = X\nagent = a\nlogin = none\n[login x]\nexpect = (a\n", ":5: (a: " },
		{ "[guest]\nos = X\nagent = a\nlogin = none\n[login x]\nsend = \\q\n", ":6: send = \\q: escapes are" },
		{ "[guest]\nos = X\nagent = a\nlogin = none\n[login x]\nsend = \\x00\n", ":6: send = \\x00: escapes are" },
		{ "[guest]\nos = X\nagent = a\nlogin = none\n[failure x]\nexpect = a\n", ":5: [failure x] needs expect and message" },
		{ "[guest]\nos = X\nagent = a\nlogin = none\n[answer x]\nexpect = a\nmessage = b\n", ":7: unknown key message" },
	};
	struct scratch *s = *state;

	for (size_t i = 0; i < COUNT(all); i++) {
		struct profile p;
		struct error e = { 0 };

		assert_int_equal(profile_read(scratch_text(s, "bad.ini", all[i].text), &p, &e), -1);
		assert_int_equal(e.status, STATUS_USAGE);
		holds(e.text, all[i].message);
		assert_null(p.file);
	}
}

static void test_values(void **state)
{
	struct scratch *s = *state;
	struct profile p;
	struct error e = { 0 };

	if (profile_read(scratch_text(s, "p.ini",
				      "[guest]\nos = X\nagent = /dev/x\nlogin = none\nboot_timeout = 7s\n"
				      "[start b]\nexpect = a\\.b\\n\nsend = \\x20\\ty\\\\\\r\\n\ntimeout = 2m\n[start a]\nsend = q\n"
				      "[answer m]\nexpect = m\nsend = n\n"), &p, &e))
		fail_msg("%s", e.text);
	assert_false(p.login);
	assert_int_equal((int)p.boot_timeout, 7);
	assert_string_equal(p.user, "root");
	assert_int_equal(p.script[PROFILE_START].nsteps, 2); /* in the file's order */
	assert_string_equal(p.step[PROFILE_START][0].name, "b");
	assert_string_equal(p.step[PROFILE_START][0].expect, "a\\.b\n");
	assert_string_equal(p.step[PROFILE_START][0].send, " \ty\\\r\n");
	assert_int_equal((int)p.step[PROFILE_START][0].timeout, 120);
	assert_int_equal(p.step[PROFILE_START][0].line, 6);
	assert_int_equal(p.script[PROFILE_LOGIN].nreactions, 1);
	profile_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shipped),
		cmocka_unit_test(test_openbsd),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_other_logins),
		cmocka_unit_test_setup_teardown(test_bad, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_values, scratch_open, scratch_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
