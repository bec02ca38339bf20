/* Processes of this host. */
#ifndef KB_PROCESS_H
#define KB_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Start time in clock ticks since the host booted, 0 when there is no such process. A zombie is none:
 * it has ended, however late its parent looks. */
uint64_t process_started(pid_t pid);

/* Whether the process with this start time lives. */
bool process_lives(pid_t pid, uint64_t started);

#endif
