/* `kickio agent DEVICE`: serve jobs that a host sends over a serial port. */
#ifndef KB_AGENT_H
#define KB_AGENT_H

#include "guest/error.h"

/*
 * Say hello, then run every job that arrives, until the host says bye. Returns 0 after a bye.
 * A job that cannot run is reported to the host and does not end the agent.
 */
int agent_serve(const char *device, struct error *e);

/* The disks as a member of an object: "disks":[…]. Asks each of them its serial number, and waits for that. */
struct text;
void agent_disks_json(struct text *out);

/* `kickio info`: identity, clock and disks of this system as one JSON object, for people and the hello frame. */
void agent_info_json(struct text *out);

#endif
