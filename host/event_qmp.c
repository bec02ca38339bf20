/* What events ask of the emulator. */
#include <stdlib.h>

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

int event_completed(struct boot *b, uint64_t *requests, struct error *e)
{
	struct hv_block stats = { 0 };

	if (b->ops->block(b->guest, 0, &stats, e))
		return -1;
	*requests = stats.rd_reqs + stats.wr_reqs;
	return 0;
}
