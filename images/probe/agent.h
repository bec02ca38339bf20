/* The probe's side of the conversation: hello, jobs, bye. */
#ifndef PROBE_AGENT_H
#define PROBE_AGENT_H

#include "images/probe/link.h"
#include "images/probe/virtio.h"

/*
 * Say hello and run what jobs arrive until the host says bye, or takes nothing any more. A job that cannot run is
 * told to the host, and the next one may come.
 */
void agent_serve(struct link *link, struct virtio *devices, unsigned n);

#endif
