/* The probe's rings, as a device sees them that does what the specification says, and one that does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/ring_device.h"

/* Requests whose addresses tell them apart. */
static uint16_t put_one(struct device *d, uint64_t address)
{
	struct ring_buffer b[RING_CHAIN_MAX] = {{0}};
	struct error e = {0};
	uint16_t id;

	for (unsigned i = 0; i < d->chain; i++)
		b[i] = (struct ring_buffer){.address = address + 0x10000 * i, .length = 16 + i, .device_writes = i > 0};
	assert_int_equal(ring_add(&d->ring, b, &id, &e), 0);
	return id;
}

static void get_one(struct device *d, struct request *q, uint64_t address)
{
	assert_true(take(d, q));
	for (unsigned i = 0; i < d->chain; i++) {
		assert_true(q->address[i] == address + 0x10000 * i);
		assert_int_equal(q->length[i], 16 + i);
		assert_int_equal(q->writes[i], i > 0 ? 2 : 0);
	}
}

static void expect_reap(struct device *d, uint16_t id)
{
	struct error e = {0};
	uint16_t got;

	assert_int_equal(ring_reap(&d->ring, &got, &e), 1);
	assert_int_equal(got, id);
}

static void expect_none(struct device *d)
{
	struct error e = {0};
	uint16_t got;

	assert_int_equal(ring_reap(&d->ring, &got, &e), 0);
}

static void expect_nonsense(struct device *d, const char *words)
{
	struct error e = {0};
	uint16_t got;

	assert_int_equal(ring_reap(&d->ring, &got, &e), -1);
	if (!strstr(e.text, words))
		fail_msg("\"%s\" does not say \"%s\"", e.text, words);
}

static void refused(bool packed, unsigned size, unsigned chain, const char *words)
{
	static unsigned char memory[65536] __attribute__((aligned(4096)));
	static struct ring r;
	struct error e = {0};

	assert_int_equal(ring_init(&r, packed, false, (uint16_t)size, (uint16_t)chain, memory, &e), -1);
	if (!strstr(e.text, words))
		fail_msg("\"%s\" does not say \"%s\"", e.text, words);
}

static void test_sizes(void **state)
{
	(void)state;
	for (int packed = 0; packed < 2; packed++) {
		refused(packed, 0, 2, "size 0");
		refused(packed, 1, 2, "1 entry, a request needs 2");
		refused(packed, 2, 3, "2 entries, a request needs 3");
		refused(packed, 2048, 2, "at most 1024");
	}
	refused(false, 96, 2, "no power of two");
	close_ring(open_ring(layouts[2], 96));
	close_ring(open_chain(layouts[0], 1, 1));
}

/* The legacy layout for 256 entries, counted by hand: 4096 + 518 bytes, rounded up to 8192, and 2054, to 4096. */
static void test_layout(void **state)
{
	struct device *d = open_ring(layouts[0], 256);

	(void)state;
	assert_int_equal(ring_bytes(false, 256), 12288);
	assert_ptr_equal(d->ring.driver, d->memory + 4096);
	assert_ptr_equal(d->ring.device, d->memory + 8192);
	close_ring(d);
}

/* Nothing is there before it is published; all of it after. */
static void test_publish(void **state)
{
	(void)state;
	for (unsigned l = 0; l < LAYOUTS; l++) {
		struct device *d = open_ring(layouts[l], 8);
		struct request q;
		uint16_t id[3];

		for (unsigned i = 0; i < 3; i++) {
			id[i] = put_one(d, 0x1000 + i);
			assert_false(take(d, &q));
		}
		ring_publish(&d->ring);
		for (unsigned i = 0; i < 3; i++) {
			get_one(d, &q, 0x1000 + i);
			expect_none(d);
			complete(d, q.handle);
			expect_reap(d, id[i]);
		}
		assert_false(take(d, &q));
		expect_none(d);
		close_ring(d);
	}
}

/* Deep enough for 16-bit indices and the laps of every size to go round, in batches, completed out of order. */
static void shuffle_through(struct layout layout, unsigned size, unsigned chain)
{
	struct device *d = open_chain(layout, size, chain);
	uint64_t address = 1, random = 1;

	while (address < 70000) {
		struct request q[RING_SIZE_MAX];
		uint16_t id[RING_SIZE_MAX], of[RING_SIZE_MAX];
		unsigned n;

		random = random * 6364136223846793005u + 1442695040888963407u;
		n = 1 + (unsigned)(random >> 33) % d->ring.capacity;
		for (unsigned i = 0; i < n; i++)
			id[i] = put_one(d, address + i);
		ring_publish(&d->ring);
		for (unsigned i = 0; i < n; i++) {
			get_one(d, &q[i], address + i);
			of[i] = id[i];
		}
		for (unsigned i = n; i > 0; i--) {
			unsigned k = (unsigned)(random >> 40) % i;
			struct ring_watch w = ring_watch(&d->ring, 1);

			assert_false(ring_seen(&w));
			complete(d, q[k].handle);
			assert_true(ring_seen(&w));
			expect_reap(d, of[k]);
			q[k] = q[i - 1];
			of[k] = of[i - 1];
		}
		address += n;
	}
	assert_int_equal(d->ring.out, 0);
	assert_int_equal(d->ring.nfree, d->ring.capacity);
	close_ring(d);
}

static void test_wrap_around(void **state)
{
	(void)state;
	for (unsigned l = 0; l < LAYOUTS; l++) {
		shuffle_through(layouts[l], 2, 2);
		shuffle_through(layouts[l], 4, 3);
		shuffle_through(layouts[l], 64, 2);
		shuffle_through(layouts[l], 256, 3);
		shuffle_through(layouts[l], 1, 1);
		if (layouts[l].packed)
			shuffle_through(layouts[l], 7, 2);
	}
}

static void test_full(void **state)
{
	(void)state;
	for (unsigned l = 0; l < LAYOUTS; l++) {
		struct device *d = open_ring(layouts[l], 8);
		struct ring_buffer b[CHAIN] = {{0}};
		struct error e = {0};
		struct request q;
		uint16_t id;

		for (unsigned round = 0; round < 5; round++) {
			for (unsigned i = 0; i < 4; i++)
				put_one(d, i);
			assert_int_equal(ring_add(&d->ring, b, &id, &e), -1);
			assert_string_equal(e.text, "the queue is full: its 8 entries hold 4 requests");
			ring_publish(&d->ring);
			for (unsigned i = 0; i < 4; i++) {
				get_one(d, &q, i);
				complete(d, q.handle);
			}
			for (unsigned i = 0; i < 4; i++)
				assert_int_equal(ring_reap(&d->ring, &id, &(struct error){0}), 1);
		}
		close_ring(d);
	}
}

/* Kick exactly when the place that the device named is among those just published; all laps and both ends. */
static void kicks(struct layout layout, unsigned size)
{
	struct device *d = open_ring(layout, size);
	uint64_t random = 7;

	for (unsigned done = 0; done < 70000;) {
		unsigned from = layout.packed ? d->avail : d->avail & 0xffff, n, ahead, place;
		bool wrap = d->avail_wrap;
		struct request q;

		random = random * 6364136223846793005u + 1442695040888963407u;
		n = 1 + (unsigned)(random >> 33) % d->ring.capacity;
		/* The event stands at the start of the ahead-th request from now; up to half a lap, or just behind. */
		ahead = (unsigned)(random >> 50) % (d->ring.capacity + 1);
		place = from + ahead * (layout.packed ? CHAIN : 1);
		if (layout.packed) {
			wrap ^= place >= size;
			place %= size;
			put16(d, device_events_at(d), (uint16_t)(place | (wrap ? 0x8000 : 0)));
			put16(d, device_events_at(d) + 2, 2);
		} else {
			put16(d, avail_event_at(d), (uint16_t)place);
		}
		for (unsigned i = 0; i < n; i++)
			put_one(d, i);
		ring_publish(&d->ring);
		assert_int_equal(ring_wants_kick(&d->ring), ahead < n);
		if (!layout.packed) {
			put16(d, avail_event_at(d), (uint16_t)(from - 1)); /* passed long ago */
			assert_false(ring_wants_kick(&d->ring));
		}
		for (unsigned i = 0; i < n; i++) {
			uint16_t id;

			get_one(d, &q, i);
			complete(d, q.handle);
			assert_int_equal(ring_reap(&d->ring, &id, &(struct error){0}), 1);
		}
		done += n;
	}
	close_ring(d);
}

static void test_kicks_by_event(void **state)
{
	(void)state;
	for (unsigned size = 4; size <= 256; size *= 4) {
		kicks(layouts[1], size);
		kicks(layouts[3], size);
	}
	kicks(layouts[3], 10);
}

static void test_kicks_by_flag(void **state)
{
	(void)state;
	for (unsigned l = 0; l < LAYOUTS; l++) {
		struct device *d = open_ring(layouts[l], 8);

		put_one(d, 0);
		ring_publish(&d->ring);
		assert_true(ring_wants_kick(&d->ring)); /* a device that has said nothing yet */
		if (d->layout.packed)
			put16(d, device_events_at(d) + 2, 1);
		else if (!d->layout.event_idx)
			put16(d, used_at(d), 1);
		assert_int_equal(ring_wants_kick(&d->ring), !d->layout.packed && d->layout.event_idx);
		close_ring(d);
	}
}

/* With event_idx one interrupt for n requests, at the last; without one for each; none when none are wanted. */
static void test_interrupts(void **state)
{
	(void)state;
	for (unsigned l = 0; l < LAYOUTS; l++) {
		struct device *d = open_ring(layouts[l], 64);

		for (unsigned round = 0; round < 3000; round++) {
			unsigned n = 1 + round % 32;
			bool quiet = round % 3 == 0;
			struct ring_watch w;

			if (quiet)
				ring_quiet(&d->ring);
			else
				assert_false(ring_arm(&d->ring, (uint16_t)n));
			for (unsigned i = 0; i < n; i++)
				put_one(d, i);
			w = ring_watch(&d->ring, (uint16_t)n);
			ring_publish(&d->ring);
			d->interrupts = 0;
			for (unsigned i = 0; i < n; i++) {
				struct request q;

				get_one(d, &q, i);
				assert_false(ring_seen(&w));
				assert_int_equal(d->interrupts, quiet || layouts[l].event_idx ? 0 : i);
				complete(d, q.handle);
			}
			assert_true(ring_seen(&w));
			assert_int_equal(d->interrupts, quiet ? 0 : layouts[l].event_idx ? 1 : n);
			assert_true(ring_arm(&d->ring, (uint16_t)n)); /* too late for an interrupt */
			for (unsigned i = 0; i < n; i++) {
				uint16_t id;

				assert_int_equal(ring_reap(&d->ring, &id, &(struct error){0}), 1);
			}
			assert_false(ring_arm(&d->ring, 1));
		}
		close_ring(d);
	}
}

static struct device *with_two_out(struct layout layout, uint16_t id[2])
{
	struct device *d = open_ring(layout, 8);
	struct request q;

	for (unsigned i = 0; i < 2; i++)
		id[i] = put_one(d, i);
	ring_publish(&d->ring);
	for (unsigned i = 0; i < 2; i++)
		get_one(d, &q, i);
	return d;
}

/* What a device writes that it never got, or has given back. Split: heads, 2 apart; packed: ids. */
static void test_wrong_ids(void **state)
{
	(void)state;
	for (unsigned l = 0; l < LAYOUTS; l++) {
		unsigned each = layouts[l].packed ? 1 : CHAIN;
		uint16_t id[2];
		struct device *d = with_two_out(layouts[l], id);

		complete(d, id[0] * each);
		complete(d, id[0] * each);
		expect_reap(d, id[0]);
		expect_nonsense(d, "completed twice");
		close_ring(d);

		d = with_two_out(layouts[l], id);
		complete(d, 3 * each);
		assert_true(id[0] != 3 && id[1] != 3);
		expect_nonsense(d, "never handed over");
		close_ring(d);

		d = with_two_out(layouts[l], id);
		complete(d, 8);
		expect_nonsense(d, layouts[l].packed ? "request 8, but there are only 4" : "descriptor 8");
		close_ring(d);

		d = with_two_out(layouts[l], id);
		complete(d, 65535);
		expect_nonsense(d, "65535");
		close_ring(d);
	}
}

static void test_wrong_heads(void **state)
{
	uint16_t id[2];
	struct device *d = with_two_out(layouts[0], id);

	(void)state;
	complete(d, id[0] * CHAIN + 1u);
	expect_nonsense(d, "where no request begins");
	close_ring(d);
	d = with_two_out(layouts[1], id);
	complete(d, 0x10000); /* 32 bits of it count */
	expect_nonsense(d, "descriptor 65536");
	close_ring(d);
}

static void test_index_jumps(void **state)
{
	static const uint16_t wrong[] = {3, 9, 0x8000, 0xffff};
	uint16_t id[2];

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct device *d = with_two_out(layouts[i % 2], id);

		put16(d, used_at(d) + 2, wrong[i]);
		expect_nonsense(d, "jumped from 0 to");
		close_ring(d);
	}
}

/* Nothing is under way: whatever is said to be done is wrong. */
static void test_done_with_nothing(void **state)
{
	(void)state;
	for (unsigned l = 0; l < LAYOUTS; l++) {
		struct device *d = open_ring(layouts[l], 8);

		complete(d, 0);
		expect_nonsense(d, layouts[l].packed ? "which it has not" : "with 0 requests under way");
		close_ring(d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_publish),
		cmocka_unit_test(test_wrap_around),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_kicks_by_event),
		cmocka_unit_test(test_kicks_by_flag),
		cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_wrong_ids),
		cmocka_unit_test(test_wrong_heads),
		cmocka_unit_test(test_index_jumps),
		cmocka_unit_test(test_done_with_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
