#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/clock.h"
#include "guest/os.h"

static char file[256];

static void identity(void **state)
{
	struct os_identity id;
	struct utsname u;

	(void)state;
	uname(&u);
	os_identity(&id);
	assert_string_equal(id.name, "Linux");
	assert_string_equal(id.release, u.release);
	assert_string_equal(id.machine, u.machine);
	assert_true(id.ncpus >= 1);
	assert_true(id.memory_bytes > 16u << 20);
	assert_true(id.uptime_ns > 1000000000u);
}

static void inspects(void **state)
{
	struct os_target t;
	struct error e = {0};

	(void)state;
	assert_int_equal(truncate(file, 12345), 0);
	assert_int_equal(os_inspect(file, &t, &e), 0);
	assert_int_equal(t.kind, OS_REGULAR);
	assert_int_equal(t.bytes, 12345);
	assert_int_equal(t.sector, 1);
	assert_int_equal(os_inspect("/nowhere/at/all", &t, &e), 0);
	assert_int_equal(t.kind, OS_MISSING);
	assert_int_equal(os_inspect("/dev/null", &t, &e), 0);
	assert_int_equal(t.kind, OS_CHAR);
	assert_int_equal(os_inspect("/", &t, &e), 0);
	assert_int_equal(t.kind, OS_OTHER);
	errno = 0;
	assert_int_equal(os_inspect("/dev/null/x", &t, &e), -1);
	assert_int_equal(errno, ENOTDIR);
	assert_non_null(strstr(e.text, "/dev/null/x"));
}

static void opens_and_flushes(void **state)
{
	struct os_target t = { .kind = OS_REGULAR };
	struct error e = {0};
	struct stat st;
	int fd = os_open(file, OS_READ | OS_WRITE | OS_CREATE | OS_TRUNCATE, &e);

	(void)state;
	assert_true(fd >= 0);
	fstat(fd, &st);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(os_preallocate(fd, 8192, OS_RESERVE_NATIVE), 0);
	fstat(fd, &st);
	assert_int_equal(st.st_size, 8192);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(os_flush(fd), 0);
	assert_int_equal(os_advise(fd, true, 0, 8192), 0);
	assert_int_equal(os_drop_cache(fd, &t, 0, 8192), 0);
	close(fd);
	assert_int_equal(os_flush(fd), EBADF);
	errno = 0;
	assert_int_equal(os_open("/nowhere/at/all", OS_READ, &e), -1);
	assert_int_equal(errno, ENOENT);
	assert_non_null(strstr(e.text, "cannot open /nowhere/at/all"));
}

static void disks_have_paths_and_sizes(void **state)
{
	struct os_disk disks[32];
	size_t n = os_disks(disks, 32);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(strncmp(disks[i].path, "/dev/", 5), 0);
		assert_true(disks[i].bytes > 0);
		assert_true(disks[i].sector >= 512);
		assert_true(i == 0 || strcmp(disks[i - 1].path, disks[i].path) < 0);
	}
	assert_int_equal(os_disks(disks, 0), 0);
}

static void counters_go_up(void **state)
{
	struct os_counters before, after;
	uint64_t start = clock_monotonic_ns();

	(void)state;
	os_counters(NULL, &before);
	assert_true(before.have_cpu);
	assert_false(before.have_disk || before.have_irq);
	while (clock_monotonic_ns() - start < 100000000)
		;
	os_counters(file, &after);
	assert_false(after.have_disk);
	assert_true(after.cpu_user_us + after.cpu_system_us >= before.cpu_user_us + before.cpu_system_us + 50000);
}

static void counters_of_a_disk(void **state)
{
	struct os_disk disk;
	struct os_counters c;
	struct stat st;

	(void)state;
	if (os_disks(&disk, 1) == 0 || stat(disk.path, &st) < 0) {
		print_message("no disk in sight\n");
		skip();
	}
	os_counters(disk.path, &c);
	assert_true(c.have_disk);
	assert_true(c.reads > 0 && c.read_bytes >= c.reads * 512 / 2);
}

static void serial_is_raw(void **state)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), fd;
	struct error e = {0};
	char bytes[8] = {0};

	(void)state;
	assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	fd = os_open_serial(ptsname(master), &e);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "a\nb\n", 4), 4);
	assert_int_equal(read(master, bytes, sizeof(bytes)), 4);
	assert_memory_equal(bytes, "a\nb\n", 4);
	assert_int_equal(write(master, "\003\r", 2), 2);
	assert_int_equal(read(fd, bytes, sizeof(bytes)), 2);
	assert_memory_equal(bytes, "\003\r", 2);
	close(fd);
	close(master);
	assert_int_equal(os_open_serial("/dev/null", &e), -1);
}

static void clocks_agree(void **state)
{
	static const enum clocksource all[] = { CLOCK_DEFAULT, CLOCK_GETTIME, CLOCK_GETTIMEOFDAY, CLOCK_CPU };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		uint64_t a, b, start, end;
		struct error e = {0};
		struct clock c;

		if (clock_init(&c, all[i], &e) < 0) {
			assert_int_equal(all[i], CLOCK_CPU);
			assert_non_null(strstr(e.text, "use clocksource=clock_gettime"));
			continue;
		}
		start = clock_monotonic_ns();
		a = clock_ns(&c);
		usleep(50000);
		b = clock_ns(&c);
		end = clock_monotonic_ns();
		/* b - a is nested in end - start; calibration is good to a percent, microseconds are cut. */
		assert_true(b - a <= (end - start) * 101 / 100 + 1000);
		assert_true(b - a >= 49000000);
	}
}

static int make_file(void **state)
{
	const char *tmp = getenv("TMPDIR");
	int fd;

	(void)state;
	snprintf(file, sizeof(file), "%s/kb-os.XXXXXX", tmp ? tmp : "/tmp");
	fd = mkstemp(file);
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : -1;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identity),
		cmocka_unit_test(inspects),
		cmocka_unit_test(opens_and_flushes),
		cmocka_unit_test(disks_have_paths_and_sizes),
		cmocka_unit_test(counters_go_up),
		cmocka_unit_test(counters_of_a_disk),
		cmocka_unit_test(serial_is_raw),
		cmocka_unit_test(clocks_agree),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
