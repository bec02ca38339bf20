#include "host/session.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/command.h"
#include "host/leftovers.h"
#include "host/lock.h"
#include "host/overlay.h"

/* Guests that commands had started cost nothing to look for, and would disturb whoever measures. */
static int clear_exec(const struct session *s, struct error *e)
{
	struct hv *hv;
	int status;

	if (s->ops == &hypervisor_exec)
		return 0;
	if (hypervisor_exec.open(&hv, NULL, s->dirs.state, e))
		return -1;
	status = leftovers_destroy(&hypervisor_exec, hv, command_say, e) < 0 ? -1 : 0;
	hypervisor_exec.close(hv);
	return status;
}

int session_open(struct session *s, enum guest_driver driver, const char *uri, const char *what, struct error *e)
{
	char overlays[1100];

	*s = (struct session){ .driver = driver_get(driver, e), .lock = -1 };
	if (!s->driver)
		return -1;
	s->ops = s->driver->ops;
	if (dirs_find(&s->dirs, e))
		return -1;
	s->lock = lock_take(what, e);
	if (s->lock < 0)
		return -1;
	if (clear_exec(s, e) || s->ops->open(&s->hv, uri, s->dirs.state, e) || leftovers_destroy(s->ops, s->hv, command_say, e) < 0) {
		session_close(s);
		return -1;
	}
	snprintf(overlays, sizeof(overlays), "%s/overlays", s->dirs.state);
	overlay_sweep(overlays);
	return 0;
}

int session_connect(const struct session *s, const char *uri, struct hv **hv, struct error *e)
{
	if (s->ops->open(hv, uri, s->dirs.state, e))
		return error_context(e, "%s", uri);
	if (leftovers_destroy(s->ops, *hv, command_say, e) >= 0)
		return 0;
	s->ops->close(*hv);
	*hv = NULL;
	return error_context(e, "%s", uri);
}

void session_close(struct session *s)
{
	if (s->hv)
		s->ops->close(s->hv);
	if (s->lock >= 0)
		close(s->lock);
	s->hv = NULL;
	s->lock = -1;
}

int session_scenario(const struct dirs *d, const char *name, char *path, size_t room, struct error *e)
{
	snprintf(path, room, "%s", name);
	if (access(path, F_OK) == 0 || strchr(name, '/'))
		return 0; /* a path that does not exist is named by whoever opens it */
	for (size_t i = 0; i < 2; i++) {
		int n = snprintf(path, room, "%s/scenarios/%s%s", d->data, name, i ? ".ini" : "");

		if (n > 0 && (size_t)n < room && access(path, F_OK) == 0)
			return 0;
	}
	return error_set(e, STATUS_USAGE, "there is no scenario %s, neither here nor in %s/scenarios", name, d->data);
}
