#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>

#include "guest/verify_file.h"
#include "host/opinion.h"
#include "host/opinion_said.h"
#include "host/os.h"
#include "host/program.h"
#include "tests/unit/scratch.h"
#include "tests/unit/write_log.h"

#define NAME "/dev/vda"
#define MIB 1048576u

struct bench {
	struct scratch *s;
	char kickio[4096], image[512], map[512], wide[560];
	struct opinion_request request;
	struct cell_result result;
};

/* kickio is made beside the tests. */
static struct bench *bench_open(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));
	char *slash;

	assert_non_null(b);
	b->s = *state;
	assert_true(os_program_path(b->kickio, sizeof(b->kickio) - 16) >= 0);
	slash = strrchr(b->kickio, '/');
	snprintf(slash, 16, "/kickio");
	snprintf(b->image, sizeof(b->image), "%s/im:age", b->s->folder);
	snprintf(b->map, sizeof(b->map), "%s/map", b->s->folder);
	unlink(b->image);
	unlink(b->map);
	b->request = (struct opinion_request){
		.kickio = b->kickio, .image = b->image, .guest_path = NAME, .map = b->map, .verify = "crc32c", .block_size = 4096,
	};
	return b;
}

static void bench_close(struct bench *b)
{
	cell_result_free(&b->result);
	free(b);
}

static void image_of(struct bench *b, uint64_t bytes)
{
	int fd = open(b->image, O_RDWR | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
	close(fd);
}

/* What a guest's job would write, with the name that the disk has there. */
static void guest_writes(struct bench *b, const char *size, const char *bs, const char *more)
{
	char file[700], map[600];
	const char *argv[] = {
		b->kickio, "--name=guest", file, "--verify_name=" NAME, "--verify=crc32c", map, size, bs, "--rw=write", more, NULL,
	};
	struct program p = { .package = "kickbench", .out = -1 };
	struct error e = {0};
	const char *colon = strchr(b->image, ':');

	snprintf(file, sizeof(file), "--filename=%.*s\\%s", (int)(colon - b->image), b->image, colon);
	snprintf(map, sizeof(map), "--verify_map=%s", b->map);
	if (program_must(argv, &p, "guest", &e) < 0)
		fail_msg("%s", e.text);
}

static void bytes_at(struct bench *b, uint64_t at, void *bytes, size_t length, bool put)
{
	int fd = open(b->image, O_RDWR);

	assert_true(fd >= 0);
	assert_int_equal(put ? pwrite(fd, bytes, length, (off_t)at) : pread(fd, bytes, length, (off_t)at), length);
	close(fd);
}

static const struct cell_check *last(const struct bench *b)
{
	assert_true(b->result.nchecks > 0);
	return &b->result.check[b->result.nchecks - 1];
}

static const struct cell_check *look(struct bench *b)
{
	struct error e = {0};

	assert_int_equal(opinion_image(&b->request, "image", &b->result, &e), 0);
	assert_string_equal(last(b)->name, "image");
	return last(b);
}

static void passes(struct bench *b, uint64_t bytes)
{
	const struct cell_check *c = look(b);

	if (c->status != CELL_PASS)
		fail_msg("%s", c->message);
	assert_string_equal(c->message, "");
	assert_int_equal(json_integer_value(json_object_get(c->evidence, "bytes_read")), bytes);
}

static void finds(struct bench *b, const char *kind, uint64_t offset, uint64_t length, const char *detail)
{
	const struct cell_check *c = look(b);
	const json_t *fault = json_array_get(json_object_get(c->evidence, "faults"), 0);

	assert_int_equal(c->status, CELL_CORRUPT);
	assert_non_null(fault);
	assert_string_equal(json_string_value(json_object_get(fault, "kind")), kind);
	assert_int_equal(json_integer_value(json_object_get(fault, "offset")), offset);
	assert_int_equal(json_integer_value(json_object_get(fault, "length")), length);
	holds(json_string_value(json_object_get(fault, "detail")), detail);
	holds(c->message, kind);
}

static void fails(struct bench *b, enum cell_status status, const char *message)
{
	const struct cell_check *c = look(b);

	assert_int_equal(c->status, status);
	holds(c->message, message);
}

/* ---- the image ---- */

static void faults(void **state)
{
	struct bench *b = bench_open(state);
	unsigned char old[8192], now[8192], zeros[8192] = {0};

	image_of(b, MIB);
	guest_writes(b, "--size=512k", "--bs=8k", "--do_verify=0");
	passes(b, 524288); /* what the map knows, no more */
	bytes_at(b, 40960, old, 8192, false);
	guest_writes(b, "--size=512k", "--bs=8k", "--do_verify=0");
	passes(b, 524288);

	bytes_at(b, 40960, now, 8192, false);
	bytes_at(b, 40960, old, 8192, true);
	finds(b, "stale", 40960, 8192, "generation 1, 2 was completed");
	bytes_at(b, 40960, zeros, 8192, true);
	finds(b, "lost", 40960, 8192, "expected generation 2, found zeros");
	bytes_at(b, 40960, now, 8192, true);
	bytes_at(b, 40960 + 4096, zeros, 4096, true);
	finds(b, "torn", 45056, 4096, "found zeros");
	bytes_at(b, 40960, now, 8192, true);
	bytes_at(b, 81920, now, 8192, true);
	finds(b, "misdirected", 81920, 8192, "belongs to offset 40960");
	bytes_at(b, 81920, old, 8192, true);
	finds(b, "misdirected", 81920, 8192, "belongs to offset 40960, generation 1");
	guest_writes(b, "--size=512k", "--bs=8k", "--do_verify=0");
	bytes_at(b, 40960, now, 8192, false);
	now[700] ^= 0x10;
	bytes_at(b, 40960, now, 8192, true);
	finds(b, "corrupt", 40960 + 512, 512, "does not match its checksum");
	now[700] ^= 0x10;
	bytes_at(b, 40960, now, 8192, true);
	passes(b, 524288);
	bench_close(b);
}

static void many_faults(void **state)
{
	struct bench *b = bench_open(state);
	unsigned char zeros[4096] = {0};

	image_of(b, MIB);
	guest_writes(b, "--size=512k", "--bs=4k", "--do_verify=0");
	for (unsigned i = 0; i < 8; i++)
		bytes_at(b, i * 8192, zeros, 4096, true);
	finds(b, "lost", 0, 4096, "found zeros");
	holds(last(b)->message, "8 faults, the first: lost at 0, 4096 bytes");
	assert_int_equal(json_array_size(json_object_get(last(b)->evidence, "faults")), 5);
	assert_int_equal(json_integer_value(json_object_get(last(b)->evidence, "more")), 3);
	bench_close(b);
}

static void not_possible(void **state)
{
	struct bench *b = bench_open(state);

	fails(b, CELL_FAIL, "No such file");
	image_of(b, 65536);
	fails(b, CELL_FAIL, "map: No such file");
	guest_writes(b, "--size=64k", "--bs=4k", "--do_verify=0");
	b->request.guest_path = "/dev/vdb";
	fails(b, CELL_FAIL, "tells nothing about /dev/vdb");
	b->request.guest_path = NAME;
	b->request.kickio = "/nonexistent/kickio";
	fails(b, CELL_FAIL, "cannot run /nonexistent/kickio");
	b->request.kickio = "false";
	fails(b, CELL_FAIL, "ended with status 1");
	b->request.kickio = b->kickio;
	b->request.verify = "sha512";
	fails(b, CELL_FAIL, "sha512");
	b->request.verify = "crc32c";
	b->request.block_size = 100;
	fails(b, CELL_FAIL, "blocks of 100");
	b->request.block_size = 4096;
	assert_int_equal(truncate(b->image, 60000), 0);
	fails(b, CELL_CORRUPT, "the image ends at 60000, the guest wrote a block at 61440");
	bench_close(b);
}

/* Sizes that are no multiple of the block, and the last sector. */
static void odd_sizes(void **state)
{
	struct bench *b = bench_open(state);
	unsigned char zeros[512] = {0};

	image_of(b, 3 * MIB + 1536);
	guest_writes(b, "--size=3147264", "--bs=512", "--do_verify=0");
	b->request.block_size = 512;
	passes(b, 3 * MIB + 1536);
	bytes_at(b, 3 * MIB + 1024, zeros, 512, true);
	finds(b, "lost", 3 * MIB + 1024, 512, "found zeros");
	unlink(b->map);
	image_of(b, 512);
	guest_writes(b, "--size=512", "--bs=512", "--do_verify=0");
	passes(b, 512);
	bench_close(b);
}

/* Only what the map knows is read. */
/* The guest's map, as one of the whole disk. */
static void widen_map(struct bench *b, uint64_t end)
{
	struct verify_area from = { .path = NAME }, to = { .path = NAME, .unit = 4096 };
	struct error e = {0};
	struct verify_file *file = verify_file_open(b->map, false, 0, &e), *wide;

	assert_non_null(file);
	assert_int_equal(verify_file_area(file, false, 0, &from, &e), 0);
	snprintf(b->wide, sizeof(b->wide), "%s.wide", b->map);
	unlink(b->wide);
	wide = verify_file_open(b->wide, true, from.id, &e);
	assert_non_null(wide);
	assert_int_equal(verify_file_area(wide, true, end, &to, &e), 0);
	to.map.entry[0] = from.map.entry[0];
	verify_file_close(file, false);
	verify_file_close(wide, false);
	b->request.map = b->wide;
}

static void sparse(void **state)
{
	struct bench *b = bench_open(state);
	unsigned char zeros[4096] = {0};
	const uint64_t end = (uint64_t)2 << 40;

	image_of(b, end);
	guest_writes(b, "--offset=2199022206976", "--bs=64k", "--size=1m");
	b->request.block_size = 65536;
	passes(b, MIB);
	bytes_at(b, end - 4096, zeros, 4096, true);
	finds(b, "torn", end - 4096, 4096, "found zeros");
	/* All that is known is the first block of a map of 4 GiB: a job that was cut off. */
	image_of(b, end);
	unlink(b->map);
	guest_writes(b, "--offset=0", "--bs=4k", "--size=4k");
	widen_map(b, end);
	b->request.block_size = 4096;
	passes(b, 4096);
	bench_close(b);
}

/* A map without anything, and one that is a copy of a guest's. */
static void maps(void **state)
{
	struct bench *b = bench_open(state);
	struct verify_area area = { .path = NAME, .unit = 4096 };
	struct error e = {0};
	struct verify_file *f = verify_file_open(b->map, true, 0x77, &e);
	uint64_t id;

	image_of(b, 65536);
	assert_non_null(f);
	assert_int_equal(verify_file_area(f, true, 65536, &area, &e), 0);
	verify_file_close(f, false);
	fails(b, CELL_SKIPPED, "the map knows of no block");
	assert_int_equal(opinion_map_id(b->map, NAME, &id, &e), 0);
	assert_int_equal(id, 0x77);
	assert_int_equal(opinion_map_id(b->map, "/dev/vdb", &id, &e), -1);
	bench_close(b);
}

/* ---- filling ---- */

static void prefilled(void **state)
{
	struct bench *b = bench_open(state);
	struct opinion_region regions[] = { { 0, 65536 }, { 524288, 0 } }, beyond = { MIB, 8192 };
	unsigned char zeros[512] = {0};
	struct error e = {0};

	image_of(b, MIB + 1536);
	assert_int_equal(opinion_prefill(&b->request, regions, 2, &e), 0);
	passes(b, MIB + 1536); /* what lies between the two is read with them, and not judged */
	/* As a guest reads it, without the map. */
	b->request.map = NULL;
	b->request.bytes = 65536;
	passes(b, 65536);
	b->request.bytes = 65536 + 4096;
	finds(b, "no header", 65536, 4096, "found zeros");
	b->request.bytes = 0;
	b->request.map = b->map;
	bytes_at(b, MIB + 1024, zeros, 512, true);
	finds(b, "torn", MIB + 1024, 512, "found zeros");
	assert_int_equal(opinion_prefill(&b->request, &beyond, 1, &e), -1);
	holds(e.text, "8192 of them from 1048576 on cannot be filled");
	error_clear(&e);
	beyond = (struct opinion_region){ 100, 512 };
	assert_int_equal(opinion_prefill(&b->request, &beyond, 1, &e), -1);
	error_clear(&e);
	b->request.kickio = "false";
	assert_int_equal(opinion_prefill(&b->request, regions, 2, &e), -1);
	holds(e.text, "was not filled");
	bench_close(b);
}

/* ---- what kickio says ---- */

static void said(void **state)
{
	json_t *none = opinion_said("kickio: verify: stale\nkickio: verify: torn (x) at file a\nkickio: verify: odd (x) at file a offset 1, "
				    "length 2\nsomething else\n");
	json_t *some = opinion_said("kickio: verify: corrupt (a (b) c) at file /x offset 3, length 4/y) at file z offset 1024, length 512\n"
				    "kickio: verify: 7 more blocks found bad\nkickio: verify: 2 more blocks found bad\n");
	const json_t *fault = json_array_get(json_object_get(some, "faults"), 0);
	char words[200];

	(void)state;
	assert_int_equal(json_array_size(json_object_get(none, "faults")), 0);
	opinion_in_words(none, words, sizeof(words));
	assert_string_equal(words, "");
	assert_int_equal(json_integer_value(json_object_get(fault, "offset")), 1024);
	assert_string_equal(json_string_value(json_object_get(fault, "detail")), "a (b) c");
	assert_int_equal(json_integer_value(json_object_get(some, "more")), 9);
	opinion_in_words(some, words, sizeof(words));
	assert_string_equal(words, "10 faults, the first: corrupt at 1024, 512 bytes (a (b) c)");
	json_decref(none);
	json_decref(some);
}

/* ---- the flush job ---- */

static uint64_t run_flush_job(struct bench *b, uint64_t disk, unsigned block_size)
{
	const char *argv[OPINION_FLUSH_OPTIONS + 5] = { b->kickio, "--output-format=json" };
	struct program p = { .package = "kickbench", .out = os_nameless_file() };
	struct opinion_flush_job job;
	char file[700];
	struct error e = {0};
	uint64_t writes;
	json_t *json;
	size_t n = 2;

	image_of(b, disk);
	opinion_flush_job(disk, block_size, false, &job);
	for (size_t i = 0; i < job.argc; i++)
		argv[n++] = job.argv[i];
	snprintf(file, sizeof(file), "--filename=%s", b->image);
	argv[n++] = file;
	argv[n] = NULL;
	if (program_must(argv, &p, "flush job", &e) < 0)
		fail_msg("%s", e.text);
	lseek(p.out, 0, SEEK_SET);
	json = json_loadfd(p.out, 0, NULL);
	close(p.out);
	assert_int_equal(opinion_flush_writes(json, &job, &writes, &e), 0);
	assert_int_equal(writes, job.writes);
	assert_int_equal(writes % job.every, 0);
	json_object_set_new(json_object_get(json_array_get(json_object_get(json, "jobs"), 0), "sync"), "total_ios", json_integer(3));
	assert_int_equal(opinion_flush_writes(json, &job, &writes, &e), -1);
	holds(e.text, "called fsync 3 times: it was to write 256, with one after every 8");
	error_clear(&e);
	/* A job that ended early without an error has not shown what it was asked for. */
	json_object_set_new(json_object_get(json_array_get(json_object_get(json, "jobs"), 0), "sync"), "total_ios", json_integer(1));
	json_object_set_new(json_object_get(json_array_get(json_object_get(json, "jobs"), 0), "write"), "total_ios", json_integer(8));
	assert_int_equal(opinion_flush_writes(json, &job, &writes, &e), -1);
	holds(e.text, "wrote 8 blocks");
	error_clear(&e);
	json_object_set_new(json_array_get(json_object_get(json, "jobs"), 0), "error", json_integer(5));
	assert_int_equal(opinion_flush_writes(json, &job, &writes, &e), -1);
	holds(e.text, "ended with error 5");
	json_decref(json);
	return job.block_size;
}

static void flush_job(void **state)
{
	struct bench *b = bench_open(state);

	snprintf(b->image, sizeof(b->image), "%s/image", b->s->folder);
	assert_int_equal(run_flush_job(b, 16 * MIB, 512), 4096);
	assert_int_equal(run_flush_job(b, 512, 512), 512);
	assert_int_equal(run_flush_job(b, 10240, 512), 4096);
	bench_close(b);
}

/* ---- the log ---- */

/* The guest's map: generations 3, 2, 2, 2 of four blocks. */
static void guest_map(struct bench *b)
{
	struct verify_area area = { .path = NAME, .unit = 4096 };
	struct error e = {0};
	struct verify_file *f;

	unlink(b->map);
	f = verify_file_open(b->map, true, 0xabcd, &e);
	assert_non_null(f);
	assert_int_equal(verify_file_area(f, true, 65536, &area, &e), 0);
	assert_int_equal(verify_map_decode(&area.map, "0:3,1+3:2", &e), 0);
	verify_file_close(f, false);
}

/* Twice all four, with a flush behind each time where its bit is set, and one write behind the last fsync. bad: a write that is torn. */
static void log_of(struct bench *b, unsigned flushes, int bad)
{
	struct log_bytes l = log_begin(512);
	unsigned char data[4096];

	for (int i = 0; i < 9; i++) {
		seal_write(&l, data, 0xabcd, (uint64_t)(i % 4) * 4096, 8, (uint32_t)i / 4 + 1);
		if (i == bad)
			memset(data + 2048, 0, 1024);
		log_entry(&l, (uint64_t)(i % 4) * 8, 8, 0, data);
		if (i % 4 == 3 && flushes & 1u << i / 4)
			log_flush(&l);
	}
	log_super(&l, l.entries);
	scratch_bytes(b->s, "log", l.data, l.length);
	free(l.data);
}

static void ask(struct bench *b, enum cell_status flush, enum cell_status image)
{
	char log[512], scratch[512];
	struct opinion_log_request r = {
		.log = log, .image = b->request, .map_id = 0xabcd, .writes = 9, .every = 4, .disk_bytes = 65536,
	};
	struct error e = {0};

	snprintf(log, sizeof(log), "%s/log", b->s->folder);
	snprintf(scratch, sizeof(scratch), "%s/replayed", b->s->folder);
	r.image.image = scratch;
	cell_result_free(&b->result);
	memset(&b->result, 0, sizeof(b->result));
	assert_int_equal(opinion_log(&r, &b->result, &e), 0);
	assert_int_equal(b->result.nchecks, 2);
	assert_string_equal(b->result.check[0].name, "flush log");
	assert_string_equal(b->result.check[1].name, "image at the last flush");
	if (b->result.check[0].status != flush || b->result.check[1].status != image)
		fail_msg("%s, %s", b->result.check[0].message, b->result.check[1].message);
	assert_int_equal(access(scratch, F_OK), -1);
	strcat(scratch, ".map");
	assert_int_equal(access(scratch, F_OK), -1);
}

static void logs(void **state)
{
	struct bench *b = bench_open(state);

	guest_map(b);
	log_of(b, 3, -1);
	ask(b, CELL_PASS, CELL_PASS);
	assert_int_equal(json_integer_value(json_object_get(b->result.check[1].evidence, "bytes_read")), 16384);
	/* Without the second flush the first generation is what has to be there. */
	log_of(b, 1, -1);
	ask(b, CELL_FAIL, CELL_PASS);
	holds(b->result.check[0].message, "fsync 2 of 2 returned without a flush of the disk behind its writes; so did 1 in all");
	log_of(b, 0, -1);
	ask(b, CELL_FAIL, CELL_SKIPPED);
	holds(b->result.check[1].message, "no flush that answers an fsync");
	/* The write that was torn was written over later, but only behind the flush that counts. */
	log_of(b, 1, 2);
	ask(b, CELL_FAIL, CELL_CORRUPT);
	holds(b->result.check[1].message, "torn at 10240, 1024 bytes");
	log_of(b, 3, 2);
	ask(b, CELL_PASS, CELL_PASS);
	log_of(b, 3, 6);
	ask(b, CELL_PASS, CELL_CORRUPT);
	/* What is behind the last flush is not looked at. */
	log_of(b, 3, 8);
	ask(b, CELL_PASS, CELL_PASS);
	scratch_text(b->s, "log", "no log at all, whatever it is");
	ask(b, CELL_FAIL, CELL_SKIPPED);
	holds(b->result.check[0].message, "is no write log");
	bench_close(b);
}

/* Whoever ends well without having read what the guest wrote has no opinion. */
static void nothing_read(void **state)
{
	struct bench *b = bench_open(state);

	image_of(b, MIB);
	guest_writes(b, "--size=1m", "--bs=4k", NULL);
	passes(b, MIB);
	scratch_text(b->s, "lazy", "#!/bin/sh\necho '{\"jobs\":[{\"error\":0,\"read\":{\"io_bytes\":4096}}]}'\n");
	snprintf(b->kickio, sizeof(b->kickio), "%s/lazy", b->s->folder);
	assert_int_equal(chmod(b->kickio, 0755), 0);
	look(b);
	assert_int_equal(last(b)->status, CELL_FAIL);
	assert_string_equal(last(b)->message, "kickio on the host has read 4096 bytes, and the guest wrote 1048576");
	bench_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_read),
		cmocka_unit_test(faults), cmocka_unit_test(many_faults), cmocka_unit_test(not_possible), cmocka_unit_test(odd_sizes),
		cmocka_unit_test(sparse), cmocka_unit_test(maps), cmocka_unit_test(prefilled), cmocka_unit_test(said),
		cmocka_unit_test(flush_job), cmocka_unit_test(logs),
	};

	return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
