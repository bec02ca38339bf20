/* One job of the host, from its frame to its result. */
#ifndef KB_AGENT_JOB_H
#define KB_AGENT_JOB_H

#include "guest/agent_action.h"
#include "guest/agent_link.h"
#include "guest/error.h"

/*
 * Run the job of a job frame's payload and send what becomes of it: begin, status, end and log frames, then a result
 * or an error. Actions are served meanwhile. Returns 0 when another may come, 1 when the host said bye meanwhile, -1 when the port is gone.
 */
int agent_job_serve(struct agent_link *link, struct agent_actions *actions, const char *payload, struct error *e);

#endif
