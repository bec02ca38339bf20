/* guest/agent_alive.c: signs of life while data moves, and silence while none does. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "guest/agent_alive.h"
#include "tests/unit/scratch.h"

static void beat(void *context)
{
	atomic_fetch_add((atomic_uint *)context, 1);
}

/* Moves 64 KiB; not counted on tmpfs, or by a kernel without the accounting. */
static void write_some(int fd)
{
	static char bytes[65536];

	assert_int_equal(pwrite(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	assert_int_equal(fdatasync(fd), 0);
}

static void it_beats_while_data_moves(void **state)
{
	atomic_uint beats = 0;
	struct agent_alive a = {.interval_ms = 5, .beat = beat, .context = &beats};
	int fd = open(scratch_path(*state, "data"), O_RDWR | O_CREAT, 0600);
	unsigned before;

	assert_true(fd >= 0);
	agent_alive_start(&a);
	for (int i = 0; i < 2000 && beats < 3; i++) {
		write_some(fd);
		usleep(2000);
	}
	agent_alive_stop(&a);
	close(fd);
	before = beats;
	if (before == 0)
		skip(); /* this file system's writes are not counted */
	assert_true(before >= 3);
	usleep(30000);
	assert_int_equal(beats, before); /* over is over */
}

static void it_is_silent_while_nothing_moves(void **state)
{
	atomic_uint beats = 0;
	struct agent_alive a = {.interval_ms = 5, .beat = beat, .context = &beats};

	(void)state;
	agent_alive_stop(&a); /* never started */
	/* Code that is read from the disk for the first time moves data, too. */
	for (int try = 0; try == 0 || (try < 3 && beats); try++) {
		beats = 0;
		agent_alive_start(&a);
		agent_alive_start(&a); /* once is enough */
		usleep(100000);
		agent_alive_stop(&a);
		agent_alive_stop(&a);
	}
	assert_int_equal(beats, 0);
}

static void it_stops_at_once(void **state)
{
	atomic_uint beats = 0;
	struct agent_alive a = {.interval_ms = 3600000, .beat = beat, .context = &beats};

	(void)state;
	alarm(20);
	for (int i = 0; i < 100; i++) {
		agent_alive_start(&a);
		agent_alive_stop(&a);
	}
	alarm(0);
	assert_false(a.runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_beats_while_data_moves, scratch_open, scratch_close),
		cmocka_unit_test(it_is_silent_while_nothing_moves),
		cmocka_unit_test(it_stops_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
