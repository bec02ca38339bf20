/*
 * Virtqueues as the driver sees them (VIRTIO 1.1, 2.6 split and 2.7 packed): pure code over memory that it shares with
 * a device, without access to any machine. Numbers in that memory are little-endian, as the machines are.
 *
 * Every request takes the same number of descriptors, its chain; request id owns a fixed set of descriptors (split)
 * or a place in the order (packed). So a ring of size N holds N / chain requests.
 */
#ifndef PROBE_RING_H
#define PROBE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/error.h"

#define RING_SIZE_MAX 1024 /* the most that QEMU's devices have */
#define RING_CHAIN_MAX 4
#define RING_ALIGN 4096 /* of the memory, and of the used ring in a legacy device's layout */

struct ring_buffer {
	uint64_t address;
	uint32_t length;
	bool device_writes;
};

struct ring_desc {
	uint64_t address;
	uint32_t length;
	uint16_t a, b; /* split: flags, next; packed: id, flags */
};

/* Split: avail (of the driver) and used (of the device). Packed: the event suppression structures of both. */
struct ring_half {
	union {
		uint16_t flags; /* split */
		uint16_t place; /* packed: of the wanted event, with its lap */
	};
	union {
		uint16_t index;  /* split */
		uint16_t events; /* packed: all, none, at a place */
	};
	uint16_t tail[]; /* split: ring and event index */
};

struct ring {
	bool packed, event_idx;
	uint16_t size, chain;
	uint16_t capacity; /* requests */
	volatile struct ring_desc *desc;
	volatile struct ring_half *driver, *device;
	/*
	 * What was written before is seen by the device before anything behind it is read: called after a publish and after
	 * ring_arm() has asked for an interrupt. ring_init() sets the processor's; a machine may need more and replaces it.
	 */
	void (*fence)(void);
	uint16_t next, used;     /* packed: places; split: running numbers of requests */
	bool next_wrap, used_wrap; /* packed */
	uint16_t unseen;         /* requests added since the last publish */
	uint16_t first_flags;    /* packed: of the first of them, held back until the publish */
	uint16_t first_place;
	uint16_t fresh;          /* what the last publish added: places (packed) or requests (split) */
	uint16_t out;            /* requests that the device has */
	uint16_t nfree;
	uint16_t free[RING_SIZE_MAX];
	bool busy[RING_SIZE_MAX]; /* by id: handed to the device */
};

/* Bytes that ring_init() wants, at a multiple of RING_ALIGN. */
size_t ring_bytes(bool packed, uint16_t size);

/* Fails when the ring cannot hold a single request, or a split one is no power of two. Clears the memory. */
int ring_init(struct ring *r, bool packed, bool event_idx, uint16_t size, uint16_t chain, void *memory, struct error *e);

/*
 * Add a request of r->chain buffers, those that the device reads first. It is not there for the device before
 * ring_publish(). The id is what ring_reap() gives back. Fails when the ring is full.
 */
int ring_add(struct ring *r, const struct ring_buffer *buffers, uint16_t *id, struct error *e);
void ring_publish(struct ring *r);

/* Does the device want a notification for what was published last? Ask once per publish. */
bool ring_wants_kick(const struct ring *r);

/* Ask for no interrupts. Without event_idx a hint, and with a split ring and event_idx the best that there is. */
void ring_quiet(struct ring *r);

/*
 * Ask for an interrupt at the nth request from now (1: the next) that the device is done with; without event_idx at
 * every one. True when so many are done already: then there may be no interrupt any more.
 */
bool ring_arm(struct ring *r, uint16_t n);

/* A word of memory, and how it looks when the device is done with n more requests, 1 or more. */
struct ring_watch {
	const volatile uint16_t *at;
	uint16_t mask, value;
};

struct ring_watch ring_watch(const struct ring *r, uint16_t n);

/* Requests that the device is done with and that were not taken back. */
uint16_t ring_done(const struct ring *r);

static inline bool ring_seen(const struct ring_watch *w)
{
	return (*w->at & w->mask) == w->value;
}

/* 1: the request *id is done; 0: none is; -1: what the device wrote makes no sense. */
int ring_reap(struct ring *r, uint16_t *id, struct error *e);

#endif
