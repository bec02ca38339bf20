#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guest/options.h"
#include "guest/output.h"
#include "guest/report.h"

struct fixture {
	struct jobs jobs;
	struct run_result result;
	struct job_result *report[2];
};

static int setup(void **state)
{
	char *argv[] = { "kickio", "--bs=4k", "--name=a", "--rw=randrw", "--fsync=4", "--description=say \"hi\"",
			 "--group_reporting", "--name=b", "--rw=read", "--numjobs=3", "--bs=64k" };
	struct fixture *f = calloc(1, sizeof(*f));
	struct text notes = {0};
	struct error e = {0};

	if (!f || options_parse(11, argv, &f->jobs, &notes, &e))
		return -1;
	for (int i = 0; i < 2; i++) {
		f->report[i] = calloc(1, sizeof(**f->report));
		if (!f->report[i])
			return -1;
		f->report[i]->job = &f->jobs.job[i];
		f->report[i]->members = 1;
		f->report[i]->started = true;
		f->report[i]->pid = 100 + i;
	}
	f->result = (struct run_result){ .report = f->report, .nreports = 2, .ngroups = 1, .elapsed_us = 2000001 };
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	free(f->report[0]);
	free(f->report[1]);
	jobs_free(&f->jobs);
	free(f);
	return 0;
}

/* So many I/Os of so much latency in a direction, and where fio's distribution puts them. */
static void add(struct job_result *r, enum ddir ddir, unsigned n, uint64_t ns, uint64_t bytes)
{
	struct direction *d = &r->dir[ddir];

	for (unsigned i = 0; i < n; i++) {
		moments_add(&d->clat, ns);
		moments_add(&d->lat, ns + 10);
		histogram_add(&d->clat_histogram, ns);
		d->ios++;
		d->bytes += bytes;
		r->depth[0]++;
		r->submit[1]++;
		r->complete[1]++;
	}
}

static void has(const struct text *t, const char *piece)
{
	if (!strstr(text_get(t), piece))
		fail_msg("lacks:\n%s\nin:\n%s", piece, text_get(t));
}

static void lacks(const struct text *t, const char *piece)
{
	if (strstr(text_get(t), piece))
		fail_msg("has:\n%s\nin:\n%s", piece, text_get(t));
}

static void header(void **state)
{
	struct fixture *f = *state;
	struct text out = {0};

	output_text_header(&out, &f->jobs);
	has(&out, "a: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, "
		  "iodepth=1\n"
		  "b: (g=0): rw=read, bs=(R) 64.0KiB-64.0KiB, (W) 64.0KiB-64.0KiB, (T) 64.0KiB-64.0KiB, "
		  "ioengine=psync, iodepth=1\n"
		  "...\n"
		  "kickio-0.1.0\n"
		  "Starting 4 ");
	text_free(&out);
}

/* 300 reads of 3 us and one of 200 us, 100 writes of 5 ms. */
static void fill(struct fixture *f)
{
	struct job_result *r = f->report[0];

	add(r, DDIR_READ, 300, 3000, 4096);
	add(r, DDIR_READ, 1, 200000, 4096);
	add(r, DDIR_WRITE, 100, 5000000, 4096);
	r->dir[DDIR_READ].runtime_us = r->dir[DDIR_WRITE].runtime_us = 500001;
	r->lat_us[1] = 300;
	r->lat_us[6] = 1;
	r->lat_ms[2] = 100;
	r->syncs = 20;
	r->depth[0] += 20;
	for (int i = 0; i < 20; i++) {
		moments_add(&r->sync_lat, 700);
		histogram_add(&r->sync_histogram, 700);
	}
	r->total_runtime_ms = 400;
	r->user_us = 50999;
	r->system_us = 8000;
	r->context_switches = 11;
	r->minor_faults = 13;
	samples_add(&r->dir[DDIR_READ].bw, 2000);
	samples_add(&r->dir[DDIR_READ].bw, 2402);
	samples_add(&r->dir[DDIR_READ].iops, 500);
}

static void text_report(void **state)
{
	struct fixture *f = *state;
	struct text out = {0};

	fill(f);
	output_text(&out, &f->jobs, &f->result);
	assert_int_equal(strncmp(text_get(&out), "\na: (groupid=0, jobs=1): err= 0: pid=100: ", 41), 0);
	has(&out, "\n  Description  : [say \"hi\"]\n");
	/* 301 * 4096 bytes in 501 ms (rounded up): 2460870 bytes/s, 600 I/Os per second */
	has(&out, "\n  read: IOPS=600, BW=2403KiB/s (2461kB/s)(1204KiB/501msec)\n"
		  /* mean 3000 + 197000/301; deviation 197000/sqrt(301) */
		  "    clat (usec): min=3, max=200, avg= 3.65, stdev=11.35\n"
		  "     lat (usec): min=3, max=200, avg= 3.66, stdev=11.35\n"
		  "    clat percentiles (usec):\n"
		  /* the bucket of 3000 ns is [2976, 3008), its middle 2992, rounded up to 3 us */
		  "     |  1.00th=[    3],  5.00th=[    3], 10.00th=[    3], 20.00th=[    3],\n");
	/* 200000 ns: bucket [198656, 200704), middle 199680 */
	has(&out, "     | 99.00th=[    3], 99.50th=[    3], 99.90th=[  200], 99.95th=[  200],\n"
		  "     | 99.99th=[  200]\n"
		  "   bw (  KiB/s): min= 2000, max= 2402, per=91.59%, avg=2201.00, stdev=284.26, samples=2\n"
		  "   iops        : min=  500, max=  500, avg=500.00, stdev= 0.00, samples=1\n"
		  "  write: IOPS=199, BW=798KiB/s (818kB/s)(400KiB/501msec); 0 zone resets\n"
		  /* no deviation: the line stays in ns; the percentiles choose their unit alone */
		  "    clat (nsec): min=5000.0k, max=5000.0k, avg=5000000.00, stdev= 0.00\n"
		  "     lat (nsec): min=5000.0k, max=5000.0k, avg=5000010.00, stdev= 0.00\n"
		  "    clat percentiles (usec):\n"
		  "     |  1.00th=[ 5014],");
	has(&out, "  lat (usec)   : 4=74.81%, 250=0.25%\n"
		  "  lat (msec)   : 10=24.94%\n"
		  "  fsync/fdatasync/sync_file_range:\n"
		  "    sync (nsec): min=700, max=700, avg=700.00, stdev= 0.00\n"
		  "    sync percentiles (nsec):\n"
		  "     |  1.00th=[  700],");
	has(&out, "  cpu          : usr=12.50%, sys=2.00%, ctx=11, majf=0, minf=13\n"
		  "  IO depths    : 1=105.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%\n"
		  "     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%\n"
		  "     complete  : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%\n"
		  "     issued rwts: total=301,100,0,20 short=0,0,0,0 dropped=0,0,0,0\n"
		  "     latency   : target=0, window=0, percentile=100.00%, depth=1\n"
		  "\nRun status group 0 (all jobs):\n"
		  "   READ: bw=2403KiB/s (2461kB/s), 2403KiB/s-2403KiB/s (2461kB/s-2461kB/s), "
		  "io=1204KiB (1233kB), run=501-501msec\n"
		  "  WRITE: bw=798KiB/s (818kB/s),");
	/* b did nothing: no block, no trim line, no disks */
	lacks(&out, "b: (groupid");
	lacks(&out, "TRIM");
	lacks(&out, "Disk stats");
	text_free(&out);
}

static void failure_and_disks(void **state)
{
	struct fixture *f = *state;
	struct disk_util disk = { .name = "vda", .ios = { 5, 6 }, .merges = { 1, 2 }, .ticks_ms = { 3, 4 },
				  .in_queue_ms = 7, .util = 100.5 };
	struct text out = {0};

	add(f->report[1], DDIR_READ, 1, 100, 65536);
	f->report[1]->failure = (struct failure){ .error = 5, .where = "worker.c:9", .function = "io_u error",
						  .text = "Input/output error" };
	f->result.disk = &disk;
	f->result.ndisks = 1;
	output_text(&out, &f->jobs, &f->result);
	has(&out, "b: (groupid=0, jobs=1): err= 5 (file:worker.c:9, func=io_u error, error=Input/output error): pid=101: ");
	/* a runtime below a millisecond counts as one */
	has(&out, "(64.0KiB/1msec)");
	has(&out, "\nDisk stats (read/write):\n"
		  "  vda: ios=5/6, merge=1/2, ticks=3/4, in_queue=7, util=100.00%\n");
	text_free(&out);
}

/* Bandwidth of two reports: all bytes over the longest runtime; slowest and fastest by themselves. */
static void group(void **state)
{
	struct fixture *f = *state;
	struct group_direction g;

	add(f->report[0], DDIR_READ, 10, 1000, 1000);
	add(f->report[1], DDIR_READ, 30, 1000, 1000);
	f->report[0]->dir[DDIR_READ].runtime_us = 1000;
	f->report[1]->dir[DDIR_READ].runtime_us = 4000;
	g = report_group(&f->result, 0, DDIR_READ);
	assert_int_equal(g.bytes, 40000);
	assert_int_equal(g.bw, 10000000);
	assert_int_equal(g.min_bw, 7500000);
	assert_int_equal(g.max_bw, 10000000);
	assert_int_equal(g.min_runtime_ms, 1);
	assert_int_equal(g.max_runtime_ms, 4);
	assert_int_equal(report_group(&f->result, 0, DDIR_WRITE).max_runtime_ms, 0);
	assert_int_equal(report_group(&f->result, 1, DDIR_READ).bytes, 0);
}

static void json_report(void **state)
{
	struct fixture *f = *state;
	struct text out = {0}, plain = {0};

	fill(f);
	output_json(&out, &f->jobs, &f->result, true);
	assert_int_equal(strncmp(text_get(&out), "{\n  \"fio version\" : \"kickio-0.1.0\",\n  \"timestamp\" : ", 50), 0);
	assert_string_equal(text_get(&out) + out.length - 7, "\n  ]\n}\n");
	has(&out, "  \"global options\" : {\n    \"bs\" : \"4k\"\n  },\n  \"jobs\" : [\n    {\n      \"jobname\" : \"a\",\n"
		  "      \"groupid\" : 0,\n      \"error\" : 0,\n      \"eta\" : 2147483647,\n      \"elapsed\" : 3,\n"
		  "      \"job options\" : {\n        \"name\" : \"a\",\n        \"rw\" : \"randrw\",\n"
		  "        \"fsync\" : \"4\",\n        \"description\" : \"say \\\"hi\\\"\"\n      },\n"
		  "      \"read\" : {\n        \"io_bytes\" : 1232896,\n        \"io_kbytes\" : 1204,\n"
		  "        \"bw_bytes\" : 2460870,\n        \"bw\" : 2403,\n        \"iops\" : 600.798403,\n"
		  "        \"runtime\" : 501,\n        \"total_ios\" : 301,\n");
	has(&out, "            \"99.990000\" : 199680\n          },\n"
		  "          \"bins\" : {\n            \"2992\" : 300,\n            \"199680\" : 1\n          }\n");
	has(&out, "        \"bw_agg\" : 91.586");
	has(&out, "      \"sync\" : {\n        \"total_ios\" : 20,\n        \"lat_ns\" : {\n          \"min\" : 700,\n");
	has(&out, "      \"iodepth_level\" : {\n        \"1\" : 104.987531,\n");
	has(&out, "      \"latency_window\" : 0,\n      \"desc\" : \"say \\\"hi\\\"\"\n    },\n");
	has(&out, "      \"jobname\" : \"b\",\n");
	/* without plus there are no bins */
	output_json(&plain, &f->jobs, &f->result, false);
	lacks(&plain, "\"bins\"");
	has(&plain, "\"percentile\"");
	text_free(&out);
	text_free(&plain);
}

/* Fields by their number in fio's documentation, from 1. */
static void field_is(const struct text *t, unsigned number, const char *expected)
{
	const char *p = text_get(t);
	size_t length;

	while (--number)
		p += strcspn(p, ";\n") + 1;
	length = strcspn(p, ";\n");
	if (length != strlen(expected) || strncmp(p, expected, length) != 0)
		fail_msg("%.*s instead of %s", (int)length, p, expected);
}

static void terse_report(void **state)
{
	struct fixture *f = *state;
	struct disk_util disk = { .name = "vda", .ios = { 5, 6 }, .in_queue_ms = 7, .util = 12.345 };
	struct text out = {0};

	fill(f);
	f->jobs.job[0].continue_on_error = CONTINUE_READ;
	f->report[0]->total_errors = 3;
	f->report[0]->first_error = 28;
	f->report[0]->lat_ns[2] = f->report[0]->lat_us[0] = 1;
	f->result.disk = &disk;
	f->result.ndisks = 1;
	output_terse(&out, &f->result);
	field_is(&out, 1, "3");
	field_is(&out, 2, "kickio-0.1.0");
	field_is(&out, 3, "a");
	field_is(&out, 6, "1204"); /* KiB read */
	field_is(&out, 7, "2403"); /* KiB/s */
	field_is(&out, 8, "600");
	field_is(&out, 9, "501");
	field_is(&out, 14, "3"); /* clat, cut to microseconds */
	field_is(&out, 15, "200");
	field_is(&out, 18, "1.000000%=2");
	field_is(&out, 34, "99.990000%=199");
	field_is(&out, 35, "0%=0");
	field_is(&out, 37, "0%=0");
	field_is(&out, 38, "3"); /* lat */
	field_is(&out, 47, "400"); /* KiB written */
	field_is(&out, 100, "0.50%"); /* of 401: nanoseconds count in the first of the microseconds */
	field_is(&out, 122, "vda");
	field_is(&out, 130, "12.35%");
	field_is(&out, 131, "3");
	field_is(&out, 132, "28");
	field_is(&out, 133, "say \"hi\"");
	text_free(&out);
}

static void percentile_kinds(void **state)
{
	struct fixture *f = *state;
	struct histogram slat = {{0}}, lat = {{0}};
	struct text out = {0}, json = {0};

	add(f->report[0], DDIR_READ, 5, 100, 4096);
	for (unsigned i = 0; i < 5; i++) {
		moments_add(&f->report[0]->dir[DDIR_READ].slat, 7);
		histogram_add(&slat, 7);
		histogram_add(&lat, 110);
	}
	f->report[0]->dir[DDIR_READ].slat_histogram = &slat;
	f->report[0]->dir[DDIR_READ].lat_histogram = &lat;
	f->jobs.job[0].clat_percentiles = false;
	output_text(&out, &f->jobs, &f->result);
	has(&out, "    slat percentiles (nsec):\n     |  1.00th=[    7],");
	lacks(&out, "    clat percentiles");
	has(&out, "    lat percentiles (nsec):\n     |  1.00th=[  110],");
	output_json(&json, &f->jobs, &f->result, true);
	has(&json, "          \"bins\" : {\n            \"7\" : 5\n");
	has(&json, "          \"bins\" : {\n            \"110\" : 5\n");
	lacks(&json, "            \"100\" : 5\n");
	text_free(&out);
	text_free(&json);
}

static void errors_that_were_let_pass(void **state)
{
	struct fixture *f = *state;
	struct text out = {0}, json = {0};

	add(f->report[0], DDIR_READ, 1, 100, 4096);
	f->jobs.job[0].continue_on_error = CONTINUE_WRITE;
	f->report[0]->total_errors = 2;
	f->report[0]->first_error = 28;
	output_text(&out, &f->jobs, &f->result);
	has(&out, "dropped=0,0,0,0\n     errors    : total=2, first_error=28/<No space left on device>\n     latency   :");
	output_json(&json, &f->jobs, &f->result, false);
	has(&json, "      \"total_err\" : 2,\n      \"first_error\" : 28,\n      \"latency_depth\"");
	text_free(&out);
	text_free(&json);
}

static void forms_in_order(void **state)
{
	struct fixture *f = *state;
	struct text out = {0};
	const char *terse, *json, *text;

	add(f->report[0], DDIR_READ, 1, 100, 4096);
	f->jobs.output_format = OUTPUT_NORMAL | OUTPUT_JSON | OUTPUT_TERSE;
	output_all(&out, &f->jobs, &f->result);
	terse = strstr(text_get(&out), "3;kickio");
	json = strstr(text_get(&out), "{\n");
	text = strstr(text_get(&out), "\na: (groupid");
	assert_true(terse && json && text && terse < json && json < text);
	text_free(&out);
}

static void eta_line(const struct progress *now, const struct progress *before, const char *expected)
{
	struct jobs none = { .count = 0 };
	struct text out = {0};

	output_eta(&out, &none, now, before);
	assert_string_equal(text_get(&out), expected);
	text_free(&out);
}

static void eta(void **state)
{
	struct progress before = { .elapsed_us = 3000000, .bytes = { 0, 1000 }, .ios = { 0, 10 } };
	struct progress now = { .elapsed_us = 4000000, .eta_us = 17000000, .running = 4, .files = 4,
				.bytes = { 0, 54319411 }, .ios = { 0, 13310 }, .states = "wwww" };

	(void)state;
	eta_line(&now, &before, "Jobs: 4 (f=4): [w(4)][19.0%][w=51.8MiB/s][w=13.3k IOPS][eta 00m:17s]");
	now.states = "_r_";
	now.eta_us = 90061000000;
	now.bytes[0] = 4096;
	now.ios[0] = 1;
	now.bytes[1] = 1000;
	now.ios[1] = 10;
	eta_line(&now, &before, "Jobs: 4 (f=4): [_(1),r(1),_(1)][0.0%][r=4096B/s][r=1 IOPS][eta 01d:01h:01m:01s]");
	now.states = "//";
	now.bytes[0] = now.ios[0] = 0;
	now.eta_us = UINT64_MAX;
	eta_line(&now, &before, "Jobs: 4 (f=4): [/(2)][-.-%][eta --]");
	now.elapsed_us = 2999999;
	eta_line(&now, &before, "Jobs: 4 (f=4)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(header, setup, teardown),
		cmocka_unit_test_setup_teardown(text_report, setup, teardown),
		cmocka_unit_test_setup_teardown(failure_and_disks, setup, teardown),
		cmocka_unit_test_setup_teardown(group, setup, teardown),
		cmocka_unit_test_setup_teardown(json_report, setup, teardown),
		cmocka_unit_test_setup_teardown(terse_report, setup, teardown),
		cmocka_unit_test_setup_teardown(percentile_kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(errors_that_were_let_pass, setup, teardown),
		cmocka_unit_test_setup_teardown(forms_in_order, setup, teardown),
		cmocka_unit_test(eta),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
