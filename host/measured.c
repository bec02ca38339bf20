/* From a trial's document to sums. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/measured_probe.h"

#define LEAST_COVERED 0.9 /* README of the scenarios tells it */

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

/* ios: negative when some job does not tell its own, so that nothing per I/O can be told */
static void add_counter(struct counter *c, double sum, double ios)
{
	if (ios < 0)
		return;
	c->sum += sum;
	c->ios += ios;
}

/* ---- latencies ---- */

static int add_bins(struct measured *m, const json_t *bins, struct error *e)
{
	const char *key;
	json_t *value;
	bool any = false;

	json_object_foreach((json_t *)bins, key, value) {
		unsigned long long ns;
		char *end;

		errno = 0;
		ns = strtoull(key, &end, 10);
		if (errno || end == key || *end || *key == '-' || !json_is_integer(value) ||
		    json_integer_value(value) < 0)
			return error_set(e, STATUS_FAILED, "bin \"%s\" is not a count at a latency", key);
		m->clat.count[histogram_index(ns)] += (uint64_t)json_integer_value(value);
		any |= json_integer_value(value) > 0;
	}
	m->sums.clat_binned += any;
	return 0;
}

static void take_percentiles(struct measured *m, const json_t *percentile)
{
	static const double wanted[3] = { 50, 99, 99.9 };
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)percentile, key, value)
		for (int i = 0; i < 3; i++)
			if (strtod(key, NULL) == wanted[i] && json_is_number(value))
				m->sums.clat_percentile[i] = json_number_value(value);
}

/* ios: of this direction, where have_ios */
static int add_clat(struct measured *m, const json_t *clat, double ios, bool have_ios, struct error *e)
{
	double n = ios, mean = 0;
	bool have_n, have_mean;

	if (!json_is_object(clat)) /* not measured */
		return 0;
	if (count_of(clat, "N", &n, &have_n, e) || count_of(clat, "mean", &mean, &have_mean, e))
		return -1;
	have_n |= have_ios; /* fio before 3.18 does not print N */
	if (have_n && n == 0)
		return 0;
	m->sums.clat_parts++;
	m->sums.clat_unweighted += !have_n || !have_mean;
	if (have_mean) {
		n = have_n ? n : 1; /* any weight will do as long as it is the only part */
		m->sums.clat_n += n;
		m->sums.clat_sum_ns += n * mean;
	}
	take_percentiles(m, json_object_get(clat, "percentile"));
	return add_bins(m, json_object_get(clat, "bins"), e);
}

/* ---- rates ---- */

/* I/Os or bytes of one trial, until it is known whether all of its directions have counts. */
struct amount {
	double sum[2];
	double rate; /* of the jobs beside each other */
	bool only_told, unknown;
};

struct one_trial {
	struct amount ios, bytes;
	double longest[2]; /* runtime of the slowest job in a direction */
	double counted;    /* I/Os of all jobs, read and write, */
	bool uncounted;    /* unless some job does not tell them */
};

static int add_amount(struct amount *a, int dir, const json_t *d, const char *count_key, const char *rate_key,
		      double *count, bool *counted, struct error *e)
{
	double rate = 0, runtime = 0;
	bool have_rate, timed;

	if (count_of(d, count_key, count, counted, e) || count_of(d, rate_key, &rate, &have_rate, e) ||
	    count_of(d, "runtime", &runtime, &timed, e))
		return -1;
	if (!*counted && have_rate && timed) {
		*count = rate * runtime / 1000;
		*counted = true;
	}
	if (*counted && timed) {
		a->sum[dir] += *count;
		if (runtime > 0)
			rate = 1000 * *count / runtime;
	} else if (have_rate) {
		a->only_told = true;
	} else {
		a->unknown = true;
	}
	a->rate += rate;
	return 0;
}

/* One direction of one job. *counted: *ios is known. */
static int add_direction(struct measured *m, struct one_trial *t, int dir, const json_t *d, double *ios, bool *counted,
			 struct error *e)
{
	double bytes = 0, runtime = 0, rate = -1;
	bool have;

	*ios = -1;
	if (count_of(d, "total_ios", ios, counted, e) || count_of(d, "iops", &rate, &have, e) ||
	    count_of(d, "runtime", &runtime, &have, e))
		return -1;
	if (*ios == 0 || (!*counted && rate == 0)) {
		*ios = 0;
		*counted = true;
		return 0;
	}
	if (add_amount(&t->ios, dir, d, "total_ios", "iops", ios, counted, e) ||
	    add_amount(&t->bytes, dir, d, "io_bytes", "bw_bytes", &bytes, &have, e))
		return -1;
	if (runtime > t->longest[dir])
		t->longest[dir] = runtime;
	return add_clat(m, json_object_get(d, "clat_ns"), *ios, *counted, e);
}

static void add_rate(double *sum, struct told *told, const struct amount *a)
{
	if (a->unknown) {
		told->unknown++;
	} else if (a->only_told) {
		told->sum += a->rate;
		told->trials++;
	} else {
		sum[0] += a->sum[0];
		sum[1] += a->sum[1];
	}
}

/* ---- jobs ---- */

/* What fio's cpu line says. usr_cpu and sys_cpu are percentages of the time that the job's members ran, added up. */
static int add_cpu_line(struct measured *m, const json_t *job, double ios, struct error *e)
{
	double usr = 0, sys = 0, ms = 0, switches = 0;
	bool have[3];

	if (count_of(job, "usr_cpu", &usr, &have[0], e) || count_of(job, "sys_cpu", &sys, &have[1], e) ||
	    count_of(job, "job_runtime", &ms, &have[2], e))
		return -1;
	if (have[0] && have[1] && have[2])
		add_counter(&m->sums.job_cpu_us, (usr + sys) / 100 * ms * 1000, ios);
	if (count_of(job, "ctx", &switches, &have[0], e))
		return -1;
	if (have[0])
		add_counter(&m->sums.switches, switches, ios);
	return 0;
}

static int add_table(struct measured *m, const json_t *table, struct error *e)
{
	const struct { const char *key; struct counter *into; double unit; } column[] = {
		{ "guest_busy", &m->sums.busy_us, 0.01 }, { "cpu_us_per_io", &m->sums.guest_cpu_us, 1 },
		{ "await_us", &m->sums.wait_us, 1 }, { "requests_per_io", &m->sums.requests, 1 },
		{ "request_bytes", &m->sums.request_bytes, 1 },
	};

	for (size_t i = 0; i < sizeof(column) / sizeof(column[0]); i++) {
		double value = 0;
		bool have;

		if (count_of(table, column[i].key, &value, &have, e))
			return error_context(e, "table");
		if (have)
			add_counter(column[i].into, value * column[i].unit, 1);
	}
	return 0;
}

static int add_job(struct measured *m, struct one_trial *t, const json_t *job, struct error *e)
{
	static const char *const name[2] = { "read", "write" };
	double ios = 0;

	for (int dir = 0; dir < 2; dir++) {
		const char *of = name[dir];
		const json_t *d = json_object_get(job, of);
		double n;
		bool counted;

		if (dir == 0 && !d && !json_object_get(job, name[1]))
			d = json_object_get(job, of = "mixed"); /* unified_rw_reporting: all of them, and nothing else */
		if (dir == 0 && !d)
			d = json_object_get(job, of = "trim"); /* fio has none that reads and trims */
		if (!d || json_is_null(d))
			continue;
		if (add_direction(m, t, dir, d, &n, &counted, e))
			return error_context(e, "%s", of);
		ios = counted && ios >= 0 ? ios + n : -1;
	}
	t->counted += ios;
	t->uncounted |= ios < 0;
	if (add_cpu_line(m, job, ios, e))
		return -1;
	return add_table(m, json_object_get(job, "table"), e);
}

/* *ios: that counters of the whole trial refer to, as add_counter() takes it */
static int add_fio(struct measured *m, const json_t *fio, double *ios, struct error *e)
{
	const json_t *jobs = json_object_get(fio, "jobs"), *job;
	struct one_trial t = { 0 };
	size_t i;

	if (!json_is_array(jobs) || json_array_size(jobs) == 0)
		return error_set(e, STATUS_FAILED, "\"fio\" holds no jobs");
	json_array_foreach(jobs, i, job)
		if (add_job(m, &t, job, e))
			return error_context(e, "fio jobs[%zu]", i);
	add_rate(m->sums.ios, &m->sums.iops, &t.ios);
	add_rate(m->sums.bytes, &m->sums.bandwidth, &t.bytes);
	m->sums.runtime_ms[0] += t.longest[0];
	m->sums.runtime_ms[1] += t.longest[1];
	*ios = t.uncounted ? -1 : t.counted;
	return 0;
}

/* ---- counters of the guest and of the host ---- */

static int add_guest_cpu(struct measured *m, const json_t *cpu, double ios, struct error *e)
{
	double user = 0, system = 0, idle = 0;
	bool have;

	if (!json_is_object(cpu))
		return 0;
	if (needed_count(cpu, "user_us", &user, e) || needed_count(cpu, "system_us", &system, e) ||
	    count_of(cpu, "idle_us", &idle, &have, e))
		return -1;
	add_counter(&m->sums.guest_cpu_us, user + system, ios);
	if (have)
		add_counter(&m->sums.busy_us, user + system, user + system + idle);
	return 0;
}

static int add_guest_disk(struct measured *m, const json_t *disk, double ios, struct error *e)
{
	double reqs[2], bytes[2], ms[2];

	if (!json_is_object(disk))
		return 0;
	if (needed_count(disk, "reads", &reqs[0], e) || needed_count(disk, "writes", &reqs[1], e) ||
	    needed_count(disk, "read_bytes", &bytes[0], e) || needed_count(disk, "write_bytes", &bytes[1], e) ||
	    needed_count(disk, "read_ms", &ms[0], e) || needed_count(disk, "write_ms", &ms[1], e))
		return error_context(e, "disk");
	add_counter(&m->sums.requests, reqs[0] + reqs[1], ios);
	add_counter(&m->sums.request_bytes, bytes[0] + bytes[1], reqs[0] + reqs[1]);
	if (ms[0] + ms[1] > 0) /* a guest that does not measure this leaves it zero */
		add_counter(&m->sums.wait_us, 1000 * (ms[0] + ms[1]), reqs[0] + reqs[1]);
	return 0;
}

static int add_guest(struct measured *m, const json_t *counters, double ios, struct error *e)
{
	double interrupts_seen = 0;
	bool have;

	if (count_of(counters, "interrupts", &interrupts_seen, &have, e))
		return -1;
	if (have)
		add_counter(&m->sums.interrupts, interrupts_seen, ios);
	if (add_guest_cpu(m, json_object_get(counters, "cpu"), ios, e))
		return -1;
	return add_guest_disk(m, json_object_get(counters, "disk"), ios, e);
}

static int add_host(struct measured *m, const json_t *host, double ios, struct error *e)
{
	static const char *const thread[] = { "vcpu_us", "iothread_us", "main_us", "other_us" };
	const json_t *cpu = json_object_get(host, "cpu"), *block = json_object_get(host, "block");
	const struct { const char *key; struct counter *into; } kvm[] = {
		{ "exits", &m->sums.exits }, { "insn_emulation", &m->sums.insn_emulation },
		{ "irq_injections", &m->sums.irq_injections },
	};
	double us[4], reqs[2], ns[2];

	if (json_is_object(cpu) && !json_object_get(cpu, thread[1])) { /* of a guest elsewhere its vCPUs alone are known */
		if (needed_count(cpu, thread[0], &us[0], e))
			return -1;
		add_counter(&m->sums.host_vcpu_us, us[0], ios);
	} else if (json_is_object(cpu)) {
		for (int i = 0; i < 4; i++)
			if (needed_count(cpu, thread[i], &us[i], e))
				return -1;
		add_counter(&m->sums.host_cpu_us, us[0] + us[1] + us[2] + us[3], ios);
		add_counter(&m->sums.host_vcpu_us, us[0], ios);
	}
	if (json_is_object(block)) {
		if (needed_count(block, "rd_reqs", &reqs[0], e) || needed_count(block, "wr_reqs", &reqs[1], e) ||
		    needed_count(block, "rd_times_ns", &ns[0], e) || needed_count(block, "wr_times_ns", &ns[1], e))
			return -1;
		add_counter(&m->sums.device_us, (ns[0] + ns[1]) / 1000, reqs[0] + reqs[1]);
	}
	for (size_t i = 0; i < sizeof(kvm) / sizeof(kvm[0]); i++) {
		double seen = 0;
		bool have;

		if (count_of(json_object_get(host, "kvm"), kvm[i].key, &seen, &have, e))
			return -1;
		if (have)
			add_counter(kvm[i].into, seen, ios);
	}
	return 0;
}

/*
 * Another tool than kickio does not tell when its measurement begins: the counters hold its start and layout, too. Where that
 * is more than a tenth of the time they tell nothing of an I/O.
 */
static bool counters_tell(const json_t *trial)
{
	const json_t *covered = json_object_get(trial, "covered");

	return !json_is_number(covered) || json_number_value(covered) >= LEAST_COVERED;
}

int measured_add(struct measured *m, const json_t *trial, struct error *e)
{
	const json_t *probe = json_object_get(trial, "probe");
	double ios = -1;

	if (json_is_object(probe)) {
		if (measured_add_probe(m, probe, &ios, e))
			return error_context(e, "probe");
	} else if (add_fio(m, json_object_get(trial, "fio"), &ios, e)) {
		return -1;
	}
	if (!counters_tell(trial)) {
		m->sums.trials++;
		return 0;
	}
	if (add_guest(m, json_object_get(trial, "guest_counters"), ios, e)) {
		error_context(e, "guest_counters");
		return -1;
	}
	if (add_host(m, json_object_get(trial, "host"), ios, e)) {
		error_context(e, "host");
		return -1;
	}
	m->sums.trials++;
	return 0;
}

/* ---- for keeping ---- */

static size_t put_number(unsigned char *at, uint64_t n)
{
	size_t length = 0;

	for (; n >= 0x80; n >>= 7)
		at[length++] = (unsigned char)(n | 0x80);
	at[length++] = (unsigned char)n;
	return length;
}

static bool get_number(const unsigned char **at, const unsigned char *end, uint64_t *n)
{
	*n = 0;
	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		unsigned char byte = *(*at)++;

		*n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

int histogram_pack(const struct histogram *h, unsigned char **bytes, size_t *length)
{
	unsigned char packed[HISTOGRAM_BUCKETS * 12]; /* a distance takes 2 bytes at most, a count 10 */
	unsigned before = 0;

	*bytes = NULL;
	*length = 0;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!h->count[i])
			continue;
		*length += put_number(packed + *length, i - before);
		*length += put_number(packed + *length, h->count[i]);
		before = i;
	}
	if (*length == 0)
		return 0;
	*bytes = malloc(*length);
	if (!*bytes)
		return -1;
	memcpy(*bytes, packed, *length);
	return 0;
}

int measured_merge(struct measured *m, const struct measured_sums *sums, const unsigned char *bins, size_t length)
{
	const unsigned char *at = bins, *end = length ? bins + length : bins; /* without bins there may be no address */
	double *into = (double *)&m->sums;
	uint64_t index = 0, distance, count;

	for (size_t i = 0; i < sizeof(*sums) / sizeof(double); i++)
		into[i] += ((const double *)sums)[i];
	while (at < end) {
		if (!get_number(&at, end, &distance) || !get_number(&at, end, &count) || distance >= HISTOGRAM_BUCKETS)
			return -1;
		index += distance;
		if (index >= HISTOGRAM_BUCKETS)
			return -1;
		m->clat.count[index] += count;
	}
	return 0;
}
