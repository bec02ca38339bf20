/* The unit that has been in flight for longest, seen from another process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/flight.h"

static struct io unit(unsigned index, uint64_t offset)
{
	return (struct io){ .index = index, .offset = offset, .length = 4096, .file = 2, .ddir = DDIR_WRITE };
}

static void the_oldest(void **state)
{
	struct flights *f = flights_open(3);
	struct io a = unit(2, 8192), b = unit(0, 4096);
	struct flight oldest;

	(void)state;
	assert_non_null(f);
	assert_false(flights_oldest(f, &oldest));
	flight_begin(f, &a);
	usleep(10);
	flight_begin(f, &b);
	assert_true(flights_oldest(f, &oldest));
	assert_int_equal(oldest.offset, 8192);
	assert_int_equal(oldest.length, 4096);
	assert_int_equal(oldest.file, 2);
	assert_int_equal(oldest.ddir, DDIR_WRITE);
	assert_true(oldest.since_ns <= clock_monotonic_ns());
	flight_end(f, &a);
	assert_true(flights_oldest(f, &oldest));
	assert_int_equal(oldest.offset, 4096);
	flight_end(f, &b);
	assert_false(flights_oldest(f, &oldest));
	flights_close(f);
}

static void from_another_process(void **state)
{
	struct flights *f = flights_open(1);
	struct io io = unit(0, 123 * 512);
	struct flight oldest;
	pid_t pid;

	(void)state;
	assert_non_null(f);
	pid = fork();
	if (pid == 0) {
		flight_begin(f, &io);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(flights_oldest(f, &oldest));
	assert_int_equal(oldest.offset, 123 * 512);
	flights_close(f);
	flights_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oldest), cmocka_unit_test(from_another_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
