#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guest/verify_map.h"

#define BLOCKS 10000u

struct both {
	struct verify_map guest, host;
};

static struct verify_map new_map(void)
{
	struct verify_map m = { .blocks = BLOCKS };

	m.entry = calloc(BLOCKS, sizeof(*m.entry));
	m.changed = calloc(BLOCKS / VERIFY_CHUNK + 1, 1);
	assert_non_null(m.entry);
	assert_non_null(m.changed);
	return m;
}

static void free_map(struct verify_map *m)
{
	free(m->entry);
	free(m->changed);
}

static void expect(const struct verify_map *m, uint64_t block, uint32_t least, uint32_t last)
{
	struct verify_range r = verify_map_range(m, block);

	assert_int_equal(r.least, least);
	assert_int_equal(r.last, last);
}

static void one_after_the_other(void **state)
{
	struct verify_map m = new_map();

	(void)state;
	expect(&m, 7, 0, 0);
	assert_int_equal(verify_map_issue(&m, 7), 1);
	expect(&m, 7, 0, 1); /* in flight: old or new */
	verify_map_done(&m, 7, true);
	expect(&m, 7, 1, 1);
	assert_int_equal(verify_map_issue(&m, 7), 2);
	expect(&m, 7, 1, 2);
	verify_map_done(&m, 7, true);
	expect(&m, 7, 2, 2);
	expect(&m, 6, 0, 0);
	expect(&m, 8, 0, 0);
	free_map(&m);
}

/* Two of the same block in flight: either may have come last, but the one before them is gone. */
static void together(void **state)
{
	struct verify_map m = new_map();

	(void)state;
	verify_map_issue(&m, 0);
	verify_map_done(&m, 0, true);
	verify_map_issue(&m, 0);
	verify_map_issue(&m, 0);
	expect(&m, 0, 1, 3);
	verify_map_done(&m, 0, true);
	expect(&m, 0, 1, 3);
	verify_map_done(&m, 0, true);
	expect(&m, 0, 2, 3);
	verify_map_issue(&m, 0);
	verify_map_done(&m, 0, true);
	expect(&m, 0, 4, 4);
	free_map(&m);
}

static void failures(void **state)
{
	struct verify_map m = new_map();

	(void)state;
	verify_map_issue(&m, 1);
	verify_map_done(&m, 1, true);
	verify_map_issue(&m, 1);
	verify_map_done(&m, 1, false);
	expect(&m, 1, 1, 2);
	verify_map_issue(&m, 1);
	verify_map_done(&m, 1, false);
	expect(&m, 1, 1, 3);
	verify_map_issue(&m, 1);
	verify_map_done(&m, 1, true);
	expect(&m, 1, 4, 4);
	free_map(&m);
}

/* Killed with a write in flight: the next session's writes must become certain again. */
static void next_session(void **state)
{
	struct verify_map m = new_map();

	(void)state;
	verify_map_issue(&m, 2);
	verify_map_done(&m, 2, true);
	verify_map_issue(&m, 2);
	verify_map_forget_flights(&m);
	expect(&m, 2, 1, 2);
	verify_map_issue(&m, 2);
	expect(&m, 2, 1, 3);
	verify_map_done(&m, 2, true);
	expect(&m, 2, 3, 3);
	free_map(&m);
}

/* Counts that run over must make the map forgiving, never wrong. */
static void overrun(void **state)
{
	struct verify_map m = new_map();

	(void)state;
	for (unsigned i = 0; i < 5000; i++)
		verify_map_issue(&m, 3);
	expect(&m, 3, 0, 5000);
	for (unsigned i = 0; i < 5000; i++)
		verify_map_done(&m, 3, true);
	expect(&m, 3, 0, 5000);
	for (unsigned i = 0; i < 3000; i++) {
		verify_map_issue(&m, 4);
		verify_map_done(&m, 4, false);
	}
	expect(&m, 4, 0, 3000);
	verify_map_issue(&m, 4);
	verify_map_done(&m, 4, true);
	expect(&m, 4, 3001, 3001);
	free_map(&m);
}

static void runs_as_text(void **state)
{
	struct verify_map m = new_map();
	struct text t = {0};

	(void)state;
	for (unsigned b = 16; b < 32; b++) {
		verify_map_issue(&m, b);
		verify_map_done(&m, b, true);
	}
	verify_map_issue(&m, 31);
	verify_map_issue(&m, 9999);
	verify_map_done(&m, 9999, true);
	assert_false(verify_map_encode(&m, &t, 1000));
	assert_string_equal(text_get(&t), "10+f:1,1f:2-1,270f:1");
	text_reset(&t);
	assert_false(verify_map_encode(&m, &t, 1000));
	assert_string_equal(text_get(&t), "");
	verify_map_done(&m, 31, true);
	assert_false(verify_map_encode(&m, &t, 1000));
	assert_string_equal(text_get(&t), "1f:2");
	text_free(&t);
	free_map(&m);
}

/* In small pieces and interleaved with changes, the copy ends up equal. */
static void copy_follows(void **state)
{
	struct both b = { new_map(), new_map() };
	struct error e = {0};
	struct text t = {0};
	uint64_t random = 1;
	unsigned pieces = 0;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t block = (random = random * 6364136223846793005u + 1442695040888963407u) >> 33;

		verify_map_issue(&b.guest, block % BLOCKS);
		if (i % 7)
			verify_map_done(&b.guest, block % BLOCKS, i % 11 != 0);
		if (i % 100 == 0) {
			text_reset(&t);
			verify_map_encode(&b.guest, &t, 200);
			assert_true(t.length < 260);
			assert_int_equal(verify_map_decode(&b.host, text_get(&t), &e), 0);
		}
	}
	for (bool more = true; more; pieces++) {
		text_reset(&t);
		more = verify_map_encode(&b.guest, &t, 4000);
		assert_int_equal(verify_map_decode(&b.host, text_get(&t), &e), 0);
	}
	assert_true(pieces > 1);
	for (unsigned i = 0; i < BLOCKS; i++) {
		struct verify_range r = verify_map_range(&b.guest, i);

		expect(&b.host, i, r.least, r.last);
	}
	text_free(&t);
	free_map(&b.guest);
	free_map(&b.host);
}

static void bad_runs(void **state)
{
	static const char *const bad[] = {
		"x", "1", "1:", ":1", "1:2,", "1+:2", "1:2-3", "2711:1", "270f+2:1", "1:100000000", "1:2;3:4", "-1:2",
		"fffffffffffffffff:1", "1+ffffffffffffffff:1",
	};
	struct verify_map m = new_map();

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error e = {0};
		int r = verify_map_decode(&m, bad[i], &e);

		if (strcmp(bad[i], "1:2,") == 0) /* a comma at the end is no harm */
			assert_int_equal(r, 0);
		else
			assert_int_equal(r, -1);
	}
	free_map(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_after_the_other), cmocka_unit_test(together), cmocka_unit_test(failures),
		cmocka_unit_test(next_session), cmocka_unit_test(overrun), cmocka_unit_test(runs_as_text),
		cmocka_unit_test(copy_follows), cmocka_unit_test(bad_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
