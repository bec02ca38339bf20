#include "host/os.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/proc.h>
#include <sys/sysctl.h>
#include <unistd.h>

/* The first of PATH's folders that holds it, as the shell that started us found it. */
static int search_path(const char *program, char *out, size_t room)
{
	const char *at = getenv("PATH");

	while (at && *at) {
		size_t n = strcspn(at, ":");
		int length = snprintf(out, room, "%.*s/%s", (int)n, at, program);

		if (length > 0 && (size_t)length < room && access(out, X_OK) == 0)
			return 0;
		at += n + (at[n] == ':');
	}
	errno = ENOENT;
	return -1;
}

/* The system keeps no path of a program, only the words that it was started with. */
int os_program_path(char *out, size_t room)
{
	int name[] = { CTL_KERN, KERN_PROC_ARGS, (int)getpid(), KERN_PROC_ARGV };
	union { char *word[1]; char bytes[ARG_MAX]; } *arguments = malloc(sizeof(*arguments));
	size_t size = sizeof(*arguments);
	int status = -1, n;

	if (arguments && sysctl(name, 4, arguments, &size, NULL, 0) == 0 && arguments->word[0]) {
		n = snprintf(out, room, "%s", arguments->word[0]);
		if (!strchr(arguments->word[0], '/'))
			status = search_path(arguments->word[0], out, room);
		else
			status = n > 0 && (size_t)n < room ? 0 : -1;
	}
	free(arguments);
	return status;
}

uint64_t os_process_started(pid_t pid)
{
	struct kinfo_proc p;
	size_t size = sizeof(p);
	int name[] = { CTL_KERN, KERN_PROC, KERN_PROC_PID, (int)pid, sizeof(p), 1 };

	if (sysctl(name, 6, &p, &size, NULL, 0) || size != sizeof(p) || p.p_stat == SZOMB || p.p_stat == SDEAD)
		return 0;
	return (uint64_t)p.p_ustart_sec * 1000000u + p.p_ustart_usec;
}

int os_allocate(int fd, uint64_t bytes)
{
	(void)fd;
	(void)bytes;
	return 0;
}

int os_punch(int fd, uint64_t offset, uint64_t bytes)
{
	(void)fd;
	(void)offset;
	(void)bytes;
	return EOPNOTSUPP;
}

void os_uncache(int fd)
{
	(void)fd;
}

int os_open_direct(const char *path)
{
	if (access(path, R_OK) == 0)
		errno = EINVAL;
	return -1;
}
