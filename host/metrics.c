#include "host/metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Counted trials: amount over runtime; trials that only told a rate: its mean. No mixture of both. */
static double rate(const double *amount, const double *runtime_ms, const struct told *told)
{
	double sum = 0;

	if (told->unknown > 0)
		return NAN;
	if (!(amount[0] + amount[1] > 0))
		return told->trials > 0 ? told->sum / told->trials : NAN;
	if (told->trials > 0)
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

/* which: of clat_percentile */
static double percentile(const struct measured *m, double percent, int which)
{
	const struct measured_sums *s = &m->sums;

	if (s->clat_parts == 0)
		return NAN;
	if (s->clat_binned == s->clat_parts)
		return (double)histogram_percentile(&m->clat, percent);
	return s->clat_parts == 1 && s->clat_percentile[which] > 0 ? s->clat_percentile[which] : NAN;
}

static double clat_mean(const struct measured *m)
{
	const struct measured_sums *s = &m->sums;

	if (!(s->clat_n > 0) || (s->clat_unweighted > 0 && s->clat_parts > 1))
		return NAN;
	return s->clat_sum_ns / s->clat_n;
}

static double iops(const struct measured *m) { return rate(m->sums.ios, m->sums.runtime_ms, &m->sums.iops); }
static double bandwidth(const struct measured *m) { return rate(m->sums.bytes, m->sums.runtime_ms, &m->sums.bandwidth); }
static double clat_p50(const struct measured *m) { return percentile(m, 50, 0); }
static double clat_p99(const struct measured *m) { return percentile(m, 99, 1); }
static double clat_p999(const struct measured *m) { return percentile(m, 99.9, 2); }
static double guest_cpu(const struct measured *m) { return per_io(&m->sums.guest_cpu_us); }
static double host_cpu(const struct measured *m) { return per_io(&m->sums.host_cpu_us); }
static double host_vcpu(const struct measured *m) { return per_io(&m->sums.host_vcpu_us); }
static double interrupts(const struct measured *m) { return per_io(&m->sums.interrupts); }
static double device_time(const struct measured *m) { return per_io(&m->sums.device_us); }
static double exits(const struct measured *m) { return per_io(&m->sums.exits); }
static double job_cpu(const struct measured *m) { return per_io(&m->sums.job_cpu_us); }
static double context_switches(const struct measured *m) { return per_io(&m->sums.switches); }
static double guest_busy(const struct measured *m) { return 100 * per_io(&m->sums.busy_us); }
static double await(const struct measured *m) { return per_io(&m->sums.wait_us); }
static double requests(const struct measured *m) { return per_io(&m->sums.requests); }
static double request_size(const struct measured *m) { return per_io(&m->sums.request_bytes); }
static double kick(const struct measured *m) { return per_io(&m->sums.kick_ns); }
static double done_poll(const struct measured *m) { return per_io(&m->sums.done_poll_ns); }
static double done_irq(const struct measured *m) { return per_io(&m->sums.done_irq_ns); }
static double done_irq_mean(const struct measured *m) { return per_io(&m->sums.done_irq_mean_ns); }
static double per_request(const struct measured *m) { return per_io(&m->sums.per_request_ns); }
static double kicks(const struct measured *m) { return per_io(&m->sums.probe_kicks); }
static double probe_interrupts(const struct measured *m) { return per_io(&m->sums.probe_interrupts); }
static double cpu_left(const struct measured *m) { return per_io(&m->sums.cpu_left); }
static double loop(const struct measured *m) { return per_io(&m->sums.loop_ns); }
static double port_write(const struct measured *m) { return per_io(&m->sums.port_write_ns); }
static double insn_emulation(const struct measured *m) { return per_io(&m->sums.insn_emulation); }
static double irq_injections(const struct measured *m) { return per_io(&m->sums.irq_injections); }

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
	[METRIC_KICK] = { "kick", "kick", "longer kick", "shorter kick", UNIT_NS, false, kick },
	[METRIC_DONE_POLL] = { "done_poll", "done (poll)", "later done", "sooner done", UNIT_NS, false, done_poll },
	[METRIC_DONE_IRQ] = { "done_irq", "done (interrupt)", "later interrupt", "sooner interrupt", UNIT_NS, false, done_irq },
	[METRIC_DONE_IRQ_MEAN] = { "done_irq_mean", "done (interrupt), mean", "later mean interrupt", "sooner mean interrupt",
				   UNIT_NS, false, done_irq_mean },
	[METRIC_PER_REQUEST] = { "per_request", "done (poll) per request", "more time per request", "less time per request",
				 UNIT_NS, false, per_request },
	[METRIC_KICKS] = { "kicks_per_request", "kicks per request", "more kicks per request", "fewer kicks per request",
			   UNIT_COUNT, false, kicks },
	[METRIC_PROBE_INTERRUPTS] = { "interrupts_per_request", "interrupts per request", "more interrupts per request",
				      "fewer interrupts per request", UNIT_COUNT, false, probe_interrupts },
	[METRIC_CPU_LEFT] = { "cpu_left", "CPU left to the guest", "more CPU left", "less CPU left", UNIT_PERCENT, true, cpu_left },
	[METRIC_LOOP] = { "loop", "turn of an empty loop", "slower loop", "faster loop", UNIT_NS, false, loop },
	[METRIC_PORT_WRITE] = { "port_write", "write to a deaf port", "slower port write", "faster port write", UNIT_NS, false,
				port_write },
	[METRIC_INSN_EMULATION] = { "insn_emulation_per_io", "instructions that KVM emulates", "more emulated instructions per I/O",
				    "fewer emulated instructions per I/O", UNIT_COUNT, false, insn_emulation },
	[METRIC_IRQ_INJECTIONS] = { "irq_injections_per_io", "KVM's interrupts per I/O", "more injected interrupts per I/O",
				    "fewer injected interrupts per I/O", UNIT_COUNT, false, irq_injections },
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

void metric_text_of_run(enum unit unit, double value, char out[METRIC_TEXT_SIZE])
{
	bool cut = unit == UNIT_RATE && value >= 1000 && value < 10000;

	metric_text(unit, cut ? floor(value * (1 + 1e-12)) : value, out); /* exp(log(6120)) is a little less */
}

const char *unit_name(enum unit unit)
{
	static const char *const name[] = { "1/s", "B/s", "ns", "us", "1", "%", "B" };

	return name[unit];
}
