#include "images/probe/ring.h"

#include <string.h>

#define F_NEXT 1
#define F_WRITE 2
#define F_AVAIL 0x80
#define F_USED 0x8000

#define NO_EVENTS 1 /* split: avail and used; packed: both halves */
#define AT_EVENT 2  /* packed */
#define WRAP_BIT 0x8000

static void barrier(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static size_t up(size_t n)
{
	return (n + RING_ALIGN - 1) / RING_ALIGN * RING_ALIGN;
}

/* Descriptors and avail ring (flags, idx, ring, used_event), then the used ring (flags, idx, pairs, avail_event). */
size_t ring_bytes(bool packed, uint16_t size)
{
	size_t desc = sizeof(struct ring_desc) * size;

	if (packed)
		return up(desc) + 2 * RING_ALIGN;
	return up(desc + 6 + 2 * (size_t)size) + up(6 + 8 * (size_t)size);
}

int ring_init(struct ring *r, bool packed, bool event_idx, uint16_t size, uint16_t chain, void *memory, struct error *e)
{
	size_t desc = sizeof(struct ring_desc) * size;
	char *m = memory;

	if (size == 0)
		return error_set(e, STATUS_FAILED, "the device's queue has size 0: there is none");
	if (size > RING_SIZE_MAX)
		return error_set(e, STATUS_FAILED, "the device's queue has %u entries, at most %d are supported", size,
				 RING_SIZE_MAX);
	if (!packed && size & (size - 1))
		return error_set(e, STATUS_FAILED, "the device's queue has %u entries, which is no power of two", size);
	if (size < chain)
		return error_set(e, STATUS_FAILED, "the device's queue has %u entr%s, a request needs %u", size,
				 size == 1 ? "y" : "ies", chain);
	memset(m, 0, ring_bytes(packed, size));
	*r = (struct ring){.packed = packed, .event_idx = event_idx, .size = size, .chain = chain,
			   .capacity = (uint16_t)(size / chain), .next_wrap = true, .used_wrap = true,
			   .fence = barrier};
	r->desc = memory;
	r->driver = (volatile struct ring_half *)(void *)(m + (packed ? up(desc) : desc));
	r->device = (volatile struct ring_half *)(void *)(m + (packed ? up(desc) + RING_ALIGN :
								up(desc + 6 + 2 * (size_t)size)));
	for (r->nfree = 0; r->nfree < r->capacity; r->nfree++)
		r->free[r->nfree] = (uint16_t)(r->capacity - 1 - r->nfree);
	return 0;
}

/* The place n behind another one, which may lie behind the end and then in the next lap. */
static uint16_t step(const struct ring *r, uint16_t place, unsigned n, bool *wrap)
{
	unsigned to = place + n;

	while (to >= r->size) {
		to -= r->size;
		*wrap = !*wrap;
	}
	return (uint16_t)to;
}

static uint16_t available(bool wrap)
{
	return wrap ? F_AVAIL : F_USED;
}

static void add_packed(struct ring *r, const struct ring_buffer *buffers, uint16_t id)
{
	for (uint16_t i = 0; i < r->chain; i++) {
		volatile struct ring_desc *d = &r->desc[r->next];
		uint16_t flags = available(r->next_wrap) | (buffers[i].device_writes ? F_WRITE : 0) |
				 (i + 1 < r->chain ? F_NEXT : 0);

		d->address = buffers[i].address;
		d->length = buffers[i].length;
		d->a = id;
		if (r->unseen == 0 && i == 0) {
			r->first_flags = flags;
			r->first_place = r->next;
		} else {
			d->b = flags;
		}
		r->next = step(r, r->next, 1, &r->next_wrap);
	}
}

static void add_split(struct ring *r, const struct ring_buffer *buffers, uint16_t id)
{
	uint16_t head = (uint16_t)(id * r->chain);

	for (uint16_t i = 0; i < r->chain; i++) {
		volatile struct ring_desc *d = &r->desc[head + i];

		d->address = buffers[i].address;
		d->length = buffers[i].length;
		d->a = (buffers[i].device_writes ? F_WRITE : 0) | (i + 1 < r->chain ? F_NEXT : 0);
		d->b = i + 1 < r->chain ? (uint16_t)(head + i + 1) : 0;
	}
	r->driver->tail[r->next++ & (r->size - 1)] = head;
}

int ring_add(struct ring *r, const struct ring_buffer *buffers, uint16_t *id, struct error *e)
{
	if (r->nfree == 0)
		return error_set(e, STATUS_FAILED, "the queue is full: its %u entries hold %u requests", r->size, r->capacity);
	*id = r->free[--r->nfree];
	r->busy[*id] = true;
	(r->packed ? add_packed : add_split)(r, buffers, *id);
	r->unseen++;
	return 0;
}

void ring_publish(struct ring *r)
{
	barrier();
	if (r->unseen && r->packed)
		r->desc[r->first_place].b = r->first_flags;
	else if (!r->packed)
		r->driver->index = r->next;
	r->fresh = (uint16_t)(r->packed ? r->unseen * r->chain : r->unseen);
	r->out = (uint16_t)(r->out + r->unseen);
	r->unseen = 0;
	r->fence();
}

/* Has the index gone past the event on its way from old to now? (2.6.7.1; all of it wraps at 2^16.) */
static bool passed(uint16_t event, uint16_t now, uint16_t old)
{
	return (uint16_t)(now - event - 1) < (uint16_t)(now - old);
}

bool ring_wants_kick(const struct ring *r)
{
	uint16_t event, old = (uint16_t)(r->next - r->fresh);

	if (!r->packed && r->event_idx)
		return passed(*(volatile uint16_t *)&r->device->tail[4 * r->size], r->next, old);
	if (!r->packed)
		return !(r->device->flags & NO_EVENTS);
	if (r->device->events != AT_EVENT || !r->event_idx)
		return r->device->events != NO_EVENTS;
	event = r->device->place & (uint16_t)~WRAP_BIT;
	if (!(r->device->place & WRAP_BIT) == r->next_wrap)
		event = (uint16_t)(event - r->size);
	return passed(event, r->next, old);
}

void ring_quiet(struct ring *r)
{
	if (r->packed)
		r->driver->events = NO_EVENTS;
	else if (r->event_idx)
		r->driver->tail[r->size] = (uint16_t)(r->used - 1); /* as far off as it can be */
	else
		r->driver->flags = NO_EVENTS;
}

bool ring_arm(struct ring *r, uint16_t n)
{
	struct ring_watch w = ring_watch(r, n);
	bool wrap = r->used_wrap;
	uint16_t place;

	if (r->packed && r->event_idx) {
		place = step(r, r->used, (n - 1u) * r->chain, &wrap);
		r->driver->place = (uint16_t)(place | (wrap ? WRAP_BIT : 0));
		barrier();
		r->driver->events = AT_EVENT;
	} else if (r->packed) {
		r->driver->events = 0;
	} else if (r->event_idx) {
		r->driver->tail[r->size] = (uint16_t)(r->used + n - 1);
	} else {
		r->driver->flags = 0;
	}
	r->fence();
	if (r->packed)
		return ring_seen(&w);
	return ring_done(r) >= n;
}

struct ring_watch ring_watch(const struct ring *r, uint16_t n)
{
	bool wrap = r->used_wrap;
	uint16_t place;

	if (!r->packed)
		return (struct ring_watch){.at = &r->device->index, .mask = 0xffff, .value = (uint16_t)(r->used + n)};
	place = step(r, r->used, (n - 1u) * r->chain, &wrap);
	return (struct ring_watch){.at = &r->desc[place].b, .mask = F_AVAIL | F_USED,
				   .value = wrap ? F_AVAIL | F_USED : 0};
}

uint16_t ring_done(const struct ring *r)
{
	struct ring_watch w;
	uint16_t n = 0;

	if (!r->packed)
		return (uint16_t)(r->device->index - r->used);
	for (; n < r->out; n++) {
		w = ring_watch(r, (uint16_t)(n + 1));
		if (!ring_seen(&w))
			break;
	}
	return n;
}

/* The id of the next request that is done, as the device wrote it: 1, 0 or -1. */
static int next_packed(struct ring *r, uint16_t *id)
{
	struct ring_watch w = ring_watch(r, 1);

	if (!ring_seen(&w))
		return 0;
	barrier();
	*id = r->desc[r->used].a;
	return 1;
}

static int next_split(struct ring *r, uint16_t *id, struct error *e)
{
	uint16_t index = r->device->index, done = (uint16_t)(index - r->used);
	const volatile uint32_t *pair;
	uint32_t head;

	if (done == 0)
		return 0;
	if (done > r->out)
		return error_set(e, STATUS_FAILED, "the device's used index jumped from %u to %u, with %u request%s under way",
				 r->used, index, r->out, r->out == 1 ? "" : "s");
	barrier();
	pair = (const volatile uint32_t *)&r->device->tail[4 * (r->used & (r->size - 1))];
	head = *pair;
	if (head >= r->size || head % r->chain)
		return error_set(e, STATUS_FAILED, "the device says that it is done with descriptor %u, where no request begins "
				 "(the queue has %u)", (unsigned)head, r->size);
	*id = (uint16_t)(head / r->chain);
	return 1;
}

int ring_reap(struct ring *r, uint16_t *id, struct error *e)
{
	int got = r->packed ? next_packed(r, id) : next_split(r, id, e);

	if (got <= 0)
		return got;
	if (*id >= r->capacity)
		return error_set(e, STATUS_FAILED, "the device says that it is done with request %u, but there are only %u", *id,
				 r->capacity);
	if (!r->busy[*id] || r->out == 0)
		return error_set(e, STATUS_FAILED, "the device says that it is done with request %u, which it has not: "
				 "completed twice, or never handed over", *id);
	r->busy[*id] = false;
	r->free[r->nfree++] = *id;
	r->out--;
	r->used = r->packed ? step(r, r->used, r->chain, &r->used_wrap) : (uint16_t)(r->used + 1);
	return 1;
}
