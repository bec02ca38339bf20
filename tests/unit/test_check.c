/* `kickio check`: options, files, and files that misbehave. */
#include "tests/unit/check_bench.h"

/* ---- options ---- */

static void test_options(void **state)
{
	static const struct { const char *argv[3]; const char *why; } bad[] = {
		{{NULL}, "which device?"},
		{{"/dev/a", "/dev/b"}, "one device, not /dev/a and /dev/b"},
		{{"/dev/a", "--filename=/dev/b"}, "one device"},
		{{"/dev/a", "--destroy"}, "--NAME=VALUE"},
		{{"/dev/a", "--destroy=2"}, "at most 1"},
		{{"/dev/a", "--destroy=yes"}, "--destroy"},
		{{"/dev/a", "--readonly=-1"}, "--readonly"},
		{{"/dev/a", "--siz=5"}, "no option --siz"},
		{{"/dev/a", "--size="}, "--size"},
	};
	char *good[] = {(char *)"--size=64m", (char *)"/dev/a", (char *)"--serial=a=b", (char *)"--destroy=1",
			(char *)"--write-cache=0"};
	struct check_options o;
	struct error e = {0};

	(void)state;
	assert_int_equal(check_parse(5, good, &o, &e), 0);
	assert_string_equal(o.device, "/dev/a");
	assert_string_equal(o.serial, "a=b");
	assert_true(o.destroy);
	assert_true(o.expected[CHECK_SIZE] == 64 * MIB);
	assert_true(o.expected[CHECK_WRITE_CACHE] == 0);
	assert_true(o.expected[CHECK_READONLY] == CHECK_UNKNOWN);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int argc = 0;

		e = (struct error){0};
		while (argc < 3 && bad[i].argv[argc])
			argc++;
		assert_int_equal(check_parse(argc, (char **)bad[i].argv, &o, &e), -1);
		if (!strstr(e.text, bad[i].why))
			fail_msg("'%s' does not say '%s'", e.text, bad[i].why);
	}
}

static void test_no_disk(void **state)
{
	static const struct { const char *path, *why; } rows[] = {
		{"/nonexistent", "there is no /nonexistent"},
		{"/tmp", "is no disk"},
		{"/dev/null", "tells no size"},
	};
	struct check_report report = {.line = NULL};
	struct check_options o;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *argv[] = {(char *)rows[i].path};
		struct error e = {0};

		assert_int_equal(check_parse(1, argv, &o, &e), 0);
		assert_int_equal(check_run(&o, &report, &e), -1);
		if (!strstr(e.text, rows[i].why))
			fail_msg("'%s' does not say '%s'", e.text, rows[i].why);
		assert_int_equal(report.count, 0);
	}
}

/* ---- files ---- */

static void test_file(void **state)
{
	struct check_report report;
	struct text json = {0};
	struct stat st;
	struct disk d;

	(void)state;
	make_disk(&d, 4 * MIB);
	run(d.file, "--destroy=1 --size=4m", &report);
	expect(&report, "size in bytes", CHECK_PASS, false, "4194304");
	expect(&report, "last sector", CHECK_PASS, false, "written ");
	expect(&report, "write past the end", CHECK_SKIPPED, false, "a file grows");
	expect(&report, "request in pieces", CHECK_PASS, false, "128 of 512 bytes");
	check_json(&report, &json);
	assert_non_null(strstr(text_get(&json), "{\"checks\":[{\"name\":\"size in bytes\",\"status\":\"pass\",\"message\":\"4194304\"},"));
	assert_null(strstr(text_get(&json), "corrupt"));
	text_free(&json);
	expect_good(&report);
	assert_int_equal(stat(d.file, &st), 0);
	assert_int_equal(st.st_size, 4 * MIB);
	remove_disk(&d);
}

/* Without consent nothing is written. */
static void test_reading_only(void **state)
{
	struct check_report report;
	struct disk d;
	char bytes[512];
	int fd;

	(void)state;
	make_disk(&d, MIB);
	run(d.file, "", &report);
	expect(&report, "first sector", CHECK_PASS, false, "read ");
	expect(&report, "flush", CHECK_SKIPPED, false, "say --destroy=1");
	expect(&report, "request in pieces", CHECK_SKIPPED, false, "say --destroy=1");
	assert_int_equal(report.writes, 0);
	assert_int_equal(check_exit_status(&report), 0);
	check_report_free(&report);
	fd = open(d.file, O_RDONLY);
	for (off_t at = 0; at < MIB; at += 512) {
		assert_int_equal(syscall(SYS_pread64, fd, bytes, sizeof(bytes), at), 512);
		assert_true(bytes[0] == 0 && memcmp(bytes, bytes + 1, 511) == 0);
	}
	close(fd);
	remove_disk(&d);
}

/* A system that does not tell whether a disk is read-only, as of a file: it is asked to refuse, and nothing else is written. */
static void test_read_only_untold(void **state)
{
	struct check_report report;
	struct disk d;

	(void)state;
	make_disk(&d, MIB);
	run(d.file, "--destroy=1 --readonly=1", &report);
	expect(&report, "first sector", CHECK_PASS, false, "read ");
	expect(&report, "flush", CHECK_SKIPPED, false, "the disk is read-only");
	expect(&report, "request in pieces", CHECK_SKIPPED, false, "the disk is read-only");
	assert_null(find(&report, "open for writing", CHECK_FAIL));
	expect(&report, "write to a read-only disk", CHECK_FAIL, false, "512 bytes");
	check_report_free(&report);
	remove_disk(&d);
}

static void test_wrong_answers(void **state)
{
	struct check_report report;
	struct text json = {0}, failed = {0};
	struct disk d;

	(void)state;
	make_disk(&d, MIB);
	run(d.file, "--size=2m --serial=kb-disk0 --readonly=0 --write-cache=1 --queues=4", &report);
	expect(&report, "size in bytes", CHECK_FAIL, false, "1048576 instead of 2097152");
	expect(&report, "serial number", CHECK_SKIPPED, false, "tells none");
	expect(&report, "read-only", CHECK_SKIPPED, false, "does not tell");
	expect(&report, "queues", CHECK_SKIPPED, false, "does not tell");
	assert_int_equal(check_exit_status(&report), 1);
	check_text(&report, true, &failed);
	assert_string_equal(text_get(&failed), "fail size in bytes: 1048576 instead of 2097152\n");
	text_free(&failed);
	check_json(&report, &json);
	assert_non_null(strstr(text_get(&json), "\"status\":\"fail\""));
	text_free(&json);
	check_report_free(&report);
	remove_disk(&d);
}

/* The smallest ones: of one to five sectors; and one that ends within a sector. */
static void test_small_files(void **state)
{
	struct check_report report;
	struct disk d;

	(void)state;
	for (off_t sectors = 1; sectors <= 5; sectors++) {
		make_disk(&d, sectors * 512);
		run(d.file, "--destroy=1", &report);
		expect(&report, "first sector", CHECK_PASS, false, "");
		expect(&report, "last sector", CHECK_PASS, false, "");
		if (sectors == 1)
			expect(&report, "request in pieces", CHECK_SKIPPED, false, "one sector");
		expect_good(&report);
		remove_disk(&d);
	}
	make_disk(&d, 5 * 512 + 100);
	run(d.file, "--destroy=1", &report);
	expect(&report, "past the end", CHECK_SKIPPED, false, "middle of a sector");
	expect_good(&report);
	remove_disk(&d);
}

/* Large ones, which take little room. */
static void test_large_files(void **state)
{
	struct check_report report;
	struct disk d;

	(void)state;
	make_disk(&d, ((off_t)1 << 32) + 512);
	run(d.file, "--destroy=1", &report);
	expect(&report, "across 2 GiB", CHECK_PASS, false, "written ");
	expect(&report, "across 4 GiB", CHECK_PASS, false, "written ");
	assert_null(find(&report, "across 2 TiB", CHECK_PASS));
	expect_good(&report);
	fault = LOSE_HIGH_BITS;
	run(d.file, "--destroy=1", &report);
	fault = NO_FAULT;
	expect(&report, "across 2 GiB", CHECK_PASS, false, "written ");
	expect(&report, "across 4 GiB", CHECK_FAIL, true, "sector 0 has changed, and 8388608 was written");
	check_report_free(&report);
	run(d.file, "", &report);
	expect(&report, "across 4 GiB", CHECK_SKIPPED, false, "say --destroy=1");
	check_report_free(&report);
	remove_disk(&d);
}

static void test_faults(void **state)
{
	static const struct { enum fault fault; off_t place; const char *name; bool corrupt; const char *part; } rows[] = {
		{LOSE_WRITES, 0, "first sector", true, "sector 0 does not hold what was written"},
		{LOSE_WRITES, MIB - 512, "last sector", true, "sector 2047 does not hold what was written"},
		{MISPLACE_WRITES, 0, "first sector", true, "sector 0 does not hold what was written to it but what was there before"},
		{TEAR_WRITES, MIB - 512, "last sector", true, "sector 2047 does not hold what was written"},
		{SMEAR_WRITES, MIB - 512, "last sector", true, "sector 2046 has changed, and only 2047 was written"},
		{SHORT_READS, 0, "first sector", false, "only 1024 of 2048 bytes"},
		{WRITE_ERRORS, MIB - 512, "last sector", false, "Input/output error"},
		{FLUSH_ERRORS, 0, "flush", false, "Input/output error"},
		{SWAPPED_PIECES, 0, "request in pieces", true, "piece 0 of 128"},
		{LOSE_WRITES, 600 * 1024, "request of 1048576 bytes", true, "sector 0 is not what was written"},
		{TEAR_WRITES, 600 * 1024, "request of 1048576 bytes", true, "sector 1200 is not what was written"},
	};
	struct check_report report;
	struct disk d;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_disk(&d, MIB);
		fault = rows[i].fault;
		place = rows[i].place;
		run(d.file, "--destroy=1", &report);
		fault = NO_FAULT;
		expect(&report, rows[i].name, CHECK_FAIL, rows[i].corrupt, rows[i].part);
		assert_int_equal(check_exit_status(&report), 1);
		check_report_free(&report);
		remove_disk(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_no_disk),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_reading_only),
		cmocka_unit_test(test_read_only_untold),
		cmocka_unit_test(test_wrong_answers),
		cmocka_unit_test(test_small_files),
		cmocka_unit_test(test_large_files),
		cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
