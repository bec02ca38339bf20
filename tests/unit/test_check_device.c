/* `kickio check` on loop devices, also on such that misbehave; skipped where there are none. */
#include "tests/unit/check_bench.h"

static void test_devices(void **state)
{
	static const struct { off_t bytes; const char *attach, *options; } rows[] = {
		{16 * MIB, "-b 512", "--destroy=1 --size=16m --sector=512 --readonly=0"},
		{16 * MIB, "-b 4096", "--destroy=1 --size=16m --sector=4096 --readonly=0"},
		{512, "", "--destroy=1 --size=512"},
		{4096, "-b 4096", "--destroy=1 --size=4096"},
		{7 * 512, "", "--destroy=1 --size=3584"},
		{16 * MIB, "-r", "--destroy=1 --readonly=1"},
	};
	struct check_report report;
	struct disk d;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_disk(&d, rows[i].bytes);
		if (!attach(&d, rows[i].attach)) {
			remove_disk(&d);
			print_message("no loop devices here\n");
			skip();
		}
		run(d.device, rows[i].options, &report);
		if (i == 0) {
			expect(&report, "write past the end", CHECK_PASS, false, "direct: No space left");
			expect(&report, "write across the end", CHECK_PASS, false, "direct: 512 bytes");
			expect(&report, "unaligned direct writes", CHECK_PASS, false, "refused");
			expect(&report, "zeroes", CHECK_PASS, false, "66048 bytes, read direct");
		}
		if (i == 5) {
			expect(&report, "write to a read-only disk", CHECK_PASS, false, "direct: Operation not permitted");
			expect(&report, "discard of a read-only disk", CHECK_PASS, false, "");
			expect(&report, "flush", CHECK_SKIPPED, false, "the disk is read-only");
			assert_int_equal(report.writes, 2);
		}
		expect_good(&report);
		remove_disk(&d);
	}
}

static void test_device_faults(void **state)
{
	static const struct { enum fault fault; off_t place; const char *options, *name; bool corrupt; const char *part; } rows[] = {
		{KEEP_ZEROES, 0, "--destroy=1", "zeroes", true, "is not zero"},
		{WIDE_ZEROES, 0, "--destroy=1", "zeroes", true, "has changed, and 1 to 129 were meant"},
		{LOSE_AFTER_DISCARD, 0, "--destroy=1", "discard", true, "is not there"},
		{ACCEPT_UNALIGNED, 0, "--destroy=1", "unaligned direct reads", false, "256 bytes at 0: 256 bytes"},
		{ACCEPT_UNALIGNED, 0, "--destroy=1", "unaligned direct writes", false, "256 bytes at 0: 256 bytes"},
		{ACCEPT_READ_ONLY, 0, "--destroy=1 --readonly=1", "write to a read-only disk", false, "direct: 512 bytes"},
		{ACCEPT_READ_ONLY, 0, "--destroy=1 --readonly=1", "discard of a read-only disk", false, "taken"},
		{NO_FAULT, 0, "--readonly=1", "read-only", false, "0 instead of 1"},
		{NO_FAULT, 0, "--sector=4096", "logical sector", false, "512 instead of 4096"},
		{LOSE_WRITES, MIB - 512, "--destroy=1", "write past the end", true, "sector 2047 does not hold"},
	};
	struct check_report report;
	struct disk d;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_disk(&d, MIB);
		if (!attach(&d, "-b 512")) {
			remove_disk(&d);
			print_message("no loop devices here\n");
			skip();
		}
		fault = rows[i].fault;
		place = rows[i].place;
		run(d.device, rows[i].options, &report);
		fault = NO_FAULT;
		if (rows[i].fault != LOSE_AFTER_DISCARD || !find(&report, "discard", CHECK_SKIPPED))
			expect(&report, rows[i].name, CHECK_FAIL, rows[i].corrupt, rows[i].part);
		check_report_free(&report);
		remove_disk(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_device_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
