#include "host/leftovers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "host/process.h"

#define HOST_SIZE 128

struct found {
	const struct hv_ops *ops;
	char **name;
	size_t count;
	bool failed;
};

static void look(void *context, const char *name, const char *xml)
{
	struct found *f = context;
	char host[HOST_SIZE], **grown;
	struct utsname here = { 0 };
	uint64_t started;
	long pid;

	uname(&here);
	if (f->ops->owner(xml, host, sizeof(host), &pid, &started) || process_lives((pid_t)pid, started))
		return;
	if (*host && strcmp(host, here.nodename)) /* a shared hypervisor: who lives there cannot be told here */
		return;
	grown = realloc(f->name, (f->count + 1) * sizeof(*grown));
	if (!grown) {
		f->failed = true;
		return;
	}
	f->name = grown;
	f->name[f->count] = strdup(name);
	if (f->name[f->count])
		f->count++;
	else
		f->failed = true;
}

int leftovers_destroy(const struct hv_ops *ops, struct hv *hv, void (*say)(const char *line), struct error *e)
{
	struct found f = { .ops = ops };
	int destroyed = 0;

	if (ops->each(hv, look, &f, e) || f.failed)
		error_set(e, STATUS_HOST, "cannot look for leftover guests");
	for (size_t i = 0; i < f.count; i++) {
		char line[256];

		if (!e->status && ops->destroy_by_name(hv, f.name[i], e) == 0) {
			destroyed++;
			snprintf(line, sizeof(line), "removed the guest %s, left behind by a kickbench that was killed", f.name[i]);
			if (say)
				say(line);
		}
		free(f.name[i]);
	}
	free(f.name);
	return e->status ? -1 : destroyed;
}
