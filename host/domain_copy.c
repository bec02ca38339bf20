#include "host/domain_copy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/domain_names.h"

/* What no copy has: of another domain, of a running one, or a way to the host. */
static const char *const gone[] = {
	"/domain/@id", "/domain/uuid", "/domain/sysinfo/system/entry[@name='uuid']", "/domain/metadata/kb:owner", "//seclabel",
	"/domain/resource", "/domain/iothreads", "/domain/iothreadids", "/domain/cputune/iothreadpin",
	"/domain/cputune/iothreadsched", "/domain/devices/*/driver/@iothread", "/domain/devices/*/driver/iothreads",
	"/domain/devices/*/alias[not(starts-with(@name,'ua-'))]", "/domain/devices/console", "/domain/devices/graphics",
	"/domain/devices/redirdev", "/domain/devices/redirfilter", "/domain/devices/smartcard",
	"/domain/devices/channel[@type='spicevmc' or @type='spiceport' or @type='qemu-vdagent' or @type='dbus']",
	"/domain/devices/channel[@type='unix']/source", "/domain/devices/video/model/acceleration",
	"/domain/devices/disk/mirror", "/domain/devices/disk/transient", "/domain/devices/disk/source/@index",
	"/domain/devices/disk[source]/backingStore", "/domain/devices/interface/target[starts-with(@dev,'vnet')]",
	"/domain/devices/vsock/cid/@address", "/domain/on_poweroff", "/domain/on_reboot", "/domain/on_crash", NULL,
};
/* Of a disk whose contents move to an overlay: belongs to the file, or to a host that the overlay may not be like. */
static const char *const moved[] = { "cache", "io", "copy_on_read", NULL };

static void drop(xmlNode *node)
{
	xmlUnlinkNode(node);
	xmlFreeNode(node);
}

static int drop_all(xmlDoc *doc, const char *path)
{
	xmlXPathObject *found = domain_find(doc, path);

	if (!found)
		return -1;
	/* From the end: what lies inside of another that is found comes after it. */
	for (int i = found->nodesetval ? found->nodesetval->nodeNr : 0; i-- > 0;) {
		xmlNode *node = found->nodesetval->nodeTab[i];

		if (node->type == XML_ATTRIBUTE_NODE)
			xmlRemoveProp((xmlAttr *)node);
		else
			drop(node);
		found->nodesetval->nodeTab[i] = NULL;
	}
	xmlXPathFreeObject(found);
	return 0;
}

/* The k-th node that is found, NULL: there are not so many. */
static xmlNode *nth(xmlDoc *doc, const char *path, int k)
{
	xmlXPathObject *found = domain_find(doc, path);
	xmlNode *node = found && found->nodesetval && k < found->nodesetval->nodeNr ? found->nodesetval->nodeTab[k] : NULL;

	xmlXPathFreeObject(found);
	return node;
}

static xmlNode *child(xmlNode *parent, const char *name)
{
	for (xmlNode *node = parent->children; node; node = node->next)
		if (node->type == XML_ELEMENT_NODE && !strcmp((const char *)node->name, name))
			return node;
	return NULL;
}

static xmlNode *child_made(xmlNode *parent, const char *name)
{
	xmlNode *node = child(parent, name);

	return node ? node : xmlNewChild(parent, NULL, BAD_CAST name, NULL);
}

static void set(xmlNode *node, const char *name, const char *value)
{
	xmlSetProp(node, BAD_CAST name, BAD_CAST value);
}

/* The one child of that name holds this text and nothing else. */
static xmlNode *set_text(xmlNode *parent, const char *name, const char *text)
{
	xmlNode *node = child(parent, name);

	if (node)
		drop(node);
	return xmlNewTextChild(parent, NULL, BAD_CAST name, BAD_CAST text);
}

static void empty(xmlNode *node)
{
	while (node->children)
		drop(node->children);
	while (node->properties)
		xmlRemoveProp(node->properties);
}

/* ---- what goes ---- */

static int leave_out(xmlDoc *doc, const struct domain_copy *c)
{
	for (size_t i = 0; gone[i]; i++)
		if (drop_all(doc, gone[i]))
			return -1;
	for (const struct domain_host_device *d = domain_host_devices; d->path && c->wishes.drop_host_devices; d++)
		if (drop_all(doc, d->path))
			return -1;
	return c->wishes.keep_network ? 0 : drop_all(doc, "/domain/devices/interface");
}

/* A character device that leads elsewhere: type pty or null, with what the guest sees of it. */
static void redirect(xmlNode *device, const char *type)
{
	static const char *const host_side[] = { "source", "protocol", "log" };

	for (size_t i = 0; i < sizeof(host_side) / sizeof(host_side[0]); i++) {
		xmlNode *node;

		while ((node = child(device, host_side[i])))
			drop(node);
	}
	xmlUnsetProp(device, BAD_CAST "tty");
	set(device, "type", type);
}

static void close_ways_out(xmlDoc *doc)
{
	static const char others[] = "/domain/devices/parallel|/domain/devices/channel[@type!='unix' and @type!='pty']";
	xmlNode *node;

	for (int i = 0; (node = nth(doc, others, i)); i++)
		redirect(node, "null");
	for (int i = 0; (node = nth(doc, "/domain/devices/audio", i)); i++) {
		xmlChar *id = xmlGetProp(node, BAD_CAST "id");

		empty(node);
		if (id)
			set(node, "id", (const char *)id);
		xmlFree(id);
		set(node, "type", "none");
	}
	/* qxl needs a spice display, which is gone */
	while ((node = nth(doc, "/domain/devices/video/model[@type='qxl']", 0))) {
		empty(node);
		set(node, "type", "vga");
	}
	for (int i = 0; (node = nth(doc, "/domain/devices/vsock/cid", i)); i++)
		set(node, "auto", "yes");
}

static void set_serials(xmlDoc *doc, xmlNode *devices)
{
	xmlNode *serial;
	int count = 0;

	for (; (serial = nth(doc, "/domain/devices/serial", count)); count++)
		redirect(serial, count < 2 ? "pty" : "null");
	for (; count < 2; count++) {
		bool taken = nth(doc, "/domain/devices/serial/target[@port='1']", 0) != NULL;

		domain_add_serial(devices, count && !taken ? 1 : 0);
	}
}

/* ---- files ---- */

static void move_disk(xmlNode *disk, const char *overlay)
{
	xmlNode *source = child_made(disk, "source"), *driver = child_made(disk, "driver"), *shareable;

	set(disk, "type", "file");
	empty(source);
	set(source, "file", overlay);
	for (size_t i = 0; moved[i]; i++)
		xmlUnsetProp(driver, BAD_CAST moved[i]);
	while ((shareable = child(disk, "shareable"))) /* nobody else knows the overlay, and libvirt would want it raw */
		drop(shareable);
	set(driver, "name", "qemu");
	set(driver, "type", "qcow2");
}

static void move_variables(xmlNode *os, const char *file)
{
	xmlNode *nvram = child_made(os, "nvram");
	xmlNode *source;

	while ((source = nvram->children))
		drop(source);
	xmlUnsetProp(nvram, BAD_CAST "type");
	xmlNodeAddContent(nvram, BAD_CAST file);
}

static int move_files(xmlDoc *doc, xmlNode *os, const struct domain_copy *c)
{
	int disks = 0;

	for (size_t i = 0; i < c->original->nfiles; i++) {
		xmlNode *disk;

		if (c->original->file[i].kind == DOMAIN_FILE_FIRMWARE) {
			move_variables(os, c->instead[i]);
			continue;
		}
		disk = nth(doc, DOMAIN_WRITTEN_DISKS, disks++);
		if (!disk)
			return -1;
		move_disk(disk, c->instead[i]);
	}
	return 0;
}

/* ---- the machine ---- */

static int set_size(xmlDoc *doc, xmlNode *root, const struct machine *m, struct error *e)
{
	static const char *const memory[] = { "/domain/memory", "/domain/currentMemory", "/domain/maxMemory",
					      "/domain/devices/memory", NULL };
	char number[16], pins[64];
	xmlNode *vcpu;

	if ((m->vcpus || m->memory) && nth(doc, "/domain/cpu/numa", 0))
		return error_set(e, STATUS_USAGE, "vcpus and memory cannot be changed: the domain parts them into NUMA cells of its own");
	for (size_t i = 0; m->memory && memory[i]; i++)
		drop_all(doc, memory[i]);
	if (m->memory)
		domain_add_memory(root, m);
	if (!m->vcpus)
		return 0;
	drop_all(doc, "/domain/vcpus|/domain/cpu/topology");
	snprintf(pins, sizeof(pins), "/domain/cputune/vcpupin[@vcpu>=%u]", m->vcpus);
	drop_all(doc, pins);
	snprintf(number, sizeof(number), "%u", m->vcpus);
	vcpu = set_text(root, "vcpu", number);
	set(vcpu, "placement", "static");
	return 0;
}

static void set_cpu(xmlDoc *doc, xmlNode *root, const struct domain_spec *spec)
{
	xmlNode *cpu = child(root, "cpu"), *host = nth(doc, "/domain/cpu[@mode='host-passthrough']", 0);

	if (spec->machine->cpu) {
		if (cpu)
			drop(cpu);
		domain_add_processors(root, spec);
	} else if (spec->accel == ACCEL_TCG && host) {
		set(host, "mode", "maximum");
		xmlUnsetProp(host, BAD_CAST "check");
		xmlUnsetProp(host, BAD_CAST "migratable");
	}
}

static void set_boot(xmlNode *os, const struct domain_spec *spec)
{
	xmlNode *type = child_made(os, "type"), *loader;

	if (spec->machine->type)
		set(type, "machine", spec->machine->type);
	if (spec->machine->firmware) {
		static const char *const own[] = { "loader", "nvram", "firmware" };
		xmlNode *node;

		for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
			while ((node = child(os, own[i])))
				drop(node);
		xmlUnsetProp(os, BAD_CAST "firmware");
		loader = set_text(os, "loader", spec->machine->firmware);
		set(loader, "readonly", "yes");
		set(loader, "type", "rom"); /* -bios */
	}
	if (spec->kernel)
		set_text(os, "kernel", spec->kernel);
	if (spec->initrd)
		set_text(os, "initrd", spec->initrd);
	if (spec->cmdline && *spec->cmdline)
		set_text(os, "cmdline", spec->cmdline);
}

/* The spec's pins take the place of the domain's. */
static void set_tuning(xmlDoc *doc, xmlNode *root, const struct domain_spec *spec)
{
	const struct settings *first = spec->ndisks ? spec->disk[0].settings : NULL;
	xmlNode *tune, *added, *pin;

	if (first && first->vcpupin)
		drop_all(doc, "/domain/cputune/vcpupin");
	if (first && first->emulatorpin)
		drop_all(doc, "/domain/cputune/emulatorpin");
	tune = child(root, "cputune");
	domain_add_tuning(root, spec);
	added = nth(doc, "/domain/cputune", tune ? 1 : 0);
	while (tune && added && (pin = added->children)) {
		xmlUnlinkNode(pin);
		xmlAddChild(tune, pin);
	}
	if (tune && added)
		drop(added);
}

/* ---- the test disks ---- */

static bool has_target(xmlDoc *doc, const char *target)
{
	char path[80];

	snprintf(path, sizeof(path), "/domain/devices/disk/target[@dev='%s']", target);
	return nth(doc, path, 0) != NULL;
}

static int add_disks(xmlDoc *doc, xmlNode *devices, const struct domain_spec *spec, struct error *e)
{
	struct domain_disk disk[DOMAIN_MAX_DISKS];
	char target[DOMAIN_TARGET_SIZE], path[80];
	struct domain_spec named = *spec;
	int letter = 'a';

	named.disk = disk;
	for (size_t k = 0; k < spec->ndisks; k++) {
		snprintf(path, sizeof(path), "/domain/devices/*/alias[@name='" DOMAIN_ALIAS "%zu']", k);
		if (nth(doc, path, 0))
			return error_set(e, STATUS_USAGE, "a device of the domain has the alias " DOMAIN_ALIAS "%zu, which the test disk has to "
					 "have", k);
		do
			snprintf(target, sizeof(target), "vd%c", letter++);
		while (has_target(doc, target) && letter <= 'z');
		if (has_target(doc, target))
			return error_set(e, STATUS_USAGE, "the domain has no name from vda to vdz left for the test disk");
		disk[k] = spec->disk[k];
		disk[k].target = target;
		domain_add_disk(devices, &named, k);
	}
	return 0;
}

/* ---- all of it ---- */

static int change(xmlDoc *doc, const struct domain_copy *c, const struct domain_spec *spec, struct error *e)
{
	xmlNode *root = xmlDocGetRootElement(doc), *os = child_made(root, "os"), *devices = child_made(root, "devices");
	struct machine machine = *spec->machine; /* pins and topology are for each vCPU that there is */
	struct domain_spec sized = *spec;
	xmlNs *qemu = xmlSearchNsByHref(doc, root, BAD_CAST DOMAIN_QEMU_NAMESPACE);

	if (!machine.vcpus)
		machine.vcpus = c->original->vcpus;
	sized.machine = &machine;
	if (leave_out(doc, c) || move_files(doc, os, c))
		return error_set(e, STATUS_HOST, "out of memory");
	close_ways_out(doc);
	set(root, "type", spec->accel == ACCEL_KVM ? "kvm" : "qemu");
	set_text(root, "name", spec->name);
	domain_add_owner(child_made(root, "metadata"), spec);
	if (set_size(doc, root, spec->machine, e))
		return -1;
	set_cpu(doc, root, &sized);
	set_boot(os, spec);
	domain_add_iothreads(root, spec);
	set_tuning(doc, root, &sized);
	set_text(root, "on_poweroff", "destroy");
	set_text(root, "on_reboot", "destroy");
	set_text(root, "on_crash", "destroy");
	if (spec->machine->emulator)
		set_text(devices, "emulator", spec->machine->emulator);
	set_serials(doc, devices);
	if (add_disks(doc, devices, spec, e))
		return -1;
	if (!qemu)
		qemu = xmlNewNs(root, BAD_CAST DOMAIN_QEMU_NAMESPACE, BAD_CAST "qemu");
	return qemu && !domain_add_qemu(root, qemu, spec) ? 0 : error_set(e, STATUS_HOST, "out of memory");
}

/* Blanks between elements go, so that all is indented alike. */
static void drop_blanks(xmlNode *node)
{
	for (xmlNode *at = node->children, *next; at; at = next) {
		next = at->next;
		if (at->type == XML_COMMENT_NODE || (at->type == XML_TEXT_NODE && xmlIsBlankNode(at) && (at->next || at->prev)))
			drop(at);
		else if (at->type == XML_ELEMENT_NODE)
			drop_blanks(at);
	}
}

int domain_copy_xml(const struct domain_copy *copy, const struct domain_spec *spec, struct text *xml, struct error *e)
{
	xmlDoc *doc;
	int status;

	if (domain_check(spec, e))
		return -1;
	doc = domain_parse(copy->xml);
	if (!doc || !xmlDocGetRootElement(doc)) {
		xmlFreeDoc(doc);
		return error_set(e, STATUS_USAGE, "this is no XML");
	}
	drop_blanks(xmlDocGetRootElement(doc));
	status = change(doc, copy, spec, e) || domain_write(doc, xml, e) ? -1 : 0;
	xmlFreeDoc(doc);
	return status;
}
