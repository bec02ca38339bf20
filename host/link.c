#include "host/link.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TAIL_BYTES 4096
#define TAIL_LINES 8
#define ASK_LIMIT 5
#define ASK_AGAIN_MS 1000 /* how long an answer to a request may take before frames behind the gap repeat it */
#define SLICE_MS 200 /* how long a signal may wait to be seen */

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void link_open(struct link *l, const struct hv_ops *ops, struct hv_guest *guest, FILE *console,
	       const volatile sig_atomic_t *interrupted)
{
	*l = (struct link){ .ops = ops, .guest = guest, .console = console, .interrupted = interrupted };
}

void link_close(struct link *l)
{
	frame_reader_free(&l->reader);
	text_free(&l->news.link);
	text_free(&l->news.console);
	text_free(&l->tail);
	for (size_t i = 0; i < LINK_KEPT; i++)
		text_free(&l->kept[i]);
}

void link_restart(struct link *l)
{
	l->sent = l->received = l->seen = 0;
	l->asked = 0;
	l->anew = true;
}

static void log_bytes(struct link *l, const char *bytes, size_t length)
{
	if (!length || !l->console)
		return;
	fwrite(bytes, 1, length, l->console);
	fflush(l->console);
}

static void keep_tail(struct link *l, const char *bytes, size_t length)
{
	if (!length)
		return;
	text_add_bytes(&l->tail, bytes, length);
	if (l->tail.length > 2 * TAIL_BYTES) {
		memmove(l->tail.data, l->tail.data + l->tail.length - TAIL_BYTES, TAIL_BYTES + 1);
		l->tail.length = TAIL_BYTES;
	}
}

void link_console_tail(const struct link *l, struct text *out)
{
	const char *end = text_get(&l->tail) + l->tail.length, *p = end;
	int lines = 0;

	while (p > text_get(&l->tail) && (p == end || lines < TAIL_LINES))
		if (*--p == '\n' && p != end - 1 && ++lines == TAIL_LINES) {
			p++;
			break;
		}
	while (p < end) {
		size_t n = strcspn(p, "\r\n");

		if (n)
			text_add(out, "\n  | ");
		/* Neither terminals nor JSON shall choke on what a guest says. */
		for (size_t i = 0; i < n && i < 160; i++)
			text_add(out, "%c", p[i] >= ' ' && p[i] < 0x7f ? p[i] : '?');
		p += n;
		p += strspn(p, "\r\n");
	}
}

const char *hv_state_words(enum hv_state state)
{
	switch (state) {
	case HV_RUNNING:
		return "runs";
	case HV_PAUSED:
		return "is paused";
	case HV_OFF:
		return "is off";
	case HV_CRASHED:
		return "crashed";
	case HV_INTERNAL_ERROR:
		return "was stopped by an internal error of the hypervisor";
	case HV_IO_ERROR:
		return "was stopped by an I/O error of the host";
	}
	return "is in an unknown state";
}

static int dead(struct link *l, struct error *e)
{
	const char *panic = strstr(text_get(&l->tail), "Kernel panic");
	struct text tail = { 0 }, words = { 0 };

	link_console_tail(l, &tail);
	if (l->ops->last_words)
		l->ops->last_words(l->guest, &words);
	error_set(e, STATUS_INCOMPLETE, "the guest %s%s%.*s%s%s%s%s", hv_state_words(l->news.state),
		  panic ? ": its kernel panicked: " : "", panic ? (int)strcspn(panic, "\r\n") : 0, panic ? panic : "",
		  words.length ? "; its emulator says: " : "", text_get(&words),
		  tail.length ? "\nThe end of its console:" : "", text_get(&tail));
	text_free(&tail);
	text_free(&words);
	return -1;
}

static int send_text(struct link *l, const struct text *t, struct error *e)
{
	if (t->failed)
		return error_set(e, STATUS_HOST, "out of memory");
	return l->ops->send(l->guest, t->data, t->length, e);
}

int link_send(struct link *l, enum frame_type type, const json_t *body, struct error *e)
{
	char *payload = json_dumps(body, JSON_COMPACT);
	struct text *slot;

	if (!payload)
		return error_set(e, STATUS_HOST, "a frame cannot be written as JSON");
	slot = &l->kept[++l->sent % LINK_KEPT];
	text_reset(slot);
	frame_encode(slot, l->sent, type, payload, strlen(payload));
	free(payload);
	return send_text(l, slot, e);
}

/* Ask for the frame after the last good one. Not numbered as an ordinary frame: number 0. */
static int ask(struct link *l, struct error *e)
{
	struct text t = { 0 };
	char payload[32];
	int n, status;

	n = snprintf(payload, sizeof(payload), "{\"seq\":%u}", l->received + 1);
	frame_encode(&t, 0, FRAME_AGAIN, payload, (size_t)n);
	status = send_text(l, &t, e);
	text_free(&t);
	return status;
}

static int ask_again(struct link *l, struct error *e)
{
	if (++l->asked > ASK_LIMIT)
		return error_set(e, STATUS_INCOMPLETE, "frame %u of the guest stayed damaged after %d repetitions: the serial "
				 "line cannot be understood", l->received + 1, ASK_LIMIT);
	l->asked_ms = now_ms();
	return ask(l, e);
}

int link_nudge(struct link *l, struct error *e)
{
	return l->received ? ask(l, e) : 0;
}

static int send_again(struct link *l, const json_t *body, struct error *e)
{
	json_int_t seq = json_integer_value(json_object_get(body, "seq"));

	if (seq < 1 || seq > l->sent || seq + LINK_KEPT <= l->sent)
		return 0; /* never sent, or too old: the guest's deadline will tell */
	return send_text(l, &l->kept[seq % LINK_KEPT], e);
}

/*
 * A whole frame that was not there before. 1: it is the next message; 0: dealt with, or too early: then the ones
 * before it are asked for one by one, and it comes again. A request to send again is heard at once, and has a
 * number like any other.
 */
static int take_good(struct link *l, const struct frame *f, const json_t *body, struct error *e)
{
	if (f->type == FRAME_AGAIN && send_again(l, body, e))
		return -1;
	if (f->seq > l->seen)
		l->seen = f->seq;
	if (f->seq > l->received + 1 && l->received > 0)
		return l->asked && now_ms() - l->asked_ms < ASK_AGAIN_MS ? 0 : ask_again(l, e);
	if (f->seq) {
		l->received = f->seq;
		l->asked = 0;
		if (l->seen > l->received && ask_again(l, e))
			return -1;
	}
	return f->type != FRAME_AGAIN;
}

/* One event of the reader. 1: message, 0: go on, -1: error. */
static int take(struct link *l, enum frame_event event, const struct frame *f, struct message *m, struct error *e)
{
	json_error_t why;
	json_t *body;
	int status;

	if (event == FRAME_NOISE) {
		if (!l->shared) {
			log_bytes(l, f->payload, f->length);
			log_bytes(l, "\n", f->length ? 1 : 0); /* the reader has cut it off */
		}
		keep_tail(l, f->payload, f->length);
		keep_tail(l, "\n", f->length ? 1 : 0);
		return 0;
	}
	if (l->anew && (event != FRAME_GOOD || f->type != FRAME_HELLO || f->seq != 1))
		return 0;
	l->anew = false;
	if (event == FRAME_DAMAGED)
		return f->seq && f->seq <= l->received ? 0 : ask_again(l, e);
	if (f->seq && f->seq <= l->received)
		return 0; /* a repetition that was not needed */
	body = json_loadb(f->payload, f->length, 0, &why);
	if (!body)
		return error_set(e, STATUS_INCOMPLETE, "a %s frame of the guest is no JSON: %s", frame_type_name(f->type), why.text);
	status = take_good(l, f, body, e);
	if (status <= 0) {
		json_decref(body);
		return status;
	}
	*m = (struct message){ .type = f->type, .body = body, .at_ns = l->news.at_ns };
	return 1;
}

static int take_all(struct link *l, struct message *m, struct error *e)
{
	struct frame f;
	enum frame_event event;

	while ((event = frame_reader_next(&l->reader, &f)) != FRAME_NONE) {
		int status = take(l, event, &f, m, e);

		if (status)
			return status;
	}
	return 0;
}

static bool gone(const struct link *l)
{
	enum hv_state state = l->news.state;

	return state != HV_RUNNING && state != HV_PAUSED && !(l->tolerated & 1u << state);
}

/* Wait once. What a shared port says between frames comes to the tail as noise, without them. */
static int take_in(struct link *l, int timeout_ms, struct error *e)
{
	struct text *link = &l->news.link, *console = &l->news.console;

	text_reset(link);
	text_reset(console);
	if (l->ops->wait(l->guest, timeout_ms, &l->news, e))
		return -1;
	if (link->length && link->length == console->length && !memcmp(link->data, console->data, link->length))
		l->shared = true;
	log_bytes(l, text_get(console), console->length);
	if (!l->shared)
		keep_tail(l, text_get(console), console->length);
	frame_reader_feed(&l->reader, text_get(link), link->length);
	return 0;
}

int link_listen(struct link *l, int timeout_ms, struct text *console, struct error *e)
{
	if (l->interrupted && *l->interrupted)
		return error_set(e, STATUS_INCOMPLETE, "interrupted by signal %d", (int)*l->interrupted);
	if (take_in(l, timeout_ms < SLICE_MS ? timeout_ms : SLICE_MS, e))
		return -1;
	text_add_bytes(console, text_get(&l->news.console), l->news.console.length);
	return 0;
}

int link_receive(struct link *l, int timeout_ms, struct message *m, struct error *e)
{
	uint64_t end = now_ms() + (uint64_t)timeout_ms;
	int status;

	for (;;) {
		uint64_t now;

		status = take_all(l, m, e);
		if (status)
			return status;
		if (l->interrupted && *l->interrupted)
			return error_set(e, STATUS_INCOMPLETE, "interrupted by signal %d", (int)*l->interrupted);
		if (gone(l))
			return dead(l, e);
		now = now_ms();
		if (now >= end)
			return 0;
		if (take_in(l, (int)(end - now < SLICE_MS ? end - now : SLICE_MS), e))
			return -1;
	}
}

bool link_drain(struct link *l, int timeout_ms)
{
	uint64_t end = now_ms() + (uint64_t)timeout_ms;
	struct error ignored = { 0 };

	while (!gone(l) && now_ms() < end) {
		struct message m;

		if (link_receive(l, SLICE_MS, &m, &ignored) > 0)
			json_decref(m.body);
		else if (ignored.status)
			break;
	}
	return gone(l);
}
