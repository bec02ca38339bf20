/* What events ask of the emulator. */
#include <stdlib.h>
#include <string.h>

#include "host/event_private.h"

int event_qmp(struct boot *b, json_t *command, json_t **reply, struct error *e)
{
	char *text = command ? json_dumps(command, JSON_COMPACT) : NULL;
	struct text answer = { 0 };
	json_t *document;
	int status = -1;

	if (reply)
		*reply = NULL;
	if (!text)
		error_set(e, STATUS_HOST, "out of memory");
	else if (!b->ops->qmp)
		error_set(e, STATUS_HOST, "the emulator's monitor cannot be reached");
	else
		status = b->ops->qmp(b->guest, text, &answer, e);
	if (!status && reply) {
		document = json_loads(text_get(&answer), 0, NULL);
		*reply = json_incref(json_object_get(document, "return"));
		json_decref(document);
		if (!*reply)
			status = error_set(e, STATUS_HOST, "the emulator's answer cannot be understood");
	}
	text_free(&answer);
	free(text);
	json_decref(command);
	return status;
}

int event_qom_get(struct boot *b, const char *path, const char *property, json_t **value, struct error *e)
{
	return event_qmp(b, json_pack("{s:s,s:{s:s,s:s}}", "execute", "qom-get", "arguments", "path", path, "property", property), value, e);
}

/* A device is told by its id where it has one, else by its path. */
static bool is_device(const char *told, const char *path)
{
	return told && (!strcmp(told, path) || !strcmp(told, strrchr(path, '/') + 1));
}

/* libvirt does not find the statistics of a disk on virtio-mmio. */
int event_completed(struct boot *b, uint64_t *requests, struct error *e)
{
	json_t *all, *one, *stats = NULL;
	struct text path = { 0 };
	size_t i;

	if (event_qmp(b, json_pack("{s:s}", "execute", "query-blockstats"), &all, e))
		return -1;
	domain_virtio_path(b->request.machine, 0, &path);
	json_array_foreach(all, i, one)
		if (is_device(json_string_value(json_object_get(one, "qdev")), text_get(&path)))
			stats = json_object_get(one, "stats");
	*requests = (uint64_t)json_integer_value(json_object_get(stats, "rd_operations")) +
		    (uint64_t)json_integer_value(json_object_get(stats, "wr_operations"));
	if (!stats)
		error_set(e, STATUS_HOST, "the emulator has no statistics of %s", text_get(&path));
	text_free(&path);
	json_decref(all);
	return e->status ? -1 : 0;
}
