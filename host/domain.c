/*
 * A guest as domain XML. Machine type pc: under libvirt it needs no root ports, no SATA controller and no
 * bridge, so firmware and kernel have less to probe than with q35, and legacy, transitional and modern disks
 * all sit on the same bus.
 */
#include "host/domain.h"

#include <inttypes.h>
#include <jansson.h>
#include <libxml/tree.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/domain_names.h"

#define FIRST_SLOT 3 /* 0 host bridge, 1 ISA and IDE, 2 kept by libvirt for video */

static xmlNode *element(xmlNode *parent, const char *name)
{
	return xmlNewChild(parent, NULL, BAD_CAST name, NULL);
}

static xmlNode *text_element(xmlNode *parent, const char *name, const char *text)
{
	/* xmlNewTextChild escapes; xmlNewChild would take "&" for the start of an entity */
	return xmlNewTextChild(parent, NULL, BAD_CAST name, BAD_CAST text);
}

static void attribute(xmlNode *node, const char *name, const char *value)
{
	xmlNewProp(node, BAD_CAST name, BAD_CAST value);
}

static void KB_PRINTF(3, 4) attribute_f(xmlNode *node, const char *name, const char *fmt, ...)
{
	char value[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	attribute(node, name, value);
}

/* XML can hold neither invalid UTF-8 nor control characters; libxml2 would write them and libvirt choke. */
static int check_string(const char *what, const char *s, struct error *e)
{
	if (!s)
		return 0;
	if (!xmlCheckUTF8(BAD_CAST s))
		return error_set(e, STATUS_USAGE, "%s is not valid UTF-8, which libvirt's XML needs", what);
	for (const char *c = s; *c; c++)
		if ((unsigned char)*c < 0x20 && *c != '\t' && *c != '\n')
			return error_set(e, STATUS_USAGE, "%s has a control character, which XML cannot hold", what);
	return 0;
}

static int same_pin(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* What a machine without a PCI bus cannot have. */
static int check_mmio(const struct domain_spec *spec, struct error *e)
{
	struct machine decided = *spec->machine;

	decided.accel = spec->accel;
	for (size_t k = 0; k < spec->ndisks; k++) {
		const char *why = machine_disk_conflict(&decided, spec->disk[k].settings);

		if (why)
			return error_set(e, STATUS_USAGE, "%s", why);
		if (spec->disk[k].settings->ioeventfd != spec->disk[0].settings->ioeventfd)
			return error_set(e, STATUS_USAGE, "ioeventfd belongs to all transports of machine = microvm: disks of one guest "
					 "cannot have different ones");
	}
	return 0;
}

static int check_under(const struct domain_under *u, struct error *e)
{
	static const char *const policies[] = { "report", "stop", "enospace" };
	json_t *rule = u->rule ? json_loads(u->rule, 0, NULL) : NULL;
	bool bad = u->rule && !json_is_object(rule), known = !u->policy;

	json_decref(rule);
	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]) && !known; i++)
		known = !strcmp(u->policy, policies[i]);
	if (check_string("the write log's path", u->log, e))
		return -1;
	if (bad)
		return error_set(e, STATUS_USAGE, "a rule for errors is no JSON object: %s", u->rule);
	if (!known)
		return error_set(e, STATUS_USAGE, "error policy %s: expected report, stop or enospace", u->policy);
	if (u->log && u->log_sector != 512 && u->log_sector != 4096)
		return error_set(e, STATUS_USAGE, "the write log's sectors are of 512 or 4096 bytes, not %u", u->log_sector);
	if (u->log && u->readonly)
		return error_set(e, STATUS_USAGE, "a disk that is read only has no writes to log");
	return 0;
}

int domain_check(const struct domain_spec *spec, struct error *e)
{
	const struct settings *first = spec->ndisks ? spec->disk[0].settings : NULL;

	if (spec->ndisks > DOMAIN_MAX_DISKS)
		return error_set(e, STATUS_USAGE, "%zu disks, at most %d", spec->ndisks, DOMAIN_MAX_DISKS);
	if (check_string("the guest's name", spec->name, e) || check_string("the host's name", spec->owner_host, e) ||
	    check_string("the emulator's path", spec->machine->emulator, e) ||
	    check_string("the firmware's path", spec->machine->firmware, e) ||
	    check_string("qemu_args", spec->machine->qemu_args, e) ||
	    check_string("the kernel's path", spec->kernel, e) || check_string("the initrd's path", spec->initrd, e) ||
	    check_string("the kernel's command line", spec->cmdline, e))
		return -1;
	for (size_t i = 0; i < spec->machine->nproperties; i++)
		if (check_string("a property's value", spec->machine->property[i].value, e))
			return -1;
	for (size_t i = 0; i < spec->nextra; i++)
		if (check_string("the image's path", spec->extra[i].path, e))
			return -1;
	if (machine_is_mmio(spec->machine) && check_mmio(spec, e))
		return -1;
	for (size_t k = 0; k < spec->ndisks; k++) {
		const struct domain_disk *disk = &spec->disk[k];

		if (check_string("the disk's path", disk->source, e) || check_string("the disk's path", disk->settings->path, e) ||
		    check_string("the disk's serial number", disk->serial, e))
			return -1;
		if (disk->under && check_under(disk->under, e))
			return -1;
		if ((disk->settings->backend == BACKEND_FILE || disk->settings->backend == BACKEND_MEMORY) && !disk->source)
			return error_set(e, STATUS_USAGE, "disk %zu has no file", k);
		if (!same_pin(disk->settings->vcpupin, first->vcpupin) ||
		    !same_pin(disk->settings->emulatorpin, first->emulatorpin))
			return error_set(e, STATUS_USAGE,
					 "vcpupin and emulatorpin belong to the whole guest: "
					 "disks of one guest cannot have different ones");
	}
	return 0;
}

unsigned domain_iothread(const struct domain_spec *spec, size_t disk)
{
	unsigned number = 0;

	if (spec->disk[disk].settings->iothread != TOGGLE_ON)
		return 0;
	for (size_t k = 0; k <= disk; k++)
		number += spec->disk[k].settings->iothread == TOGGLE_ON;
	return number;
}

int domain_poll_command(const struct domain_spec *spec, size_t disk, struct text *qmp)
{
	unsigned iothread = domain_iothread(spec, disk);

	if (!iothread || spec->disk[disk].settings->poll_max_ns < 0)
		return 0;
	text_add(qmp,
		 "{\"execute\":\"qom-set\",\"arguments\":{\"path\":\"/objects/iothread%u\","
		 "\"property\":\"poll-max-ns\",\"value\":%" PRId64 "}}",
		 iothread, spec->disk[disk].settings->poll_max_ns);
	return 1;
}

void domain_add_owner(xmlNode *metadata, const struct domain_spec *spec)
{
	xmlNode *owner = element(metadata, "owner");
	xmlNs *ns = xmlNewNs(owner, BAD_CAST DOMAIN_NAMESPACE, BAD_CAST "kickbench");

	xmlSetNs(owner, ns);
	if (spec->owner_host)
		attribute(owner, "host", spec->owner_host);
	attribute_f(owner, "pid", "%ld", spec->owner_pid);
	attribute_f(owner, "started", "%" PRIu64, spec->owner_started);
}

void domain_add_memory(xmlNode *root, const struct machine *machine)
{
	char kib[32];

	snprintf(kib, sizeof(kib), "%" PRIu64, machine->memory / 1024);
	attribute(text_element(root, "memory", kib), "unit", "KiB");
}

void domain_add_processors(xmlNode *root, const struct domain_spec *spec)
{
	const char *model = domain_cpu_model(spec->machine, spec->accel);
	xmlNode *cpu = element(root, "cpu"), *topology;

	if (!strcmp(model, "host")) {
		attribute(cpu, "mode", "host-passthrough");
		attribute(cpu, "migratable", "off"); /* else the invariant TSC is hidden */
	} else if (!strcmp(model, "max")) {
		attribute(cpu, "mode", "maximum");
	} else {
		attribute(cpu, "mode", "custom");
		attribute(cpu, "match", "exact");
		attribute(cpu, "check", "none");
		attribute(text_element(cpu, "model", model), "fallback", "forbid");
	}
	topology = element(cpu, "topology");
	attribute(topology, "sockets", "1");
	attribute_f(topology, "cores", "%u", spec->machine->vcpus);
	attribute(topology, "threads", "1");
}

static void add_pin(xmlNode *tune, const char *name, const char *number_name, unsigned number, const char *cpus)
{
	xmlNode *pin = element(tune, name);

	if (number_name)
		attribute_f(pin, number_name, "%u", number);
	attribute(pin, "cpuset", cpus);
}

void domain_add_tuning(xmlNode *root, const struct domain_spec *spec)
{
	const struct settings *first = spec->ndisks ? spec->disk[0].settings : NULL;
	xmlNode *tune = element(root, "cputune");

	for (unsigned v = 0; first && first->vcpupin && v < spec->machine->vcpus; v++)
		add_pin(tune, "vcpupin", "vcpu", v, first->vcpupin);
	if (first && first->emulatorpin)
		add_pin(tune, "emulatorpin", NULL, 0, first->emulatorpin);
	for (size_t k = 0; k < spec->ndisks; k++)
		if (domain_iothread(spec, k) && spec->disk[k].settings->iothreadpin)
			add_pin(tune, "iothreadpin", "iothread", domain_iothread(spec, k),
				spec->disk[k].settings->iothreadpin);
	if (!tune->children) {
		xmlUnlinkNode(tune);
		xmlFreeNode(tune);
	}
}

void domain_add_iothreads(xmlNode *root, const struct domain_spec *spec)
{
	unsigned count = 0;
	char number[16];

	for (size_t k = 0; k < spec->ndisks; k++)
		count += domain_iothread(spec, k) != 0;
	if (!count)
		return;
	snprintf(number, sizeof(number), "%u", count);
	text_element(root, "iothreads", number);
}

static void add_os(xmlNode *root, const struct domain_spec *spec)
{
	xmlNode *os = element(root, "os");
	xmlNode *type = text_element(os, "type", "hvm");

	attribute(type, "arch", "x86_64");
	attribute(type, "machine", domain_machine_type(spec->machine));
	if (spec->machine->firmware) {
		xmlNode *loader = text_element(os, "loader", spec->machine->firmware);

		attribute(loader, "readonly", "yes");
		attribute(loader, "type", "rom"); /* -bios */
	}
	if (spec->kernel)
		text_element(os, "kernel", spec->kernel);
	if (spec->initrd)
		text_element(os, "initrd", spec->initrd);
	if (spec->cmdline)
		text_element(os, "cmdline", spec->cmdline);
}

/* A toggle as libvirt's attribute; nothing when it is unset. */
static void add_toggle(xmlNode *driver, const char *name, enum toggle value)
{
	if (value != TOGGLE_UNSET)
		attribute(driver, name, value == TOGGLE_ON ? "on" : "off");
}

static void add_driver(xmlNode *disk, const struct domain_spec *spec, size_t k, bool stand_in)
{
	const struct settings *s = spec->disk[k].settings;
	const struct domain_under *under = spec->disk[k].under;
	xmlNode *driver = element(disk, "driver");

	attribute(driver, "name", "qemu");
	attribute(driver, "type", "raw");
	if (s->cache != CACHE_AUTO && !stand_in)
		attribute(driver, "cache", cache_name(s->cache));
	if (!stand_in) {
		attribute(driver, "io", disk_io_name(s->io));
		attribute(driver, "discard", under && under->discard ? "unmap" : "ignore"); /* holes would change what is measured */
	}
	if (under && under->policy) {
		attribute(driver, "error_policy", under->policy);
		attribute(driver, "rerror_policy", strcmp(under->policy, "enospace") ? under->policy : "report"); /* no read lacks space */
	}
	if (!machine_is_mmio(spec->machine)) /* its transports have the property: see domain_add_qemu() */
		add_toggle(driver, "ioeventfd", s->ioeventfd);
	add_toggle(driver, "event_idx", s->event_idx);
	add_toggle(driver, "packed", s->packed);
	if (s->queues)
		attribute_f(driver, "queues", "%u", s->queues);
	if (s->queue_size)
		attribute_f(driver, "queue_size", "%u", s->queue_size);
	if (domain_iothread(spec, k))
		attribute_f(driver, "iothread", "%u", domain_iothread(spec, k));
}

static void add_place(xmlNode *disk, const struct machine *machine, size_t place)
{
	xmlNode *address = element(disk, "address");

	if (machine_is_mmio(machine)) { /* the emulator takes the next transport */
		attribute(address, "type", "virtio-mmio");
		return;
	}
	attribute(address, "type", "pci");
	attribute(address, "domain", "0x0000");
	attribute(address, "bus", "0x00");
	attribute_f(address, "slot", "0x%02zx", FIRST_SLOT + place);
	attribute(address, "function", "0x0");
}

void domain_add_disk(xmlNode *devices, const struct domain_spec *spec, size_t k)
{
	const struct settings *s = spec->disk[k].settings;
	bool own_node = domain_has_own_node(&spec->disk[k]);
	xmlNode *disk = element(devices, "disk"), *source, *node;

	attribute(disk, "type", "file");
	attribute(disk, "device", "disk");
	if (s->model != MODEL_VIRTIO)
		attribute(disk, "model", model_name(s->model));
	add_driver(disk, spec, k, own_node);
	source = element(disk, "source");
	attribute(source, "file", !own_node ? spec->disk[k].source : spec->kernel ? spec->kernel : spec->stand_in);
	node = element(disk, "target");
	if (spec->disk[k].target)
		attribute(node, "dev", spec->disk[k].target);
	else
		attribute_f(node, "dev", "vd%c", (char)('a' + k));
	attribute(node, "bus", "virtio");
	if (own_node || (spec->disk[k].under && spec->disk[k].under->readonly))
		element(disk, "readonly");
	if (spec->disk[k].serial)
		text_element(disk, "serial", spec->disk[k].serial);
	attribute_f(element(disk, "alias"), "name", DOMAIN_ALIAS "%zu", k);
	if (!spec->disk[k].target) /* beside devices that are not ours libvirt finds a place */
		add_place(disk, spec->machine, spec->nextra + k);
}

/* Its cache may be unsafe: when the host dies it is thrown away, and so is a half-made one. */
static void add_extra(xmlNode *devices, const struct domain_spec *spec, size_t i)
{
	const struct domain_extra *extra = &spec->extra[i];
	xmlNode *disk = element(devices, "disk"), *node;

	attribute(disk, "type", "file");
	attribute(disk, "device", "disk");
	node = element(disk, "driver");
	attribute(node, "name", "qemu");
	attribute(node, "type", extra->format);
	attribute(node, "cache", "unsafe");
	attribute(element(disk, "source"), "file", extra->path);
	node = element(disk, "target");
	attribute_f(node, "dev", "vd%c", (char)('a' + DOMAIN_MAX_DISKS + i));
	attribute(node, "bus", "virtio");
	if (extra->readonly)
		element(disk, "readonly");
	text_element(disk, "serial", extra->serial);
	if (i == 0)
		attribute(element(disk, "boot"), "order", "1");
	attribute_f(element(disk, "alias"), "name", DOMAIN_EXTRA_ALIAS "%zu", i);
	add_place(disk, spec->machine, i);
}

void domain_add_serial(xmlNode *devices, unsigned port)
{
	xmlNode *serial = element(devices, "serial"), *target;

	attribute(serial, "type", "pty");
	target = element(serial, "target");
	attribute(target, "type", "isa-serial");
	attribute_f(target, "port", "%u", port);
}

static void add_devices(xmlNode *root, const struct domain_spec *spec)
{
	xmlNode *devices = element(root, "devices"), *usb;

	if (spec->machine->emulator)
		text_element(devices, "emulator", spec->machine->emulator);
	for (size_t i = 0; i < spec->nextra; i++)
		add_extra(devices, spec, i);
	for (size_t k = 0; k < spec->ndisks; k++)
		domain_add_disk(devices, spec, k);
	usb = element(devices, "controller");
	attribute(usb, "type", "usb");
	attribute(usb, "model", "none");
	domain_add_serial(devices, 0);
	domain_add_serial(devices, 1);
	attribute(element(devices, "memballoon"), "model", "none");
}

static void add_clock(xmlNode *root, const struct machine *machine)
{
	xmlNode *clock = element(root, "clock"), *hpet;

	attribute(clock, "offset", "utc");
	if (machine_is_mmio(machine)) /* it has none */
		return;
	hpet = element(clock, "timer"); /* setting it up and comparing others with it costs the boot 0.1 s under TCG */
	attribute(hpet, "name", "hpet");
	attribute(hpet, "present", "no");
}

static int build(xmlDoc *doc, const struct domain_spec *spec)
{
	xmlNode *root = xmlNewNode(NULL, BAD_CAST "domain"), *node;
	xmlNs *qemu;
	char number[16];

	xmlDocSetRootElement(doc, root);
	qemu = xmlNewNs(root, BAD_CAST DOMAIN_QEMU_NAMESPACE, BAD_CAST "qemu");
	attribute(root, "type", spec->accel == ACCEL_KVM ? "kvm" : "qemu");
	text_element(root, "name", spec->name);
	domain_add_owner(element(root, "metadata"), spec);
	domain_add_memory(root, spec->machine);
	snprintf(number, sizeof(number), "%u", spec->machine->vcpus);
	attribute(text_element(root, "vcpu", number), "placement", "static");
	domain_add_iothreads(root, spec);
	domain_add_tuning(root, spec);
	add_os(root, spec);
	node = element(root, "features");
	element(node, "acpi"); /* without it the guest halts instead of powering off */
	element(node, "apic");
	if (!machine_is_mmio(spec->machine))
		attribute(element(node, "vmport"), "state", "off");
	domain_add_processors(root, spec);
	add_clock(root, spec->machine);
	text_element(root, "on_poweroff", "destroy");
	text_element(root, "on_reboot", "destroy"); /* a panic with panic=-1 ends here, it does not start again */
	text_element(root, "on_crash", "destroy");
	add_devices(root, spec);
	return domain_add_qemu(root, qemu, spec);
}

int domain_write(xmlDoc *doc, struct text *xml, struct error *e)
{
	xmlBuffer *buffer = xmlBufferCreate();
	/* the node, not the document: libvirt wants no <?xml?> line, and the tests no encoding */
	int length = buffer ? xmlNodeDump(buffer, doc, xmlDocGetRootElement(doc), 0, 1) : -1;

	if (length > 0) {
		text_add_bytes(xml, xmlBufferContent(buffer), (size_t)xmlBufferLength(buffer));
		text_add(xml, "\n");
	}
	xmlBufferFree(buffer);
	if (length <= 0 || xml->failed)
		return error_set(e, STATUS_HOST, "out of memory while writing the domain XML");
	return 0;
}

int domain_xml(const struct domain_spec *spec, struct text *xml, struct error *e)
{
	xmlDoc *doc;
	int status;

	if (domain_check(spec, e))
		return -1;
	if (!spec->kernel && !spec->nextra)
		return error_set(e, STATUS_USAGE, "guest %s has no kernel", spec->name);
	if (!spec->kernel && machine_is_mmio(spec->machine))
		return error_set(e, STATUS_USAGE, "machine = microvm boots a kernel of its own, not from a disk: set kernel");
	doc = xmlNewDoc(BAD_CAST "1.0");
	if (doc && !build(doc, spec))
		status = domain_write(doc, xml, e);
	else
		status = error_set(e, STATUS_HOST, "out of memory while writing the domain XML");
	xmlFreeDoc(doc);
	return status;
}
