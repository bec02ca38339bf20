/*
 * The guest's end of the link: numbered frames over a serial port, kept for a while so that the host can
 * have them again. Sending and receiving both notice a port that hung up or takes nothing any more. Any thread may send;
 * one at a time receives.
 */
#ifndef KB_AGENT_LINK_H
#define KB_AGENT_LINK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "guest/error.h"
#include "guest/frame.h"
#include "guest/text.h"

#define AGENT_LINK_KEPT 8

/* A frame as it was sent; seq 0: none. */
struct agent_link_frame {
	uint32_t seq;
	struct text bytes;
};

struct agent_link {
	int fd;
	int wake;               /* receiving ends early when it can be read, -1: nobody wants that */
	pthread_mutex_t sending; /* of what is sent and kept */
	uint32_t last_sent;     /* number of the last frame sent, 0 before the first */
	uint32_t last_received; /* number of the last frame taken from the host */
	struct frame_reader reader;
	struct agent_link_frame kept[AGENT_LINK_KEPT];
	struct agent_link_frame hello;  /* these two are kept however many log lines follow */
	struct agent_link_frame result; /* the last result or error */
};

int agent_link_open(struct agent_link *link, const char *device, struct error *e);
void agent_link_close(struct agent_link *link);

/* Send one line of JSON. Waits until the port took it all; fails when it hangs up or takes nothing for 20 s. */
int agent_link_send(struct agent_link *link, enum frame_type type, const struct text *payload, struct error *e);

/* Send a kept frame again under its old number. A number that is not kept (or was never used) is passed over. */
int agent_link_send_again(struct agent_link *link, uint32_t seq, struct error *e);

/* Wait, at most 100 ms, until what was sent has left the port: its interrupts shall not fall into a job. */
void agent_link_drain(const struct agent_link *link);

/*
 * The next job, action or bye of the host, in order and each once. Requests to send again are answered in here, and
 * what arrived damaged is asked for. timeout_ms 0 looks without waiting. Returns 1 with *frame set (valid until
 * the next call), 0 when the time is over or wake can be read, -1 when the port is gone.
 */
int agent_link_receive(struct agent_link *link, int timeout_ms, struct frame *frame, struct error *e);

#endif
