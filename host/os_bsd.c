/* What the BSDs have in common. */
#include "host/os.h"

#include <fcntl.h>
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

int os_random(void *out, size_t length)
{
	return getentropy(out, length);
}
