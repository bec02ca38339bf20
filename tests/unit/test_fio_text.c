/*
 * The reader of fio's text reports. Samples are written by hand; their numbers are consistent by calculation that
 * stands beside them, or inconsistent on purpose.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/text.h"
#include "host/fio_text.h"
#include "host/fio_text_number.h"

static struct fio_import in;

static void release(void)
{
	json_decref(in.outputs);
	json_decref(in.notes);
	memset(&in, 0, sizeof(in));
}

static void read_bytes(const char *bytes, size_t length)
{
	struct error e = {0};

	release();
	if (fio_text_read(bytes, length, &in, &e))
		fail_msg("%s", e.text);
}

static void read_text(const char *text)
{
	read_bytes(text, strlen(text));
}

static int teardown(void **state)
{
	(void)state;
	release();
	return 0;
}

static json_t *document(size_t i)
{
	json_t *d = json_array_get(in.outputs, i);

	assert_non_null(d);
	return d;
}

static json_t *job(size_t output, size_t i)
{
	json_t *j = json_array_get(json_object_get(document(output), "jobs"), i);

	assert_non_null(j);
	return j;
}

static json_t *at(json_t *object, const char *key)
{
	json_t *v = json_object_get(object, key);

	if (!v)
		fail_msg("no \"%s\"", key);
	return v;
}

static const char *text_at(json_t *object, const char *key)
{
	return json_string_value(at(object, key));
}

static void assert_number(json_t *object, const char *key, double expected)
{
	double found = json_number_value(at(object, key));

	if (fabs(found - expected) > 1e-6 * fmax(1, fabs(expected)))
		fail_msg("%s: %.9g, expected %.9g", key, found, expected);
}

static size_t jobs_in(size_t output)
{
	return json_array_size(at(document(output), "jobs"));
}

static const char *mark_of(json_t *j, size_t i)
{
	return text_at(json_array_get(at(j, "marks"), i), "what");
}

static const char *note(size_t i)
{
	return text_at(json_array_get(in.notes, i), "message");
}

/* 20000 I/Os x 4 KiB in 10000 ms: 2000 IOPS, 8000 KiB/s = 8192 kB/s, 78.125 MiB. */
#define HEADER \
	"seek: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1\n"
#define TITLE "seek: (groupid=0, jobs=1): err= 0: pid=77: Tue Mar  5 10:11:12 2024\n"
#define READ "  read: IOPS=2000, BW=8000KiB/s (8192kB/s)(78.1MiB/10000msec)\n"
#define LATENCIES \
	"    clat (usec): min=100, max=1104.9k, avg=480.25, stdev=12.50\n" \
	"     lat (usec): min=101, max=1104.9k, avg=481.50, stdev=12.75\n" \
	"    clat percentiles (usec):\n" \
	"     |  1.00th=[  110], 50.00th=[  470], 99.00th=[  900],\n" \
	"     | 99.90th=[ 1500]\n" \
	"   bw (  KiB/s): min= 7000, max= 9000, per=100.00%, avg=8000.00, stdev=10.00, samples=19\n" \
	"   iops        : min= 1750, max= 2250, avg=2000.00, stdev= 2.50, samples=19\n" \
	"  lat (usec)   : 250=1.00%, 500=98.00%, 750=1.00%\n"
#define REST \
	"  cpu          : usr=1.25%, sys=2.50%, ctx=20100, majf=0, minf=9\n" \
	"  IO depths    : 1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%\n" \
	"     issued rwts: total=20000,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n" \
	"     latency   : target=0, window=0, percentile=100.00%, depth=1\n"
#define GROUP \
	"\nRun status group 0 (all jobs):\n" \
	"   READ: bw=8000KiB/s (8192kB/s), 8000KiB/s-8000KiB/s (8192kB/s-8192kB/s), io=78.1MiB (81.9MB), run=10000-10000msec\n"
#define PLAIN HEADER "fio-3.33\nStarting 1 process\n\n" TITLE READ LATENCIES REST GROUP

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

/* What mails, wikis and terminals do to the same report changes nothing but the numbers of lines. */
static void test_ornaments(void **state)
{
	static const char *const texts[] = {
		/* quoted twice, wrapped, with one more blank */
		"> > seek: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T)\n"
		"> > 4096B-4096B, ioengine=psync, iodepth=1\n> > fio-3.33\n> > Starting 1 process\n> >\n"
		"> > seek: (groupid=0, jobs=1): err= 0: pid=77: Tue Mar  5\n> > 10:11:12\n> > 2024\n"
		"> >   read: IOPS=2000, BW=8000KiB/s (8192kB/s)(78.1MiB/10000msec)\n"
		"> >      clat (usec): min=100, max=1104.9k, avg=480.25,\n> > stdev=12.50\n"
		"> >      lat (usec): min=101, max=1104.9k, avg=481.50, stdev=12.75\n"
		"> >     clat percentiles (usec):\n"
		"> >      |  1.00th=[  110], 50.00th=[\n> > 470], 99.00th=[  900],\n> >      | 99.90th=[ 1500]\n"
		"> >   cpu          : usr=1.25%, sys=2.50%, ctx=20100, majf=0,\n> > minf=9\n"
		"> >      issued rwts: total=20000,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n",
		/* all blanks at the begin of lines lost, others doubled or no-break, CRLF */
		"seek: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1\r\n"
		"fio-3.33\r\n\r\nseek: (groupid=0, jobs=1):  err=0: pid=77: Tue Mar\xc2\xa0 5 10:11:12 2024\r\n"
		"read : IOPS=2000, BW=8000KiB/s (8192kB/s)(78.1MiB/10000msec)\r\n"
		"clat (usec): min=  100, max=1104.9k, avg=480.25, stdev=12.50\r\n"
		"lat (usec): min=101 , max=1104.9k, avg=481.50, stdev=12.75\r\n"
		"clat percentiles (usec):\r\n| 1.00th=[ 110], 50.00th=[ 470], 99.00th=[ 900],\r\n| 99.90th=[ 1500]\r\n"
		"cpu : usr=1.25%, sys=2.50%, ctx=20100, majf=0, minf=9\r\n"
		"issued rwts: total=20000,0,0,0 short=0,0,0,0 dropped=0,0,0,0\r\n",
		/* quoted-printable */
		"seek: (g=3D0): rw=3Drandread, bs=3D(R) 4096B-4096B, (W) 4096B-4096B, (T)=\n"
		" 4096B-4096B, ioengine=3Dpsync, iodepth=3D1\nfio-3.33\n"
		"seek: (groupid=3D0, jobs=3D1): err=3D 0: pid=3D77: Tue Mar  5 10:11:12 2024\n"
		"  read: IOPS=3D2000, BW=3D8000KiB/s (8192kB/s)(78.1MiB/10000msec)=20\n"
		"    clat (usec): min=3D100, max=3D1104.9k, avg=3D480.25, st=\ndev=3D12.50\n"
		"     lat (usec): min=3D101, max=3D1104.9k, avg=3D481.50, stdev=3D12.75\n"
		"    clat percentiles (usec):\n"
		"     |  1.00th=3D[  110], 50.00th=3D[  470], 99.00th=3D[  900],\n     | 99.90th=3D[ 1500]\n"
		"  cpu          : usr=3D1.25%, sys=3D2.50%, ctx=3D20100, majf=3D0, minf=3D9\n"
		"     issued rwts: total=3D20000,0,0,0 short=3D0,0,0,0 dropped=3D0,0,0,0\n",
		/* commented out, in a fence, behind progress lines of which one was cut */
		"```\n# " HEADER "# fio-3.33\n# Starting 1 process\n"
		"^CJobs: 1 (f=1): [r(1)][10.0%][r=8000KiB/s][r=2000 IOPS][eta 00mJobs: 1 (f=1): [r(1)][100.0%]"
		"[r=8000KiB/s][r=2000 IOPS][eta 00m:00s]" TITLE
		"#   read: IOPS=2000, BW=8000KiB/s (8192kB/s)(78.1MiB/10000msec)\n"
		"#     clat (usec): min=100, max=1104.9k, avg=480.25, stdev=12.50\n"
		"#      lat (usec): min=101, max=1104.9k, avg=481.50, stdev=12.75\n"
		"#     clat percentiles (usec):\n#      |  1.00th=[  110], 50.00th=[  470], 99.00th=[  900],\n#      | 99.90th=[ 1500]\n"
		"#   cpu          : usr=1.25%, sys=2.50%, ctx=20100, majf=0, minf=9\n"
		"#      issued rwts: total=20000,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n```\n",
	};
	json_t *plain;

	(void)state;
	read_text(PLAIN);
	plain = json_deep_copy(job(0, 0));
	json_object_del(plain, "line");
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		read_text(texts[i]);
		assert_int_equal(json_array_size(in.outputs), 1);
		assert_string_equal(text_at(document(0), "time"), "Tue Mar 5 10:11:12 2024");
		json_object_del(job(0, 0), "line");
		if (!json_equal(plain, job(0, 0)))
			fail_msg("text %zu: %s", i, json_dumps(job(0, 0), JSON_INDENT(1)));
		assert_int_equal(json_array_size(in.notes), 0);
	}
	json_decref(plain);
}

/* A title, a direction and counts, in one line of parameters. */
static json_t *one(const char *release_, const char *direction, const char *issued)
{
	char text[1024];

	snprintf(text, sizeof(text), HEADER "%s\n" TITLE "%s\n%s\n", release_, direction, issued);
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
	/* 13.0 that is right stays unmarked: 972800 x 4 KiB in 292308 ms = 13.0002 MiB/s. */
	one("fio-3.12", "read: IOPS=3327, BW=12.0MiB/s (13.6MB/s)(3800MiB/292308msec)",
	    "issued rwts: total=972800,0,0,0 short=0,0,0,0 dropped=0,0,0,0");
	assert_int_equal(json_array_size(at(job(0, 0), "marks")), 1);
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
	/* P stands where T should: 3.5 TB in 1000 s are 3848290 MB/1000 s. */
	read_text(TITLE "  read : io=3758.1GB, bw=3848.3MB/s, iops=985164, runt=1000000msec\n");
	assert_string_equal(text_at(job(0, 0), "status"), "ok");
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
	assert_string_equal(text_at(job(0, 0), "error_text"), "pid=77, got signal=6" + 8);
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

static void test_reports_and_outputs(void **state)
{
	static const char early[] = "seek: (groupid=0, jobs=1): err= 0: pid=77: Tue Mar  5 10:11:02 2024\n"
				    "  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(39.1MiB/10000msec)\n";
	char text[8192];

	(void)state;
	/* status-interval: the same member again, nothing of a new run in between; the header still holds. */
	snprintf(text, sizeof(text), "%sfio-3.33\n\n%s%s\n%s", HEADER, early, GROUP, TITLE READ REST GROUP);
	read_text(text);
	assert_int_equal(json_array_size(in.outputs), 1);
	assert_int_equal(jobs_in(0), 1);
	assert_number(at(job(0, 0), "read"), "iops", 2000);
	assert_string_equal(text_at(at(job(0, 0), "job options"), "bs"), "4k");
	/* The same with a header in between: two outputs. */
	snprintf(text, sizeof(text), "%sfio-3.33\n\n%s%s\n%s", HEADER, early, GROUP, PLAIN);
	read_text(text);
	assert_int_equal(json_array_size(in.outputs), 2);
	assert_number(at(job(0, 0), "read"), "iops", 1000);
	/* Another pid: two outputs, and the second has no header. */
	snprintf(text, sizeof(text), "%sfio-3.33\n\n%s%s\n%s", HEADER, TITLE READ, GROUP,
		 "seek: (groupid=0, jobs=1): err= 0: pid=78: Tue Mar  5 10:11:12 2024\n" READ);
	read_text(text);
	assert_int_equal(json_array_size(in.outputs), 2);
	assert_null(json_object_get(at(job(1, 0), "job options"), "bs"));
	/* Excerpts without what stands between: titles of other hours are of other runs. */
	read_text(TITLE READ "seek: (groupid=0, jobs=1): err= 0: pid=78: Tue Mar  5 12:11:12 2024\n" READ);
	assert_int_equal(json_array_size(in.outputs), 2);
}

static void test_command_lines(void **state)
{
	json_t *options;

	(void)state;
	read_text("# fio --clocksource=clock_gettime --name=seek --rw=randread --bs=4k \n"
		  "--filename='/dev/my disk' --size=1g --numjobs=1 --time_based --runtime 10\n--ioengine=sync --output=x \\\n  --direct=0\n" TITLE READ);
	options = at(job(0, 0), "job options");
	assert_string_equal(text_at(options, "rw"), "randread");
	assert_string_equal(text_at(options, "bs"), "4k");
	assert_string_equal(text_at(options, "filename"), "/dev/my disk");
	assert_string_equal(text_at(options, "time_based"), "1");
	assert_string_equal(text_at(options, "runtime"), "10");
	assert_string_equal(text_at(options, "ioengine"), "sync");
	assert_string_equal(text_at(options, "direct"), "0");
	assert_null(json_object_get(options, "output"));
	/* Options before the first name are for all, the others for one; the header knows better; another job's are not ours. */
	read_text("$ ./fio --direct=1 --bs=8k --name=a --rw=write --name=seek --blocksize=16k --size=1m\n" HEADER "fio-3.33\n" TITLE READ);
	options = at(job(0, 0), "job options");
	assert_string_equal(text_at(options, "bs"), "4k");
	assert_string_equal(text_at(options, "rw"), "randread");
	assert_string_equal(text_at(options, "direct"), "1");
	assert_string_equal(text_at(options, "size"), "1m");
	read_text("fio --name=other --bs=8k\n" TITLE READ);
	assert_int_equal(json_object_size(at(job(0, 0), "job options")), 0);
	/* A block size from a command that cannot be this run's does not accuse the prints. */
	read_text("fio --name=seek --bs=64k\n" TITLE READ);
	assert_null(json_object_get(job(0, 0), "marks"));
	assert_number(at(job(0, 0), "read"), "bw_bytes", 8192000);
}

static void test_sections(void **state)
{
	(void)state;
	read_text("====================\n| a guest + kickfd |\n====================\n\n" TITLE READ
		  "\n=== other ===\n" TITLE READ "\n## the third\n" TITLE READ "\nFourth\n======\n" TITLE READ "\n# fifth\n" TITLE READ);
	assert_int_equal(json_array_size(in.outputs), 5);
	assert_string_equal(text_at(document(0), "section"), "a guest + kickfd");
	assert_string_equal(text_at(document(1), "section"), "other");
	assert_string_equal(text_at(document(2), "section"), "the third");
	assert_string_equal(text_at(document(3), "section"), "Fourth");
	assert_string_equal(text_at(document(4), "section"), "fifth");
	/* In a text with prompts one mark is no heading; nor is it in a fence. */
	read_text("## real\n# fio --name=seek --bs=4k\n" TITLE READ GROUP "# ls\n# fio --name=seek --bs=4k\n" TITLE READ);
	assert_string_equal(text_at(document(1), "section"), "real");
	read_text("# real\n```\n# comment\n" TITLE READ "```\n");
	assert_string_equal(text_at(document(0), "section"), "real");
}

static void test_notes(void **state)
{
	struct text flood = {0};

	(void)state;
	read_text("some prose\n" READ);
	assert_int_equal(json_array_size(in.outputs), 0);
	assert_number(json_array_get(in.notes, 0), "line", 2);
	assert_non_null(strstr(note(0), "a direction line without a job's title above it: read: IOPS=2000"));
	read_text(TITLE "\n  read: IOPS=lots, BW=much\n" REST);
	assert_non_null(strstr(note(0), "a direction line without numbers"));
	assert_string_equal(text_at(job(0, 0), "status"), "no data");
	read_text(TITLE READ READ);
	assert_non_null(strstr(note(0), "a second line of one direction"));
	read_text("< seek: (groupid=0, jobs=1): err= 0: pid=77\n---\n> seek: (groupid=0, jobs=1): err= 0: pid=78\n");
	assert_int_equal(json_array_size(in.outputs), 0);
	assert_non_null(strstr(note(0), "diff"));
	for (int i = 0; i < 250; i++)
		text_add(&flood, READ);
	read_text(text_get(&flood));
	text_free(&flood);
	assert_int_equal(json_array_size(in.notes), 101);
	assert_string_equal(note(100), "150 more notes from here on are left out");
	assert_number(json_array_get(in.notes, 100), "line", 101);
}

static void test_garbage(void **state)
{
	static const char *const texts[] = {
		"", "\n", "=3D", "=3D\n=", ">", "# ", "^C", "\x1b[", ": (groupid=", "x: (groupid=0, jobs=0): err= 0", "Jobs: 1 (f=",
		"Jobs: 1 (f=1): [eta ", "a: (g=", "a: (g=0): rw=, bs=(, ioengine=", "fio --", "fio --name=", "fio --name= --bs=",
		"a: (groupid=9999999999999999999, jobs=1): err=-99999999999999999999: pid=99999999999999999999: Mon Jan 99 99:99:99 9999\n"
		"read: IOPS=99999999999999999999999999999999999E, BW=999999999999999999999999EiB/s (9PB/s)(99EiB/9223372036854775807msec)\n"
		"issued rwts: total=9223372036854775807,9,9,9 short=9223372036854775807,0 dropped=9223372036854775807\n",
		"a\xff\xfe: (groupid=0, jobs=1): err= 0: pid=1\nread: IOPS=1, BW=1\n",
	};
	char *big = malloc(1 << 20);

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		read_text(texts[i]);
	assert_string_equal(text_at(job(0, 0), "jobname"), "a??");
	assert_non_null(big);
	memset(big, '[', 1 << 20);
	read_bytes(big, 1 << 20);
	for (size_t i = 0; i + 6 <= 1 << 20; i += 6)
		memcpy(big + i, "Jobs: ", 6);
	read_bytes(big, 1 << 20);
	assert_int_equal(json_array_size(in.outputs), 0);
	free(big);
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
		cmocka_unit_test(test_ornaments),
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
		cmocka_unit_test(test_reports_and_outputs),
		cmocka_unit_test(test_command_lines),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_intervals),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
