/* The parts of a domain's XML that libvirt only hands on: what goes to QEMU past its own elements. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/domain.h"
#include "host/domain_names.h"

static void attribute(xmlNode *node, const char *name, const char *value)
{
	xmlNewProp(node, BAD_CAST name, BAD_CAST value);
}

/*
 * null-co, nbd, blkdebug and blklogwrites have no XML of their own that says all that we want: such a disk is an ordinary one
 * over a stand-in (the kernel, read only; nobody reads it), whose device is then given our own block node. Names, PCI order and
 * statistics stay usual.
 */
bool domain_has_own_node(const struct domain_disk *disk)
{
	const struct settings *s = disk->settings;

	return s->backend == BACKEND_NULL || s->backend == BACKEND_NBD || s->inject != INJECT_NONE ||
	       (disk->under && (disk->under->log || disk->under->rule));
}

/* ---- our own node, from below: each takes the one under it, and gives NULL when memory ran out ---- */

/* Every node on the way has to let discards through: the first that does not answers them with success. */
static const char *discard_word(const struct domain_disk *disk)
{
	return disk->under && disk->under->discard ? "unmap" : "ignore";
}

/* The test disk itself, opened as the cache setting asks; libvirt does the same for ordinary disks. */
static json_t *lowest_node(const struct domain_disk *disk)
{
	const struct settings *s = disk->settings;
	bool direct = s->cache == CACHE_NONE || s->cache == CACHE_DIRECTSYNC;
	bool readonly = disk->under && disk->under->readonly;

	if (s->backend == BACKEND_NULL)
		return json_pack("{s:s, s:I, s:I, s:b, s:b}", "driver", "null-co", "size", (json_int_t)s->size, "latency-ns",
				 (json_int_t)s->latency_ns, "read-zeroes", 1, "read-only", readonly);
	if (s->backend == BACKEND_NBD)
		return json_pack("{s:s, s:{s:s, s:s}, s:{s:b, s:b}, s:b, s:s}", "driver", "nbd", "server", "type", "unix", "path",
				 s->path, "cache", "direct", direct, "no-flush", s->cache == CACHE_UNSAFE, "read-only", readonly,
				 "discard", discard_word(disk));
	return json_pack("{s:s, s:s, s:s, s:{s:b, s:b}, s:b, s:s}", "driver", "file", "filename", disk->source, "aio",
			 disk_io_name(s->io), "cache", "direct", direct, "no-flush", s->cache == CACHE_UNSAFE, "read-only", readonly,
			 "discard", discard_word(disk));
}

/*
 * The log is for who reads it on this host when the guest is gone, also one that died: its head is written with each entry, and
 * nothing of it is flushed. It lies below what makes requests fail: it holds those that got through. Flushes that the cache
 * setting ignores do not get so far, as with an ordinary disk.
 */
static json_t *logged_node(const struct domain_disk *disk, json_t *below)
{
	const struct domain_under *u = disk->under;

	if (!below || !u || !u->log)
		return below;
	return json_pack("{s:s, s:o, s:{s:s, s:s, s:{s:b, s:b}}, s:{s:b}, s:s, s:i, s:i}", "driver", "blklogwrites", "file", below,
			 "log", "driver", "file", "filename", u->log, "cache", "direct", 0, "no-flush", 1, "cache", "no-flush",
			 disk->settings->cache == CACHE_UNSAFE, "discard", discard_word(disk), "log-sector-size",
			 (int)u->log_sector, "log-super-update-interval", 1);
}

static json_t *failing_node(const struct domain_disk *disk, json_t *below)
{
	const struct settings *s = disk->settings;
	const char *rule = disk->under ? disk->under->rule : NULL;
	json_t *rules;

	if (!below || (s->inject == INJECT_NONE && !rule))
		return below;
	rules = json_array();
	if (s->inject != INJECT_NONE)
		json_array_append_new(rules, json_pack("{s:s, s:s, s:i, s:I, s:b, s:b}", "event", "none", "iotype",
						       s->inject == INJECT_READ ? "read" : "write", "errno", 5, "sector",
						       (json_int_t)s->inject_sector, "once", 0, "immediately", 0));
	if (rule)
		json_array_append_new(rules, json_loads(rule, 0, NULL));
	return json_pack("{s:s, s:o, s:o, s:b, s:s}", "driver", "blkdebug", "image", below, "inject-error", rules, "read-only",
			 disk->under && disk->under->readonly, "discard", discard_word(disk));
}

/* The uppermost has the name. */
static json_t *own_node(const struct domain_disk *disk, size_t k)
{
	json_t *node = failing_node(disk, logged_node(disk, lowest_node(disk)));
	char name[48];

	snprintf(name, sizeof(name), DOMAIN_NODE "%zu", k);
	if (node && json_object_set_new(node, "node-name", json_string(name)) == 0)
		return node;
	json_decref(node);
	return NULL;
}

static void add_argument(xmlNode *commandline, const char *word)
{
	attribute(xmlNewChild(commandline, commandline->ns, BAD_CAST "arg", NULL), "value", word);
}

/*
 * All transports of a machine on virtio-mmio: modern ones (QEMU's default is legacy, without VERSION_1 and packed), with the
 * ioeventfd that is a property of the device on PCI. What the scenario adds comes behind it and counts.
 */
static void add_transports(xmlNode *commandline, const struct domain_spec *spec)
{
	enum toggle ioeventfd = spec->ndisks ? spec->disk[0].settings->ioeventfd : TOGGLE_UNSET;

	if (!machine_is_mmio(spec->machine))
		return;
	add_argument(commandline, "-global");
	add_argument(commandline, "virtio-mmio.force-legacy=false");
	if (ioeventfd == TOGGLE_UNSET)
		return;
	add_argument(commandline, "-global");
	add_argument(commandline, ioeventfd == TOGGLE_ON ? "virtio-mmio.ioeventfd=on" : "virtio-mmio.ioeventfd=off");
}

/* What goes to the emulator's command line: our own nodes, and what the scenario adds. */
static int add_commandline(xmlNode *root, xmlNs *qemu, const struct domain_spec *spec)
{
	xmlNode *commandline = xmlNewNode(qemu, BAD_CAST "commandline");
	char **words = NULL;
	size_t count = 0;

	add_transports(commandline, spec);
	for (size_t k = 0; k < spec->ndisks; k++) {
		bool own = domain_has_own_node(&spec->disk[k]);
		json_t *json = own ? own_node(&spec->disk[k], k) : NULL;
		char *node = json ? json_dumps(json, JSON_COMPACT) : NULL;

		json_decref(json);
		if (node) {
			add_argument(commandline, "-blockdev");
			add_argument(commandline, node);
		}
		free(node);
		if (!node && own) {
			xmlFreeNode(commandline);
			return -1;
		}
	}
	if (spec->machine->qemu_args && machine_words(spec->machine->qemu_args, &words, &count)) {
		xmlFreeNode(commandline);
		return -1;
	}
	for (size_t i = 0; i < count; i++)
		add_argument(commandline, words[i]);
	free(words);
	if (commandline->children)
		xmlAddChild(root, commandline);
	else
		xmlFreeNode(commandline);
	return 0;
}

static void add_property(xmlNode *frontend, const char *name, const char *type, const char *value)
{
	xmlNode *node = xmlNewChild(frontend, frontend->ns, BAD_CAST "property", NULL);

	attribute(node, "name", name);
	attribute(node, "type", type);
	attribute(node, "value", value);
}

static bool sets(const struct machine *m, const char *property)
{
	for (size_t i = 0; i < m->nproperties; i++)
		if (!strcmp(m->property[i].name, property))
			return true;
	return false;
}

/* What a disk's device gets over what libvirt writes: our own node, and the scenario's properties. */
static void add_overrides(xmlNode *root, xmlNs *qemu, const struct domain_spec *spec)
{
	static const char *const types[] = { "string", "bool", "signed", "unsigned" };
	const struct machine *m = spec->machine;
	xmlNode *override = NULL;

	for (size_t k = 0; k < spec->ndisks; k++) {
		const struct settings *s = spec->disk[k].settings;
		bool node = domain_has_own_node(&spec->disk[k]), through = s->cache == CACHE_WRITETHROUGH || s->cache == CACHE_DIRECTSYNC;
		xmlNode *device, *frontend;
		char name[48];

		if (!node && !m->nproperties)
			continue;
		if (!override)
			override = xmlNewChild(root, qemu, BAD_CAST "override", NULL);
		device = xmlNewChild(override, qemu, BAD_CAST "device", NULL);
		snprintf(name, sizeof(name), DOMAIN_ALIAS "%zu", k);
		attribute(device, "alias", name);
		frontend = xmlNewChild(device, qemu, BAD_CAST "frontend", NULL);
		snprintf(name, sizeof(name), DOMAIN_NODE "%zu", k);
		if (node)
			add_property(frontend, "drive", "string", name);
		if (node && !sets(m, "write-cache")) /* libvirt does so for ordinary disks, from the cache mode that the stand-in lacks */
			add_property(frontend, "write-cache", "string", through ? "off" : "on");
		for (size_t i = 0; i < m->nproperties; i++) {
			struct text value = { 0 };
			enum property_type type = machine_property_type(m->property[i].value, &value);

			add_property(frontend, m->property[i].name, types[type], text_get(&value));
			text_free(&value);
		}
	}
}

int domain_add_qemu(xmlNode *root, xmlNs *qemu, const struct domain_spec *spec)
{
	if (add_commandline(root, qemu, spec))
		return -1;
	add_overrides(root, qemu, spec);
	return 0;
}
