#include "host/event_plug.h"

#include <stdio.h>
#include <string.h>

#include "host/clock.h"
#include "host/event_private.h"

#define NODE_AGAIN "kb-again0"
#define FREED_S 10.0
#define LIBVIRTS "libvirt-" /* its block nodes: they go with their device */

/* What makes one virtio disk another than the next; those that a device or a build does not have are left out. */
static const char *const properties[] = {
	"addr", "config-wce", "disable-legacy", "disable-modern", "discard", "event_idx", "indirect_desc", "ioeventfd", "iommu_platform",
	"iothread", "logical_block_size", "max-discard-sectors", "max-write-zeroes-sectors", "modern-pio-notify", "num-queues", "packed",
	"page-per-vq", "physical_block_size", "queue-size", "request-merging", "rerror", "seg-max-adjust", "serial", "share-rw", "vectors",
	"werror", "write-cache", "write-zeroes",
};

static const char *behind_last_slash(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

json_t *event_plug_arguments(const char *type, const char *id, const char *bus, const char *node, const json_t *found)
{
	json_t *arguments = json_pack("{s:s,s:s,s:s,s:s}", "driver", type, "id", id, "bus", bus, "drive", node), *value;
	const char *name;

	json_object_foreach((json_t *)found, name, value) {
		const char *text = json_string_value(value);

		if (text && !*text)
			continue; /* unset, as a device without an iothread has it */
		/* Place on the bus: told as a number, set as slot and function. */
		if (!strcmp(name, "addr") && json_is_integer(value)) {
			char addr[16];

			snprintf(addr, sizeof(addr), "%x.%x", (unsigned)json_integer_value(value) >> 3, (unsigned)json_integer_value(value) & 7);
			json_object_set_new(arguments, name, json_string(addr));
			continue;
		}
		/* A link is told as the path of what it leads to, and is set by that one's name. */
		if (text && !strcmp(name, "iothread"))
			json_object_set_new(arguments, name, json_string(behind_last_slash(text)));
		else
			json_object_set(arguments, name, value);
	}
	return arguments;
}

int event_plug_node(struct boot *b, char *name, size_t room, struct error *e)
{
	struct text path = { 0 };
	json_t *value;
	int status;

	domain_virtio_path(b->request.machine, 0, &path);
	status = event_qom_get(b, text_get(&path), "drive", &value, e);
	text_free(&path);
	if (status)
		return -1;
	snprintf(name, room, "%s", json_string_value(value) ?: "");
	json_decref(value);
	return *name ? 0 : error_set(e, STATUS_HOST, "the disk's block node has no name");
}

/* A second node over the file of `node`, with its cache mode; it takes no lock until a device has it. */
static int open_again(struct boot *b, const char *node, struct error *e)
{
	json_t *nodes, *one, *found = NULL, *cache, *options;
	bool direct, no_flush;
	size_t i;
	int status;

	if (event_qmp(b, json_pack("{s:s,s:{s:b}}", "execute", "query-named-block-nodes", "arguments", "flat", 1), &nodes, e))
		return -1;
	json_array_foreach(nodes, i, one)
		if (!strcmp(json_string_value(json_object_get(one, "node-name")) ?: "", node))
			found = one;
	if (!found) {
		json_decref(nodes);
		return error_set(e, STATUS_HOST, "the emulator has no block node %s", node);
	}
	cache = json_object_get(found, "cache");
	direct = json_is_true(json_object_get(cache, "direct"));
	no_flush = json_is_true(json_object_get(cache, "no-flush"));
	options = json_pack("{s:s,s:s,s:b,s:{s:b,s:b},s:{s:s,s:s,s:{s:b,s:b}}}", "driver", "raw", "node-name", NODE_AGAIN, "read-only",
			    json_is_true(json_object_get(found, "ro")), "cache", "direct", direct, "no-flush", no_flush, "file", "driver",
			    "file", "filename", json_string_value(json_object_get(found, "file")) ?: "", "cache", "direct", direct,
			    "no-flush", no_flush);
	status = event_qmp(b, json_pack("{s:s,s:o}", "execute", "blockdev-add", "arguments", options), NULL, e);
	json_decref(nodes);
	return status;
}

static json_t *collect(struct boot *b, const char *path)
{
	json_t *found = json_object(), *value;

	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
		if (!event_qom_get(b, path, properties[i], &value, &(struct error){ 0 }))
			json_object_set_new(found, properties[i], value);
	return found;
}

int event_plug_look(struct boot *b, struct event_plug *plug, struct error *e)
{
	struct text path = { 0 };
	json_t *type = NULL, *bus = NULL, *found = NULL;
	int status = -1;

	*plug = (struct event_plug){ .device = NULL };
	domain_qom_path(0, &path);
	if (event_plug_node(b, plug->node, sizeof(plug->node), e) || event_qom_get(b, text_get(&path), "type", &type, e) ||
	    event_qom_get(b, text_get(&path), "parent_bus", &bus, e))
		goto out;
	if (!strncmp(plug->node, LIBVIRTS, strlen(LIBVIRTS))) {
		if (open_again(b, plug->node, e))
			goto out;
		snprintf(plug->node, sizeof(plug->node), NODE_AGAIN);
	}
	found = collect(b, text_get(&path));
	plug->device = event_plug_arguments(json_string_value(type), behind_last_slash(text_get(&path)),
					    behind_last_slash(json_string_value(bus)), plug->node, found);
	status = plug->device ? 0 : error_set(e, STATUS_HOST, "out of memory");
out:
	json_decref(found);
	json_decref(type);
	json_decref(bus);
	text_free(&path);
	return status;
}

void event_plug_free(struct event_plug *plug)
{
	json_decref(plug->device);
	plug->device = NULL;
}

int event_plug_out(struct boot *b, struct error *e)
{
	struct text path = { 0 };
	int status;

	domain_qom_path(0, &path);
	status = event_qmp(b, json_pack("{s:s,s:{s:s}}", "execute", "device_del", "arguments", "id", text_get(&path)), NULL, e);
	text_free(&path);
	return status;
}

static int is_there(struct boot *b, bool *there, struct error *e)
{
	json_t *list, *one;
	struct text path = { 0 };
	size_t i;

	*there = false;
	if (event_qmp(b, json_pack("{s:s,s:{s:s}}", "execute", "qom-list", "arguments", "path", "/machine/peripheral"), &list, e))
		return -1;
	domain_qom_path(0, &path);
	json_array_foreach(list, i, one)
		*there |= !strcmp(json_string_value(json_object_get(one, "name")) ?: "", behind_last_slash(text_get(&path)));
	text_free(&path);
	json_decref(list);
	return 0;
}

int event_plug_await_out(struct boot *b, double timeout, struct error *e)
{
	double end = clock_s() + timeout;
	struct text console = { 0 };
	bool there = true;
	int status;

	while ((status = is_there(b, &there, e)) == 0 && there && clock_s() < end && !status)
		status = link_listen(&b->link, 100, &console, e);
	text_free(&console);
	if (status)
		return -1;
	return there ? error_set(e, STATUS_INCOMPLETE, "the guest has not let go of the disk within %.0f s", timeout) : 0;
}

/* What is out of the tree may still hold its node for a moment. */
int event_plug_in(struct boot *b, const struct event_plug *plug, struct error *e)
{
	double end = clock_s() + FREED_S;
	struct text console = { 0 };
	int status;

	while ((status = event_qmp(b, json_pack("{s:s,s:O}", "execute", "device_add", "arguments", plug->device), NULL, e)) &&
	       clock_s() < end) {
		error_clear(e);
		if (link_listen(&b->link, 100, &console, e))
			break;
	}
	text_free(&console);
	return status;
}
