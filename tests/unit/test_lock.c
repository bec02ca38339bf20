/* host/lock.c: the host's lock, between processes. It is the real one: skipped while a real kickbench holds it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "host/lock.h"
#include "tests/unit/child.h"

static int take_in_child(void)
{
	struct error e = { 0 };

	return lock_take("run of a test", &e) < 0;
}

static void the_second_is_told_who_is_first(void **state)
{
	struct error e = { 0 };
	char owner[64];
	int told, fd;
	pid_t pid = child_start(take_in_child, &told);

	(void)state;
	assert_true(pid > 0);
	if (told) {
		child_kill(pid);
		child_collect(pid);
		print_message("skipped: somebody else holds the host's lock\n");
		skip();
	}
	assert_int_equal(lock_take("me", &e), -1);
	assert_int_equal(e.status, STATUS_HOST);
	snprintf(owner, sizeof(owner), "(process %ld, run of a test)", (long)pid);
	if (!strstr(e.text, owner))
		fail_msg("\"%s\" is not in \"%s\"", owner, e.text);
	child_kill(pid);
	child_collect(pid);
	error_clear(&e);
	fd = lock_take("me", &e); /* the kernel has let go of it */
	if (fd < 0)
		fail_msg("%s", e.text);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_second_is_told_who_is_first) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
