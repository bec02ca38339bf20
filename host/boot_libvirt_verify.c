/* What is asked of a running guest's emulator: which one it is, and what is in force. No answer is ever a failure. */
#include "host/boot_libvirt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/filesystem.h"

/* The "return" of one QMP command, NULL when it was refused. */
static json_t *ask(struct boot *b, const char *command)
{
	struct text reply = { 0 };
	json_t *whole = NULL, *value;

	if (command && b->ops->qmp(b->guest, command, &reply, &(struct error){ 0 }) == 0)
		whole = json_loads(text_get(&reply), JSON_DECODE_ANY, NULL);
	value = json_incref(json_object_get(whole, "return"));
	json_decref(whole);
	text_free(&reply);
	return value;
}

void boot_ask_version(struct boot *b)
{
	json_t *reply = ask(b, "{\"execute\":\"query-version\"}"), *numbers = json_object_get(reply, "qemu");
	const char *package = json_string_value(json_object_get(reply, "package"));

	if (numbers)
		snprintf(b->qemu_version, sizeof(b->qemu_version), "QEMU %d.%d.%d%s%s%s",
			 (int)json_integer_value(json_object_get(numbers, "major")),
			 (int)json_integer_value(json_object_get(numbers, "minor")),
			 (int)json_integer_value(json_object_get(numbers, "micro")), package && *package ? " (" : "",
			 package ? package : "", package && *package ? ")" : "");
	json_decref(reply);
}

/* The value of one qom-get, NULL when it was refused. */
static json_t *qom_get(struct boot *b, const char *path, const char *property)
{
	json_t *command = json_pack("{s:s,s:{s:s,s:s}}", "execute", "qom-get", "arguments", "path", path, "property", property);
	char *text = json_dumps(command, JSON_COMPACT);
	json_t *value = ask(b, text);

	json_decref(command);
	free(text);
	return value;
}

static void collect_one(struct boot *b, const char *path, const char *property, json_t *all)
{
	json_t *value = qom_get(b, path, property);

	if (value)
		json_object_set_new(all, property, value);
}

/* more: of a machine's properties, those of the device, too. */
static char *collect(struct boot *b, const char *path, const char *const *properties, const struct machine *more)
{
	json_t *all = json_object();
	char *text;

	for (size_t i = 0; properties[i]; i++)
		collect_one(b, path, properties[i], all);
	for (size_t i = 0; more && i < more->nproperties; i++)
		collect_one(b, path, more->property[i].name, all);
	text = json_object_size(all) ? json_dumps(all, JSON_COMPACT) : NULL;
	json_decref(all);
	return text;
}

/* The device's properties, and on virtio-mmio those of its transport. */
static char *collect_device(struct boot *b, size_t disk)
{
	struct text path = { 0 };
	char *mine, *both = NULL;
	json_t *bus, *all;

	domain_qom_path(disk, &path);
	mine = collect(b, text_get(&path), domain_qom_properties, b->request.machine);
	bus = mine && machine_is_mmio(b->request.machine) ? qom_get(b, text_get(&path), "parent_bus") : NULL;
	if (json_string_value(bus)) {
		all = json_loads(mine, 0, NULL);
		text_reset(&path);
		domain_transport_path(json_string_value(bus), &path);
		for (size_t i = 0; domain_transport_properties[i]; i++)
			collect_one(b, text_get(&path), domain_transport_properties[i], all);
		both = json_dumps(all, JSON_COMPACT);
		json_decref(all);
	}
	json_decref(bus);
	text_free(&path);
	if (!both)
		return mine;
	free(mine);
	return both;
}

static int virtio_status(struct boot *b, size_t disk, struct text *reply)
{
	struct text path = { 0 };
	json_t *command;
	char *text;
	int status = -1;

	domain_virtio_path(b->request.machine, disk, &path);
	command = json_pack("{s:s,s:{s:s}}", "execute", "x-query-virtio-status", "arguments", "path", text_get(&path));
	text = json_dumps(command, JSON_COMPACT);
	if (text)
		status = b->ops->qmp(b->guest, text, reply, &(struct error){ 0 });
	free(text);
	json_decref(command);
	text_free(&path);
	return status;
}

bool boot_survives_virtio_status(struct boot *b)
{
	struct text reply = { 0 };
	json_t *alive;

	virtio_status(b, 0, &reply);
	text_free(&reply);
	alive = ask(b, "{\"execute\":\"query-status\"}");
	json_decref(alive);
	return alive != NULL;
}

/* Everything about the guest as a whole. Texts belong to whoever is named below. */
struct whole {
	struct domain_machine_evidence have;
	json_t *type, *cpu;
	char *boot;
};

static void ask_whole(struct boot *b, struct whole *w)
{
	static const char *const boot_properties[] = { "kernel", "initrd", "append", NULL };
	json_t *kvm = ask(b, "{\"execute\":\"query-kvm\"}"), *cpus = ask(b, "{\"execute\":\"query-cpus-fast\"}");
	json_t *memory = ask(b, "{\"execute\":\"query-memory-size-summary\"}");
	const char *cpu = json_string_value(json_object_get(json_array_get(cpus, 0), "qom-path"));

	w->type = qom_get(b, "/machine", "type");
	w->cpu = cpu ? qom_get(b, cpu, "type") : NULL;
	w->boot = collect(b, "/machine", boot_properties, NULL);
	w->have = (struct domain_machine_evidence){
		.asked = b->request.machine,
		.accel = b->request.accel,
		/* what a disk image's own kernel or a domain's calls itself, only the guest can tell */
		.kernel = b->request.image->system || !*b->request.image->kernel_version ? NULL : b->request.image->kernel_version,
		.qemu_version = *b->qemu_version ? b->qemu_version : NULL,
		.type = json_string_value(w->type),
		.cpu = json_string_value(w->cpu),
		.boot = w->boot,
		.guest_kernel = json_string_value(json_object_get(b->hello, "release")),
		.kvm = kvm ? json_is_true(json_object_get(kvm, "enabled")) : -1,
		.vcpus = (unsigned)json_array_size(cpus),
		.memory = (uint64_t)json_integer_value(json_object_get(memory, "base-memory")),
	};
	json_decref(kvm);
	json_decref(cpus);
	json_decref(memory);
}

json_t *boot_libvirt_verify(struct boot *b, size_t disk)
{
	static const char *const iothread_properties[] = { "poll-max-ns", NULL };
	struct domain_disk disks[BOOT_DISKS] = { { 0 } };
	struct domain_spec spec = { .disk = disks, .ndisks = b->request.ndisks };
	struct whole whole = { 0 };
	struct text xml = { 0 }, status = { 0 }, path = { 0 }, out = { 0 };
	struct domain_evidence have = { 0 };
	char *qom, *iothread = NULL;
	json_t *verdict;

	for (size_t i = 0; i < b->request.ndisks; i++)
		disks[i].settings = b->request.settings[i];
	/* Whoever could mount it has found it: mount() was told which one. The superblock lies in the file by then. */
	have.filesystem = b->request.source[disk] && !b->request.elsewhere ? filesystem_look(b->request.source[disk]) : -1;
	if (b->ops->live_xml(b->guest, &xml, &(struct error){ 0 }) == 0)
		have.live_xml = text_get(&xml);
	if (b->request.ask_virtio_status && virtio_status(b, disk, &status) == 0)
		have.virtio_status = text_get(&status);
	have.qom = qom = collect_device(b, disk);
	if (domain_iothread(&spec, disk)) {
		text_add(&path, "/objects/iothread%u", domain_iothread(&spec, disk));
		have.iothread = iothread = collect(b, text_get(&path), iothread_properties, NULL);
	}
	ask_whole(b, &whole);
	have.machine = &whole.have;
	domain_verify(b->request.settings[disk], disk, &have, &out);
	verdict = json_loads(text_get(&out), 0, NULL);
	json_decref(whole.type);
	json_decref(whole.cpu);
	free(whole.boot);
	free(qom);
	free(iothread);
	text_free(&xml);
	text_free(&status);
	text_free(&path);
	text_free(&out);
	return verdict;
}
