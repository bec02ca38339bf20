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
 * null-co and blkdebug have no XML: such a disk is an ordinary one over a stand-in (the kernel, read only;
 * nobody reads it), whose device is then given our own block node. Names, PCI order and statistics stay usual.
 */
bool domain_has_own_node(const struct settings *s)
{
	return s->backend == BACKEND_NULL || s->inject != INJECT_NONE;
}

/* The file below blkdebug, opened as the cache setting asks; libvirt does the same for ordinary disks. */
static json_t *file_node(const struct settings *s, const char *source)
{
	bool direct = s->cache == CACHE_NONE || s->cache == CACHE_DIRECTSYNC;
	const char *aio = s->io == IO_NATIVE ? "native" : s->io == IO_URING ? "io_uring" : "threads";

	return json_pack("{s:s, s:s, s:s, s:{s:b, s:b}}", "driver", "file", "filename", source, "aio", aio, "cache",
			 "direct", direct, "no-flush", s->cache == CACHE_UNSAFE);
}

static json_t *own_node(const struct domain_spec *spec, size_t k)
{
	const struct settings *s = spec->disk[k].settings;
	char name[48];
	json_t *node, *below;

	snprintf(name, sizeof(name), DOMAIN_NODE "%zu", k);
	if (s->backend == BACKEND_NULL)
		node = json_pack("{s:s, s:s, s:I, s:I, s:b}", "driver", "null-co", "node-name", name, "size",
				 (json_int_t)s->size, "latency-ns", (json_int_t)s->latency_ns, "read-zeroes", 1);
	else
		node = NULL;
	if (s->inject == INJECT_NONE)
		return node;
	if (node)
		json_object_del(node, "node-name"); /* it belongs to the uppermost node */
	below = node ? node : file_node(s, spec->disk[k].source);
	return json_pack("{s:s, s:s, s:o, s:[{s:s, s:s, s:i, s:I, s:b, s:b}]}", "driver", "blkdebug", "node-name", name,
			 "image", below, "inject-error", "event", "none", "iotype",
			 s->inject == INJECT_READ ? "read" : "write", "errno", 5, "sector",
			 (json_int_t)s->inject_sector, "once", 0, "immediately", 0);
}

static void add_argument(xmlNode *commandline, const char *word)
{
	attribute(xmlNewChild(commandline, commandline->ns, BAD_CAST "arg", NULL), "value", word);
}

/* What goes to the emulator's command line: our own nodes, and what the scenario adds. */
static int add_commandline(xmlNode *root, xmlNs *qemu, const struct domain_spec *spec)
{
	xmlNode *commandline = xmlNewNode(qemu, BAD_CAST "commandline");
	char **words = NULL;
	size_t count = 0;

	for (size_t k = 0; k < spec->ndisks; k++) {
		json_t *json = domain_has_own_node(spec->disk[k].settings) ? own_node(spec, k) : NULL;
		char *node = json ? json_dumps(json, JSON_COMPACT) : NULL;

		json_decref(json);
		if (node) {
			add_argument(commandline, "-blockdev");
			add_argument(commandline, node);
		}
		free(node);
		if (!node && domain_has_own_node(spec->disk[k].settings)) {
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

/* What a disk's device gets over what libvirt writes: our own node, and the scenario's properties. */
static void add_overrides(xmlNode *root, xmlNs *qemu, const struct domain_spec *spec)
{
	static const char *const types[] = { "string", "bool", "signed", "unsigned" };
	const struct machine *m = spec->machine;
	xmlNode *override = NULL;

	for (size_t k = 0; k < spec->ndisks; k++) {
		bool node = domain_has_own_node(spec->disk[k].settings);
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
