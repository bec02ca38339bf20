/* One measuring kickbench per host. */
#ifndef KB_LOCK_H
#define KB_LOCK_H

#include "guest/error.h"

/*
 * Take the host's lock; what ("run DIR") is told to whoever comes second. Returns a descriptor that holds
 * it until it is closed or the process ends, -1 when somebody else measures (the message names them).
 */
int lock_take(const char *what, struct error *e);

#endif
