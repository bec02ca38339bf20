#include "guest/agent_link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "guest/json_read.h"
#include "guest/os.h"

/* A serial port moves at least some bytes in that time, or nobody takes them any more. */
#define SEND_DEADLINE_MS 20000
#define DRAIN_DEADLINE_MS 100

/* More missing frames than the host can have under way are no gap but a damaged number. */
#define MAX_GAP 8

#define WOKEN 2

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int agent_link_open(struct agent_link *link, const char *device, struct error *e)
{
	int flags;

	*link = (struct agent_link){.fd = -1, .wake = -1};
	pthread_mutex_init(&link->sending, NULL);
	link->fd = os_open_serial(device, e);
	if (link->fd < 0) {
		agent_link_close(link);
		return -1;
	}
	flags = fcntl(link->fd, F_GETFL);
	if (flags < 0 || fcntl(link->fd, F_SETFL, flags | O_NONBLOCK) < 0 || fcntl(link->fd, F_SETFD, FD_CLOEXEC) < 0) {
		error_errno(e, STATUS_FAILED, "%s", device);
		agent_link_close(link);
		return -1;
	}
	return 0;
}

void agent_link_close(struct agent_link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	link->fd = -1;
	frame_reader_free(&link->reader);
	for (unsigned i = 0; i < AGENT_LINK_KEPT; i++)
		text_free(&link->kept[i].bytes);
	text_free(&link->hello.bytes);
	text_free(&link->result.bytes);
	pthread_mutex_destroy(&link->sending);
}

/* 1 ready, 0 time over, WOKEN, -1 gone. Bytes that came before a hang-up are still worth reading. */
static int wait_for(const struct agent_link *link, short events, int timeout_ms, struct error *e)
{
	/* wake belongs to the one who receives; poll() passes over -1. */
	struct pollfd p[2] = {{.fd = link->fd, .events = events}, {.fd = events == POLLIN ? link->wake : -1, .events = POLLIN}};
	int n = poll(p, 2, timeout_ms);

	if (n < 0)
		return errno == EINTR ? 0 : error_errno(e, STATUS_FAILED, "waiting for the host's port");
	if (n == 0)
		return 0;
	if (p[0].revents & events)
		return 1;
	if (p[0].revents)
		return error_set(e, STATUS_FAILED, "the host's port hung up");
	return WOKEN;
}

static int write_all(struct agent_link *link, const char *bytes, size_t length, struct error *e)
{
	int64_t deadline = now_ms() + SEND_DEADLINE_MS;

	while (length > 0) {
		ssize_t n = write(link->fd, bytes, length);

		if (n > 0) {
			bytes += n;
			length -= (size_t)n;
			deadline = now_ms() + SEND_DEADLINE_MS;
			continue;
		}
		if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
			return error_errno(e, STATUS_FAILED, "writing to the host's port");
		if (now_ms() >= deadline)
			return error_set(e, STATUS_FAILED, "the host's port took nothing for %d s",
					 SEND_DEADLINE_MS / 1000);
		if (wait_for(link, POLLOUT, 1000, e) < 0)
			return -1;
	}
	return 0;
}

static struct agent_link_frame *slot(struct agent_link *link, enum frame_type type, uint32_t seq)
{
	if (type == FRAME_HELLO)
		return &link->hello;
	if (type == FRAME_RESULT || type == FRAME_ERROR)
		return &link->result;
	return &link->kept[seq % AGENT_LINK_KEPT];
}

static int send_locked(struct agent_link *link, enum frame_type type, const struct text *payload, struct error *e)
{
	struct agent_link_frame *f;

	if (payload->failed)
		return error_set(e, STATUS_FAILED, "out of memory for a %s frame", frame_type_name(type));
	link->last_sent++;
	f = slot(link, type, link->last_sent);
	f->seq = link->last_sent;
	text_reset(&f->bytes);
	frame_encode(&f->bytes, f->seq, type, text_get(payload), payload->length);
	if (f->bytes.failed)
		return error_set(e, STATUS_FAILED, "out of memory for a %s frame", frame_type_name(type));
	return write_all(link, text_get(&f->bytes), f->bytes.length, e);
}

int agent_link_send(struct agent_link *link, enum frame_type type, const struct text *payload, struct error *e)
{
	int ret;

	pthread_mutex_lock(&link->sending);
	ret = send_locked(link, type, payload, e);
	pthread_mutex_unlock(&link->sending);
	return ret;
}

static int send_again_locked(struct agent_link *link, uint32_t seq, struct error *e)
{
	const struct agent_link_frame *f = &link->kept[seq % AGENT_LINK_KEPT];

	if (link->hello.seq == seq)
		f = &link->hello;
	if (link->result.seq == seq)
		f = &link->result;
	if (seq == 0 || f->seq != seq)
		return 0;
	return write_all(link, text_get(&f->bytes), f->bytes.length, e);
}

int agent_link_send_again(struct agent_link *link, uint32_t seq, struct error *e)
{
	int ret;

	pthread_mutex_lock(&link->sending);
	ret = send_again_locked(link, seq, e);
	pthread_mutex_unlock(&link->sending);
	return ret;
}

void agent_link_drain(const struct agent_link *link)
{
	int64_t deadline = now_ms() + DRAIN_DEADLINE_MS;
	struct timespec nap = {.tv_nsec = 200000};
	int left;

	/* Not tcdrain(): it may wait for ever on a port whose other side is gone. */
	while (ioctl(link->fd, TIOCOUTQ, &left) == 0 && left > 0 && now_ms() < deadline)
		nanosleep(&nap, NULL);
}

static int ask_for(struct agent_link *link, uint32_t seq, struct error *e)
{
	struct text payload = {0};
	int ret;

	text_add(&payload, "{\"seq\":%lu}", (unsigned long)seq);
	ret = agent_link_send(link, FRAME_AGAIN, &payload, e);
	text_free(&payload);
	return ret;
}

/* What is missing up to and with seq, which came too early and was dropped: the host sends all of it in order. */
static int ask_for_gap(struct agent_link *link, uint32_t seq, struct error *e)
{
	uint32_t missing = link->last_received + 1;

	if (seq - missing > MAX_GAP)
		seq = missing;
	for (; missing <= seq; missing++) {
		if (ask_for(link, missing, e) < 0)
			return -1;
	}
	return 0;
}

/*
 * Anything else is what we sent ourselves, echoed by a terminal in between. Only an answer to an action has that member;
 * inside of a string its quotes would stand behind backslashes.
 */
static bool is_from_host(const struct frame *frame)
{
	if (frame->type == FRAME_ACTION)
		return !strstr(frame->payload, "\"error\":");
	return frame->type == FRAME_JOB || frame->type == FRAME_BYE || frame->type == FRAME_AGAIN;
}

/* 1: a frame for the caller; 0: dealt with. */
static int take_frame(struct agent_link *link, const struct frame *frame, struct error *e)
{
	struct error ignored = {0};
	uint64_t seq;

	if (!is_from_host(frame))
		return 0;
	if (frame->type == FRAME_AGAIN && json_read_number(frame->payload, "seq", &seq, &ignored) == 0 &&
	    seq <= UINT32_MAX && agent_link_send_again(link, (uint32_t)seq, e) < 0)
		return -1;
	if (frame->seq <= link->last_received)
		return 0;
	if (frame->seq != link->last_received + 1)
		return ask_for_gap(link, frame->seq, e);
	link->last_received = frame->seq;
	return frame->type != FRAME_AGAIN;
}

static int read_port(struct agent_link *link, struct error *e)
{
	char bytes[4096];
	ssize_t n = read(link->fd, bytes, sizeof(bytes));

	if (n > 0)
		frame_reader_feed(&link->reader, bytes, (size_t)n);
	else if (n == 0)
		return error_set(e, STATUS_FAILED, "the host's port hung up");
	else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
		return error_errno(e, STATUS_FAILED, "reading from the host's port");
	return 0;
}

int agent_link_receive(struct agent_link *link, int timeout_ms, struct frame *frame, struct error *e)
{
	int64_t deadline = now_ms() + timeout_ms;

	for (;;) {
		enum frame_event event;
		int64_t left;
		int ret;

		while ((event = frame_reader_next(&link->reader, frame)) != FRAME_NONE) {
			ret = 0;
			if (event == FRAME_GOOD)
				ret = take_frame(link, frame, e);
			else if (event == FRAME_DAMAGED && (frame->seq == 0 || frame->seq > link->last_received))
				ret = ask_for(link, link->last_received + 1, e);
			if (ret != 0)
				return ret;
		}
		left = deadline - now_ms();
		ret = wait_for(link, POLLIN, left > 0 ? (int)left : 0, e);
		if (ret < 0 || (ret == 1 && read_port(link, e) < 0))
			return -1;
		if (ret == WOKEN || (ret == 0 && left <= 0))
			return 0;
	}
}
