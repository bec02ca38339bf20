/* Systems of guests that commands start: what is found of them, and what their console is used for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "guest/output.h"
#include "host/system.h"
#include "tests/unit/scratch.h"
#include "tests/unit/scripted_console.h"

#define AT "/var/tmp/kickbench"
#define CHECK "echo \"kb-check:$(" AT "/kickio-agent --version 2>/dev/null):\"\n"
#define FOLDER "mkdir -p " AT " && cd " AT "; echo kb-folder:$?\n"
#define ARCHIVE "test \"$(dd if=/dev/vdb bs=512 count=1 2>/dev/null | dd bs=7 count=1 2>/dev/null)\" = kickio/; echo kb-archive:$?\n"
#define UNPACK "tar xf /dev/vdb; echo kb-unpack:$?\n"
#define INSTALL "sh kickio/guest/install.sh " AT "/kickio-agent; echo kb-install:$?\n"
#define START "nohup " AT "/kickio-agent agent /dev/ttyS1 </dev/null >/dev/null 2>&1 & echo kb-start:$?\n"
#define SHARED AT "/kickio-agent agent \"$(tty)\"; echo kb-agent:$?\n"
#define READY "kb-ready$ "
#define LOGIN { NULL, "debian login: ", false }, { "root\n", "Password: ", false }, { "secret\n", "\r\nroot@debian:~# ", true }, \
	      { "exec env TERM=dumb PS1='kb-ready$ ' /bin/sh\n", READY, false }
#define BROUGHT { FOLDER, "kb-folder:0\r\n" READY, false }, { ARCHIVE, "kb-archive:0\r\n" READY, false }, \
		{ UNPACK, "kb-unpack:0\r\n" READY, false }, { INSTALL, "kb-kickio: kickio-0.1.0, built\r\nkb-install:0\r\n" READY, false }
#define END { NULL, NULL, false }

/* Kickbench's own files are those of the source tree, which this file tells. */
static void places(const struct scratch *s, struct dirs *d)
{
	char *slash;

	*d = (struct dirs){ .data = __FILE__ };
	slash = strstr(d->data, "tests/unit/");
	if (slash > d->data)
		slash[-1] = '\0';
	else
		strcpy(d->data, ".");
	snprintf(d->state, sizeof(d->state), "%s/state", s->folder);
	snprintf(d->cache, sizeof(d->cache), "%s/cache", s->folder);
}

static struct system *find(const struct scratch *s, const char *console, const char *profile)
{
	struct guest g = { .name = (char *)"g", .driver = DRIVER_EXEC, .image = (char *)IMAGE_NONE, .profile = (char *)profile,
			   .password_env = (char *)"KB_TEST_PASSWORD",
			   .exec = { .start = (char *)"x", .link = (char *)"stdio", .console = (char *)console } };
	struct system *system;
	struct error e = { 0 };
	struct dirs d;

	places(s, &d);
	setenv("KB_TEST_PASSWORD", "secret", 1);
	if (system_find(&g, &d, &system, &e))
		fail_msg("%s", e.text);
	return system;
}

/* Use the console against the turns. All of them have to be played. */
static int use(const struct system *system, const struct turn *turns, struct error *e)
{
	struct hv_guest g = { .turn = turns };
	struct link link;
	int status;

	*e = (struct error){ 0 };
	link_open(&link, &scripted_ops, &g, NULL, NULL);
	scripted_go_on(&g);
	status = system_use_console(system, false, &link, e);
	if (g.turn->say)
		fail_msg("the console still waits for \"%s\"; typed was \"%s\"", g.turn->typed, text_get(&g.all));
	link_close(&link);
	text_free(&g.out);
	text_free(&g.in);
	text_free(&g.all);
	return status;
}

static void good(const struct system *system, const struct turn *turns)
{
	struct error e;

	if (use(system, turns, &e))
		fail_msg("%s", e.text);
}

static void test_find(void **state)
{
	struct system *s = find(*state, "unix /c", "linux");
	struct image image;
	struct machine m;
	struct error e = { 0 };

	assert_true(s->login);
	assert_false(s->one_port);
	assert_null(s->image);
	assert_null(s->base);
	assert_null(s->overlays); /* no throw-away overlay is made */
	assert_string_equal(s->key, "");
	assert_int_equal(access(s->archive, R_OK), 0); /* for the start command */
	machine_default(&m);
	assert_int_equal(machine_set(&m, "kernel_args", "quiet", "", 0, &e), 0); /* what the command makes of it is its business */
	assert_int_equal(system_image(s, &m, &image, &e), 0);
	assert_ptr_equal(image.system, s);
	assert_null(image.kernel);
	assert_int_equal(system_prepare(s, &(struct system_preparation){ 0 }, &e), 0); /* no boot of its own */
	machine_free(&m);
	system_free(s);
	s = find(*state, NULL, "linux");
	assert_true(s->one_port);
	system_free(s);
}

static void test_there(void **state)
{
	static const struct turn two[] = { LOGIN, { CHECK, "kb-check:kickio-0.1.0:\r\n" READY, false },
					   { START, "kb-start:0\r\n" READY, false }, END };
	static const struct turn one[] = { LOGIN, { CHECK, "kb-check:kickio-0.1.0:\r\n" READY, false },
					   { SHARED, "@kb1 1 hello 2 12345678 {}\n", false }, END };
	struct system *s = find(*state, "unix /c", "linux");

	assert_string_equal(kickio_version, "kickio-0.1.0"); /* or the turns are to be changed */
	good(s, two);
	system_free(s);
	s = find(*state, NULL, "linux");
	good(s, one);
	system_free(s);
}

static void test_brought(void **state)
{
	static const struct turn missing[] = { LOGIN, { CHECK, "kb-check::\r\n" READY, false }, BROUGHT,
					       { START, "kb-start:0\r\n" READY, false }, END };
	static const struct turn old[] = { LOGIN, { CHECK, "kb-check:kickio-0.0.9:\r\n" READY, false }, BROUGHT,
					   { START, "kb-start:0\r\n" READY, false }, END };
	struct system *s = find(*state, "unix /c", "linux");

	good(s, missing);
	good(s, old);
	system_free(s);
}

static void test_not_to_be_had(void **state)
{
	static const struct turn missing[] = { LOGIN, { CHECK, "kb-check::\r\n" READY, false }, { FOLDER, "kb-folder:0\r\n" READY, false },
					       { ARCHIVE, "kb-archive:1\r\n" READY, false }, END };
	static const struct turn old[] = { LOGIN, { CHECK, "kb-check:kickio-0.0.9:\r\n" READY, false },
					   { FOLDER, "kb-folder:1\r\n" READY, false }, END };
	static const struct turn busy[] = { LOGIN, { CHECK, "kb-check:kickio-0.1.0:\r\n" READY, false },
					    { SHARED, "kickio: /dev/ttyS0 is no serial port\r\nkb-agent:1\r\n" READY, false }, END };
	struct system *s = find(*state, "unix /c", "linux");
	struct error e;

	assert_int_equal(use(s, missing, &e), -1);
	assert_int_equal(e.status, STATUS_INCOMPLETE);
	holds(e.text, "the guest has no kickio at " AT "/kickio-agent, where kickio-0.1.0 has to be");
	holds(e.text, "attach $KICKBENCH_ARCHIVE, read-only, as the second disk (/dev/vdb)");
	holds(e.text, s->archive);
	holds(e.text, "the disk with kickio's archive is not where it should be");
	assert_int_equal(use(s, old, &e), -1);
	holds(e.text, "the guest has kickio-0.0.9 at " AT "/kickio-agent");
	holds(e.text, "the folder for kickio cannot be made");
	system_free(s);
	s = find(*state, NULL, "linux");
	assert_int_equal(use(s, busy, &e), -1);
	holds(e.text, "[shared hello]: kickio's agent does not serve the console's port");
	holds(e.text, "is no serial port");
	system_free(s);
}

/* A profile of one's own may have neither check nor shared. */
static void test_short_profile(void **state)
{
	static const struct turn turns[] = { { NULL, "login: ", false }, { "me\n", "ok", false }, { "go\n", "\r\nyes\r\n", false }, END };
	const char *file = scratch_text(*state, "short.ini", "[guest]\nos = X\nagent = a\nuser = me\n[login n]\nexpect = login: $\nsend = $USER\\n\n"
					"[prepare p]\nsend = p\\n\n[start s]\nexpect = ok\nsend = go\\n\n[start t]\nexpect = yes\n[stop s]\nsend = s\\n\n");
	struct guest g = { .driver = DRIVER_EXEC, .image = (char *)IMAGE_NONE, .profile = (char *)file };
	struct system *s = find(*state, "unix /c", file);
	struct error e = { 0 };
	struct dirs d;

	good(s, turns);
	system_free(s);
	places(*state, &d);
	assert_int_equal(system_find(&g, &d, &s, &e), -1);
	assert_int_equal(e.status, STATUS_USAGE);
	holds(e.text, "short.ini has no step [shared NAME], which a guest with one serial port needs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_find, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_there, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_brought, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_not_to_be_had, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_short_profile, scratch_open, scratch_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
