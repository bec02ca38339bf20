/* Taking the test disk's device out of a running guest, and putting an equal one in, by QMP. */
#ifndef KB_EVENT_PLUG_H
#define KB_EVENT_PLUG_H

#include <jansson.h>

#include "host/boot.h"

/* What there has to be to put it in again. */
struct event_plug {
	json_t *device; /* arguments of device_add */
	char node[64];  /* the block node that it is to have */
};

/*
 * Look at test disk 0 while it is there. Its node goes with it where libvirt made it: then another one is opened over the same
 * file, which nothing uses yet.
 */
int event_plug_look(struct boot *b, struct event_plug *plug, struct error *e);
void event_plug_free(struct event_plug *plug);

/* Ask for it to be let go of, which the guest does when it likes. */
int event_plug_out(struct boot *b, struct error *e);

/* Wait until it has gone. -1: it has not, within timeout seconds. */
int event_plug_await_out(struct boot *b, double timeout, struct error *e);
int event_plug_in(struct boot *b, const struct event_plug *plug, struct error *e);

/* The name of the block node of test disk 0. */
int event_plug_node(struct boot *b, char *name, size_t room, struct error *e);

/* Arguments of device_add from a device's properties, as qom-get tells them: an object of name and value. Pure. NULL: no memory. */
json_t *event_plug_arguments(const char *type, const char *id, const char *bus, const char *node, const json_t *properties);

#endif
