/* Frames of a guest become a map on the host, which kickio's own store then reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guest/verify_store.h"
#include "host/map_copy.h"
#include "tests/unit/scratch.h"

static int take(struct map_copy *c, const char *body, struct error *e)
{
	json_t *json = json_loads(body, 0, NULL);
	int r;

	assert_non_null(json);
	r = map_copy_take(c, json, e);
	json_decref(json);
	return r;
}

#define MAP(runs) "{\"verify_map\":[{\"path\":\"/dev/vda\",\"map\":\"00000000000000ab\",\"unit\":4096,\"blocks\":100," \
	"\"runs\":\"" runs "\"}]}"

static void becomes_a_map(void **state)
{
	struct scratch *s = *state;
	struct map_copy *c = map_copy_new();
	struct error e = {0};
	struct file file = { .path = (char *)"/dev/vda", .bytes = 409600 };
	struct file_set files = { .file = &file, .count = 1 };
	struct job job = { .name = (char *)"v", .rw = RW_READ, .verify = VERIFY_CRC32C, .verify_map = s->path };
	struct verify_client client = { &job, &files };
	struct verify_store *store;
	struct verify_area *a;

	job.bs[DDIR_READ] = 4096;
	snprintf(s->path, sizeof(s->path), "%s/map", s->folder);
	assert_non_null(c);
	assert_true(map_copy_empty(c));
	assert_int_equal(map_copy_save(c, s->path, &e), -1);
	error_clear(&e);
	assert_int_equal(take(c, "{\"read_ios\":5}", &e), 0);
	assert_true(map_copy_empty(c));
	assert_int_equal(take(c, MAP("0+2:1,63:7-5"), &e), 0);
	assert_int_equal(take(c, MAP("1:2"), &e), 0);
	assert_false(map_copy_empty(c));
	assert_int_equal(map_copy_save(c, s->path, &e), 0);
	assert_int_equal(map_copy_save(c, s->path, &e), -1); /* never over another one */
	error_clear(&e);

	assert_int_equal(verify_store_open(&store, &client, 1, NULL, &e), 0);
	a = verify_store_find(store, &job, "/dev/vda");
	assert_non_null(a);
	assert_int_equal(a->id, 0xab);
	assert_int_equal(a->unit, 4096);
	assert_true(a->lagging);
	assert_int_equal(verify_map_range(&a->map, 0).least, 1);
	assert_int_equal(verify_map_range(&a->map, 1).last, 2);
	assert_int_equal(verify_map_range(&a->map, 99).least, 5);
	assert_int_equal(verify_map_range(&a->map, 99).last, 7);
	assert_int_equal(verify_map_range(&a->map, 50).last, 0);
	verify_store_close(store, true);
	map_copy_free(c);
}

static void malformed(void **state)
{
	static const char *const bad[] = {
		MAP("x"), MAP("0+101:1"), "{\"verify_map\":[{}]}",
		"{\"verify_map\":[{\"path\":\"a\",\"map\":\"z\",\"unit\":512,\"blocks\":1,\"runs\":\"\"}]}",
		"{\"verify_map\":[{\"path\":\"a\",\"map\":\"1\",\"unit\":0,\"blocks\":1,\"runs\":\"\"}]}",
		"{\"verify_map\":[{\"path\":\"a\",\"map\":\"1\",\"unit\":512,\"blocks\":9000000000,\"runs\":\"\"}]}",
	};
	struct map_copy *c = map_copy_new();

	(void)state;
	assert_non_null(c);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error e = {0};

		assert_int_equal(take(c, bad[i], &e), -1);
		assert_int_equal(e.status, STATUS_FAILED);
	}
	map_copy_free(c);
	map_copy_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(becomes_a_map, scratch_open, scratch_close), cmocka_unit_test(malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
