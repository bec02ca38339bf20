/*
 * The host's end of the frames: numbers, damage, repetition, deadlines. What is between the frames and what
 * comes from the first serial port goes to the console log. Where the two ports are one, the log gets its bytes as they
 * come, frames and all, once.
 */
#ifndef KB_LINK_H
#define KB_LINK_H

#include <jansson.h>
#include <signal.h>
#include <stdio.h>

#include "guest/frame.h"
#include "host/hypervisor.h"

#define LINK_KEPT 8 /* sent frames that can be asked for again */

struct link {
	const struct hv_ops *ops;
	struct hv_guest *guest;
	struct frame_reader reader;
	struct hv_news news;
	FILE *console;               /* log, may be NULL */
	struct text tail;            /* the last console bytes, for messages */
	uint32_t sent, received;     /* numbers of the last frames */
	struct text kept[LINK_KEPT]; /* frame n at n % LINK_KEPT */
	uint32_t seen;               /* the highest number that arrived whole */
	unsigned asked;              /* how often the missing frame was asked for, and when last */
	uint64_t asked_ms;
	const volatile sig_atomic_t *interrupted; /* signal number, may be NULL */
	unsigned tolerated;          /* bits 1 << enum hv_state: a guest that is in one of these is not given up */
	bool anew;                   /* the guest begins from the start: until its first frame nothing counts */
	bool shared;                 /* the guest has one serial port: link and console are the same bytes */
};

struct message {
	enum frame_type type;
	json_t *body; /* owned by whoever received it */
	uint64_t at_ns; /* CLOCK_MONOTONIC when its first bytes were there */
};

void link_open(struct link *l, const struct hv_ops *ops, struct hv_guest *guest, FILE *console,
	       const volatile sig_atomic_t *interrupted);
void link_close(struct link *l); /* frees its memory; guest and console stay the caller's */

/* The guest was reset: its kickio and the frames begin anew, and what the earlier one had still said is left out. */
void link_restart(struct link *l);

int link_send(struct link *l, enum frame_type type, const json_t *body, struct error *e);

/*
 * The next message in order. 1: *m is set; 0: none within timeout_ms; -1: interrupted, the guest is gone
 * or cannot be understood. The message names the guest's state and shows the end of its console.
 */
int link_receive(struct link *l, int timeout_ms, struct message *m, struct error *e);

/*
 * Take in what comes within timeout_ms, at most until something came: what the console says is appended to console, too,
 * frames are kept for link_receive(). -1: interrupted, or the connection is lost. The guest's state is in l->news.
 */
int link_listen(struct link *l, int timeout_ms, struct text *console, struct error *e);

/* Nothing came for a while: ask for the next frame, in case it was lost. Silence is no damage: not counted. */
int link_nudge(struct link *l, struct error *e);

/* Take in what the guest says until it is off or the time is over. True when it is off. */
bool link_drain(struct link *l, int timeout_ms);

/* Append the last lines of the console, indented, for a message. */
void link_console_tail(const struct link *l, struct text *out);

const char *hv_state_words(enum hv_state state);

#endif
