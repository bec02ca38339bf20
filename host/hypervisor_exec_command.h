/* Shell commands in process groups of their own. */
#ifndef KB_HYPERVISOR_EXEC_COMMAND_H
#define KB_HYPERVISOR_EXEC_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "guest/text.h"

struct command_io {
	int in, out, err; /* -1: /dev/null */
};

/*
 * /bin/sh -c command with variables ("NAME=VALUE", NULL at the end) over our environment, as leader of a session and
 * process group. It begins only when a byte is written to *gate, so that whoever has to find it later can be told
 * before; it ends when *gate is closed without one. -1 with errno.
 */
pid_t command_spawn(const char *command, char *const *variables, const struct command_io *io, int *gate);

/* Let it begin. Closes gate. */
void command_begin(int gate);

/*
 * Run a command to its end, at most `seconds`; what is left of its process group is killed. What it prints is appended
 * to out (may be NULL). Its exit status (128 + signal), COMMAND_TIMEOUT or COMMAND_FAILED (with errno).
 */
#define COMMAND_TIMEOUT -1
#define COMMAND_FAILED -2
int command_run(const char *command, char *const *variables, double seconds, struct text *out);

/*
 * Whether it has ended, and how: exit status, or 128 + signal. It is not collected by this: until somebody does, its
 * number, which is also that of its group, cannot become another's.
 */
bool command_ended(pid_t pid, int *status);

/* Whether anything of a process group lives (zombies do not). */
bool command_group_lives(pid_t group);

#endif
