/* host/process.c: names that look like fields, ended processes, zombies, reused numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "host/process.h"
#include "tests/unit/child.h"

static int rename_plain(void)
{
	return prctl(PR_SET_NAME, "plain") != 0;
}

static int rename_hostile(void)
{
	return prctl(PR_SET_NAME, "a) Z (b 1 2 c)") != 0;
}

/* Start time by the clock that counts it: seconds since boot, now. */
static double since_boot(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void check(int (*begin)(void))
{
	int told;
	double before = since_boot();
	pid_t pid = child_start(begin, &told);
	uint64_t started = process_started(pid);
	double seconds = (double)started / (double)sysconf(_SC_CLK_TCK);

	assert_true(pid > 0);
	assert_int_equal(told, 0);
	if (seconds < before - 1 || seconds > since_boot() + 1)
		fail_msg("started at %.2f s, between %.2f and now", seconds, before);
	assert_true(process_lives(pid, started));
	assert_false(process_lives(pid, started + 1)); /* the number belongs to somebody else now */
	child_kill(pid);
	for (int i = 0; i < 500 && process_lives(pid, started); i++)
		usleep(10000);
	assert_false(process_lives(pid, started)); /* a zombie: nobody has collected it */
	assert_true(process_started(pid) == 0);
	child_collect(pid);
	assert_true(process_started(pid) == 0);
	assert_false(process_lives(pid, 0));
}

static void any_process(void **state)
{
	(void)state;
	check(rename_plain);
}

static void a_name_may_hold_anything(void **state)
{
	(void)state;
	check(rename_hostile);
}

static void ourselves(void **state)
{
	(void)state;
	assert_true(process_started(getpid()) > 0);
	assert_true(process_lives(getpid(), process_started(getpid())));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_process), cmocka_unit_test(a_name_may_hold_anything), cmocka_unit_test(ourselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
