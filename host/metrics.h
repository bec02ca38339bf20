/*
 * From the trials of one cell in one boot to numbers: one table says which metrics exist, in which unit,
 * and which direction is the good one. A value is NAN where there are no data; that is never 0.
 */
#ifndef KB_METRICS_H
#define KB_METRICS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "guest/error.h"
#include "guest/histogram.h"

enum metric {
	METRIC_IOPS,
	METRIC_BANDWIDTH,
	METRIC_CLAT_MEAN,
	METRIC_CLAT_P50,
	METRIC_CLAT_P99,
	METRIC_CLAT_P999,
	METRIC_GUEST_CPU,
	METRIC_HOST_CPU,
	METRIC_HOST_VCPU,
	METRIC_INTERRUPTS,
	METRIC_DEVICE_TIME,
	METRIC_OVERHEAD,
	METRIC_EXITS,
	METRIC_JOB_CPU,
	METRIC_CONTEXT_SWITCHES,
	METRIC_GUEST_BUSY,
	METRIC_AWAIT,
	METRIC_REQUESTS,
	METRIC_REQUEST_SIZE,
	/* The probe's, and what KVM counts. */
	METRIC_KICK,
	METRIC_DONE_POLL,
	METRIC_DONE_IRQ,
	METRIC_DONE_IRQ_MEAN,
	METRIC_PER_REQUEST,
	METRIC_KICKS,
	METRIC_PROBE_INTERRUPTS,
	METRIC_CPU_LEFT,
	METRIC_LOOP,
	METRIC_PORT_WRITE,
	METRIC_INSN_EMULATION,
	METRIC_IRQ_INJECTIONS,
	METRICS
};

enum unit { UNIT_RATE, UNIT_BYTES_PER_S, UNIT_NS, UNIT_US, UNIT_COUNT, UNIT_PERCENT, UNIT_BYTES };

/* A sum over trials together with the number of I/Os of just those trials that had it. */
struct counter {
	double sum;
	double ios;
};

/* A rate that was only told, as prints without counts or without a runtime have it. */
struct told {
	double sum;     /* of the trials' rates */
	double trials;  /* that have only the rate */
	double unknown; /* trials that have not even that */
};

/* What one boot's trials of one cell add up to, but for the histogram. Doubles alone: the index stores it as it is. */
struct measured_sums {
	double trials;
	double ios[2], bytes[2];      /* read, write */
	double runtime_ms[2];         /* of the directions that did I/O; trials follow each other: added */
	struct told iops, bandwidth;  /* of trials that are not in ios or bytes */
	double clat_n, clat_sum_ns;   /* both directions */
	double clat_parts;            /* directions of jobs that have latencies; */
	double clat_binned;           /* of them with bins, */
	double clat_unweighted;       /* and without a mean or the number of I/Os that it is of */
	double clat_percentile[3];    /* 50, 99 and 99.9 %, ns, of a part without bins; 0: not told */
	struct counter guest_cpu_us;  /* user + system of all guest CPUs */
	struct counter host_cpu_us;   /* all threads of the emulator */
	struct counter host_vcpu_us;  /* of it the vCPU threads */
	struct counter interrupts;    /* of the disk, in the guest */
	struct counter device_us;     /* service time below the device; ios: the host's block requests */
	struct counter exits;         /* KVM's */
	struct counter job_cpu_us;    /* user + system of the jobs alone, from fio's cpu line */
	struct counter switches;      /* context switches of the jobs */
	struct counter busy_us;       /* user + system of all guest CPUs; ios: of it and idle together, not I/Os */
	struct counter wait_us;       /* from the guest's disk counters; ios: the requests that it sent */
	struct counter request_bytes; /* of these requests; ios: the same */
	struct counter requests;      /* the same requests, per I/O */
	/* Of the probe: medians of its trials; ios: trials. */
	struct counter kick_ns, done_poll_ns, done_irq_ns, done_irq_mean_ns, per_request_ns, cpu_left, loop_ns, port_write_ns;
	struct counter probe_kicks, probe_interrupts; /* as its driver counts them; ios: requests of the same part */
	struct counter insn_emulation, irq_injections; /* KVM's, as exits */
};

struct measured {
	struct measured_sums sums;
	struct histogram clat; /* both directions; empty where fio's bins are missing (json without +) */
};

struct metric_info {
	const char *name;       /* in scenarios and JSON: "clat_p99" */
	const char *title;      /* in reports: "99 % latency" */
	const char *more, *less; /* "more IOPS", "shorter mean latency": an increase and a decrease in words */
	enum unit unit;
	bool higher_is_better;
	double (*value)(const struct measured *m);
};

const struct metric_info *metric_info(enum metric metric);

/* The metric of that name, METRICS when there is none. */
enum metric metric_find(const char *name);

double metrics_value(const struct measured *m, enum metric metric);

/*
 * Add one trial (schema kickbench-trial/1, status ok): repeats of a boot are added up as if they were one
 * long trial. Of several jobs[] of a trial counts are summed and the runtime is the longest, as fio does
 * for a group. An error names the member that is not as it should be; m is then not to be used.
 *
 * What a document does not tell (imported prints and tables are short) is no error, and no number either:
 * - A missing count is rate x runtime where these are told. Without a runtime the told rates of the jobs add up, and
 *   repeats have their mean; trials with counts and trials without are never mixed.
 * - Percentiles come from bins. The percentiles that a document prints hold for one direction of one job, and
 *   only as long as nothing is added to it.
 * - "covered" (of a trial that another tool than kickio ran) below 0.9: its counters of guest and host are not used.
 * - A job's "table" (of a table made by hand) gives quotients as they are; each of its rows weighs the same.
 *
 * A trial with a "probe" member has that in the place of "fio": see host/measured_probe.h.
 *
 * Raise INDEX_VERSION (host/index.h) with every change of what is read here: sums of older trials are kept there.
 */
int measured_add(struct measured *m, const json_t *trial, struct error *e);

/* A histogram as bytes, for keeping: pairs of LEB128 numbers (distance to the bucket before, count). */
int histogram_pack(const struct histogram *h, unsigned char **bytes, size_t *length); /* the caller frees; NULL when empty */

/* Add what was measured before to m. -1 (nothing said): the bytes are damaged. */
int measured_merge(struct measured *m, const struct measured_sums *sums, const unsigned char *bins, size_t length);

/* A value for people: "6120", "12.34k", "23.9 MiB/s", "129.3 µs", "1.024"; "-" for NAN. */
#define METRIC_TEXT_SIZE 32
void metric_text(enum unit unit, double value, char out[METRIC_TEXT_SIZE]);
/* One run's own value: IOPS of four digits are cut, not rounded, so that they read as fio has printed them. */
void metric_text_of_run(enum unit unit, double value, char out[METRIC_TEXT_SIZE]);
const char *unit_name(enum unit unit); /* in JSON: "1/s", "B/s", "ns", "us", "1" */

#endif
