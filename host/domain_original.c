#include "host/domain_original.h"

#include <libxml/xpathInternals.h>
#include <stdlib.h>
#include <string.h>

#include "guest/text.h"
#include "host/domain_names.h"

/*
 * Devices that belong to the host: while the copy had them the original could not, and folders and memory that are shared
 * would be written to. detail: of each that is found, for the message.
 */
const struct domain_host_device domain_host_devices[] = {
	{ "/domain/devices/hostdev", "hostdev", "type" },
	{ "/domain/devices/interface[@type='hostdev' or @type='vdpa']", "interface", "type" },
	{ "/domain/devices/disk[@device='lun' or @type='nvme' or @type='vhostuser' or @type='vhostvdpa']", "disk", "device" },
	{ "/domain/devices/tpm[backend/@type='passthrough']", "tpm passthrough", NULL },
	{ "/domain/devices/input[@type='passthrough' or @type='evdev']", "input", "type" },
	{ "/domain/devices/smartcard[starts-with(@mode,'host')]", "smartcard", "mode" },
	{ "/domain/devices/filesystem", "filesystem", "type" },
	{ "/domain/devices/shmem", "shmem", "name" },
	{ "/domain/devices/memory[@model='nvdimm' or @model='virtio-pmem']", "memory", "model" },
	{ "/domain/devices/lease", "lease", NULL },
	{ "/domain/qemu:commandline[qemu:arg[" DOMAIN_ARGUMENT("-drive") " or " DOMAIN_ARGUMENT("-blockdev") " or "
	  DOMAIN_ARGUMENT("-hd") " or " DOMAIN_ARGUMENT("-sd") " or " DOMAIN_ARGUMENT("-mtdblock") " or "
	  DOMAIN_ARGUMENT("-pflash") " or " DOMAIN_ARGUMENT("-net") " or " DOMAIN_ARGUMENT("-nic") " or "
	  DOMAIN_ARGUMENT("-chardev") " or " DOMAIN_ARGUMENT("-serial") " or " DOMAIN_ARGUMENT("-fsdev") " or "
	  DOMAIN_ARGUMENT("-virtfs") " or contains(@value,'vfio') or contains(@value,'usb-host')]]",
	  "qemu:commandline", NULL },
	{ NULL, NULL, NULL },
};

xmlXPathObject *domain_find(xmlDoc *doc, const char *path)
{
	xmlXPathContext *context = xmlXPathNewContext(doc);
	xmlXPathObject *found;

	if (!context)
		return NULL;
	xmlXPathRegisterNs(context, BAD_CAST "kb", BAD_CAST DOMAIN_NAMESPACE);
	xmlXPathRegisterNs(context, BAD_CAST "qemu", BAD_CAST DOMAIN_QEMU_NAMESPACE);
	found = xmlXPathEvalExpression(BAD_CAST path, context);
	xmlXPathFreeContext(context);
	return found;
}

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(word, *list))
			return true;
	return false;
}

static int check_kind(xmlDoc *doc, struct error *e)
{
	static const char *const types[] = { "qemu", "kvm", NULL }, *const machines[] = { "x86_64", "i686", NULL };
	xmlNode *root = xmlDocGetRootElement(doc);
	char *type = domain_lookup(doc, "string(/domain/@type)"), *arch = domain_lookup(doc, "string(/domain/os/type/@arch)");
	char *os = domain_lookup(doc, "string(/domain/os/type)");

	if (!root || strcmp((const char *)root->name, "domain"))
		error_set(e, STATUS_USAGE, "this is no domain: its root element is <%s>", root ? (const char *)root->name : "");
	else if (!type || !is_one_of(type, types))
		error_set(e, STATUS_USAGE, "it is of type %s: only qemu and kvm can be run", type ? type : "(none)");
	else if (os && strcmp(os, "hvm"))
		error_set(e, STATUS_USAGE, "it runs %s: only whole machines (hvm) can be run", os);
	else if (arch && !is_one_of(arch, machines))
		error_set(e, STATUS_USAGE, "it is for %s: only x86_64 and i686 can be run", arch);
	free(type);
	free(arch);
	free(os);
	return e->status ? -1 : 0;
}

static int check_host_devices(xmlDoc *doc, const struct domain_wishes *wishes, struct error *e)
{
	struct text list = { 0 };

	for (const struct domain_host_device *d = domain_host_devices; d->path && !wishes->drop_host_devices; d++) {
		xmlXPathObject *found = domain_find(doc, d->path);

		if (!strcmp(d->name, "interface") && !wishes->keep_network) {
			xmlXPathFreeObject(found);
			continue; /* it goes anyway */
		}
		for (int i = 0; found && found->nodesetval && i < found->nodesetval->nodeNr; i++) {
			xmlChar *detail = d->detail ? xmlGetProp(found->nodesetval->nodeTab[i], BAD_CAST d->detail) : NULL;

			text_add(&list, "%s%s%s%s%s", list.length ? ", " : "", d->name, detail ? " (" : "",
				 detail ? (const char *)detail : "", detail ? ")" : "");
			xmlFree(detail);
		}
		xmlXPathFreeObject(found);
	}
	if (list.length)
		error_set(e, STATUS_USAGE, "it has devices of the host, which a copy cannot share: %s (host_devices = drop leaves them "
			  "out)", text_get(&list));
	text_free(&list);
	return e->status ? -1 : 0;
}

static struct domain_file *add_file(struct domain_original *o, enum domain_file_kind kind)
{
	struct domain_file *grown = realloc(o->file, (o->nfiles + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	o->file = grown;
	o->file[o->nfiles] = (struct domain_file){ .kind = kind };
	return &o->file[o->nfiles++];
}

static char *copy_of(xmlChar *s)
{
	char *copy = s ? strdup((const char *)s) : NULL;

	xmlFree(s);
	return copy;
}

static xmlNode *child(xmlNode *node, const char *name)
{
	for (node = node ? node->children : NULL; node; node = node->next)
		if (node->type == XML_ELEMENT_NODE && !strcmp((const char *)node->name, name))
			return node;
	return NULL;
}

static char *property(xmlNode *node, const char *name)
{
	return node ? copy_of(xmlGetProp(node, BAD_CAST name)) : NULL;
}

static int take_disk(xmlNode *disk, struct domain_original *o, struct error *e)
{
	xmlNode *source = child(disk, "source");
	struct domain_file *f = add_file(o, DOMAIN_FILE_DISK);
	char *type = property(disk, "type");

	if (!f || !type) {
		free(type);
		return error_set(e, STATUS_HOST, "out of memory");
	}
	f->target = property(child(disk, "target"), "dev");
	f->format = property(child(disk, "driver"), "type");
	if (!f->format)
		f->format = strdup("raw"); /* so libvirt takes it */
	if (!strcmp(type, "file"))
		f->path = property(source, "file");
	else if (!strcmp(type, "block"))
		f->path = property(source, "dev");
	else
		error_set(e, STATUS_USAGE, "its disk %s is of type %s: a throw-away overlay can be laid over a file or a block device only",
			  f->target ? f->target : "?", type);
	free(type);
	if (e->status)
		return -1;
	if (child(disk, "encryption") || child(source, "encryption"))
		return error_set(e, STATUS_USAGE, "its disk %s is encrypted: over that no overlay can be laid",
				 f->target ? f->target : "?");
	if (!f->path || *f->path != '/')
		return error_set(e, STATUS_USAGE, "its disk %s has %s", f->target ? f->target : "?",
				 f->path ? "a path that is not absolute" : "no file");
	return f->format && f->target ? 0 : error_set(e, STATUS_USAGE, "a disk of it has no target");
}

static int take_disks(xmlDoc *doc, struct domain_original *o, struct error *e)
{
	xmlXPathObject *found = domain_find(doc, DOMAIN_WRITTEN_DISKS);
	int status = found ? 0 : error_set(e, STATUS_HOST, "out of memory");

	for (int i = 0; !status && found->nodesetval && i < found->nodesetval->nodeNr; i++)
		status = take_disk(found->nodesetval->nodeTab[i], o, e);
	xmlXPathFreeObject(found);
	return status;
}

static int take_firmware(xmlDoc *doc, struct domain_original *o, struct error *e)
{
	char *here = domain_lookup(doc, "string(" DOMAIN_KEEPS_VARIABLES ")");
	char *other = domain_lookup(doc, "string(/domain/os/nvram[@type!='file']/@type)");
	char *written = domain_lookup(doc, "string(/domain/os/loader[@type='pflash' and @readonly='no'])");
	struct domain_file *f;

	if (written)
		error_set(e, STATUS_USAGE, "its firmware %s is a file that the guest writes to: keep its variables in a file of their own "
			  "(nvram)", written);
	free(written);
	if (other)
		error_set(e, STATUS_USAGE, "the variables of its firmware lie in no file of this host (nvram of type %s)", other);
	free(other);
	if (!here || strcmp(here, "true")) {
		free(here);
		return e->status ? -1 : 0;
	}
	free(here);
	f = add_file(o, DOMAIN_FILE_FIRMWARE);
	if (!f)
		return error_set(e, STATUS_HOST, "out of memory");
	f->path = domain_lookup(doc, "normalize-space(concat(/domain/os/nvram/source/@file, /domain/os/nvram[not(source)]))");
	f->target = strdup("nvram");
	if (!f->target)
		return error_set(e, STATUS_HOST, "out of memory");
	return e->status ? -1 : 0;
}

/* libvirt's units; without one it is KiB. 0: none of them, or too much. */
static uint64_t memory_bytes(const char *text, const char *unit)
{
	static const struct { const char *name; uint64_t bytes; } units[] = {
		{ "b", 1 }, { "bytes", 1 }, { "KB", 1000 }, { "k", 1024 }, { "KiB", 1024 }, { "MB", 1000000 }, { "M", 1 << 20 },
		{ "MiB", 1 << 20 }, { "GB", 1000000000 }, { "G", 1 << 30 }, { "GiB", 1 << 30 }, { "TB", 1000000000000 },
		{ "T", (uint64_t)1 << 40 }, { "TiB", (uint64_t)1 << 40 },
	};
	char *end;
	unsigned long long n = text ? strtoull(text, &end, 10) : 0;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit ? unit : "KiB", units[i].name))
			return n > UINT64_MAX / units[i].bytes ? 0 : n * units[i].bytes;
	return 0;
}

static int take_rest(xmlDoc *doc, struct domain_original *o, struct error *e)
{
	char *type = domain_lookup(doc, "string(/domain/@type)"), *memory = domain_lookup(doc, "normalize-space(/domain/memory)");
	char *unit = domain_lookup(doc, "string(/domain/memory/@unit)");
	char *current = domain_lookup(doc, "string(/domain/vcpu/@current)");
	char *vcpus = domain_lookup(doc, "normalize-space(/domain/vcpu)"), *mode;

	o->name = domain_lookup(doc, "string(/domain/name)");
	o->emulator = domain_lookup(doc, "normalize-space(/domain/devices/emulator)");
	o->kernel = domain_lookup(doc, "normalize-space(/domain/os/kernel)");
	o->initrd = domain_lookup(doc, "normalize-space(/domain/os/initrd)");
	o->cmdline = domain_lookup(doc, "string(/domain/os/cmdline)");
	o->cpu = domain_lookup(doc, "normalize-space(/domain/cpu/model)");
	mode = o->cpu ? NULL : domain_lookup(doc, "string(/domain/cpu/@mode)");
	if (!o->cpu)
		o->cpu = mode ? mode : strdup("the emulator's");
	o->emulated = type && !strcmp(type, "qemu");
	o->memory = memory_bytes(memory, unit);
	o->vcpus = current ? (unsigned)atoi(current) : vcpus ? (unsigned)atoi(vcpus) : 1;
	free(type);
	free(memory);
	free(unit);
	free(vcpus);
	free(current);
	if (!o->name)
		return error_set(e, STATUS_USAGE, "it has no name");
	if (!o->memory)
		return error_set(e, STATUS_USAGE, "it does not say how much memory it has");
	return o->vcpus && o->cpu ? 0 : error_set(e, STATUS_USAGE, "it has no virtual CPU");
}

int domain_original_read(const char *xml, const struct domain_wishes *wishes, struct domain_original *out, struct error *e)
{
	xmlDoc *doc = domain_parse(xml);
	int status = -1;

	*out = (struct domain_original){ 0 };
	if (!doc)
		error_set(e, STATUS_USAGE, "this is no XML");
	else if (!check_kind(doc, e) && !check_host_devices(doc, wishes, e))
		status = take_rest(doc, out, e) || take_disks(doc, out, e) || take_firmware(doc, out, e) ? -1 : 0;
	if (status)
		domain_original_free(out);
	xmlFreeDoc(doc);
	return status;
}

void domain_original_free(struct domain_original *o)
{
	for (size_t i = 0; i < o->nfiles; i++) {
		free(o->file[i].path);
		free(o->file[i].format);
		free(o->file[i].target);
	}
	free(o->file);
	free(o->name);
	free(o->cpu);
	free(o->emulator);
	free(o->kernel);
	free(o->initrd);
	free(o->cmdline);
	*o = (struct domain_original){ 0 };
}
