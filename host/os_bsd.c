/* What the BSDs have in common. */
#include "host/os.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* Environments of other processes can be had, but differently on each: not done. */
bool os_group_has(pid_t group, const char *variable)
{
	(void)group;
	(void)variable;
	return false;
}

int os_pipe(int ends[2])
{
	return pipe2(ends, O_CLOEXEC);
}

int os_nameless_file(void)
{
	char path[] = "/tmp/kickbench-XXXXXX";
	int fd = mkstemp(path);

	if (fd >= 0) {
		unlink(path);
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	}
	return fd;
}

int os_random(void *out, size_t length)
{
	return getentropy(out, length);
}

unsigned os_cpus(unsigned *cpu, unsigned n)
{
	(void)cpu;
	(void)n;
	return 0;
}
