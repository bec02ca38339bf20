/* What run, plan, doctor and clean need of the host before they begin. */
#ifndef KB_SESSION_H
#define KB_SESSION_H

#include "host/dirs.h"
#include "host/drivers.h"
#include "host/scenario.h"

struct session {
	struct dirs dirs;
	const struct driver *driver;
	const struct hv_ops *ops;
	struct hv *hv;
	int lock;
};

/*
 * Folders, the host's lock (what: told to whoever comes second), the connection of a driver; leftovers are removed, those
 * of commands (driver = exec), too.
 */
int session_open(struct session *s, enum guest_driver driver, const char *uri, const char *what, struct error *e);
/* One more connection, for a run on several hosts; leftovers there are removed. The caller closes it. */
int session_connect(const struct session *s, const char *uri, struct hv **hv, struct error *e);
void session_close(struct session *s);

/* The file behind a scenario's name: a path, or a file (without .ini, too) of the folder that comes with kickbench. */
int session_scenario(const struct dirs *d, const char *name, char *path, size_t room, struct error *e);

#endif
