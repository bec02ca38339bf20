#include "host/accel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "guest/frame.h"
#include "host/boot_libvirt.h"
#include "host/place.h"
#include "host/trial.h"

#define TCG_TIMEOUT_S 60
#define KVM_TIMEOUT_S 20
#define PROBE_TIMEOUT_S 20 /* an emulating KVM needs seconds for what takes a usable one milliseconds */
#define TRIAL_DISK (64u << 20)
#define TRIAL_INDEX 9 /* no other test disk's */
#define RUNTIME_S 0.5
#define STOP_S 0.5 /* a guest's usual end, for one that came to another */

static enum accel wanted(const struct accel_request *r)
{
	bool host_cpu = r->machine->cpu && !strcmp(r->machine->cpu, "host");

	return host_cpu ? ACCEL_KVM : r->machine->accel;
}

/* What an outcome depends on. */
static void make_key(const struct hv_ops *ops, struct hv *hv, const struct accel_request *r, struct text *key)
{
	struct hv_version v = { 0 };
	struct utsname host;
	struct stat kvm = { 0 }, emulator = { 0 };
	const char *path = image_emulator(r->image, r->machine);

	uname(&host);
	stat("/dev/kvm", &kvm);
	ops->version(hv, &v, &(struct error){ 0 });
	stat(path ? path : v.emulator, &emulator);
	machine_json(r->machine, key);
	text_add(key, "|%d|%s %s|%s %s|%lld %lld %lld|%s|%s|%ld|kvm %llx %o", (int)r->tool, host.release, host.machine, v.hypervisor, v.emulator,
		 (long long)emulator.st_size, (long long)emulator.st_mtime, (long long)emulator.st_ctime, v.library, r->image->id,
		 sysconf(_SC_NPROCESSORS_ONLN), (unsigned long long)kvm.st_rdev, (unsigned)kvm.st_mode);
	if (!r->host->here) /* of its files nothing can be seen */
		text_add(key, "|%s %s %s %u", r->host->name, r->host->cpu, r->host->microcode, r->host->cpus);
}

/* One for each machine and image: what is asked for again takes the place of what was known of it. */
static void cache_file(const struct accel_request *r, struct text *path)
{
	struct text what = { 0 };

	machine_json(r->machine, &what);
	text_add(&what, "|%s|%s", r->image->own ? r->image->own->source : r->image->kernel, r->host->here ? "" : r->host->name);
	text_add(path, "%s/accel-%08x.json", r->dirs->cache, (unsigned)frame_crc32(0, text_get(&what), what.length));
	text_free(&what);
}

static json_t *health_json(const struct accel_health *h)
{
	return isnan(h->loop_ns) ? json_null() : json_pack("{s:f,s:f,s:f}", "boot_s", h->boot_s, "loop_ns", h->loop_ns,
							   "port_write_ns", h->port_write_ns);
}

static void take_health(const json_t *j, struct accel_health *h)
{
	*h = (struct accel_health)ACCEL_HEALTH_NONE;
	if (!json_is_object(j))
		return;
	h->boot_s = json_number_value(json_object_get(j, "boot_s"));
	h->loop_ns = json_number_value(json_object_get(j, "loop_ns"));
	h->port_write_ns = json_number_value(json_object_get(j, "port_write_ns"));
}

static bool load(const struct accel_request *r, const char *key, struct accel_outcome *out)
{
	struct text path = { 0 };
	const char *have, *used, *why, *version;
	int virtio_status;
	json_t *j, *kvm, *tcg;
	bool good;

	cache_file(r, &path);
	j = json_load_file(text_get(&path), 0, NULL);
	text_free(&path);
	good = j && json_unpack(j, "{s:s,s:s,s:s,s:s,s:b,s:o,s:o,s:{s:F,s:F,s:F,s:F,s:F,s:F}}", "key", &have, "used", &used, "why", &why,
				"qemu_version", &version, "virtio_status", &virtio_status, "kvm", &kvm, "tcg", &tcg, "pace", "boot_s", &out->pace.boot_s,
				"stop_s", &out->pace.stop_s, "trial_s", &out->pace.trial_s, "iops", &out->pace.iops,
				"bandwidth", &out->pace.bandwidth, "restore", &out->pace.restore) == 0 &&
	       !strcmp(have, key);
	if (good) {
		out->used = !strcmp(used, "kvm") ? ACCEL_KVM : ACCEL_TCG;
		snprintf(out->why, sizeof(out->why), "%s", why);
		snprintf(out->qemu_version, sizeof(out->qemu_version), "%s", version);
		out->virtio_status = virtio_status;
		take_health(kvm, &out->kvm);
		take_health(tcg, &out->tcg);
		out->pace.measured = true;
		out->cached = true;
	}
	json_decref(j);
	return good;
}

/* A lost cache costs a trial, nothing else: failures are not reported. */
static void save(const struct accel_request *r, const char *key, const struct accel_outcome *out)
{
	const struct pace *p = &out->pace;
	struct text path = { 0 };
	json_t *j = json_pack("{s:s,s:s,s:s,s:s,s:b,s:o,s:o,s:{s:f,s:f,s:f,s:f,s:f,s:f}}", "key", key, "used", accel_name(out->used),
			      "why", out->why, "qemu_version", out->qemu_version, "virtio_status", out->virtio_status, "kvm",
			      health_json(&out->kvm), "tcg", health_json(&out->tcg), "pace",
			      "boot_s", p->boot_s, "stop_s", p->stop_s, "trial_s", p->trial_s, "iops", p->iops, "bandwidth",
			      p->bandwidth, "restore", p->restore);

	cache_file(r, &path);
	if (j && json_dump_file(j, text_get(&path), JSON_INDENT(1)))
		unlink(text_get(&path));
	json_decref(j);
	text_free(&path);
}

/* One short job; its I/Os and bytes per second. */
static int measure(struct boot *b, const char *rw, const char *bs, struct pace *pace, double *ios, double *bytes,
		   struct error *e)
{
	char rw_option[32], bs_option[32], runtime[32];
	char *argv[] = { (char *)"--name=pace", rw_option, bs_option, runtime, (char *)"--time_based", (char *)"--direct=1" };
	struct trial_request request = { .id = "pace", .argv = argv, .argc = 6, .stall_timeout = KVM_TIMEOUT_S };
	struct trial trial;
	json_t *read;
	int status;

	snprintf(rw_option, sizeof(rw_option), "--rw=%s", rw);
	snprintf(bs_option, sizeof(bs_option), "--bs=%s", bs);
	snprintf(runtime, sizeof(runtime), "--runtime=%dms", (int)(RUNTIME_S * 1000));
	status = trial_run(b, &request, &trial, e);
	if (status == 0 && trial.status != TRIAL_OK)
		status = error_set(e, STATUS_HOST, "the trial job did not run: %s", trial.message);
	if (status == 0) {
		read = json_object_get(json_array_get(json_object_get(json_object_get(trial.result, "fio"), "jobs"), 0), "read");
		*ios = json_number_value(json_object_get(read, "iops"));
		*bytes = json_number_value(json_object_get(read, "bw_bytes"));
		pace->trial_s += (trial.seconds - RUNTIME_S) / 2;
		if (*ios <= 0)
			status = error_set(e, STATUS_HOST, "the trial job read nothing");
	}
	trial_free(&trial);
	return status;
}

/* Under the probe: how many kicks with all that is measured about them a second holds, and what a job takes without them. */
static int measure_kicks(struct boot *b, struct pace *pace, struct error *e)
{
	char *argv[2][3] = { { (char *)"--name=pace", (char *)"--mode=all", (char *)"--count=1" },
			     { (char *)"--name=pace", (char *)"--mode=all", (char *)"--count=101" } };
	double seconds[2];

	for (int i = 0; i < 2; i++) {
		json_t *probe = accel_probe_job(b, argv[i], 3, KVM_TIMEOUT_S, &seconds[i], e);

		if (!probe)
			return -1;
		json_decref(probe);
	}
	pace->trial_s = seconds[0];
	pace->iops = 100 / fmax(seconds[1] - seconds[0], 0.001);
	pace->bandwidth = 1e12; /* a job of the probe does not end with its data */
	return 0;
}

static int measure_guest(struct boot *b, enum tool tool, struct pace *pace, struct error *e)
{
	double ios, bytes;

	if (tool == TOOL_PROBE)
		return measure_kicks(b, pace, e);
	return measure(b, "read", "1m", pace, &ios, &pace->bandwidth, e) ||
	       measure(b, "randread", "4k", pace, &pace->iops, &bytes, e) ? -1 : 0;
}

static int try(const struct hv_ops *ops, struct hv *hv, const struct accel_request *r, enum accel accel, double timeout,
	       struct disk *disk, struct settings *settings, struct accel_outcome *out, struct error *e)
{
	struct pace *pace = &out->pace;
	char name[64];
	struct boot_request request = {
		.name = name, .machine = r->machine, .accel = accel, .image = r->image, .settings = { settings },
		.source = { disk->path }, .ndisks = 1, .hello_timeout = timeout, .overlay_dir = r->overlay_dir,
		.interrupted = r->interrupted,
	};
	struct boot b;

	snprintf(name, sizeof(name), "%ld-trial-%s", (long)getpid(), accel_name(accel));
	out->guest_failed = false;
	if (boot_start(&b, ops, hv, &request, e)) {
		out->guest_failed = accel == ACCEL_TCG && b.stage >= BOOT_STARTED;
		return -1;
	}
	pace->boot_s = b.wall_to_hello;
	pace->trial_s = 0;
	if (measure_guest(&b, r->tool, pace, e)) {
		out->guest_failed = accel == ACCEL_TCG;
		boot_kill(&b);
		return -1;
	}
	snprintf(out->qemu_version, sizeof(out->qemu_version), "%s", b.qemu_version);
	out->virtio_status = boot_survives_virtio_status(&b);
	pace->stop_s = boot_stop(&b, 10);
	if (!out->virtio_status)
		pace->stop_s = STOP_S;
	pace->measured = true;
	return 0;
}

/* The trial guest did not run: unless we were interrupted, that is the host's fault. */
static int not_run(const struct accel_request *r, const char *what, struct error *e)
{
	if (!r->interrupted || !*r->interrupted)
		e->status = STATUS_HOST;
	return error_context(e, "%s", what);
}

/* The guest's machine, where it leaves something to a user's domain, as that has it: the probe is a guest of ours. */
static int probe_machine(const struct accel_request *r, struct machine *machine)
{
	const char *emulator = image_emulator(r->image, r->machine);

	if (machine_copy(machine, r->machine))
		return -1;
	machine->vcpus = image_vcpus(r->image, r->machine);
	machine->memory = image_memory(r->image, r->machine);
	if (!machine->emulator && emulator)
		machine->emulator = strdup(emulator);
	return emulator && !machine->emulator ? -1 : 0;
}

/* The probe under one accelerator. */
static int probe_one(const struct hv_ops *ops, struct hv *hv, const struct accel_request *r, const struct image *image,
		     enum accel accel, struct accel_health *out, struct error *e)
{
	char name[64];
	struct machine machine = { 0 };
	struct boot_request request = { .name = name, .machine = &machine, .accel = accel, .image = image,
					.interrupted = r->interrupted };
	int status;

	snprintf(name, sizeof(name), "%ld-probe-%s", (long)getpid(), accel_name(accel));
	status = probe_machine(r, &machine) ? error_set(e, STATUS_HOST, "out of memory") :
		 accel_health_measure(ops, hv, &request, PROBE_TIMEOUT_S, out, e);
	machine_free(&machine);
	return status;
}

/* Whether KVM is worth a try: 1, 0 (out->why says why not) or -1. */
static int probe_kvm(const struct hv_ops *ops, struct hv *hv, const struct accel_request *r, struct accel_outcome *out,
		     struct error *e)
{
	struct guest guest = { .name = (char *)"probe", .image = (char *)"images/probe" };
	struct machine plain = { 0 };
	struct image image = { 0 };
	struct error no_kvm = { 0 };
	struct text words = { 0 };
	int status = -1;

	machine_default(&plain);
	if (image_prepare(&guest, &plain, r->dirs->data, r->dirs->build, r->say, &image, e))
		goto out;
	if (probe_one(ops, hv, r, &image, ACCEL_TCG, &out->tcg, e)) {
		not_run(r, "the probe does not run under TCG", e);
		goto out;
	}
	if (probe_one(ops, hv, r, &image, ACCEL_KVM, &out->kvm, &no_kvm)) {
		if (r->interrupted && *r->interrupted) {
			error_set(e, no_kvm.status, "%s", no_kvm.text);
			goto out;
		}
		no_kvm.text[strcspn(no_kvm.text, ";\n")] = '\0';
		snprintf(out->why, sizeof(out->why), "KVM is offered but does not run the probe (%.300s)", no_kvm.text);
		status = 0;
	} else {
		status = accel_healthy(&out->kvm);
		accel_health_words(&out->kvm, &words);
		if (!status)
			snprintf(out->why, sizeof(out->why), "KVM is offered but not usable: %s", text_get(&words));
	}
out:
	text_free(&words);
	image_free(&image);
	machine_free(&plain);
	return status;
}

static int try_tcg(const struct hv_ops *ops, struct hv *hv, const struct accel_request *r, struct disk *disk,
		   struct settings *settings, struct accel_outcome *out, struct error *e)
{
	out->used = ACCEL_TCG;
	if (try(ops, hv, r, ACCEL_TCG, r->boot_timeout > 0 ? r->boot_timeout : TCG_TIMEOUT_S, disk, settings, out, e))
		return not_run(r, "the trial guest does not run", e);
	return 0;
}

static int try_wanted_kvm(const struct hv_ops *ops, struct hv *hv, const struct accel_request *r, struct disk *disk,
			  struct settings *settings, struct accel_outcome *out, struct error *e)
{
	const char *key = r->machine->accel == ACCEL_KVM ? "accel = kvm" : "cpu = host";
	char what[80];

	out->used = ACCEL_KVM;
	snprintf(out->why, sizeof(out->why), "%s was asked for", key);
	snprintf(what, sizeof(what), "%s, but KVM does not run the guest", key);
	return try(ops, hv, r, ACCEL_KVM, KVM_TIMEOUT_S, disk, settings, out, e) ? not_run(r, what, e) : 0;
}

static int decide(const struct hv_ops *ops, struct hv *hv, const struct accel_request *r, struct disk *disk,
		  struct settings *settings, struct accel_outcome *out, struct error *e)
{
	struct error no_kvm = { 0 };
	struct text words = { 0 };
	int usable;

	if (wanted(r) == ACCEL_KVM)
		return try_wanted_kvm(ops, hv, r, disk, settings, out, e);
	if (wanted(r) == ACCEL_TCG) {
		snprintf(out->why, sizeof(out->why), "accel = tcg was asked for");
		return try_tcg(ops, hv, r, disk, settings, out, e);
	}
	if (!ops->offers_kvm(hv)) {
		snprintf(out->why, sizeof(out->why), "the hypervisor offers no KVM on this host");
		return try_tcg(ops, hv, r, disk, settings, out, e);
	}
	usable = probe_kvm(ops, hv, r, out, e);
	if (usable < 0)
		return -1;
	if (!usable)
		return try_tcg(ops, hv, r, disk, settings, out, e);
	out->used = ACCEL_KVM;
	if (try(ops, hv, r, ACCEL_KVM, KVM_TIMEOUT_S, disk, settings, out, &no_kvm) == 0) {
		accel_health_words(&out->kvm, &words);
		snprintf(out->why, sizeof(out->why), "under KVM %s, and a trial guest came up in %.1f s", text_get(&words),
			 out->pace.boot_s);
		text_free(&words);
		return 0;
	}
	if (r->interrupted && *r->interrupted)
		return error_set(e, no_kvm.status, "%s", no_kvm.text);
	no_kvm.text[strcspn(no_kvm.text, ";\n")] = '\0';
	snprintf(out->why, sizeof(out->why), "KVM runs the probe but not the guest (%.300s)", no_kvm.text);
	return try_tcg(ops, hv, r, disk, settings, out, e);
}

int accel_decide(const struct hv_ops *ops, struct hv *hv, const struct accel_request *r, struct accel_outcome *out,
		 struct error *e)
{
	struct settings settings;
	struct disk disk = { 0 };
	struct text key = { 0 };
	double seconds = 0;
	int status = -1;

	*out = (struct accel_outcome){ .kvm = ACCEL_HEALTH_NONE, .tcg = ACCEL_HEALTH_NONE };
	settings_default(&settings);
	settings.size = TRIAL_DISK;
	make_key(ops, hv, r, &key);
	if (load(r, text_get(&key), out)) {
		text_free(&key);
		return 0;
	}
	if (r->say)
		r->say(wanted(r) == ACCEL_TCG ? "measuring a trial guest (once)"
					      : "trying which accelerator runs a guest (once)");
	if (r->host->here)
		settings.path = strdup(r->disk_dir);
	if (place_disk(ops, hv, r->host, &settings, r->disk_dir, TRIAL_INDEX, &disk, e) ||
	    place_restore(ops, hv, &disk, FILESYSTEM_NONE, &seconds, e))
		goto out;
	out->pace.restore = seconds > 0 ? TRIAL_DISK / seconds : 1e9;
	if (decide(ops, hv, r, &disk, &settings, out, e))
		goto out;
	save(r, text_get(&key), out);
	status = 0;
out:
	disk.temporary = true; /* with its mark */
	disk_release(&disk);
	settings_free(&settings);
	text_free(&key);
	return status;
}
