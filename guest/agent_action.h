/*
 * What the host asks beside a job (frame type "action", host/action.h): a list of the disks, one read of a disk, a
 * disk's driver taken off or put on. Whatever could wait for a disk is done by a thread of its own, which answers by itself.
 */
#ifndef KB_AGENT_ACTION_H
#define KB_AGENT_ACTION_H

#include "guest/agent_link.h"
#include "guest/error.h"

/* For as long as the agent serves; the link stays the caller's. NULL: no memory. */
struct agent_actions *agent_actions_new(struct agent_link *link);

/* Begin with what an action frame's payload asks. Never waits for a disk. What is wrong with it goes to the host. */
void agent_actions_serve(struct agent_actions *a, const char *payload);

/* Nothing is sent any more; threads that stand still are left behind and hold their own memory. NULL is fine. */
void agent_actions_end(struct agent_actions *a);

#endif
