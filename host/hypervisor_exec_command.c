#include "host/hypervisor_exec_command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/os.h"

#define MOST_OUTPUT ((size_t)1 << 20)
#define SLICE_MS 20

extern char **environ;

/* Ours with the variables in the place of those of the same name. The strings stay whose they are. */
static char **merge(char *const *variables)
{
	size_t n = 0, m = 0, kept = 0;
	char **all;

	while (environ[n])
		n++;
	while (variables[m])
		m++;
	all = calloc(n + m + 1, sizeof(*all));
	for (size_t i = 0; all && i < n; i++) {
		size_t name = strcspn(environ[i], "=") + 1, k = 0;

		while (k < m && strncmp(variables[k], environ[i], name))
			k++;
		if (k == m)
			all[kept++] = environ[i];
	}
	for (size_t i = 0; all && i < m; i++)
		all[kept++] = variables[i];
	return all;
}

/* In the child: dup2 that also clears close-on-exec where source and target are the same. */
static void put(int from, int to, int nowhere)
{
	if (from < 0)
		from = nowhere;
	if (from == to)
		fcntl(to, F_SETFD, 0);
	else
		dup2(from, to);
}

static void child(const char *command, char *const *environment, const struct command_io *io, int gate)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t none;
	char byte;
	int nowhere;
	ssize_t n;

	sigemptyset(&usual.sa_mask);
	sigemptyset(&none);
	for (int s = 1; s < NSIG; s++)
		if (s != SIGKILL && s != SIGSTOP)
			sigaction(s, &usual, NULL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	do
		n = read(gate, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);
	nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	put(io->in, STDIN_FILENO, nowhere);
	put(io->out, STDOUT_FILENO, nowhere);
	put(io->err, STDERR_FILENO, nowhere);
	execle("/bin/sh", "sh", "-c", command, (char *)NULL, environment);
	_exit(127);
}

pid_t command_spawn(const char *command, char *const *variables, const struct command_io *io, int *gate)
{
	char **environment = merge(variables);
	int ends[2], saved;
	pid_t pid = -1;

	if (!environment)
		return -1;
	if (os_pipe(ends) == 0) {
		pid = fork();
		if (pid == 0) {
			close(ends[1]);
			setsid();
			child(command, environment, io, ends[0]);
		}
		saved = errno;
		close(ends[0]);
		if (pid < 0)
			close(ends[1]);
		else
			setpgid(pid, pid); /* whoever is first; the child's setsid() has the same effect */
		errno = saved;
	}
	free(environment);
	*gate = ends[1];
	return pid;
}

void command_begin(int gate)
{
	while (write(gate, "", 1) < 0 && errno == EINTR)
		;
	close(gate);
}

bool command_ended(pid_t pid, int *status)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid != pid)
		return false;
	*status = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
	return true;
}

bool command_group_lives(pid_t group)
{
	return kill(-group, 0) == 0 || errno == EPERM;
}

/* What there is, without waiting. False at its end. */
static bool read_some(int fd, struct text *out)
{
	char part[4096];
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) > 0)
		if (out && out->length < MOST_OUTPUT)
			text_add_bytes(out, part, (size_t)n);
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

int command_run(const char *command, char *const *variables, double seconds, struct text *out)
{
	double end = clock_s() + seconds;
	int ends[2], gate, status = 0;
	bool open = true, ended = false;
	pid_t pid;

	if (os_pipe(ends))
		return COMMAND_FAILED;
	pid = command_spawn(command, variables, &(struct command_io){ -1, ends[1], ends[1] }, &gate);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return COMMAND_FAILED;
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	command_begin(gate);
	while (!ended && clock_s() < end) {
		struct pollfd p = { .fd = open ? ends[0] : -1, .events = POLLIN };

		poll(&p, 1, SLICE_MS);
		open = open && read_some(ends[0], out);
		ended = command_ended(pid, &status);
	}
	kill(-pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	read_some(ends[0], out);
	close(ends[0]);
	return ended ? status : COMMAND_TIMEOUT;
}
