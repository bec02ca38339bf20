/*
 * A device for rings, written from the specification (VIRTIO 1.1, 2.6 and 2.7): it looks at the memory only, at the
 * offsets that the specification gives. Include after cmocka.
 */
#ifndef KB_TESTS_RING_DEVICE_H
#define KB_TESTS_RING_DEVICE_H

#include <stdlib.h>
#include <string.h>

#include "images/probe/ring.h"

#define CHAIN 2
#define LAYOUTS 4

/* Split and packed, with and without event_idx. */
struct layout {
	bool packed, event_idx;
};

static const struct layout layouts[LAYOUTS] = {{false, false}, {false, true}, {true, false}, {true, true}};

struct device {
	struct ring ring; /* the driver's; of it only where a packed ring lies */
	struct layout layout;
	unsigned char *memory;
	unsigned size, chain;
	unsigned avail, used; /* split: running; packed: places */
	bool avail_wrap, used_wrap;
	unsigned interrupts;
};

static inline uint16_t get16(const struct device *d, size_t at)
{
	uint16_t v;

	memcpy(&v, d->memory + at, sizeof(v));
	return v;
}

static inline void put16(struct device *d, size_t at, uint16_t v)
{
	memcpy(d->memory + at, &v, sizeof(v));
}

static inline uint32_t get32(const struct device *d, size_t at)
{
	return get16(d, at) | (uint32_t)get16(d, at + 2) << 16;
}

static inline uint64_t get64(const struct device *d, size_t at)
{
	return get32(d, at) | (uint64_t)get32(d, at + 4) << 32;
}

/* Where things are: 2.6.2 for a legacy layout, 2.7.1 (the three parts of a packed ring may lie anywhere). */
static inline size_t avail_at(const struct device *d)
{
	return 16 * (size_t)d->size;
}

static inline size_t used_at(const struct device *d)
{
	return (avail_at(d) + 2 * (3 + (size_t)d->size) + 4095) / 4096 * 4096;
}

static inline size_t used_event_at(const struct device *d)
{
	return avail_at(d) + 4 + 2 * (size_t)d->size;
}

static inline size_t avail_event_at(const struct device *d)
{
	return used_at(d) + 4 + 8 * (size_t)d->size;
}

static inline size_t driver_events_at(const struct device *d)
{
	return (size_t)((const unsigned char *)(uintptr_t)d->ring.driver - d->memory);
}

static inline size_t device_events_at(const struct device *d)
{
	return (size_t)((const unsigned char *)(uintptr_t)d->ring.device - d->memory);
}

static inline struct device *open_chain(struct layout layout, unsigned size, unsigned chain)
{
	struct device *d = calloc(1, sizeof(*d));
	struct error e = {0};

	assert_non_null(d);
	d->layout = layout;
	d->size = size;
	d->chain = chain;
	d->avail_wrap = d->used_wrap = true;
	d->memory = aligned_alloc(4096, ring_bytes(layout.packed, (uint16_t)size));
	assert_non_null(d->memory);
	memset(d->memory, 0xa5, ring_bytes(layout.packed, (uint16_t)size)); /* what was there does not matter */
	assert_int_equal(ring_init(&d->ring, layout.packed, layout.event_idx, (uint16_t)size, (uint16_t)chain, d->memory, &e), 0);
	assert_int_equal(d->ring.capacity, size / chain);
	return d;
}

static inline struct device *open_ring(struct layout layout, unsigned size)
{
	return open_chain(layout, size, CHAIN);
}

static inline void close_ring(struct device *d)
{
	free(d->memory);
	free(d);
}

struct request {
	uint16_t handle; /* what goes back: head or id */
	uint64_t address[RING_CHAIN_MAX];
	uint32_t length[RING_CHAIN_MAX];
	uint16_t writes[RING_CHAIN_MAX]; /* flag */
};

static inline bool take_split(struct device *d, struct request *q)
{
	uint16_t at;

	if ((uint16_t)d->avail == get16(d, avail_at(d) + 2))
		return false;
	q->handle = at = get16(d, avail_at(d) + 4 + 2 * (size_t)(d->avail++ % d->size));
	for (unsigned i = 0; i < d->chain; i++) {
		uint16_t flags = get16(d, 16 * (size_t)at + 12);

		assert_true(at < d->size);
		q->address[i] = get64(d, 16 * (size_t)at);
		q->length[i] = get32(d, 16 * (size_t)at + 8);
		q->writes[i] = flags & 2;
		assert_int_equal(flags & 1, i + 1 < d->chain);
		assert_int_equal(flags & ~3, 0);
		at = get16(d, 16 * (size_t)at + 14);
	}
	return true;
}

static inline bool take_packed(struct device *d, struct request *q)
{
	for (unsigned i = 0; i < d->chain; i++) {
		size_t at = 16 * (size_t)d->avail;
		uint16_t flags = get16(d, at + 14);
		bool available = flags >> 7 & 1, used = flags >> 15 & 1;

		if (available != d->avail_wrap || used == d->avail_wrap) {
			assert_int_equal(i, 0); /* a chain is there as a whole */
			return false;
		}
		q->address[i] = get64(d, at);
		q->length[i] = get32(d, at + 8);
		q->writes[i] = flags & 2;
		q->handle = get16(d, at + 12); /* of the last one */
		assert_int_equal(flags & 1, i + 1 < d->chain);
		if (++d->avail == d->size) {
			d->avail = 0;
			d->avail_wrap = !d->avail_wrap;
		}
	}
	return true;
}

static inline bool take(struct device *d, struct request *q)
{
	return d->layout.packed ? take_packed(d, q) : take_split(d, q);
}

/* Does the driver want to hear of this one? 2.6.7, 2.7.10; one completion at a time. */
static inline bool wanted(const struct device *d, unsigned place, bool wrap)
{
	uint16_t flags;

	if (!d->layout.packed)
		return d->layout.event_idx ? get16(d, used_event_at(d)) == (uint16_t)place : !(get16(d, avail_at(d)) & 1);
	flags = get16(d, driver_events_at(d) + 2);
	if (flags != 2)
		return flags == 0;
	return get16(d, driver_events_at(d)) == (place | (wrap ? 0x8000u : 0));
}

static inline void complete(struct device *d, uint32_t handle)
{
	unsigned place = d->used;
	bool wrap = d->used_wrap;

	if (d->layout.packed) {
		size_t at = 16 * (size_t)d->used;

		put16(d, at + 12, (uint16_t)handle);
		put16(d, at + 14, d->used_wrap ? 0x8080 : 0);
		d->used += d->chain;
		if (d->used >= d->size) {
			d->used -= d->size;
			d->used_wrap = !d->used_wrap;
		}
	} else {
		size_t at = used_at(d) + 4 + 8 * (size_t)(d->used % d->size);

		put16(d, at, (uint16_t)handle);
		put16(d, at + 2, (uint16_t)(handle >> 16));
		put16(d, used_at(d) + 2, (uint16_t)++d->used);
	}
	d->interrupts += wanted(d, place, wrap);
}

#endif
