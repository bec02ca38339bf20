/*
 * Another program as the tool of a job: started in the guest, its two outputs kept, ended when the host wants so.
 * Nobody here reads what it prints.
 */
#ifndef KB_AGENT_TOOL_H
#define KB_AGENT_TOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "guest/error.h"
#include "guest/text.h"

#define AGENT_TOOL_MOST_BYTES (8u << 20) /* of either output: what comes after is dropped */

struct agent_tool {
	bool (*second)(void *context); /* called about once in a second; false: the program is to end */
	void *context;
	struct text output, complaints; /* stdout and stderr; the caller's to free */
	bool cut;                       /* some of them was dropped */
	int status;                     /* exit status, 128 + N when signal N ended it */
};

/* Where a program is: in PATH, else where systems keep their programs. -1: nowhere, and the message lists the places. */
int agent_tool_find(const char *name, char *path, size_t size, struct error *e);

/* Run it to its end, in a process group of its own. argv ends with NULL. -1: it could not be started. */
int agent_tool_run(struct agent_tool *t, const char *path, char *const *argv, struct error *e);

#endif
