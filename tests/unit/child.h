/* A child process that does something, tells, and then waits to be killed. */
#ifndef KB_TESTS_CHILD_H
#define KB_TESTS_CHILD_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Start it; *told is what `begin` returned in the child, 0 to 255. */
static inline pid_t child_start(int (*begin)(void), int *told)
{
	unsigned char byte = 255;
	int pipes[2];
	pid_t pid;

	*told = 255;
	if (pipe(pipes))
		return -1;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nobody behind */
		byte = (unsigned char)begin();
		if (write(pipes[1], &byte, 1) == 1)
			pause();
		_exit(0);
	}
	if (pid > 0 && read(pipes[0], &byte, 1) != 1)
		byte = 255;
	*told = byte;
	close(pipes[0]);
	close(pipes[1]);
	return pid;
}

static inline void child_kill(pid_t pid)
{
	kill(pid, SIGKILL);
}

static inline void child_collect(pid_t pid)
{
	waitpid(pid, NULL, 0);
}

#endif
