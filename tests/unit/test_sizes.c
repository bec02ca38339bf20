#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "guest/sizes.h"
#include "tests/unit/line.h"

static void sizes_of(struct sizes *s, const char *words)
{
	struct jobs jobs = { .job = NULL };
	char line[512];

	snprintf(line, sizeof(line), "--name=j --rw=rw --size=1g %s", words);
	line_parse(line, &jobs);
	sizes_init(s, &jobs.job[0], DDIR_WRITE);
	jobs_free(&jobs);
}

/* Within five standard errors of the share. */
static void share_is(unsigned hits, unsigned draws, double share)
{
	double error = (double)hits / draws - share, variance = share * (1 - share) / draws;

	if (error * error > 25 * variance)
		fail_msg("%u of %u, not a share of %g", hits, draws, share);
}

static void one_size(void **state)
{
	struct random64 random = { 1 };
	struct sizes s;

	(void)state;
	sizes_of(&s, "--bs=4k,12k");
	assert_int_equal(sizes_draw(&s, &random, UINT64_MAX), 12288);
}

/* fio: lo + floor(hi u), rounded down to lo, at most hi: for 4k-10k these are 4k and 8k to 4/10, 10k to 2/10. */
static void range(void **state)
{
	unsigned n[4] = {0}, draws = 100000;
	struct random64 random = { 2 };
	struct sizes s;

	(void)state;
	sizes_of(&s, "--bsrange=10k-4k");
	for (unsigned i = 0; i < draws; i++) {
		uint64_t size = sizes_draw(&s, &random, UINT64_MAX);

		assert_true(size == 4096 || size == 8192 || size == 10240);
		n[size / 4096]++;
		n[0] += size == 10240;
	}
	share_is(n[1], draws, 0.4);
	share_is(n[2], draws, 0.6); /* 8k and 10k */
	share_is(n[0], draws, 0.2);
	for (unsigned i = 0; i < 1000; i++)
		assert_in_range(sizes_draw(&s, &random, 9000), 4096, 9000);
}

static void unaligned_range(void **state)
{
	struct random64 random = { 3 };
	unsigned odd = 0, most = 0, draws = 100000;
	struct sizes s;

	(void)state;
	sizes_of(&s, "--bsrange=1000-5000 --bs_unaligned");
	for (unsigned i = 0; i < draws; i++) {
		uint64_t size = sizes_draw(&s, &random, UINT64_MAX);

		assert_in_range(size, 1000, 5000);
		odd += size & 1;
		most += size == 5000;
	}
	share_is(odd, draws, 0.4);    /* of 1000..4999: half of 4000 in 5000 */
	share_is(most, draws, 0.2);   /* 5000..5999 */
}

static void split(void **state)
{
	unsigned n[3] = {0}, draws = 100000;
	struct random64 random = { 4 };
	struct sizes s;

	(void)state;
	sizes_of(&s, "--bssplit=4k/10:64k/50:32k/40");
	for (unsigned i = 0; i < draws; i++) {
		uint64_t size = sizes_draw(&s, &random, UINT64_MAX);

		assert_true(size == 4096 || size == 32768 || size == 65536);
		n[size / 32768]++;
	}
	share_is(n[0], draws, 0.1);
	share_is(n[1], draws, 0.4);
	share_is(n[2], draws, 0.5);
	/* Where not all fit, those that do keep their ratio. */
	n[0] = 0;
	for (unsigned i = 0; i < draws; i++)
		n[0] += sizes_draw(&s, &random, 40000) == 4096;
	share_is(n[0], draws, 0.2);
	assert_int_equal(sizes_draw(&s, &random, 5000), 4096);
}

/* Every unit exactly once, whatever the size of the region; the sizes keep their shares. */
static void mosaic_covers(void **state)
{
	static const char *const lines[] = { "--bsrange=4k-64k", "--bssplit=4k/60:64k/40", "--bssplit=4k/1:1m/99",
					     "--bs=4k", "--bsrange=512-1m", "--bsrange=4k-10k --bs_unaligned" };
	static const unsigned units[] = { 1, 2, 3, 15, 16, 17, 63, 64, 65, 1000, 4096, 20001 };
	unsigned char *seen = malloc(20001);
	struct random64 keys = { 5 };
	uint64_t offset, length;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		for (size_t k = 0; k < sizeof(units) / sizeof(units[0]); k++) {
			struct mosaic m;
			struct sizes s;

			sizes_of(&s, lines[i]);
			if (s.hi > units[k] * s.lo)
				s.hi = units[k] * s.lo;
			memset(seen, 0, 20001);
			mosaic_init(&m, &s, units[k] * s.lo + s.lo / 2, &keys);
			while (mosaic_next(&m, &offset, &length)) {
				assert_true(length > 0 && length <= s.hi);
				assert_int_equal(offset % s.lo, 0);
				for (uint64_t u = offset / s.lo; u < (offset + length + s.lo - 1) / s.lo; u++) {
					assert_true(u < units[k]);
					assert_int_equal(seen[u]++, 0);
				}
			}
			for (unsigned u = 0; u < units[k]; u++)
				assert_int_equal(seen[u], 1);
		}
	free(seen);
}

static void mosaic_keeps_shares_and_scatters(void **state)
{
	struct random64 keys = { 6 };
	uint64_t offset, length, last = 0;
	unsigned n = 0, small = 0, follows = 0;
	struct mosaic m;
	struct sizes s;

	(void)state;
	sizes_of(&s, "--bssplit=4k/50:64k/50");
	mosaic_init(&m, &s, (uint64_t)1 << 40, &keys);
	for (; n < 20000; n++) {
		assert_true(mosaic_next(&m, &offset, &length));
		assert_true(offset + length <= (uint64_t)1 << 40);
		small += length == 4096;
		follows += offset == last;
		last = offset + length;
	}
	/* The end of a tile cuts some short: a few percent of the pieces, none of them the small ones. */
	assert_in_range(small, 9000, 11000);
	assert_true(follows < 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_size), cmocka_unit_test(range), cmocka_unit_test(unaligned_range),
		cmocka_unit_test(split), cmocka_unit_test(mosaic_covers),
		cmocka_unit_test(mosaic_keeps_shares_and_scatters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
