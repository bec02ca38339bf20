/* The agent in a child process, and the test as its host at the other end of a pseudo terminal. */
#ifndef KB_TESTS_AGENT_BENCH_H
#define KB_TESTS_AGENT_BENCH_H

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/agent.h"
#include "guest/frame.h"

#define DEADLINE_MS 20000

struct host {
	int fd;
	pid_t agent;
	uint32_t sent;
	struct frame_reader reader;
	struct text line; /* the last frame as it came */
	char folder[64], file[96];
};

static inline int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline void make_file(struct host *h)
{
	const char *tmp = getenv("TMPDIR");
	char block[4096];
	int fd;

	snprintf(h->folder, sizeof(h->folder), "%s/agentXXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	assert_non_null(mkdtemp(h->folder));
	snprintf(h->file, sizeof(h->file), "%s/disk", h->folder);
	fd = open(h->file, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 256; i++)
		assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
	close(fd);
}

static inline void run_agent(const char *device)
{
	struct error e = {0};
	int ret = agent_serve(device, &e);

	if (ret < 0)
		fprintf(stderr, "agent: %s\n", e.text);
	_exit(ret < 0 ? 1 : 0);
}

static inline int start(void **state)
{
	struct host *h = calloc(1, sizeof(*h));
	char name[128];

	assert_non_null(h);
	make_file(h);
	h->fd = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(h->fd >= 0);
	assert_int_equal(grantpt(h->fd), 0);
	assert_int_equal(unlockpt(h->fd), 0);
	snprintf(name, sizeof(name), "%s", ptsname(h->fd));
	h->agent = fork();
	assert_true(h->agent >= 0);
	if (h->agent == 0) {
		close(h->fd);
		run_agent(name);
	}
	*state = h;
	return 0;
}

static inline int stop(void **state)
{
	struct host *h = *state;

	if (h->agent > 0) {
		kill(h->agent, SIGKILL);
		waitpid(h->agent, NULL, 0);
	}
	if (h->fd >= 0)
		close(h->fd);
	unlink(h->file);
	rmdir(h->folder);
	frame_reader_free(&h->reader);
	text_free(&h->line);
	free(h);
	return 0;
}

/* The agent's exit status; it has to end by itself. */
static inline int ended(struct host *h)
{
	int64_t deadline = now_ms() + DEADLINE_MS;
	int status;

	while (waitpid(h->agent, &status, WNOHANG) == 0) {
		if (now_ms() > deadline)
			fail_msg("the agent does not end");
		usleep(2000);
	}
	h->agent = -1;
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static inline void put(struct host *h, const char *bytes)
{
	assert_int_equal(write(h->fd, bytes, strlen(bytes)), strlen(bytes));
}

static inline void send_as(struct host *h, uint32_t seq, enum frame_type type, const char *payload)
{
	struct text out = {0};

	frame_encode(&out, seq, type, payload, strlen(payload));
	put(h, text_get(&out));
	text_free(&out);
}

static inline void send_next(struct host *h, enum frame_type type, const char *payload)
{
	send_as(h, ++h->sent, type, payload);
}

static inline void send_job(struct host *h, const char *id, const char *more)
{
	char job[1024];

	snprintf(job, sizeof(job),
		 "{\"id\":\"%s\",\"disk\":null,\"argv\":[\"--name=t\",\"--filename=%s\",\"--bs=4k\",\"--rw=randread\"%s]}",
		 id, h->file, more);
	send_next(h, FRAME_JOB, job);
}

/* The next frame of whatever type, false when none comes in time. */
static inline bool next(struct host *h, struct frame *f, int timeout_ms)
{
	int64_t deadline = now_ms() + timeout_ms;
	char bytes[4096];

	for (;;) {
		enum frame_event event;
		struct pollfd p = {.fd = h->fd, .events = POLLIN};
		ssize_t n;

		while ((event = frame_reader_next(&h->reader, f)) != FRAME_NONE) {
			assert_int_equal(event, FRAME_GOOD);
			return true;
		}
		if (now_ms() > deadline)
			return false;
		/* A terminal whose other side is not open yet hangs up. */
		if (poll(&p, 1, 50) > 0 && !(p.revents & POLLIN))
			usleep(2000);
		n = p.revents & POLLIN ? read(h->fd, bytes, sizeof(bytes)) : 0;
		if (n > 0)
			frame_reader_feed(&h->reader, bytes, (size_t)n);
	}
}

/* Skip to the next frame of that type. */
static inline void expect(struct host *h, struct frame *f, enum frame_type type)
{
	while (next(h, f, DEADLINE_MS)) {
		if (f->type == type)
			return;
		if (f->type == FRAME_ERROR)
			print_message("error: %s\n", f->payload);
	}
	fail_msg("no %s frame", frame_type_name(type));
}

static inline void assert_has(const struct frame *f, const char *part)
{
	if (!strstr(f->payload, part))
		fail_msg("%s not in %s", part, f->payload);
}

static inline void say_bye(struct host *h)
{
	struct frame f;

	send_next(h, FRAME_BYE, "{}");
	expect(h, &f, FRAME_BYE);
	assert_string_equal(f.payload, "{}");
	assert_int_equal(ended(h), 0);
}

#endif
