#include "guest/agent_tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND_MS 1000
#define PATIENCE_MS 3000 /* from SIGTERM to SIGKILL */

extern char **environ;

/* An init program has no PATH, and a package system its own folder. */
static const char more_places[] = "/usr/local/bin:/usr/bin:/bin:/usr/pkg/bin:/usr/local/sbin:/usr/sbin:/sbin";

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool find_in(const char *places, const char *name, char *path, size_t size)
{
	while (places && *places) {
		size_t length = strcspn(places, ":");

		if (length > 0 && (size_t)snprintf(path, size, "%.*s/%s", (int)length, places, name) < size &&
		    access(path, X_OK) == 0)
			return true;
		places += length + (places[length] == ':');
	}
	return false;
}

int agent_tool_find(const char *name, char *path, size_t size, struct error *e)
{
	const char *places = getenv("PATH");

	if (find_in(places, name, path, size) || find_in(more_places, name, path, size))
		return 0;
	return error_set(e, STATUS_FAILED, "there is no %s in this guest (looked in %s%s%s): install it there, or leave "
			 "out tool =", name, places ? places : "", places && *places ? ":" : "", more_places);
}

static int make_pipe(int fd[2], struct error *e)
{
	if (pipe(fd) < 0)
		return error_errno(e, STATUS_FAILED, "a pipe for the tool's output");
	for (int i = 0; i < 2; i++)
		fcntl(fd[i], F_SETFD, FD_CLOEXEC);
	return 0;
}

/* 0 or errno. Its signals are as a shell would leave them. */
static int spawn(pid_t *pid, const char *path, char *const *argv, const int out[2], const int complaints[2])
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t all, none;
	int failed;

	sigfillset(&all);
	sigdelset(&all, SIGKILL);
	sigdelset(&all, SIGSTOP);
	sigemptyset(&none);
	failed = posix_spawn_file_actions_init(&files);
	if (failed)
		return failed;
	failed = posix_spawnattr_init(&attributes);
	if (failed) {
		posix_spawn_file_actions_destroy(&files);
		return failed;
	}
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setsigmask(&attributes, &none);
	failed = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (!failed)
		failed = posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
	if (!failed)
		failed = posix_spawn_file_actions_adddup2(&files, complaints[1], STDERR_FILENO);
	if (!failed)
		failed = posix_spawn(pid, path, &files, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return failed;
}

/* False at its end. */
static bool take(struct agent_tool *t, int fd, struct text *into)
{
	char bytes[16384];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (into->length + (size_t)n > AGENT_TOOL_MOST_BYTES)
		t->cut = true;
	else if (n > 0)
		text_add_bytes(into, bytes, (size_t)n);
	return n > 0;
}

/* Until both outputs are closed. */
static void listen_to(struct agent_tool *t, pid_t pid, int out, int complaints)
{
	struct pollfd p[2] = {{.fd = out, .events = POLLIN}, {.fd = complaints, .events = POLLIN}};
	int64_t next = now_ms() + SECOND_MS, told = 0, now;
	bool killed = false;

	while (p[0].fd >= 0 || p[1].fd >= 0) {
		now = now_ms();
		if (now >= next) {
			next = now + SECOND_MS;
			if (!told && t->second && !t->second(t->context)) {
				kill(-pid, SIGTERM);
				told = now;
			}
		}
		if (told && !killed && now - told >= PATIENCE_MS)
			killed = kill(-pid, SIGKILL) == 0;
		if (told && now - told >= 2 * PATIENCE_MS)
			break; /* processes of it that left its group have the other ends */
		if (poll(p, 2, (int)(next - now)) <= 0)
			continue;
		if (p[0].revents && !take(t, out, &t->output))
			p[0].fd = -1;
		if (p[1].revents && !take(t, complaints, &t->complaints))
			p[1].fd = -1;
	}
}

int agent_tool_run(struct agent_tool *t, const char *path, char *const *argv, struct error *e)
{
	int out[2], complaints[2], failed, status = 0;
	pid_t pid, ended;

	if (make_pipe(out, e) < 0)
		return -1;
	if (make_pipe(complaints, e) < 0) {
		close(out[0]);
		close(out[1]);
		return -1;
	}
	failed = spawn(&pid, path, argv, out, complaints);
	close(out[1]);
	close(complaints[1]);
	if (!failed)
		listen_to(t, pid, out[0], complaints[0]);
	close(out[0]);
	close(complaints[0]);
	if (failed)
		return error_set(e, STATUS_FAILED, "%s cannot be started: %s", path, strerror(failed));
	while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
		;
	if (ended < 0)
		return error_errno(e, STATUS_FAILED, "waiting for %s", path);
	t->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return 0;
}
