/*
 * A guest in memory behind a hypervisor's operations table: what the host sends is kept and can be answered,
 * what the guest says is queued by the test.
 */
#ifndef KB_TESTS_FAKE_GUEST_H
#define KB_TESTS_FAKE_GUEST_H

#include <string.h>
#include <time.h>

#include "guest/frame.h"
#include "host/hypervisor.h"

struct hv_guest {
	struct text link, console;  /* said, not yet heard */
	size_t chunk;               /* bytes handed over at once, 0: all */
	enum hv_state state;        /* once all is heard */
	struct text heard;          /* "TYPE PAYLOAD\n" of each frame that the host has sent */
	struct frame_reader reader; /* of what the host sends */
	unsigned asked;             /* `again` frames among them */
	uint32_t number;            /* of the last frame said with fake_say */
	unsigned idle_ms;           /* at most so long a wait without news */
	uint64_t counter;           /* block and KVM statistics go on with every look */
	void (*answer)(struct hv_guest *g, const struct frame *f); /* may be NULL */
	void (*idle)(struct hv_guest *g);                          /* nothing to say: may queue something */
};

static inline void fake_frame(struct hv_guest *g, uint32_t seq, enum frame_type type, const char *payload)
{
	frame_encode(&g->link, seq, type, payload, strlen(payload));
}

static inline void fake_say(struct hv_guest *g, enum frame_type type, const char *payload)
{
	fake_frame(g, ++g->number, type, payload);
}

/* The same with one letter of the payload changed under way. */
static inline void fake_damaged(struct hv_guest *g, uint32_t seq, enum frame_type type, const char *payload)
{
	fake_frame(g, seq, type, payload);
	g->link.data[g->link.length - 3] ^= 1;
}

static inline void fake_free(struct hv_guest *g)
{
	text_free(&g->link);
	text_free(&g->console);
	text_free(&g->heard);
	frame_reader_free(&g->reader);
}

static inline void fake_hand_over(struct text *from, size_t limit, struct text *to)
{
	size_t n = limit && limit < from->length ? limit : from->length;

	if (!n)
		return;
	text_add_bytes(to, from->data, n);
	from->length -= n;
	memmove(from->data, from->data + n, from->length + 1);
}

static inline int fake_wait(struct hv_guest *g, int timeout_ms, struct hv_news *news, struct error *e)
{
	struct timespec now;
	int ms = g->idle_ms && (int)g->idle_ms < timeout_ms ? (int)g->idle_ms : timeout_ms;

	(void)e;
	if (!g->link.length && !g->console.length && g->state == HV_RUNNING) {
		nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
		if (g->idle)
			g->idle(g);
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	news->at_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	fake_hand_over(&g->console, g->chunk, &news->console);
	fake_hand_over(&g->link, g->chunk, &news->link);
	news->state = g->link.length || g->console.length ? HV_RUNNING : g->state;
	return 0;
}

static inline int fake_send(struct hv_guest *g, const void *bytes, size_t length, struct error *e)
{
	struct frame f;

	(void)e;
	frame_reader_feed(&g->reader, bytes, length);
	while (frame_reader_next(&g->reader, &f) == FRAME_GOOD) {
		text_add(&g->heard, "%s %s\n", frame_type_name(f.type), f.payload);
		g->asked += f.type == FRAME_AGAIN;
		if (g->answer)
			g->answer(g, &f);
	}
	return 0;
}

static inline enum hv_state fake_state(struct hv_guest *g)
{
	return g->state;
}

static inline int fake_block(struct hv_guest *g, unsigned disk, struct hv_block *stats, struct error *e)
{
	(void)e;
	g->counter++;
	*stats = (struct hv_block){ .rd_reqs = 100 * g->counter + disk, .rd_bytes = 4096 * g->counter };
	return 0;
}

static inline int fake_qmp(struct hv_guest *g, const char *command, struct text *reply, struct error *e)
{
	if (!strstr(command, "query-stats"))
		return error_set(e, STATUS_HOST, "unknown command");
	text_add(reply, "{\"return\":[{\"provider\":\"kvm\",\"stats\":[{\"name\":\"exits\",\"value\":%d}]}]}",
		 (int)g->counter * 7);
	return 0;
}

static const struct hv_ops fake_ops = {
	.name = "fake", .wait = fake_wait, .send = fake_send, .state = fake_state, .block = fake_block, .qmp = fake_qmp,
};

#endif
