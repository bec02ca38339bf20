/*
 * An ear for the host while a job runs: a thread that sleeps until a frame comes, so that the host is heard also when the
 * job stands still, and costs nothing when it says nothing.
 */
#ifndef KB_AGENT_LISTEN_H
#define KB_AGENT_LISTEN_H

#include <pthread.h>
#include <stdbool.h>

#include "guest/agent_link.h"
#include "guest/error.h"

struct agent_listen {
	/* Set by the caller. Both are called in the thread. */
	struct agent_link *link;
	void (*take)(void *context, const struct frame *frame);
	void (*lost)(void *context, const struct error *e); /* the port is gone; nothing more is heard */
	void *context;

	pthread_t thread;
	int wake[2];
	bool runs, stop; /* stop: by __atomic */
};

int agent_listen_start(struct agent_listen *l, struct error *e);

/* From then on the caller receives again; nothing is lost. Fine when it was never started, or is over. */
void agent_listen_stop(struct agent_listen *l);

#endif
