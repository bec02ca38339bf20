/*
 * The numbers of fio's text reports. Samples are written by hand; they are consistent by the calculation that
 * stands beside them, or inconsistent on purpose.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/fio_text_number.h"
#include "tests/unit/fio_sample.h"

static void test_report(void **state)
{
	json_t *j, *r, *disk;

	(void)state;
	read_text(PLAIN "\nDisk stats (read/write):\n"
			"  vdb: ios=19900/3, merge=2/1, ticks=9000/4, in_queue=9004, util=98.50%\n");
	assert_int_equal(json_array_size(in.outputs), 1);
	assert_int_equal(json_array_size(in.notes), 0);
	assert_string_equal(text_at(document(0), "fio version"), "fio-3.33");
	assert_string_equal(text_at(document(0), "time"), "Tue Mar 5 10:11:12 2024");
	assert_null(json_object_get(document(0), "section"));
	assert_number(document(0), "line", 1);
	j = job(0, 0);
	assert_string_equal(text_at(j, "jobname"), "seek");
	assert_string_equal(text_at(j, "status"), "ok");
	assert_number(j, "line", 5);
	assert_number(j, "members", 1);
	assert_number(j, "error", 0);
	assert_number(j, "usr_cpu", 1.25);
	assert_number(j, "ctx", 20100);
	assert_number(j, "job_runtime", 10000);
	assert_true(json_is_true(at(j, "job_runtime_estimated")));
	assert_string_equal(text_at(at(j, "job options"), "bs"), "4k");
	assert_string_equal(text_at(at(j, "job options"), "rw"), "randread");
	assert_null(json_object_get(j, "marks"));
	assert_null(json_object_get(j, "write"));
	r = at(j, "read");
	assert_number(r, "io_bytes", 20000 * 4096); /* exact, although 78.1MiB was printed */
	assert_number(r, "total_ios", 20000);
	assert_number(r, "iops", 2000);
	assert_number(r, "bw_bytes", 8192000);
	assert_number(r, "runtime", 10000);
	assert_number(at(r, "clat_ns"), "max", 1104900000); /* 1104.9k usec */
	assert_number(at(r, "clat_ns"), "mean", 480250);
	assert_number(at(r, "lat_ns"), "stddev", 12750);
	assert_number(at(at(r, "clat_ns"), "percentile"), "50.000000", 470000);
	assert_number(at(at(r, "clat_ns"), "percentile"), "99.900000", 1500000);
	assert_null(json_object_get(r, "slat_ns"));
	disk = json_array_get(at(document(0), "disk_util"), 0);
	assert_string_equal(text_at(disk, "name"), "vdb");
	assert_number(disk, "read_ios", 19900);
	assert_number(disk, "write_merges", 1);
	assert_number(disk, "in_queue", 9004);
	assert_number(disk, "util", 98.5);
}

/* A report of one job, by its release, direction line and counts. */
static json_t *one(const char *version, const char *direction, const char *issued)
{
	char text[1024];

	snprintf(text, sizeof(text), HEADER "%s\n" TITLE "%s\n%s\n", version, direction, issued);
	read_text(text);
	return at(job(0, 0), "read");
}

/* 2^20 x 4 KiB in 293102 ms: 3577.5 IOPS, 13.97 MiB/s = 14.65 MB/s. */
static void test_lost_carry(void **state)
{
	static const char issued[] = "issued rwts: total=1048576,0,0,0 short=0,0,0,0 dropped=0,0,0,0";
	json_t *r;

	(void)state;
	r = one("fio-3.12", "read: IOPS=3577, BW=13.0MiB/s (14.7MB/s)(4096MiB/293102msec)", issued);
	assert_number(r, "bw_bytes", 14653490);
	assert_number(r, "io_bytes", 4294967296);
	assert_number(r, "iops", 1048576.0 * 1000 / 293102);
	assert_string_equal(text_at(job(0, 0), "status"), "ok");
	assert_int_equal(json_array_size(at(job(0, 0), "marks")), 1);
	assert_non_null(strstr(mark_of(job(0, 0), 0), "printed BW=13.0MiB/s is wrong: 14.7MB/s, 4096MiB in 293102 ms"));
	assert_non_null(strstr(mark_of(job(0, 0), 0), "agree on 13.97 MiB/s"));
	assert_non_null(strstr(mark_of(job(0, 0), 0), "lost the carry"));
	/* Without the counts the rest agrees just the same; the most precise print is IOPS=3577 (14.652 to 14.656 MB/s). */
	r = one("fio-3.12", "read: IOPS=3577, BW=13.0MiB/s (14.7MB/s)(4096MiB/293102msec)", "");
	assert_true(fabs(json_number_value(at(r, "bw_bytes")) - 14653490) < 4096);
	assert_null(json_object_get(r, "total_ios"));
	/* A release that rounds properly printed something else wrong. */
	one("fio-3.33", "read: IOPS=3577, BW=13.0MiB/s (14.7MB/s)(4096MiB/293102msec)", issued);
	assert_int_equal(json_array_size(at(job(0, 0), "marks")), 1);
	assert_null(strstr(mark_of(job(0, 0), 0), "carry"));
	/* The same print where it is right stays unmarked: 972800 x 4 KiB in 292300 ms = 13.0006 MiB/s. */
	one("fio-3.12", "read: IOPS=3328, BW=13.0MiB/s (13.6MB/s)(3800MiB/292300msec)",
	    "issued rwts: total=972800,0,0,0 short=0,0,0,0 dropped=0,0,0,0");
	assert_null(json_object_get(job(0, 0), "marks"));
}

static void test_short_transfers(void **state)
{
	json_t *r;

	(void)state;
	/* Half of the I/Os failed: count x size is not the amount. 40 x 4 KiB in 8000 ms = 20.0 KiB/s, 80 I/Os. */
	r = one("fio-3.33", "read: IOPS=10, BW=20.0KiB/s (20.5kB/s)(160KiB/8000msec)",
		"issued rwts: total=80,0,0,0 short=40,0,0,0 dropped=0,0,0,0");
	assert_null(json_object_get(job(0, 0), "marks"));
	assert_number(r, "io_bytes", 160 * 1024);
	assert_number(r, "iops", 10);
	assert_number(r, "total_ios", 80);
}

static void test_inconsistent(void **state)
{
	(void)state;
	read_text(TITLE "  read: IOPS=5, BW=100MiB/s (500MB/s)(900MiB/10000msec)\n");
	assert_string_equal(text_at(job(0, 0), "status"), "inconsistent");
	assert_non_null(strstr(mark_of(job(0, 0), 0), "disagree: BW=100MiB/s, 500MB/s, 900MiB in 10000 ms"));
}

static void test_whole_numbers(void **state)
{
	json_t *r;

	(void)state;
	/* 32 MiB blocks: less than one I/O per second prints as 0. 72 x 32 MiB in 84546 ms = 27.25 MiB/s. */
	read_text("big: (g=0): rw=read, bs=(R) 32.0MiB-32.0MiB, (W) 32.0MiB-32.0MiB, (T) 32.0MiB-32.0MiB, ioengine=psync, "
		  "iodepth=1\nfio-3.33\nbig: (groupid=0, jobs=1): err= 0: pid=8: Tue Mar  5 10:11:12 2024\n"
		  "  read: IOPS=0, BW=27.3MiB/s (28.6MB/s)(2304MiB/84546msec)\n");
	r = at(job(0, 0), "read");
	assert_true(fabs(json_number_value(at(r, "iops")) - 72000.0 / 84546) < 0.002);
	assert_string_equal(text_at(at(job(0, 0), "job options"), "bs"), "32m");
}

static void test_old_releases(void **state)
{
	json_t *r;

	(void)state;
	/* 2.x: 19370 x 4 KiB in 10000 ms = 7748.0 KB/s; decimals of a remainder. */
	read_text("old: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=4\nfio-2.0.15\nStarting 1 thread\n"
		  "old: (groupid=0, jobs=2): err= 0: pid=5: Tue Mar  5 10:11:12 2013\n"
		  "  read : io=77480KB, bw=7748.9KB/s, iops=1937 , runt= 10000msec\n"
		  "    clat (msec): min=5 , max=70 , avg= 8.50, stdev= 1.25\n"
		  "    lat (msec) : 10=90.00%, 20=10.00%\n"
		  "  cpu          : usr=0.10%, sys=0.20%, ctx=10, majf=0, minf=4\n"
		  "     issued    : total=r=19370/w=0/d=0, short=r=0/w=0/d=0\n");
	r = at(job(0, 0), "read");
	assert_number(r, "io_bytes", 19370 * 4096);
	assert_number(r, "total_ios", 19370);
	assert_number(at(r, "clat_ns"), "min", 5000000);
	assert_number(at(r, "clat_ns"), "mean", 8500000);
	assert_null(json_object_get(r, "lat_ns")); /* "lat (msec) : 10=" is a distribution */
	assert_number(job(0, 0), "job_runtime", 20000);
	assert_null(json_object_get(job(0, 0), "marks"));
	/* 1.x: no version, no time; bytes per millisecond called KiB/s: 66 x 4 KiB in 3 ms = 88000 KiB/s. */
	read_text("old: (g=0): rw=randread, bs=4K-4K/4K-4K, ioengine=sync, iodepth=1\nold: (groupid=0, jobs=1): err= 0: pid=5\n"
		  "  read : io=264KiB, bw=90112KiB/s, iops=22000, runt=     3msec\n"
		  "     issued r/w: total=66/0, short=0/0\n     lat (usec): 100=34.00%, 250=66.00%\n");
	assert_number(at(job(0, 0), "read"), "bw_bytes", 90112000);
	assert_non_null(strstr(mark_of(job(0, 0), 0), "printed bw=90112KiB/s is wrong"));
	assert_null(json_object_get(document(0), "time"));
	/* P stands where T should: 2000000 MB/s for 1000 s are 1907.3 TB. */
	read_text(TITLE "  read : io=1907.3PB, bw=2000000MB/s, iops=5, runt=1000000msec\n");
	assert_string_equal(text_at(job(0, 0), "status"), "ok");
	assert_null(json_object_get(job(0, 0), "marks"));
}

static void test_distribution_called_clat(void **state)
{
	(void)state;
	read_text(TITLE READ "    clat (nsec): min=15, max=900, avg=25.50, stdev= 3.00\n"
			     "  clat (nsec)  : 20=9.40%, 50=90.27%\n  clat (usec)  : 2=0.01%\n" REST);
	assert_number(at(at(job(0, 0), "read"), "clat_ns"), "max", 900);
	assert_number(at(at(job(0, 0), "read"), "clat_ns"), "mean", 25.5);
}

static void test_unrecorded_percentiles(void **state)
{
	(void)state;
	read_text(TITLE READ "     lat (usec): min=8, max=132, avg=17.50, stdev= 4.00\n"
			     "     lat percentiles (nsec):\n      | 50.00th=[    0], 99.00th=[    0]\n"
			     "    clat percentiles (usec):\n      | 50.00th=[    0], 99.00th=[    0]\n" REST);
	assert_null(json_object_get(at(at(job(0, 0), "read"), "lat_ns"), "percentile"));
	assert_null(json_object_get(at(job(0, 0), "read"), "clat_ns"));
	/* Below one unit is no lack. */
	read_text(TITLE READ "    clat (usec): min=0, max=3, avg= 0.20, stdev= 0.10\n"
			     "    clat percentiles (usec):\n      | 50.00th=[    0], 99.00th=[    0]\n");
	assert_number(at(at(at(job(0, 0), "read"), "clat_ns"), "percentile"), "99.000000", 0);
}

static void test_priorities_are_not_the_whole(void **state)
{
	json_t *clat;

	(void)state;
	read_text(TITLE READ "    clat (msec): min=7, max=918, avg=156.50, stdev=149.00\n"
			     "    clat prio 1/0 (msec): min=8, max=166, avg=24.50, stdev= 5.00\n"
			     "    clat percentiles (msec):\n     | 50.00th=[  108]\n"
			     "    clat prio 1/0 (10.01% of IOs) percentiles (msec):\n     | 50.00th=[   25]\n");
	clat = at(at(job(0, 0), "read"), "clat_ns");
	assert_number(clat, "max", 918000000);
	assert_number(at(clat, "percentile"), "50.000000", 108000000);
}

static void test_sync(void **state)
{
	json_t *sync;

	(void)state;
	read_text(TITLE "  write: IOPS=2000, BW=8000KiB/s (8192kB/s)(78.1MiB/10000msec); 0 zone resets\n"
			"    clat (usec): min=5, max=90, avg=12.00, stdev= 1.00\n  fsync/fdatasync/sync_file_range:\n"
			"    sync (usec): min=379, max=6060, avg=416.25, stdev=73.00\n    sync percentiles (usec):\n"
			"     | 50.00th=[  412]\n     issued rwts: total=0,20000,0,19999 short=0,0,0,0 dropped=0,0,0,0\n");
	sync = at(job(0, 0), "sync");
	assert_number(sync, "total_ios", 19999);
	assert_number(at(sync, "lat_ns"), "mean", 416250);
	assert_number(at(at(sync, "lat_ns"), "percentile"), "50.000000", 412000);
	assert_number(at(at(job(0, 0), "write"), "clat_ns"), "max", 90000);
}

static void test_failures(void **state)
{
	(void)state;
	read_text("fio: pid=77, err=22/file:io_u.c:1787, func=io_u error, error=Invalid argument\n"
		  "seek: (groupid=0, jobs=1): err=22 (file:io_u.c:1787, func=io_u error, error=Invalid argument): pid=77: "
		  "Tue Mar  5 10:11:12 2024\n");
	assert_string_equal(text_at(job(0, 0), "status"), "failed");
	assert_number(job(0, 0), "error", 22);
	assert_string_equal(text_at(job(0, 0), "error_text"), "file:io_u.c:1787, func=io_u error, error=Invalid argument");
	read_text("fio: pid=77, got signal=6\n\n" TITLE READ REST);
	assert_string_equal(text_at(job(0, 0), "status"), "failed");
	assert_number(job(0, 0), "error", 0);
	assert_string_equal(text_at(job(0, 0), "error_text"), "got signal=6");
	assert_number(at(job(0, 0), "read"), "iops", 2000);
	read_text("verify: bad magic header 0, wanted acca at file f offset 0, length 4096\n" TITLE READ REST);
	assert_string_equal(text_at(job(0, 0), "status"), "failed");
	/* Stopped by hand is no failure, but no complete run either. */
	read_text(HEADER "fio-3.33\nfio: terminating on signal 2\n\n" TITLE READ REST);
	assert_string_equal(text_at(job(0, 0), "status"), "ok");
	assert_non_null(strstr(mark_of(job(0, 0), 0), "stopped by a signal"));
	/* An error and no block at all. */
	read_text(HEADER "fio-3.33\nStarting 1 process\nfio: pid=0, err=2/file:f.c:1, func=open, error=No such file\n");
	assert_int_equal(json_array_size(in.outputs), 0);
	assert_non_null(strstr(note(0), "err=2"));
}

static void test_no_data(void **state)
{
	(void)state;
	read_text(TITLE "  lat (nsec)   : 750=13.44%\n" REST GROUP);
	assert_string_equal(text_at(job(0, 0), "status"), "no data");
	assert_null(json_object_get(job(0, 0), "read"));
	assert_null(json_object_get(job(0, 0), "job_runtime"));
}

/* Two clones of one name in a report, and a mixed load. */
static void test_several_jobs(void **state)
{
	(void)state;
	read_text("mix: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 8192B-8192B, (T) 4096B-4096B, ioengine=libaio, iodepth=8\n...\n"
		  "fio-3.33\nStarting 2 processes\n\n"
		  "mix: (groupid=0, jobs=1): err= 0: pid=10: Tue Mar  5 10:11:12 2024\n"
		  "  read: IOPS=2000, BW=8000KiB/s (8192kB/s)(78.1MiB/10000msec)\n"
		  "    clat (usec): min=1, max=9, avg= 2.00, stdev= 1.00\n"
		  "  write: IOPS=1000, BW=8000KiB/s (8192kB/s)(78.1MiB/10000msec); 0 zone resets\n"
		  "    clat (usec): min=2, max=8, avg= 3.00, stdev= 1.00\n"
		  "     issued rwts: total=20000,10000,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
		  "mix: (groupid=0, jobs=1): err= 0: pid=11: Tue Mar  5 10:11:12 2024\n"
		  "  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(39.1MiB/10000msec)\n");
	assert_int_equal(json_array_size(in.outputs), 1);
	assert_int_equal(jobs_in(0), 2);
	assert_number(at(job(0, 0), "write"), "io_bytes", 10000 * 8192);
	assert_number(at(at(job(0, 0), "write"), "clat_ns"), "min", 2000);
	assert_number(job(0, 0), "job_runtime", 10000); /* at once */
	assert_string_equal(text_at(at(job(0, 0), "job options"), "bs"), "4k,8k,4k");
	assert_number(at(job(0, 1), "read"), "iops", 1000);
	/* A verify phase comes after the writing. */
	read_text("ver: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1\n"
		  "ver: (groupid=0, jobs=1): err= 0: pid=10: Tue Mar  5 10:11:12 2024\n"
		  "  read: IOPS=4000, BW=15.6MiB/s (16.4MB/s)(78.1MiB/5000msec)\n"
		  "  write: IOPS=2000, BW=8000KiB/s (8192kB/s)(78.1MiB/10000msec); 0 zone resets\n");
	assert_number(job(0, 0), "job_runtime", 15000);
}

/* What the documentation of the formats says of the intervals (fio's number formatting by release). */
static void test_intervals(void **state)
{
	static const struct {
		const char *text;
		enum fio_style style;
		double value, low, high;
	} cases[] = {
		{"9999", FIO_SINCE_2_17, 9999, 9999, 10000},
		{"13.1k", FIO_SINCE_2_17, 13100, 13050, 13151},
		{"131k", FIO_SINCE_2_17, 131000, 130500, 131500},
		{"9.77KiB", FIO_SINCE_2_17, 9.77 * 1024, 9.765 * 1024, 9.776 * 1024},
		{"14.7MB/s", FIO_SINCE_2_17, 14.7e6, 14.65e6, 14.751e6},
		{"80.0Mibit/s", FIO_SINCE_2_17, 10 * 1048576.0, 79.95 / 8 * 1048576, 80.051 / 8 * 1048576},
		{"633130B/s", FIO_OLD_BYTES, 633130, 633130, 633131},
		{"1457.8KB/s", FIO_OLD_BYTES, 1457.8 * 1024, 1457 * 1024, 1458 * 1024},
		{"3509.5K", FIO_OLD_COUNT, 3509500, 3509000, 3510000},
		{"2.3PB", FIO_OLD_BYTES, 2.3 * 1099511627776, 2 * 1099511627776.0, 3 * 1099511627776.0}, /* T is missing */
	};
	struct fio_printed n;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *end = fio_scan(cases[i].text, cases[i].style, &n);

		assert_non_null(end);
		assert_int_equal(*end, '\0');
		if (fabs(n.value / cases[i].value - 1) > 1e-9 || fabs(n.range.low / cases[i].low - 1) > 1e-9 ||
		    fabs(n.range.high / cases[i].high - 1) > 1e-9)
			fail_msg("%s: %.6f in %.6f to %.6f", cases[i].text, n.value, n.range.low, n.range.high);
	}
	assert_null(fio_scan("lots", FIO_SINCE_2_17, &n));
	fio_scan("13.0MiB/s", FIO_SINCE_2_17, &n);
	assert_true(n.bug && n.other.low == 13.95 * 1048576 && n.other.high == 14 * 1048576);
	fio_scan("13.1MiB/s", FIO_SINCE_2_17, &n);
	assert_false(n.bug);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_lost_carry),
		cmocka_unit_test(test_short_transfers),
		cmocka_unit_test(test_inconsistent),
		cmocka_unit_test(test_whole_numbers),
		cmocka_unit_test(test_old_releases),
		cmocka_unit_test(test_distribution_called_clat),
		cmocka_unit_test(test_unrecorded_percentiles),
		cmocka_unit_test(test_priorities_are_not_the_whole),
		cmocka_unit_test(test_sync),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_no_data),
		cmocka_unit_test(test_several_jobs),
		cmocka_unit_test(test_intervals),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
