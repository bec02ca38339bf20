/* What differs between the systems that kickbench runs on: one file per system (os_linux.c, os_bsd.c). */
#ifndef KB_HOST_OS_H
#define KB_HOST_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The path of the running program. -1 with errno. */
int os_program_path(char *out, size_t room);

/*
 * When a process began, in a unit that is the system's own and the same for every process of it; 0: there is none. A
 * zombie is none: it has ended, however late its parent looks.
 */
uint64_t os_process_started(pid_t pid);

/*
 * Whether a process of this group has the variable ("NAME=VALUE") in its environment. Where the system does not tell:
 * false.
 */
bool os_group_has(pid_t group, const char *variable);

/* Both ends close on exec. */
int os_pipe(int ends[2]);

/* A file without a name, that ends with its descriptor. -1 with errno. */
int os_nameless_file(void);

/* Give a file all blocks of its size. An errno, 0: done. Where that cannot be had: left to whoever writes it. */
int os_allocate(int fd, uint64_t bytes);

/* Make a range of a file zeros, without blocks of the disk. An errno; EOPNOTSUPP: the file system or the system cannot. */
int os_punch(int fd, uint64_t offset, uint64_t bytes);

/* Drop a file's pages from the cache, where that can be asked for. */
void os_uncache(int fd);

/* Open a file past the cache, for reading. -1 with errno; EINVAL: the file system or the system cannot. */
int os_open_direct(const char *path);

/* The first CPUs that this process may run on, at most n of them; how many, 0 where the system does not tell. */
unsigned os_cpus(unsigned *cpu, unsigned n);

/* Bytes that nobody can guess, at most 256. -1 with errno. */
int os_random(void *out, size_t length);

#endif
