/*
 * Makes run folders for tests, in the form that host/store.h describes, from a callback that says what each
 * trial measured. Everything is deterministic.
 */
#ifndef KB_TESTS_RUN_FOLDER_H
#define KB_TESTS_RUN_FOLDER_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/histogram.h"

#define FOLDER_MAX 32

struct folder_place {
	unsigned trial, boot, block, cell, variant, repeat;
	bool first; /* of its boot and variant */
};

struct folder_trial {
	double iops, clat_ns;
	const char *status, *message; /* status NULL: no file */
	double guest_cpu_us, host_cpu_us, interrupts, device_us; /* per I/O; negative: null */
	const char *mismatch, *unverified; /* keys; a mismatch was wanted on and is off */
	const char *raw;   /* the file's text, instead of all this */
	const char *accel, *started;
	const char *cpu, *host; /* of the trial's identity; NULL: it has none */
};

struct folder {
	const char *cell[FOLDER_MAX], *variant[FOLDER_MAX]; /* NULL-terminated; variant[0] is the baseline */
	unsigned blocks, repeats;
	unsigned hosts; /* that the blocks are shared out over; 0: nothing is told of hosts */
	const char *pairing, *primary, *run_schema;
	double fail_margin;
	void (*shape)(const struct folder_place *at, struct folder_trial *t);
	char path[256];
};

/* Noise of a place, -1 to 1, the same on every machine (xorshift of its numbers). */
static inline double folder_noise(unsigned a, unsigned b, unsigned c)
{
	uint64_t x = 0x9e3779b97f4a7c15u ^ ((uint64_t)a << 40) ^ ((uint64_t)b << 20) ^ c;

	for (int i = 0; i < 4; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return (double)(x >> 11) / 4503599627370496.0 - 1;
}

static inline json_t *folder_direction(double ios, double clat)
{
	static const struct { double share, times; } part[] = { { 0.8, 1 }, { 0.19, 2 }, { 0.01, 8 } };
	json_t *bins = json_object();
	json_int_t n = (json_int_t)llround(ios), left = n;
	char key[32];

	for (int i = 0; i < 3 && n; i++) {
		json_int_t count = i == 2 ? left : (json_int_t)(part[i].share * (double)n);

		snprintf(key, sizeof(key), "%llu",
			 (unsigned long long)histogram_value(histogram_index((uint64_t)(part[i].times * clat))));
		json_object_set_new(bins, key, json_integer(count));
		left -= count;
	}
	return json_pack("{s:I, s:I, s:i, s:{s:I, s:I, s:f, s:f, s:I, s:o}}", "io_bytes", n * 4096, "total_ios", n,
			 "runtime", n ? 2000 : 0, "clat_ns", "min", (json_int_t)clat, "max", (json_int_t)(8 * clat), "mean",
			 n ? 1.26 * clat : 0.0, "stddev", 0.0, "N", n, "bins", bins);
}

static inline json_t *folder_maybe(double per_io, double ios)
{
	return per_io < 0 ? json_null() : json_integer((json_int_t)llround(per_io * ios));
}

static inline json_t *folder_counters(const struct folder_trial *t, double ios)
{
	json_t *cpu = t->guest_cpu_us < 0 ? json_null() :
		      json_pack("{s:I, s:I}", "user_us", (json_int_t)(t->guest_cpu_us * ios / 4), "system_us",
				(json_int_t)(t->guest_cpu_us * ios * 3 / 4)); /* no idle time: not every guest tells */

	return json_pack("{s:n, s:o, s:o}", "disk", "interrupts", folder_maybe(t->interrupts, ios), "cpu", cpu);
}

static inline json_t *folder_host(const struct folder_trial *t, double ios)
{
	json_t *cpu = json_null(), *block = json_null();

	if (t->host_cpu_us >= 0)
		cpu = json_pack("{s:I, s:I, s:I, s:I}", "vcpu_us", (json_int_t)(t->host_cpu_us * ios * 0.6), "iothread_us",
				(json_int_t)0, "main_us", (json_int_t)(t->host_cpu_us * ios * 0.3), "other_us",
				(json_int_t)(t->host_cpu_us * ios * 0.1));
	if (t->device_us >= 0)
		block = json_pack("{s:I, s:I, s:I, s:i, s:i, s:i, s:i, s:i}", "rd_reqs", (json_int_t)llround(ios), "rd_bytes",
				  (json_int_t)llround(ios) * 4096, "rd_times_ns",
				  (json_int_t)(t->device_us * ios * 1000), "wr_reqs", 0, "wr_bytes", 0, "wr_times_ns", 0,
				  "fl_reqs", 0, "fl_times_ns", 0);
	return json_pack("{s:I, s:i, s:i, s:o, s:o, s:n}", "span_ns", (json_int_t)2000000000, "begin_delay_us", 300,
			 "end_delay_us", 300, "cpu", cpu, "block", block, "kvm");
}

static inline json_t *folder_effective(const struct folder *f, const struct folder_place *at,
				       const struct folder_trial *t)
{
	json_t *unverified = json_array(), *mismatch = json_array();

	if (t->unverified)
		json_array_append_new(unverified, json_string(t->unverified));
	if (t->mismatch)
		json_array_append_new(mismatch, json_pack("{s:s, s:s, s:s}", "key", t->mismatch, "want", "on", "have", "off"));
	return json_pack("{s:{s:s, s:s}, s:o, s:o, s:[s, s]}", "verified", "ioeventfd",
			 strcmp(f->variant[at->variant], f->variant[0]) == 0 ? "off" : "on", "queues", "1", "unverified",
			 unverified, "mismatch", mismatch, "features", "VERSION_1", "EVENT_IDX");
}

static inline void folder_put(const char *path, const char *name, const char *bytes)
{
	char file[512];
	FILE *out;

	snprintf(file, sizeof(file), "%s/%s", path, name);
	out = fopen(file, "w");
	if (!out || fputs(bytes, out) < 0 || fclose(out))
		abort();
}

static inline void folder_put_json(const char *path, const char *name, json_t *value)
{
	char *text = json_dumps(value, JSON_INDENT(1));

	if (!text)
		abort();
	folder_put(path, name, text);
	free(text);
	json_decref(value);
}

/* "bsd: read" is a cell of guest bsd, any other one of linux. */
static inline const char *folder_guest(const struct folder *f, unsigned cell)
{
	return f->cell[cell] && strncmp(f->cell[cell], "bsd: ", 5) == 0 ? "bsd" : "linux";
}

static inline json_t *folder_identity(const struct folder_trial *t)
{
	return t->host ? json_pack("{s:s, s:s, s:s, s:s, s:n}", "accel", t->accel, "cpu", t->cpu, "host", t->host, "host_cpu",
				   "Example CPU", "microcode") : json_null();
}

static inline void folder_write_trial(const struct folder *f, const struct folder_place *at)
{
	/* a block's noise is shared by its boots, as a host's mood is */
	double noise = 0.05 * folder_noise(at->block, at->cell, 0) + 0.01 * folder_noise(at->block, at->cell, at->variant + 1);
	struct folder_trial t = { .iops = 6000 * (1 + noise), .clat_ns = 150000 / (1 + noise), .status = "ok",
				  .guest_cpu_us = 68 * (1 - noise), .host_cpu_us = 120 * (1 - noise), .interrupts = 1,
				  .device_us = 90 * (1 + noise / 2), .accel = "tcg",
				  .started = "2026-01-31T12:00:00Z" };
	double ios;
	char name[40];

	if (f->shape)
		f->shape(at, &t);
	snprintf(name, sizeof(name), "trials/%06u.json", at->trial);
	if (!t.status)
		return;
	if (t.raw) {
		folder_put(f->path, name, t.raw);
		return;
	}
	ios = round(2 * t.iops);
	folder_put_json(f->path, name, json_pack(
		"{s:s, s:i, s:i, s:i, s:i, s:i, s:s, s:s, s:s, s:[s], s:s?, s:f, s:s, s:s?, s:s, s:s, s:f, s:f, s:o, s:i,"
		" s:{s:s, s:[{s:s, s:i, s:o, s:o}]}, s:o, s:o, s:o}", "schema", "kickbench-trial/1", "trial", (int)at->trial,
		"boot", (int)at->boot, "block", (int)at->block, "repeat", (int)at->repeat, "cell", (int)at->cell,
		"cell_name", f->cell[at->cell], "guest", folder_guest(f, at->cell), "variant", f->variant[at->variant], "argv", "--rw=randread",
		"started", t.started, "seconds", 2.3, "status", t.status, "message", t.message, "accel",
		t.accel, "guest_kernel", "6.1.0-32-cloud-amd64", "boot_to_hello_s", 1.9, "wall_to_hello_s", 2.4,
		"effective", folder_effective(f, at, &t), "exit_status", 0, "fio", "fio version", "kickio-0.1.0", "jobs",
		"jobname", "randread", "error", 0, "read", folder_direction(ios, t.clat_ns), "write",
		folder_direction(0, 0), "guest_counters", folder_counters(&t, ios), "host", folder_host(&t, ios),
		"identity", folder_identity(&t)));
}

static inline json_t *folder_boot(struct folder *f, struct folder_place *at, unsigned candidate, const char *guest)
{
	json_t *trials = json_array(), *names = json_array();
	unsigned sides[2] = { 0, candidate };
	bool disks = strcmp(f->pairing, "disks") == 0;

	at->boot++;
	for (unsigned side = disks ? 0 : 1; side < 2; side++) {
		at->variant = sides[side];
		json_array_append_new(names, json_string(f->variant[at->variant]));
		at->first = true;
		for (at->repeat = 1; at->repeat <= f->repeats; at->repeat++) {
			for (at->cell = 0; f->cell[at->cell]; at->cell++) {
				if (strcmp(folder_guest(f, at->cell), guest) != 0)
					continue;
				at->trial++;
				json_array_append_new(trials, json_pack("{s:i, s:i, s:s, s:i}", "trial", (int)at->trial, "cell",
									(int)at->cell, "variant", f->variant[at->variant],
									"repeat", (int)at->repeat));
				folder_write_trial(f, at);
				at->first = false;
			}
		}
	}
	return json_pack("{s:i, s:i, s:s, s:o, s:o, s:o*}", "boot", (int)at->boot, "block", (int)at->block, "guest", guest,
			 "variants", names, "trials", trials, "host",
			 f->hosts ? json_integer((at->block - 1) % f->hosts + 1) : NULL);
}

static inline json_t *folder_hosts(const struct folder *f)
{
	json_t *hosts = f->hosts ? json_array() : NULL;

	for (unsigned i = 1; i <= f->hosts; i++)
		json_array_append_new(hosts, json_pack("{s:o}", "label", json_sprintf("host-%u", i)));
	return hosts;
}

static inline json_t *folder_settings(bool ioeventfd)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "size", "256M", "backend", "file", "cache", "none",
			 "io", "threads", "ioeventfd", ioeventfd ? "on" : "off", "iothread", "", "queues", "1", "model",
			 "virtio");
}

/* Write the folder; f->path holds a new directory. */
static inline void folder_write(struct folder *f)
{
	json_t *variants = json_array(), *cells = json_array(), *boots = json_array();
	struct folder_place at = { 0 };
	char name[300];

	snprintf(name, sizeof(name), "%s/trials", f->path);
	if (mkdir(name, 0777))
		abort();
	for (unsigned i = 0; f->variant[i]; i++)
		json_array_append_new(variants, json_pack("{s:s, s:o}", "name", f->variant[i], "settings",
							  folder_settings(i > 0)));
	for (unsigned i = 0; f->cell[i]; i++)
		json_array_append_new(cells, json_pack("{s:s, s:s, s:s, s:s, s:[]}", "name", f->cell[i], "guest", folder_guest(f, i),
						       "workload", "w", "point", "", "argv"));
	for (at.block = 1; at.block <= f->blocks; at.block++)
		for (unsigned v = strcmp(f->pairing, "disks") == 0 ? 1 : 0; f->variant[v]; v++)
			for (unsigned i = 0; f->cell[i]; i++)
				if (i == 0 || strcmp(folder_guest(f, i), folder_guest(f, i - 1)) != 0) /* a guest's stand together */
					json_array_append_new(boots, folder_boot(f, &at, v, folder_guest(f, i)));
	folder_put_json(f->path, "run.json", json_pack(
		"{s:s, s:s, s:s, s:{s:s, s:s, s:s, s:i, s:i, s:s, s:s, s:f, s:f, s:f, s:[s, s]}, s:i, s:{s:s, s:s},"
		" s:{s:s, s:s, s:s}, s:[{s:s, s:s, s:i, s:i, s:s}], s:o, s:o, s:{s:i, s:o}, s:{s:s, s:s, s:i, s:I, s:f, s:[s]},"
		" s:[{s:s, s:s, s:s, s:n}], s:o*}", "schema", f->run_schema ? f->run_schema : "kickbench-run/1", "kickbench",
		"0.1.0", "started", "2026-01-31T12:00:00Z", "scenario", "name", "quick", "file", "scenarios/quick.ini",
		"baseline", f->variant[0], "blocks", (int)f->blocks, "repeats", (int)f->repeats, "pairing", f->pairing,
		"primary", f->primary, "margin", 0.03, "fail_margin", f->fail_margin, "alpha", 0.05, "fail_on", "stalled",
		"corrupt", "seed", 12345, "accel", "used", "tcg", "why",
		"the trial guest did not say hello within 20 s under KVM", "versions", "hypervisor", "QEMU 7.2.22",
		"library", "libvirt 9.0.0", "emulator", "/usr/bin/qemu-system-x86_64", "guests", "name", "linux", "image",
		"images/linux", "vcpus", 1, "memory_bytes", 268435456, "kernel", "6.1.0-32-cloud-amd64", "variants", variants,
		"cells", cells, "plan", "expected_seconds", 200, "boots", boots, "environment", "cpu", "Example CPU",
		"governor", "performance", "cpus", 2, "memory_bytes", (json_int_t)8 << 30, "load1", 1.7, "warnings", "the load average is 1.7 on 2 CPUs", "sessions",
		"started", "2026-01-31T12:00:00Z", "ended", "2026-01-31T12:03:20Z", "status", "complete", "message",
		"hosts", folder_hosts(f)));
}

static inline void folder_make(struct folder *f)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(f->path, sizeof(f->path), "%s/kickbench-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(f->path))
		abort();
	folder_write(f);
}

static inline void folder_remove(const struct folder *f)
{
	char command[320];

	snprintf(command, sizeof(command), "rm -r -- '%s'", f->path);
	if (system(command))
		abort();
}

#endif
