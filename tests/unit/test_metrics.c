/* host/metrics.c: what trials add up to, computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/metrics.h"

#define CLOSE(got, want) close_to(#got, got, want)

static void close_to(const char *what, double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * fabs(want) + 1e-12))
		fail_msg("%s is %.15g, want %.15g", what, got, want);
}

/* Single quotes stand for double ones, so that JSON stays readable here. */
static json_t *parse(const char *text)
{
	char *json = strdup(text);
	json_error_t e;
	json_t *value;

	for (char *c = json; *c; c++)
		if (*c == '\'')
			*c = '"';
	value = json_loads(json, 0, &e);
	free(json);
	if (!value)
		fail_msg("%s", e.text);
	return value;
}

static int add(struct measured *m, const char *text, struct error *e)
{
	json_t *trial = parse(text);
	int rc = measured_add(m, trial, e);

	json_decref(trial);
	return rc;
}

static void add_ok(struct measured *m, const char *text)
{
	struct error e = { 0 };

	if (add(m, text, &e))
		fail_msg("%s", e.text);
}

/* Mixed reads and writes of two jobs that are not grouped, with every counter. */
static const char full[] =
	"{'fio':{'jobs':["
	"{'read':{'io_bytes':4096000,'total_ios':1000,'runtime':2000,'clat_ns':{'min':1,'max':9,'mean':100.0,'N':1000,"
	"        'bins':{'100':990,'5024':10}}},"
	" 'write':{'io_bytes':409600,'total_ios':100,'runtime':1000,'clat_ns':{'mean':400.0,'N':100,'bins':{'401':100}}}},"
	"{'read':{'io_bytes':8192000,'total_ios':2000,'runtime':1500,'clat_ns':{'mean':130.0,'N':2000,'bins':{'100':2000}}},"
	" 'write':{'io_bytes':0,'total_ios':0,'runtime':0,'clat_ns':{'mean':0.0,'N':0}}}]},"
	"'guest_counters':{'disk':null,'interrupts':1550,'cpu':{'user_us':31000,'system_us':62000,'idle_us':7}},"
	"'host':{'cpu':{'vcpu_us':100000,'iothread_us':10000,'main_us':40000,'other_us':5000},"
	" 'block':{'rd_reqs':3000,'rd_times_ns':60000,'wr_reqs':100,'wr_times_ns':2000},'kvm':{'exits':9300}}}";

/* Another tool's start lies between begin and end: beyond a tenth of the time the counters are none of the I/O's. */
static void counters_that_cover_too_little(void **state)
{
	static const struct { const char *covered; bool used; } rows[] = {
		{ "0.95", true }, { "0.9", true }, { "0.89", false }, { "0", false }, { "null", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct measured m = { 0 };
		char text[2048];

		snprintf(text, sizeof(text), "{'covered':%s,%s", rows[i].covered, full + 1);
		add_ok(&m, text);
		CLOSE(metrics_value(&m, METRIC_IOPS), 1500 + 100);
		CLOSE(m.sums.trials, 1);
		assert_int_equal(isfinite(metrics_value(&m, METRIC_HOST_CPU)), rows[i].used);
		assert_int_equal(isfinite(metrics_value(&m, METRIC_GUEST_CPU)), rows[i].used);
		assert_int_equal(isfinite(metrics_value(&m, METRIC_INTERRUPTS)), rows[i].used);
		assert_int_equal(isfinite(metrics_value(&m, METRIC_DEVICE_TIME)), rows[i].used);
		assert_int_equal(isfinite(metrics_value(&m, METRIC_EXITS)), rows[i].used);
	}
}

static void everything_of_one_trial(void **state)
{
	struct measured m = { 0 };
	double mean = (1000 * 100.0 + 100 * 400.0 + 2000 * 130.0) / 3100;

	(void)state;
	add_ok(&m, full);
	/* reads: 3000 in the longest runtime, 2 s; writes: 100 in 1 s */
	CLOSE(metrics_value(&m, METRIC_IOPS), 1500 + 100);
	CLOSE(metrics_value(&m, METRIC_BANDWIDTH), 12288000 / 2.0 + 409600);
	CLOSE(metrics_value(&m, METRIC_CLAT_MEAN), mean);
	CLOSE(metrics_value(&m, METRIC_CLAT_P50), 100); /* 2990 of 3100 are 100 ns */
	CLOSE(metrics_value(&m, METRIC_CLAT_P99), (double)histogram_value(histogram_index(401))); /* up to 3090 */
	CLOSE(metrics_value(&m, METRIC_CLAT_P999), (double)histogram_value(histogram_index(5024)));
	CLOSE(metrics_value(&m, METRIC_GUEST_CPU), 93000 / 3100.0);
	CLOSE(metrics_value(&m, METRIC_HOST_CPU), 155000 / 3100.0);
	CLOSE(metrics_value(&m, METRIC_HOST_VCPU), 100000 / 3100.0);
	CLOSE(metrics_value(&m, METRIC_INTERRUPTS), 0.5);
	CLOSE(metrics_value(&m, METRIC_DEVICE_TIME), 0.02);
	CLOSE(metrics_value(&m, METRIC_OVERHEAD), mean / 1000 - 0.02);
	CLOSE(metrics_value(&m, METRIC_EXITS), 3);
}

/* fio's unified_rw_reporting=mixed tells nothing of reads and writes; =both tells them, and mixed again. */
static void unified_and_trims(void **state)
{
	struct measured mixed = { 0 }, both = { 0 }, trims = { 0 };

	(void)state;
	add_ok(&mixed, "{'fio':{'jobs':[{'mixed':{'io_bytes':8192000,'total_ios':2000,'runtime':4000,"
		       "'clat_ns':{'mean':300.0,'N':2000}}}]}}");
	CLOSE(metrics_value(&mixed, METRIC_IOPS), 500);
	CLOSE(metrics_value(&mixed, METRIC_BANDWIDTH), 2048000);
	CLOSE(metrics_value(&mixed, METRIC_CLAT_MEAN), 300);
	add_ok(&both, "{'fio':{'jobs':[{'read':{'io_bytes':4096000,'total_ios':1000,'runtime':4000},"
		      "'write':{'io_bytes':4096000,'total_ios':1000,'runtime':4000},"
		      "'mixed':{'io_bytes':8192000,'total_ios':2000,'runtime':4000}}]}}");
	CLOSE(metrics_value(&both, METRIC_IOPS), 500);
	add_ok(&trims, "{'fio':{'jobs':[{'trim':{'io_bytes':4096000,'total_ios':1000,'runtime':1000},"
		       "'write':{'io_bytes':2048000,'total_ios':500,'runtime':1000}}]}}");
	CLOSE(metrics_value(&trims, METRIC_IOPS), 1500);
}

static void repeats_are_one_long_trial(void **state)
{
	struct measured m = { 0 };

	(void)state;
	add_ok(&m, full);
	add_ok(&m, "{'fio':{'jobs':[{'read':{'io_bytes':4096,'total_ios':900,'runtime':1000,"
		   "'clat_ns':{'mean':1000.0,'N':900,'bins':{'1004':900}}}}]},'guest_counters':null,'host':null}");
	assert_true(m.sums.trials == 2);
	CLOSE(metrics_value(&m, METRIC_IOPS), 3900 / 3.0 + 100);
	CLOSE(metrics_value(&m, METRIC_CLAT_MEAN), (400000 + 900000) / 4000.0);
	CLOSE(metrics_value(&m, METRIC_CLAT_P99), 1004); /* from the merged bins: 3960 of 4000 */
	/* a counter refers to the I/Os of the trials that had it */
	CLOSE(metrics_value(&m, METRIC_INTERRUPTS), 0.5);
	CLOSE(metrics_value(&m, METRIC_HOST_CPU), 50);
}

static void no_data_is_not_zero(void **state)
{
	struct measured m = { 0 };

	(void)state;
	for (int i = 0; i < METRICS; i++)
		assert_true(isnan(metrics_value(&m, (enum metric)i)));
	add_ok(&m, "{'fio':{'jobs':[{'read':{'io_bytes':0,'total_ios':0,'runtime':0}}]},"
		   "'guest_counters':{'interrupts':null,'cpu':null},'host':{'cpu':null,'block':null,'kvm':null}}");
	for (int i = 0; i < METRICS; i++)
		assert_true(isnan(metrics_value(&m, (enum metric)i)));
	/* I/O but in no time that could be told, no bins, and an interrupt count of zero, which is a number */
	add_ok(&m, "{'fio':{'jobs':[{'read':{'io_bytes':512,'total_ios':1,'runtime':0,'clat_ns':{'mean':9.0}}}]},"
		   "'guest_counters':{'interrupts':0}}");
	assert_true(isnan(metrics_value(&m, METRIC_IOPS)) && isnan(metrics_value(&m, METRIC_CLAT_P50)));
	CLOSE(metrics_value(&m, METRIC_CLAT_MEAN), 9);
	assert_true(metrics_value(&m, METRIC_INTERRUPTS) == 0);
}

/*
 * Two jobs: 12 % of 8 s for 1000 I/Os and 30 % of 1 s for 500; the disk's counters of 1600 requests. Then the same once
 * more, with a job whose cpu line lacks its runtime.
 */
static void cpu_lines_and_requests(void **state)
{
	struct measured m = { 0 };

	(void)state;
	add_ok(&m, "{'fio':{'jobs':["
		   "{'read':{'io_bytes':4096000,'total_ios':1000,'runtime':2000},'usr_cpu':2.0,'sys_cpu':10.0,'ctx':1500,"
		   " 'job_runtime':8000},"
		   "{'read':{'io_bytes':2048000,'total_ios':500,'runtime':1000},'usr_cpu':10.0,'sys_cpu':20.0,'ctx':300,"
		   " 'job_runtime':1000,'job_runtime_estimated':true}]},"
		   "'guest_counters':{'disk':{'reads':1500,'writes':100,'read_bytes':6144000,'write_bytes':256000,"
		   "'read_ms':300,'write_ms':20},'cpu':{'user_us':100000,'system_us':500000,'idle_us':1400000}}}");
	CLOSE(metrics_value(&m, METRIC_JOB_CPU), (0.12 * 8e6 + 0.3 * 1e6) / 1500);
	CLOSE(metrics_value(&m, METRIC_CONTEXT_SWITCHES), 1800 / 1500.0);
	CLOSE(metrics_value(&m, METRIC_GUEST_BUSY), 30);
	CLOSE(metrics_value(&m, METRIC_AWAIT), 200);
	CLOSE(metrics_value(&m, METRIC_REQUESTS), 1600 / 1500.0);
	CLOSE(metrics_value(&m, METRIC_REQUEST_SIZE), 4000);
	add_ok(&m, "{'fio':{'jobs':[{'read':{'io_bytes':2048000,'total_ios':500,'runtime':1000},'usr_cpu':50.0,'sys_cpu':50.0,"
		   "'ctx':200}]},'guest_counters':{'disk':{'reads':400,'writes':0,'read_bytes':1,'write_bytes':0,"
		   "'read_ms':0,'write_ms':0},'cpu':{'user_us':1,'system_us':1}}}");
	CLOSE(metrics_value(&m, METRIC_JOB_CPU), (0.12 * 8e6 + 0.3 * 1e6) / 1500); /* not told: not counted */
	CLOSE(metrics_value(&m, METRIC_CONTEXT_SWITCHES), 1);
	CLOSE(metrics_value(&m, METRIC_GUEST_BUSY), 30);
	CLOSE(metrics_value(&m, METRIC_AWAIT), 200); /* a guest that does not measure times */
	CLOSE(metrics_value(&m, METRIC_REQUESTS), 1);
}

/* As the OpenBSD thread's outputs print it: no bins, one direction, 1 % + 82 % of 5347 ms for 32768 I/Os. */
static void a_print_has_percentiles_once(void **state)
{
	static const char print[] =
		"{'fio':{'jobs':[{'read':{'io_bytes':134217728,'total_ios':32768,'runtime':5347,'clat_ns':{'min':100000,"
		"'mean':160000.0,'percentile':{'1.000000':1,'50.000000':129000,'99.000000':510000,'99.900000':906000,"
		"'99.990000':2}}},'usr_cpu':1.0,'sys_cpu':82.0,'ctx':32000,'job_runtime':5347}]}}";
	struct measured m = { 0 };

	(void)state;
	add_ok(&m, print);
	CLOSE(metrics_value(&m, METRIC_CLAT_P50), 129000);
	CLOSE(metrics_value(&m, METRIC_CLAT_P99), 510000);
	CLOSE(metrics_value(&m, METRIC_CLAT_P999), 906000);
	CLOSE(metrics_value(&m, METRIC_JOB_CPU), 0.83 * 5347000 / 32768);
	add_ok(&m, print); /* of two there is no percentile, while the rest adds up */
	assert_true(isnan(metrics_value(&m, METRIC_CLAT_P50)) && isnan(metrics_value(&m, METRIC_CLAT_P999)));
	CLOSE(metrics_value(&m, METRIC_CLAT_MEAN), 160000);
	CLOSE(metrics_value(&m, METRIC_IOPS), 32768 / 5.347);

	/* two directions, and bins beside a print: not half of the latencies either */
	memset(&m, 0, sizeof(m));
	add_ok(&m, "{'fio':{'jobs':[{'read':{'io_bytes':1,'total_ios':10,'runtime':9,'clat_ns':{'mean':5.0,'percentile':"
		   "{'50.000000':5}}},'write':{'io_bytes':1,'total_ios':10,'runtime':9,'clat_ns':{'mean':7.0,'bins':"
		   "{'7':10}}}}]}}");
	assert_true(isnan(metrics_value(&m, METRIC_CLAT_P50)));
	CLOSE(metrics_value(&m, METRIC_CLAT_MEAN), 6);
}

static void rates_that_were_only_told(void **state)
{
	struct measured m = { 0 };

	(void)state;
	/* two jobs of a trial add up, and mean latency has no weights; no counts for anything per I/O */
	add_ok(&m, "{'fio':{'jobs':[{'read':{'iops':1000.0,'bw_bytes':4096000,'clat_ns':{'mean':50.0}},'usr_cpu':1,'sys_cpu':1,"
		   "'job_runtime':1000,'ctx':5},{'write':{'iops':500.0,'bw_bytes':2048000,'clat_ns':{'mean':70.0}}}]},"
		   "'guest_counters':{'interrupts':4}}");
	CLOSE(metrics_value(&m, METRIC_IOPS), 1500);
	CLOSE(metrics_value(&m, METRIC_BANDWIDTH), 6144000);
	assert_true(isnan(metrics_value(&m, METRIC_CLAT_MEAN)) && isnan(metrics_value(&m, METRIC_JOB_CPU)) &&
		    isnan(metrics_value(&m, METRIC_CONTEXT_SWITCHES)) && isnan(metrics_value(&m, METRIC_INTERRUPTS)));
	/* a repeat: the mean of both; bandwidth was not told in each */
	add_ok(&m, "{'fio':{'jobs':[{'read':{'iops':1300.0}}]}}");
	CLOSE(metrics_value(&m, METRIC_IOPS), 1400);
	assert_true(isnan(metrics_value(&m, METRIC_BANDWIDTH)));
	/* one that was counted: no answer rather than a mixture */
	add_ok(&m, "{'fio':{'jobs':[{'read':{'total_ios':2000,'runtime':1000}}]}}");
	assert_true(isnan(metrics_value(&m, METRIC_IOPS)));

	/* with a runtime a rate is a count */
	memset(&m, 0, sizeof(m));
	add_ok(&m, "{'fio':{'jobs':[{'read':{'iops':1000.0,'runtime':4000,'clat_ns':{'mean':50.0}},'ctx':8000}]}}");
	CLOSE(metrics_value(&m, METRIC_IOPS), 1000);
	CLOSE(metrics_value(&m, METRIC_CONTEXT_SWITCHES), 2);
	CLOSE(metrics_value(&m, METRIC_CLAT_MEAN), 50);
	add_ok(&m, "{'fio':{'jobs':[{'read':{'total_ios':1000,'runtime':1000}}]}}");
	CLOSE(metrics_value(&m, METRIC_IOPS), 1000);

	/* a direction of which only the latency is known */
	memset(&m, 0, sizeof(m));
	add_ok(&m, "{'fio':{'jobs':[{'read':{'clat_ns':{'mean':163000.0}}}]}}");
	CLOSE(metrics_value(&m, METRIC_CLAT_MEAN), 163000);
	assert_true(isnan(metrics_value(&m, METRIC_IOPS)));
}

static void a_table_made_by_hand(void **state)
{
	struct measured m = { 0 };

	(void)state;
	add_ok(&m, "{'fio':{'jobs':[{'read':{'iops':5411,'clat_ns':{'mean':180000.0}},'table':{'guest_busy':94.0,"
		   "'cpu_us_per_io':144.0,'await_us':101.5,'requests_per_io':1.25,'request_bytes':4096}}]}}");
	CLOSE(metrics_value(&m, METRIC_IOPS), 5411);
	CLOSE(metrics_value(&m, METRIC_GUEST_BUSY), 94);
	CLOSE(metrics_value(&m, METRIC_GUEST_CPU), 144);
	CLOSE(metrics_value(&m, METRIC_AWAIT), 101.5);
	CLOSE(metrics_value(&m, METRIC_REQUESTS), 1.25);
	CLOSE(metrics_value(&m, METRIC_REQUEST_SIZE), 4096);
	add_ok(&m, "{'fio':{'jobs':[{'read':{'iops':5589},'table':{'guest_busy':96.0,'await_us':null}}]}}");
	CLOSE(metrics_value(&m, METRIC_IOPS), 5500);
	CLOSE(metrics_value(&m, METRIC_GUEST_BUSY), 95);
	CLOSE(metrics_value(&m, METRIC_AWAIT), 101.5);
}

/* What is kept of a trial gives the same values when it is added again. */
static void kept_sums_are_the_same(void **state)
{
	struct measured one = { 0 }, again = { 0 }, twice = { 0 };
	unsigned char *bins, *broken;
	size_t length;

	(void)state;
	one.clat.count[HISTOGRAM_BUCKETS - 1] = UINT64_MAX / 4;
	one.clat.count[0] = 1;
	add_ok(&one, full);
	assert_int_equal(histogram_pack(&one.clat, &bins, &length), 0);
	assert_int_equal(measured_merge(&again, &one.sums, bins, length), 0);
	assert_memory_equal(&again, &one, sizeof(one));
	assert_int_equal(measured_merge(&again, &one.sums, bins, length), 0);
	assert_true(again.sums.ios[0] == 6000 && again.clat.count[0] == 2);
	/* damaged: cut within a number, and a bucket that there is not */
	assert_int_equal(measured_merge(&twice, &one.sums, bins, length - 1), -1);
	assert_int_equal(measured_merge(&again, &one.sums, NULL, 0), 0); /* nothing was packed */
	broken = malloc(length + 2);
	memcpy(broken, bins, length);
	broken[length] = broken[length + 1] = 1;
	assert_int_equal(measured_merge(&twice, &one.sums, broken, length + 2), -1);
	free(broken);
	free(bins);
	memset(&one, 0, sizeof(one));
	assert_int_equal(histogram_pack(&one.clat, &bins, &length), 0);
	assert_true(!bins && length == 0);
}

static void malformed_trials_are_named(void **state)
{
	static const struct { const char *json, *message; } bad[] = {
		{ "{'fio':null}", "\"fio\" holds no jobs" },
		{ "{'fio':{'jobs':[]}}", "\"fio\" holds no jobs" },
		{ "{'fio':{'jobs':[{'usr_cpu':'much'}]}}", "fio jobs[0]: \"usr_cpu\" is not a count" },
		{ "{'fio':{'jobs':[{'table':{'await_us':-1}}]}}", "fio jobs[0]: table: \"await_us\" is not a count" },
		{ "{'fio':{'jobs':[{}]},'guest_counters':{'disk':{'reads':1}}}", "guest_counters: disk: \"writes\" is missing" },
		{ "{'fio':{'jobs':[{'read':{'total_ios':-1,'io_bytes':1,'runtime':1}}]}}",
		  "fio jobs[0]: read: \"total_ios\" is not a count" },
		{ "{'fio':{'jobs':[{'write':{'total_ios':1,'io_bytes':1,'runtime':1,'clat_ns':{'mean':1,'bins':{'x':1}}}}]}}",
		  "fio jobs[0]: write: bin \"x\" is not a count at a latency" },
		{ "{'fio':{'jobs':[{'write':{'total_ios':1,'io_bytes':1,'runtime':1,'clat_ns':{'mean':1,'bins':{'1':-1}}}}]}}",
		  "fio jobs[0]: write: bin \"1\" is not a count at a latency" },
		{ "{'fio':{'jobs':[{}]},'guest_counters':{'cpu':{'user_us':1}}}", "guest_counters: \"system_us\" is missing" },
		{ "{'fio':{'jobs':[{}]},'host':{'block':{}}}", "host: \"rd_reqs\" is missing" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct measured m = { 0 };
		struct error e = { 0 };

		assert_int_equal(add(&m, bad[i].json, &e), -1);
		assert_string_equal(e.text, bad[i].message);
	}
}

static void names_and_directions(void **state)
{
	(void)state;
	for (int i = 0; i < METRICS; i++) {
		assert_int_equal(metric_find(metric_info((enum metric)i)->name), i);
		assert_int_equal(metric_info((enum metric)i)->higher_is_better, i == METRIC_IOPS || i == METRIC_BANDWIDTH ||
				 i == METRIC_REQUEST_SIZE || i == METRIC_CPU_LEFT);
	}
	assert_int_equal(metric_find("speed"), METRICS);
}

static void values_for_people(void **state)
{
	static const struct { enum unit unit; double value; const char *text; } table[] = {
		{ UNIT_RATE, 6120.4, "6120" }, { UNIT_RATE, 12345.6, "12.35k" }, { UNIT_RATE, 999960, "1.000M" },
		{ UNIT_RATE, 1234567, "1.235M" }, { UNIT_RATE, 0.5, "0.500" },
		{ UNIT_BYTES_PER_S, 25060966, "23.90 MiB/s" }, { UNIT_BYTES_PER_S, 512, "512.0 B/s" },
		{ UNIT_NS, 850, "850.0 ns" }, { UNIT_NS, 129300, "129.3 \302\265s" }, { UNIT_NS, 12310000, "12.31 ms" },
		{ UNIT_NS, 3.5e12, "3500 s" }, { UNIT_US, 68, "68.00 \302\265s" }, { UNIT_US, 0.25, "250.0 ns" },
		{ UNIT_COUNT, 1, "1.000" }, { UNIT_COUNT, 0, "0.000" }, { UNIT_US, -5, "-5.000 \302\265s" },
	};
	char text[METRIC_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		metric_text(table[i].unit, table[i].value, text);
		assert_string_equal(text, table[i].text);
	}
	metric_text(UNIT_NS, NAN, text);
	assert_string_equal(text, "-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_of_one_trial),
		cmocka_unit_test(counters_that_cover_too_little),
		cmocka_unit_test(unified_and_trims),
		cmocka_unit_test(repeats_are_one_long_trial),
		cmocka_unit_test(no_data_is_not_zero),
		cmocka_unit_test(cpu_lines_and_requests),
		cmocka_unit_test(a_print_has_percentiles_once),
		cmocka_unit_test(rates_that_were_only_told),
		cmocka_unit_test(a_table_made_by_hand),
		cmocka_unit_test(kept_sums_are_the_same),
		cmocka_unit_test(malformed_trials_are_named),
		cmocka_unit_test(names_and_directions),
		cmocka_unit_test(values_for_people),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
