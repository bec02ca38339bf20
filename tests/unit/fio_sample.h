/* Samples of fio's reports, and ways to look at what the reader made of them. Include after cmocka. */
#ifndef KB_TESTS_FIO_SAMPLE_H
#define KB_TESTS_FIO_SAMPLE_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/fio_text.h"

static struct fio_import in; /* what was read last */

static inline void release(void)
{
	json_decref(in.outputs);
	json_decref(in.notes);
	memset(&in, 0, sizeof(in));
}

static inline void read_bytes(const char *bytes, size_t length)
{
	struct error e = {0};

	release();
	if (fio_text_read(bytes, length, &in, &e))
		fail_msg("%s", e.text);
}

static inline void read_text(const char *text)
{
	read_bytes(text, strlen(text));
}

static inline int teardown(void **state)
{
	(void)state;
	release();
	return 0;
}

static inline json_t *document(size_t i)
{
	json_t *d = json_array_get(in.outputs, i);

	assert_non_null(d);
	return d;
}

static inline json_t *job(size_t output, size_t i)
{
	json_t *j = json_array_get(json_object_get(document(output), "jobs"), i);

	assert_non_null(j);
	return j;
}

static inline json_t *at(json_t *object, const char *key)
{
	json_t *v = json_object_get(object, key);

	if (!v)
		fail_msg("no \"%s\"", key);
	return v;
}

static inline const char *text_at(json_t *object, const char *key)
{
	return json_string_value(at(object, key));
}

static inline void assert_number(json_t *object, const char *key, double expected)
{
	double found = json_number_value(at(object, key));

	if (fabs(found - expected) > 1e-6 * fmax(1, fabs(expected)))
		fail_msg("%s: %.9g, expected %.9g", key, found, expected);
}

static inline size_t jobs_in(size_t output)
{
	return json_array_size(at(document(output), "jobs"));
}

static inline const char *mark_of(json_t *j, size_t i)
{
	return text_at(json_array_get(at(j, "marks"), i), "what");
}

static inline const char *note(size_t i)
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

#endif
