#include "host/metrics.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double rate(const double *amount, const double *runtime_ms)
{
	double sum = 0;

	if (!(amount[0] + amount[1] > 0))
		return NAN;
	for (int dir = 0; dir < 2; dir++) {
		if (!(amount[dir] > 0))
			continue;
		if (!(runtime_ms[dir] > 0)) /* over before the millisecond was: no rate can be told */
			return NAN;
		sum += 1000 * amount[dir] / runtime_ms[dir];
	}
	return sum;
}

static double per_io(const struct counter *c)
{
	return c->ios > 0 ? c->sum / c->ios : NAN;
}

static double percentile(const struct measured *m, double percent)
{
	return histogram_total(&m->clat) ? (double)histogram_percentile(&m->clat, percent) : NAN;
}

static double iops(const struct measured *m) { return rate(m->ios, m->runtime_ms); }
static double bandwidth(const struct measured *m) { return rate(m->bytes, m->runtime_ms); }
static double clat_mean(const struct measured *m) { return m->clat_n > 0 ? m->clat_sum_ns / m->clat_n : NAN; }
static double clat_p50(const struct measured *m) { return percentile(m, 50); }
static double clat_p99(const struct measured *m) { return percentile(m, 99); }
static double clat_p999(const struct measured *m) { return percentile(m, 99.9); }
static double guest_cpu(const struct measured *m) { return per_io(&m->guest_cpu_us); }
static double host_cpu(const struct measured *m) { return per_io(&m->host_cpu_us); }
static double host_vcpu(const struct measured *m) { return per_io(&m->host_vcpu_us); }
static double interrupts(const struct measured *m) { return per_io(&m->interrupts); }
static double device_time(const struct measured *m) { return per_io(&m->device_us); }
static double exits(const struct measured *m) { return per_io(&m->exits); }
static double job_cpu(const struct measured *m) { return per_io(&m->job_cpu_us); }
static double context_switches(const struct measured *m) { return per_io(&m->switches); }
static double guest_busy(const struct measured *m) { return 100 * per_io(&m->busy_us); }
static double await(const struct measured *m) { return per_io(&m->wait_us); }
static double requests(const struct measured *m) { return per_io(&m->requests); }
static double request_size(const struct measured *m) { return per_io(&m->request_bytes); }

/*
 * What virtio and the notifications add to the device's own time, and with several jobs the wait for the guest's CPUs too;
 * may be negative where the guest merges or reads from its cache.
 */
static double overhead(const struct measured *m)
{
	return clat_mean(m) / 1000 - device_time(m);
}

static const struct metric_info table[METRICS] = {
	[METRIC_IOPS] = { "iops", "IOPS", "more IOPS", "fewer IOPS", UNIT_RATE, true, iops },
	[METRIC_BANDWIDTH] = { "bandwidth", "bandwidth", "more bandwidth", "less bandwidth", UNIT_BYTES_PER_S,
			       true, bandwidth },
	[METRIC_CLAT_MEAN] = { "clat_mean", "mean latency", "longer mean latency", "shorter mean latency",
			       UNIT_NS, false, clat_mean },
	[METRIC_CLAT_P50] = { "clat_p50", "median latency", "longer median latency", "shorter median latency",
			      UNIT_NS, false, clat_p50 },
	[METRIC_CLAT_P99] = { "clat_p99", "99 % latency", "longer 99 % latency", "shorter 99 % latency",
			      UNIT_NS, false, clat_p99 },
	[METRIC_CLAT_P999] = { "clat_p999", "99.9 % latency", "longer 99.9 % latency",
			       "shorter 99.9 % latency", UNIT_NS, false, clat_p999 },
	[METRIC_GUEST_CPU] = { "guest_cpu_per_io", "guest CPU per I/O", "more guest CPU per I/O",
			       "less guest CPU per I/O", UNIT_US, false, guest_cpu },
	[METRIC_HOST_CPU] = { "host_cpu_per_io", "host CPU per I/O", "more host CPU per I/O",
			      "less host CPU per I/O", UNIT_US, false, host_cpu },
	[METRIC_HOST_VCPU] = { "host_vcpu_per_io", "  of it in vCPU threads", "more vCPU time per I/O",
			       "less vCPU time per I/O", UNIT_US, false, host_vcpu },
	[METRIC_INTERRUPTS] = { "interrupts_per_io", "interrupts per I/O", "more interrupts per I/O",
				"fewer interrupts per I/O", UNIT_COUNT, false, interrupts },
	[METRIC_DEVICE_TIME] = { "device_time_per_io", "device time per request",
				 "more device time per request", "less device time per request", UNIT_US, false,
				 device_time },
	[METRIC_OVERHEAD] = { "overhead_per_io", "latency less device time", "more time outside the device",
			      "less time outside the device", UNIT_US, false, overhead },
	[METRIC_EXITS] = { "exits_per_io", "KVM exits per I/O", "more exits per I/O", "fewer exits per I/O",
			   UNIT_COUNT, false, exits },
	[METRIC_JOB_CPU] = { "job_cpu_per_io", "job CPU per I/O", "more CPU of the jobs per I/O",
			     "less CPU of the jobs per I/O", UNIT_US, false, job_cpu },
	[METRIC_CONTEXT_SWITCHES] = { "context_switches_per_io", "context switches per I/O",
				      "more context switches per I/O", "fewer context switches per I/O", UNIT_COUNT,
				      false, context_switches },
	[METRIC_GUEST_BUSY] = { "guest_busy", "guest us+sy", "busier guest CPUs", "less busy guest CPUs", UNIT_PERCENT,
				false, guest_busy },
	[METRIC_AWAIT] = { "await", "device await", "longer wait for the device", "shorter wait for the device",
			   UNIT_US, false, await },
	[METRIC_REQUESTS] = { "requests_per_io", "requests per I/O", "more requests per I/O", "fewer requests per I/O",
			      UNIT_COUNT, false, requests },
	[METRIC_REQUEST_SIZE] = { "request_size", "request size", "larger requests", "smaller requests", UNIT_BYTES,
				  true, request_size },
};

const struct metric_info *metric_info(enum metric metric)
{
	return &table[metric];
}

enum metric metric_find(const char *name)
{
	unsigned i = 0;

	while (i < METRICS && strcmp(table[i].name, name) != 0)
		i++;
	return (enum metric)i;
}

double metrics_value(const struct measured *m, enum metric metric)
{
	return table[metric].value(m);
}

/* ---- reading a trial ---- */

/* A number that counts something. Absent or null: *out stays and *have says so. */
static int count_of(const json_t *object, const char *key, double *out, bool *have, struct error *e)
{
	const json_t *value = json_object_get(object, key);

	*have = value && !json_is_null(value);
	if (!*have)
		return 0;
	if (!json_is_number(value) || !(json_number_value(value) >= 0))
		return error_set(e, STATUS_FAILED, "\"%s\" is not a count", key);
	*out = json_number_value(value);
	return 0;
}

static int needed_count(const json_t *object, const char *key, double *out, struct error *e)
{
	bool have;

	if (count_of(object, key, out, &have, e))
		return -1;
	return have ? 0 : error_set(e, STATUS_FAILED, "\"%s\" is missing", key);
}

static int add_bins(struct measured *m, const json_t *bins, struct error *e)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)bins, key, value) {
		unsigned long long ns;
		char *end;

		errno = 0;
		ns = strtoull(key, &end, 10);
		if (errno || end == key || *end || *key == '-' || !json_is_integer(value) ||
		    json_integer_value(value) < 0)
			return error_set(e, STATUS_FAILED, "bin \"%s\" is not a count at a latency", key);
		m->clat.count[histogram_index(ns)] += (uint64_t)json_integer_value(value);
	}
	return 0;
}

/* One direction of one job. longest: runtime of the trial's slowest job in this direction. */
static int add_direction(struct measured *m, int dir, const json_t *d, double *longest, struct error *e)
{
	const json_t *clat = json_object_get(d, "clat_ns");
	double ios, bytes, runtime, n, mean = 0;
	bool have;

	if (needed_count(d, "total_ios", &ios, e) || needed_count(d, "io_bytes", &bytes, e) ||
	    needed_count(d, "runtime", &runtime, e))
		return -1;
	if (ios == 0)
		return 0;
	m->ios[dir] += ios;
	m->bytes[dir] += bytes;
	if (runtime > *longest)
		*longest = runtime;
	if (!json_is_object(clat)) /* not measured */
		return 0;
	n = ios; /* fio before 3.18 does not print N */
	if (count_of(clat, "N", &n, &have, e) || needed_count(clat, "mean", &mean, e))
		return -1;
	m->clat_n += n;
	m->clat_sum_ns += n * mean;
	return add_bins(m, json_object_get(clat, "bins"), e);
}

static int add_fio(struct measured *m, const json_t *fio, struct error *e)
{
	static const char *const name[2] = { "read", "write" };
	const json_t *jobs = json_object_get(fio, "jobs");
	double longest[2] = { 0, 0 };
	const json_t *job;
	size_t i;

	if (!json_is_array(jobs) || json_array_size(jobs) == 0)
		return error_set(e, STATUS_FAILED, "\"fio\" holds no jobs");
	json_array_foreach(jobs, i, job) {
		for (int dir = 0; dir < 2; dir++) {
			const json_t *d = json_object_get(job, name[dir]);

			if (d && add_direction(m, dir, d, &longest[dir], e)) {
				error_context(e, "fio jobs[%zu] %s", i, name[dir]);
				return -1;
			}
		}
	}
	m->runtime_ms[0] += longest[0];
	m->runtime_ms[1] += longest[1];
	return 0;
}

static void add_counter(struct counter *c, double sum, double ios)
{
	c->sum += sum;
	c->ios += ios;
}

static int add_guest(struct measured *m, const json_t *counters, double ios, struct error *e)
{
	const json_t *cpu = json_object_get(counters, "cpu");
	double interrupts_seen = 0, user = 0, system = 0;
	bool have;

	if (count_of(counters, "interrupts", &interrupts_seen, &have, e))
		return -1;
	if (have)
		add_counter(&m->interrupts, interrupts_seen, ios);
	if (!json_is_object(cpu))
		return 0;
	if (needed_count(cpu, "user_us", &user, e) || needed_count(cpu, "system_us", &system, e))
		return -1;
	add_counter(&m->guest_cpu_us, user + system, ios);
	return 0;
}

static int add_host(struct measured *m, const json_t *host, double ios, struct error *e)
{
	static const char *const thread[] = { "vcpu_us", "iothread_us", "main_us", "other_us" };
	const json_t *cpu = json_object_get(host, "cpu"), *block = json_object_get(host, "block");
	double us[4], reqs[2], ns[2], exits_seen = 0;
	bool have;

	if (json_is_object(cpu)) {
		for (int i = 0; i < 4; i++)
			if (needed_count(cpu, thread[i], &us[i], e))
				return -1;
		add_counter(&m->host_cpu_us, us[0] + us[1] + us[2] + us[3], ios);
		add_counter(&m->host_vcpu_us, us[0], ios);
	}
	if (json_is_object(block)) {
		if (needed_count(block, "rd_reqs", &reqs[0], e) || needed_count(block, "wr_reqs", &reqs[1], e) ||
		    needed_count(block, "rd_times_ns", &ns[0], e) || needed_count(block, "wr_times_ns", &ns[1], e))
			return -1;
		add_counter(&m->device_us, (ns[0] + ns[1]) / 1000, reqs[0] + reqs[1]);
	}
	if (count_of(json_object_get(host, "kvm"), "exits", &exits_seen, &have, e))
		return -1;
	if (have)
		add_counter(&m->exits, exits_seen, ios);
	return 0;
}

int measured_add(struct measured *m, const json_t *trial, struct error *e)
{
	double before = m->ios[0] + m->ios[1], ios;

	if (add_fio(m, json_object_get(trial, "fio"), e))
		return -1;
	ios = m->ios[0] + m->ios[1] - before;
	if (add_guest(m, json_object_get(trial, "guest_counters"), ios, e)) {
		error_context(e, "guest_counters");
		return -1;
	}
	if (add_host(m, json_object_get(trial, "host"), ios, e)) {
		error_context(e, "host");
		return -1;
	}
	m->trials++;
	return 0;
}

/* ---- for people ---- */

/* Four significant digits, without an exponent. */
static void digits(char out[METRIC_TEXT_SIZE], double v, const char *suffix)
{
	double size = fabs(v);
	int decimals = size >= 999.5 ? 0 : size >= 99.95 ? 1 : size >= 9.995 ? 2 : 3;

	snprintf(out, METRIC_TEXT_SIZE, "%.*f%s", decimals, v, suffix);
}

static void scaled(char out[METRIC_TEXT_SIZE], double v, double step, const char *const *suffix, size_t n)
{
	size_t i = 0;

	while (i + 1 < n && fabs(v) >= 0.99995 * step) {
		v /= step;
		i++;
	}
	digits(out, v, suffix[i]);
}

void metric_text(enum unit unit, double value, char out[METRIC_TEXT_SIZE])
{
	static const char *const per_s[] = { " B/s", " KiB/s", " MiB/s", " GiB/s", " TiB/s" };
	static const char *const bytes[] = { " B", " KiB", " MiB", " GiB", " TiB" };
	static const char *const time[] = { " ns", " \302\265s", " ms", " s" };
	static const char *const count[] = { "", "k", "M", "G" };

	if (!isfinite(value))
		snprintf(out, METRIC_TEXT_SIZE, "-");
	else if (unit == UNIT_BYTES_PER_S)
		scaled(out, value, 1024, per_s, 5);
	else if (unit == UNIT_BYTES)
		scaled(out, value, 1024, bytes, 5);
	else if (unit == UNIT_PERCENT)
		digits(out, value, " %");
	else if (unit == UNIT_NS || unit == UNIT_US)
		scaled(out, unit == UNIT_US ? value * 1000 : value, 1000, time, 4);
	else if (fabs(value) < 9999.5) /* 6120 rather than 6.120k */
		digits(out, value, "");
	else
		scaled(out, value, 1000, count, 4);
}

const char *unit_name(enum unit unit)
{
	static const char *const name[] = { "1/s", "B/s", "ns", "us", "1", "%", "B" };

	return name[unit];
}
