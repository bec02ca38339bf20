#include "host/os.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/param.h>
#include <sys/sysctl.h>
#include <sys/user.h>

int os_program_path(char *out, size_t room)
{
	int name[] = { CTL_KERN, KERN_PROC, KERN_PROC_PATHNAME, -1 };

	return sysctl(name, 4, out, &room, NULL, 0);
}

uint64_t os_process_started(pid_t pid)
{
	int name[] = { CTL_KERN, KERN_PROC, KERN_PROC_PID, (int)pid };
	struct kinfo_proc p;
	size_t size = sizeof(p);

	if (sysctl(name, 4, &p, &size, NULL, 0) || size != sizeof(p) || p.ki_stat == SZOMB)
		return 0;
	return (uint64_t)p.ki_start.tv_sec * 1000000u + (uint64_t)p.ki_start.tv_usec;
}

int os_allocate(int fd, uint64_t bytes)
{
	int why = posix_fallocate(fd, 0, (off_t)bytes);

	return why == EINVAL ? 0 : why; /* ZFS, which writes elsewhere anyway */
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
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

int os_open_direct(const char *path)
{
	return open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
}
