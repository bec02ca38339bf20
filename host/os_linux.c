#include "host/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

int os_program_path(char *out, size_t room)
{
	ssize_t n = readlink("/proc/self/exe", out, room - 1);

	if (n < 0)
		return -1;
	out[n] = '\0';
	return 0;
}

/* The rest of /proc/PID/stat behind the command's name, which may hold anything. False: no such process. */
static bool process_stat(long pid, char *line, size_t room, const char **rest)
{
	char path[64];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	n = fread(line, 1, room - 1, f);
	fclose(f);
	line[n] = '\0';
	*rest = strrchr(line, ')');
	return *rest && (*rest)[1] == ' ' && !strchr("ZXx", (*rest)[2]);
}

uint64_t os_process_started(pid_t pid)
{
	char line[1024];
	const char *p;

	if (!process_stat((long)pid, line, sizeof(line), &p))
		return 0;
	for (int field = 2; p && field < 22; field++) /* clock ticks since the host booted: proc(5) */
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

static bool process_has(long pid, const char *variable)
{
	char path[64], *line = NULL;
	size_t room = 0;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/environ", pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	while (!found && getdelim(&line, &room, '\0', f) > 0)
		found = !strcmp(line, variable);
	free(line);
	fclose(f);
	return found;
}

bool os_group_has(pid_t group, const char *variable)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	bool found = false;

	while (dir && !found && (d = readdir(dir))) {
		long pid = strtol(d->d_name, NULL, 10), of;
		char line[1024];
		const char *rest;

		/* state ppid pgrp */
		found = pid > 0 && process_stat(pid, line, sizeof(line), &rest) &&
			sscanf(rest + 1, " %*c %*d %ld", &of) == 1 && of == (long)group && process_has(pid, variable);
	}
	if (dir)
		closedir(dir);
	return found;
}

int os_pipe(int ends[2])
{
	return pipe2(ends, O_CLOEXEC);
}

int os_nameless_file(void)
{
	return memfd_create("kickbench", MFD_CLOEXEC);
}

int os_allocate(int fd, uint64_t bytes)
{
	return posix_fallocate(fd, 0, (off_t)bytes);
}

int os_punch(int fd, uint64_t offset, uint64_t bytes)
{
	return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes) < 0 ? errno : 0;
}

void os_uncache(int fd)
{
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

int os_open_direct(const char *path)
{
	return open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
}

int os_random(void *out, size_t length)
{
	return getentropy(out, length);
}

unsigned os_cpus(unsigned *cpu, unsigned n)
{
	unsigned found = 0;
	cpu_set_t mine;

	if (sched_getaffinity(0, sizeof(mine), &mine))
		return 0;
	for (unsigned i = 0; i < CPU_SETSIZE && found < n; i++)
		if (CPU_ISSET(i, &mine))
			cpu[found++] = i;
	return found;
}
