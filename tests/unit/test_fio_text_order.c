/* What stands around fio's text reports: quoting and wrapping, several outputs, command lines, headings, rubbish. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "guest/text.h"
#include "tests/unit/fio_sample.h"

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
		  "--filename='/dev/my disk' --size=1g --numjobs=1 --time_based --runtime 10\n--ioengine=sync "
		  "--output=x \\\n  --direct=0\n" TITLE READ);
	options = at(job(0, 0), "job options");
	assert_string_equal(text_at(options, "rw"), "randread");
	assert_string_equal(text_at(options, "bs"), "4k");
	assert_string_equal(text_at(options, "filename"), "/dev/my disk");
	assert_string_equal(text_at(options, "time_based"), "1");
	assert_string_equal(text_at(options, "runtime"), "10");
	assert_string_equal(text_at(options, "ioengine"), "sync");
	assert_string_equal(text_at(options, "direct"), "0");
	assert_null(json_object_get(options, "output"));
	/* Options before the first name are for all, the others for one; the header knows better. */
	read_text("$ ./fio --direct=1 --bs=8k --name=a --rw=write --name=seek --blocksize=16k --size=1m\n" HEADER
		  "fio-3.33\n" TITLE READ);
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
		  "\n=== other ===\n" TITLE READ "\n## the third\n" TITLE READ "\nFourth\n======\n" TITLE READ
		  "\n# fifth\n" TITLE READ);
	assert_int_equal(json_array_size(in.outputs), 5);
	assert_string_equal(text_at(document(0), "section"), "a guest + kickfd");
	assert_string_equal(text_at(document(1), "section"), "other");
	assert_string_equal(text_at(document(2), "section"), "the third");
	assert_string_equal(text_at(document(3), "section"), "Fourth");
	assert_string_equal(text_at(document(4), "section"), "fifth");
	/* In a text with prompts one mark is no heading; nor is it in a fence. */
	read_text("## real\n# fio --name=seek --bs=4k\n" TITLE READ GROUP "# ls\n# fio --name=seek --bs=4k\n" TITLE READ);
	assert_string_equal(text_at(document(1), "section"), "real");
	read_text("## real\n# a comment of a script\nfio --name=seek --bs=4k\nroot@host:~# fio --name=seek --bs=4k\n" TITLE READ);
	assert_string_equal(text_at(document(0), "section"), "real");
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
	char *big = malloc(1 << 18);

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		read_text(texts[i]);
	assert_string_equal(text_at(job(0, 0), "jobname"), "a??");
	assert_non_null(big);
	memset(big, '[', 1 << 18);
	read_bytes(big, 1 << 18);
	for (size_t i = 0; i + 6 <= 1 << 18; i += 6)
		memcpy(big + i, "Jobs: ", 6);
	read_bytes(big, 1 << 18);
	assert_int_equal(json_array_size(in.outputs), 0);
	free(big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ornaments),
		cmocka_unit_test(test_reports_and_outputs),
		cmocka_unit_test(test_command_lines),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
