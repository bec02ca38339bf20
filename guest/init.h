/* kickio as the first process of a guest. init_linux.c, or init_none.c where nobody boots it so. */
#ifndef KB_INIT_H
#define KB_INIT_H

#include <stdbool.h>

#include "guest/error.h"

/* Whether this process is the system's init (process 1 without a parent system around it). */
bool init_wanted(void);

/* Mount, load modules, serve the agent's port, power off. Returns only when powering off failed. */
int init_run(struct error *e);

#endif
