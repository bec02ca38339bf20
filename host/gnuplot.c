#include "host/gnuplot.h"
#include "host/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_OUTPUT (32u << 20)

extern char **environ;

struct child {
	pid_t pid;
	int out;    /* what it prints */
	int errors; /* a memory file of its complaints */
};

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static int write_all(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t n = write(fd, bytes, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		bytes += n;
		length -= (size_t)n;
	}
	return 0;
}

/* A process group of its own: what it may start ends with it, and a Ctrl-C at the terminal is not for it. */
static int spawn(const int fd[3], pid_t *pid)
{
	static char *const argv[] = { "gnuplot", "-d", "-", NULL }; /* -d: without the user's start-up files */
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int why = posix_spawn_file_actions_init(&actions);

	if (why)
		return why;
	why = posix_spawnattr_init(&attributes);
	if (why) {
		posix_spawn_file_actions_destroy(&actions);
		return why;
	}
	for (int i = 0; i < 3 && !why; i++)
		why = posix_spawn_file_actions_adddup2(&actions, fd[i], i);
	if (!why)
		why = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
	if (!why)
		why = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return why;
}

/* The script lies in memory: nothing to clean up, and a gnuplot that reads none of it blocks nobody. */
static int start(const char *script, size_t length, struct child *c, struct error *e)
{
	int in = os_nameless_file(), ends[2] = { -1, -1 }, why;

	c->errors = os_nameless_file();
	if (in < 0 || c->errors < 0 || write_all(in, script, length) || lseek(in, 0, SEEK_SET) || os_pipe(ends)) {
		error_errno(e, STATUS_HOST, "gnuplot's input could not be made");
		close(in);
		close(c->errors);
		return -1;
	}
	why = spawn((int[]){ in, ends[1], c->errors }, &c->pid);
	close(in);
	close(ends[1]);
	if (why) {
		close(ends[0]);
		close(c->errors);
		errno = why;
		return why == ENOENT ? error_set(e, STATUS_HOST, "gnuplot is missing: install the package " GNUPLOT_PACKAGE) :
				       error_errno(e, STATUS_HOST, "gnuplot could not be started");
	}
	c->out = ends[0];
	return 0;
}

/* Until it closes its output; -1: too much, or too late. */
static int collect(const struct child *c, long long deadline, struct text *out)
{
	size_t begin = out->length;
	char bytes[65536];

	for (;;) {
		struct pollfd p = { .fd = c->out, .events = POLLIN };
		long long left = deadline - now_ms();
		ssize_t n;

		if (left <= 0 || out->length - begin > MOST_OUTPUT)
			return -1;
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		n = read(c->out, bytes, sizeof(bytes));
		if (n == 0 || (n < 0 && errno != EINTR))
			return 0;
		if (n > 0)
			text_add_bytes(out, bytes, (size_t)n);
	}
}

/* Its end, forced when it does not come in time. */
static int reap(const struct child *c, long long deadline, bool kill_it, bool *killed)
{
	int status = -1;
	pid_t pid;

	*killed = false;
	for (;;) {
		if (kill_it || now_ms() >= deadline) {
			kill(-c->pid, SIGKILL);
			*killed = true;
		}
		pid = waitpid(c->pid, &status, *killed ? 0 : WNOHANG);
		if (pid == c->pid || (pid < 0 && errno != EINTR))
			return status;
		if (pid == 0)
			poll(NULL, 0, 1);
	}
}

/* The line of its complaint that tells most: the last, "line 3: undefined variable: x". */
static void last_words(int fd, char *words, size_t room)
{
	char text[4096];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	char *line;

	text[n > 0 ? n : 0] = '\0';
	for (size_t i = strlen(text); i > 0 && strchr(" \t\n", text[i - 1]); i--)
		text[i - 1] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	snprintf(words, room, "%s", line + strspn(line, " \t"));
}

int gnuplot_run(const char *script, size_t length, unsigned deadline_ms, struct text *out, struct error *e)
{
	long long deadline = now_ms() + deadline_ms;
	size_t begin = out->length;
	char words[256];
	struct child c;
	bool killed;
	int status, rc;

	if (start(script, length, &c, e))
		return -1;
	rc = collect(&c, deadline, out);
	status = reap(&c, deadline, rc != 0, &killed);
	last_words(c.errors, words, sizeof(words));
	close(c.out);
	close(c.errors);
	if (!killed && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (out->data) {
		out->length = begin;
		out->data[begin] = '\0';
	}
	if (killed)
		return error_set(e, STATUS_HOST, "gnuplot was ended: it did not finish within %u s", (deadline_ms + 999) / 1000);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127 && !*words)
		return error_set(e, STATUS_HOST, "gnuplot could not be started");
	return error_set(e, STATUS_HOST, "gnuplot failed (status %d)%s%s", WIFEXITED(status) ? WEXITSTATUS(status) :
			 128 + WTERMSIG(status), *words ? ": " : "", words);
}
