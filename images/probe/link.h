/*
 * The guest's end of the frames (guest/frame.h) on the second serial port, or on the first one where there is only
 * one. Frames are kept for a while so that the host can have them again.
 */
#ifndef PROBE_LINK_H
#define PROBE_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/frame.h"

#define LINK_KEPT 8

struct link_frame {
	uint32_t seq; /* 0: none */
	struct text bytes;
};

struct link {
	unsigned port;
	uint32_t sent, received;
	struct frame_reader reader;
	struct link_frame kept[LINK_KEPT];
	struct link_frame hello, result; /* kept however many others follow; result: or error */
};

void link_open(struct link *l, unsigned port);

/* payload: one line of JSON. False when nobody takes it, or memory ran out. */
bool link_send(struct link *l, enum frame_type type, const struct text *payload);
bool link_send_again(struct link *l, uint32_t seq);

/*
 * The next job, bye, log or action, in order and each once; true when *f is set (until the next call). Looks for ns at the
 * longest, 0: without waiting; the rest of a frame that has begun is waited for as long as it comes. Requests to send again are
 * answered in here; what is damaged or missing is asked for.
 */
bool link_receive(struct link *l, uint64_t ns, struct frame *f);

#endif
