#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guest/offsets.h"

static struct offsets_setup setup_of(enum order order, uint64_t start, uint64_t bytes, uint64_t bs)
{
	struct offsets_setup s = { .order = order, .start = start, .bytes = bytes, .seed = 1, .stream = 1 };

	s.bs[DDIR_READ] = bs;
	return s;
}

/* First outputs for seed 1234567, known from the generator's description and many implementations. */
static void generator_is_splitmix64(void **state)
{
	static const uint64_t known[] = { 6457827717110365317u, 3203168211198807973u, 9817491932198370423u };
	struct random64 r = { 1234567 };

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_true(random64_next(&r) == known[i]);
}

static void every_block_once(void **state)
{
	static const uint64_t sizes[] = { 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 1000, 4096, 4097, 65537 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct offsets_setup s = setup_of(ORDER_ONCE, 4096, sizes[i] * 512 + 511, 512);
		unsigned char *seen = calloc(sizes[i], 1);
		struct offsets o;
		uint64_t at;

		offsets_init(&o, &s);
		for (unsigned pass = 1; pass <= 3; pass++) {
			uint64_t n = 0;

			for (; offsets_next(&o, DDIR_READ, &at); n++) {
				assert_int_equal((at - 4096) % 512, 0);
				assert_in_range((at - 4096) / 512, 0, sizes[i] - 1);
				assert_int_equal(seen[(at - 4096) / 512]++, pass - 1);
			}
			assert_int_equal(n, sizes[i]);
			offsets_restart(&o);
		}
		free(seen);
	}
}

static void huge_region(void **state)
{
	struct offsets_setup s = setup_of(ORDER_ONCE, 0, (uint64_t)1 << 60, 512);
	uint64_t at, top = 0;
	struct offsets o;

	(void)state;
	offsets_init(&o, &s);
	for (unsigned i = 0; i < 100000; i++) {
		assert_true(offsets_next(&o, DDIR_READ, &at));
		assert_true(at <= ((uint64_t)1 << 60) - 512 && at % 512 == 0);
		top = at > top ? at : top;
	}
	assert_true(top > ((uint64_t)1 << 60) / 100 * 99);
	s.bytes -= 512 * 12345;
	s.order = ORDER_REPEATS;
	offsets_init(&o, &s);
	for (unsigned i = 0; i < 100000; i++) {
		assert_true(offsets_next(&o, DDIR_READ, &at));
		assert_true(at <= s.bytes - 512 && at % 512 == 0);
	}
}

/* Sixteen equal parts, visited in any stretch of a pass about equally often; steps in both directions alike. */
static void order_is_random(void **state)
{
	const uint64_t blocks = 100000, stretch = 16000;
	struct offsets_setup s = setup_of(ORDER_ONCE, 0, blocks, 1);

	(void)state;
	for (s.seed = 0; s.seed < 20; s.seed++) {
		double chi = 0, product = 0;
		unsigned part[16] = {0}, up = 0;
		uint64_t at, last = 0;
		struct offsets o;

		offsets_init(&o, &s);
		for (uint64_t i = 0; i < stretch; i++) {
			assert_true(offsets_next(&o, DDIR_READ, &at));
			part[at * 16 / blocks]++;
			up += at > last;
			product += ((double)at / blocks - 0.5) * ((double)last / blocks - 0.5);
			last = at;
		}
		for (unsigned p = 0; p < 16; p++)
			chi += (part[p] - 1000.0) * (part[p] - 1000.0) / 1000.0;
		/* 15 degrees of freedom; 0.999999 quantile 56.5. Standard errors: up 63 or less, r 0.008. */
		assert_true(chi < 57);
		assert_in_range(up, 8000 - 400, 8000 + 400);
		assert_true(fabs(product / stretch * 12) < 0.05);
	}
}

static void streams_differ_and_repeat(void **state)
{
	uint64_t first[5][64];
	struct offsets o;

	(void)state;
	for (unsigned k = 0; k < 5; k++) {
		struct offsets_setup s = setup_of(ORDER_ONCE, 0, 1 << 20, 512);

		s.stream = k == 4 ? 0 : k; /* the last repeats the first */
		offsets_init(&o, &s);
		for (unsigned i = 0; i < 64; i++)
			assert_true(offsets_next(&o, DDIR_READ, &first[k][i]));
	}
	assert_memory_equal(first[4], first[0], sizeof(first[0]));
	for (unsigned a = 0; a < 4; a++)
		for (unsigned b = 0; b < a; b++)
			assert_memory_not_equal(first[a], first[b], sizeof(first[0]));
}

/* Frozen: a change of these numbers changes what every seed means. */
static void sequence_is_frozen(void **state)
{
	struct offsets_setup s = setup_of(ORDER_ONCE, 0, 1000, 1);
	static const uint64_t frozen[] = { 937, 7, 160, 776, 947, 169, 489, 547, 202, 561, 108, 901 };
	struct offsets o;
	uint64_t at;

	(void)state;
	offsets_init(&o, &s);
	for (size_t i = 0; i < sizeof(frozen) / sizeof(frozen[0]); i++) {
		assert_true(offsets_next(&o, DDIR_READ, &at));
		assert_int_equal(at, frozen[i]);
	}
}

static void mixed_sequences_are_separate(void **state)
{
	struct offsets_setup s = setup_of(ORDER_SEQUENTIAL, 100, 10 * 4096 + 5, 4096);
	struct offsets o;
	uint64_t at;

	(void)state;
	s.bs[DDIR_WRITE] = 4096;
	offsets_init(&o, &s);
	for (unsigned i = 0; i < 5; i++) {
		assert_true(offsets_next(&o, DDIR_READ, &at));
		assert_int_equal(at, 100 + i * 4096);
		assert_true(offsets_next(&o, DDIR_WRITE, &at));
		assert_int_equal(at, 100 + i * 4096);
	}
	assert_false(offsets_next(&o, DDIR_READ, &at));
	offsets_restart(&o);
	assert_true(offsets_next(&o, DDIR_WRITE, &at));
	assert_int_equal(at, 100);
}

static void mixed_directions_share_blocks(void **state)
{
	struct offsets_setup s = setup_of(ORDER_ONCE, 0, 1000 * 512, 512);
	unsigned char seen[1000] = {0};
	struct offsets o;
	uint64_t at;

	(void)state;
	s.bs[DDIR_WRITE] = 512;
	offsets_init(&o, &s);
	for (unsigned i = 0; i < 1000; i++) {
		assert_true(offsets_next(&o, i % 3 ? DDIR_READ : DDIR_WRITE, &at));
		assert_int_equal(seen[at / 512]++, 0);
	}
	/* Different block sizes: each direction on its own grid, never beyond the region. */
	s.bs[DDIR_WRITE] = 2048;
	s.bytes = 1001 * 512;
	offsets_init(&o, &s);
	for (unsigned i = 0; offsets_next(&o, i % 2 ? DDIR_READ : DDIR_WRITE, &at); i++) {
		assert_int_equal(at % (i % 2 ? 512 : 2048), 0);
		assert_true(at + (i % 2 ? 512 : 2048) <= s.bytes);
	}
}

static void draws_repeat(void **state)
{
	struct offsets_setup s = setup_of(ORDER_REPEATS, 0, 1000 * 512, 512);
	unsigned seen[1000] = {0}, once = 0;
	struct offsets o;
	uint64_t at;

	(void)state;
	offsets_init(&o, &s);
	for (unsigned n = 0; n < 1000; n++) {
		assert_true(offsets_next(&o, DDIR_READ, &at));
		seen[at / 512]++;
	}
	for (unsigned i = 0; i < 1000; i++)
		once += seen[i] > 0;
	/* 1000 (1 - 1/e) = 632, standard deviation 10 */
	assert_in_range(once, 580, 685);
	assert_true(offsets_next(&o, DDIR_READ, &at)); /* no end: the caller counts */
}

/* A bijection of the numbers below n, whatever n is. */
static void places_of_a_permutation_are_distinct(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 300; n++) {
		struct random64 keys = random64_stream(n, 0);
		unsigned char seen[300] = {0};
		struct permutation p;

		permutation_init(&p, n, &keys);
		for (uint64_t i = 0; i < n; i++) {
			uint64_t x = permutation_at(&p, i);

			assert_true(x < n);
			assert_int_equal(seen[x]++, 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generator_is_splitmix64),
		cmocka_unit_test(every_block_once),
		cmocka_unit_test(huge_region),
		cmocka_unit_test(order_is_random),
		cmocka_unit_test(streams_differ_and_repeat),
		cmocka_unit_test(sequence_is_frozen),
		cmocka_unit_test(mixed_sequences_are_separate),
		cmocka_unit_test(mixed_directions_share_blocks),
		cmocka_unit_test(draws_repeat),
		cmocka_unit_test(places_of_a_permutation_are_distinct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
