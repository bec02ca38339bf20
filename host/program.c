#include "host/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 200        /* for an interruption */
#define KEPT (64u << 10)   /* of what a program says */

extern char **environ;

static int start(const char *const *argv, const struct program *p, int to, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t usual;
	int failed;

	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &usual); /* ours is ignored, which would be inherited */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&actions);
	if (p->in)
		posix_spawn_file_actions_adddup2(&actions, p->in, STDIN_FILENO);
	else
		posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, p->out < 0 ? to : p->out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, to, STDERR_FILENO);
	failed = posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return failed;
}

static void keep(struct text *said, const char *bytes, size_t n)
{
	if (said->length > KEPT) {
		said->length -= KEPT / 2;
		memmove(said->data, said->data + KEPT / 2, said->length + 1);
	}
	text_add_bytes(said, bytes, n);
}

/* Until the program has closed its end. True: we were interrupted, and it was asked to end. */
static bool listen_to(int from, pid_t pid, const struct program *p, struct text *said)
{
	struct pollfd at = { .fd = from, .events = POLLIN };
	bool asked = false;
	char bytes[4096];
	ssize_t n;

	for (;;) {
		if (p->interrupted && *p->interrupted && !asked) {
			kill(pid, SIGTERM);
			asked = true;
		}
		if (poll(&at, 1, LOOK_MS) <= 0)
			continue;
		n = read(from, bytes, sizeof(bytes));
		if (n == 0 || (n < 0 && errno != EINTR))
			return asked;
		if (n < 0)
			continue;
		if (p->loud && write(STDERR_FILENO, bytes, (size_t)n) < 0)
			errno = 0; /* who does not look sees no progress */
		if (said)
			keep(said, bytes, (size_t)n);
	}
}

int program_run(const char *const *argv, const struct program *p, struct text *said, struct error *e)
{
	int ends[2], status = 0, failed;
	bool asked;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return error_errno(e, STATUS_HOST, "%s", argv[0]);
	failed = start(argv, p, ends[1], &pid);
	close(ends[1]);
	if (failed) {
		close(ends[0]);
		errno = failed;
		return error_errno(e, STATUS_HOST, "cannot run %s (Debian's package %s)", argv[0], p->package);
	}
	asked = listen_to(ends[0], pid, p, said);
	close(ends[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (asked || (p->interrupted && *p->interrupted))
		return error_set(e, STATUS_INCOMPLETE, "interrupted while %s ran", argv[0]);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return error_set(e, STATUS_HOST, "%s was killed by signal %d", argv[0], WTERMSIG(status));
}

void program_last_line(const struct text *said, char *line, size_t room)
{
	const char *all = text_get(said), *end = all + strlen(all), *begin;
	size_t n;

	while (end > all && strchr("\r\n ", end[-1]))
		end--;
	for (begin = end; begin > all && begin[-1] != '\n' && begin[-1] != '\r'; begin--)
		;
	n = (size_t)(end - begin);
	n = n < 300 ? n : 300;
	n = n < room ? n : room - 1;
	memcpy(line, begin, n);
	line[n] = '\0';
}

int program_must(const char *const *argv, const struct program *p, const char *what, struct error *e)
{
	struct text said = { 0 };
	char line[320];
	int status = program_run(argv, p, &said, e);

	program_last_line(&said, line, sizeof(line));
	text_free(&said);
	if (status > 0)
		return error_set(e, STATUS_HOST, "%s: %s ended with status %d%s%s", what, argv[0], status, *line ? ": " : "",
				 line);
	return status;
}

bool program_exists(const char *name)
{
	const char *path = getenv("PATH");
	char *copy = strdup(path ? path : "/usr/bin:/bin"), *rest = copy, *folder;
	bool found = false;

	while (!found && rest && (folder = strsep(&rest, ":"))) {
		struct text file = { 0 };

		text_add(&file, "%s/%s", *folder ? folder : ".", name);
		found = access(text_get(&file), X_OK) == 0;
		text_free(&file);
	}
	free(copy);
	return found;
}
