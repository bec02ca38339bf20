/* The maps of a run: kept in a file, without one, told to the host, refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/verify_file.h"
#include "tests/unit/verify_bench.h"

static void reopen(struct bench *b, enum rw rw, bool only)
{
	b->job.rw = rw;
	b->job.verify_only = only;
	b->told[0] = '\0';
	open_verify(b);
}

static void close_verify(struct bench *b, bool whole)
{
	verify_close(b->v);
	verify_store_close(b->store, whole);
	b->v = NULL;
	b->store = NULL;
}

static struct bench *bench_with_map(char *path)
{
	struct bench *b = bench_open(4096);
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	close_verify(b, true);
	b->job.verify_map = path;
	open_verify(b);
	return b;
}

static void map_outlives(void **state)
{
	char path[] = "/tmp/kickio-map-XXXXXX";
	struct bench *b = bench_with_map(path);
	unsigned reads;

	(void)state;
	write_well(b, 0, 0, 4096);
	write_well(b, 0, 0, 4096);
	write_well(b, 1, 8192, 4096);
	memcpy(b->disk[0] + 20480, begin(b, 0, DDIR_WRITE, 0, 20480, 4096)->buffer, 2048); /* cut by the end */
	close_verify(b, true);

	reopen(b, RW_WRITE, true);
	assert_int_equal(whole_phase(b, &reads), 0);
	assert_int_equal(reads, 3);
	close_verify(b, true);

	reopen(b, RW_READ, false);
	b->job.bs[DDIR_READ] = 4096;
	memset(b->disk[0], 0, 512);
	assert_int_equal(read_back(b, 0, 0, 4096), EILSEQ);
	expect_told(b, "torn (expected generation 2, found zeros)");
	assert_int_equal(read_back(b, 0, 4096, 4096), 0);
	close_verify(b, true);

	/* Another writer goes on where this one ended. */
	reopen(b, RW_WRITE, false);
	write_well(b, 0, 0, 4096);
	write_faulty(b, 0, 0, 4096, 0, 0, 0);
	assert_int_equal(read_back(b, 0, 0, 4096), EILSEQ);
	expect_told(b, "stale (generation 3, 4 was completed");
	close_verify(b, true);
	unlink(path);
	b->job.verify_map = NULL;
	reopen(b, RW_READ, false);
	bench_close(b);
}

/* The map is older than the data: what it does not know is good, what it knows must still be there. */
static void map_lags(void **state)
{
	char path[] = "/tmp/kickio-map-XXXXXX";
	struct bench *b = bench_with_map(path);
	struct io *io;

	(void)state;
	write_well(b, 0, 0, 4096);
	verify_map_issue(&verify_store_find(b->store, &b->job, "one")->map, 9);
	close_verify(b, false);

	reopen(b, RW_READ, false);
	assert_int_equal(read_back(b, 0, 0, 4096), 0);
	memset(b->disk[0], 0, 4096);
	assert_int_equal(read_back(b, 0, 0, 4096), EILSEQ);
	expect_told(b, "lost write");
	close_verify(b, false);

	/* Generation 2, of which the map's copy does not know. */
	reopen(b, RW_WRITE, false);
	io = begin(b, 0, DDIR_WRITE, 0, 0, 4096);
	memcpy(b->disk[0], io->buffer, 4096);
	verify_store_find(b->store, &b->job, "one")->map.entry[0] = 1;
	close_verify(b, false);
	reopen(b, RW_READ, false);
	assert_int_equal(read_back(b, 0, 0, 4096), 0);
	close_verify(b, false);
	unlink(path);
	b->job.verify_map = NULL;
	reopen(b, RW_READ, false);
	bench_close(b);
}

/* Without a map: headers, checksums, places, and parts of writes beside each other. */
static void headers_only(void **state)
{
	struct bench *b = bench_open(16384);

	(void)state;
	write_well(b, 0, 0, 16384);
	write_well(b, 0, 16384, 16384);
	usleep(10);
	write_faulty(b, 0, 0, 16384, 0, 4096, 8192);
	close_verify(b, true);
	reopen(b, RW_READ, false);
	expect_told(b, "without verify_map= only headers and checksums are checked");
	assert_int_equal(read_back(b, 0, 16384, 16384), 0);
	assert_int_equal(read_back(b, 0, 0, 16384), EILSEQ);
	expect_told(b, "torn (found generation 1 of job 3) at file one offset 0, length 4096");
	expect_told(b, "torn (found generation 1 of job 3) at file one offset 12288, length 4096");
	assert_int_equal(read_back(b, 0, 32768, 16384), EILSEQ);
	expect_told(b, "no header (found zeros) at file one offset 32768, length 16384");
	bench_close(b);
}

/* What is told of the maps is one JSON member, in pieces, and a copy made of it says the same. */
static void told_to_the_host(void **state)
{
	struct bench *b = bench_open(4096);
	struct verify_area *area = verify_store_find(b->store, &b->job, "one");
	struct verify_map copy = { .blocks = DISK / 4096 };
	struct text t = {0};
	struct error e = {0};
	char expected[200], *runs;

	(void)state;
	copy.entry = calloc(copy.blocks, sizeof(*copy.entry));
	assert_non_null(copy.entry);
	assert_false(verify_store_tell(b->store, &t, 1000));
	assert_string_equal(text_get(&t), "");
	for (unsigned i = 0; i < 5; i++)
		write_well(b, 0, i * 4096, 4096);
	write_well(b, 0, 8192, 4096);
	begin(b, 1, DDIR_WRITE, 1, 0, 4096);
	assert_false(verify_store_tell(b->store, &t, 1000));
	snprintf(expected, sizeof(expected), ",\"verify_map\":[{\"path\":\"one\",\"map\":\"%016llx\",\"unit\":4096,\"blocks\":64,"
		 "\"runs\":\"0+2:1,2:2,3+2:1\"},{\"path\":\"two\",\"map\":\"%016llx\",\"unit\":4096,\"blocks\":64,\"runs\":\"0:1-0\"}]",
		 (unsigned long long)area->id, (unsigned long long)area->id);
	assert_string_equal(text_get(&t), expected);
	runs = strstr(t.data, "runs\":\"") + 7;
	*strchr(runs, '"') = '\0';
	assert_int_equal(verify_map_decode(&copy, runs, &e), 0);
	for (unsigned i = 0; i < copy.blocks; i++) {
		struct verify_range mine = verify_map_range(&area->map, i), its = verify_map_range(&copy, i);

		assert_int_equal(mine.least, its.least);
		assert_int_equal(mine.last, its.last);
	}
	text_reset(&t);
	write_well(b, 0, 0, 4096);
	write_well(b, 0, 40960, 4096);
	write_well(b, 1, 40960, 4096);
	assert_true(verify_store_tell(b->store, &t, 1)); /* at least one run each time */
	text_reset(&t);
	while (verify_store_tell(b->store, &t, 1))
		;
	free(copy.entry);
	text_free(&t);
	bench_close(b);
}

static void refused(struct bench *b, const char *what)
{
	struct verify_client client = { &b->job, &b->files };
	struct error e = {0};
	struct verify_store *store;

	assert_int_equal(verify_store_open(&store, &client, 1, &b->notes, &e), -1);
	assert_null(store);
	if (!strstr(e.text, what))
		fail_msg("expected \"%s\", got: %s", what, e.text);
}

/* A file that was written under one name is read under another one, as a host reads what its guest called otherwise. */
static void known_by_name(void **state)
{
	char path[] = "/tmp/kickio-map-XXXXXX";
	struct bench *b = bench_with_map(path);
	struct job other;
	struct file_set twin;
	struct verify_client clients[2];
	struct verify_store *store;
	struct error e = {0};

	(void)state;
	write_well(b, 0, 0, 4096);
	write_well(b, 0, 8192, 4096);
	close_verify(b, true);
	b->files.count = 1;
	b->file[0].path = (char *)"image";
	b->job.rw = RW_READ;
	refused(b, "tells nothing about image");
	b->job.verify_name = (char *)"one";
	reopen(b, RW_READ, false);
	assert_int_equal(read_back(b, 0, 0, 4096), 0);
	memset(b->disk[0] + 8192, 0, 4096);
	assert_int_equal(read_back(b, 0, 8192, 4096), EILSEQ);
	expect_told(b, "lost write (expected generation 1, found zeros) at file image offset 8192, length 4096");
	close_verify(b, true);

	/* Without a map, too. */
	b->job.verify_map = NULL;
	reopen(b, RW_READ, false);
	assert_int_equal(read_back(b, 0, 0, 4096), 0);
	close_verify(b, true);
	b->job.verify_name = (char *)"two";
	reopen(b, RW_READ, false);
	assert_int_equal(read_back(b, 0, 0, 4096), EILSEQ);
	expect_told(b, "misdirected write (belongs to offset 0 of another file");
	close_verify(b, true);

	b->files.count = 2;
	refused(b, "verify_name= is a name for one file, this job has 2");
	b->files.count = 1;
	b->job.rw = RW_WRITE;
	other = b->job;
	twin = (struct file_set){ .file = &b->file[1], .count = 1 };
	clients[0] = (struct verify_client){ &b->job, &b->files };
	clients[1] = (struct verify_client){ &other, &twin };
	assert_int_equal(verify_store_open(&store, clients, 2, &b->notes, &e), -1);
	assert_non_null(strstr(e.text, "image has that name, two cannot have it, too"));
	b->job.verify_name = NULL;
	unlink(path);
	open_verify(b);
	bench_close(b);
}

/* A map of 32 pages, of which two hold a block. The file's own blocks say so, where its file system has holes. */
static void holes_are_passed_by(void **state)
{
	const uint64_t page = 4096 / sizeof(uint64_t), far = 20 * page + 7;
	char path[] = "/tmp/kickio-map-XXXXXX";
	struct bench *b = bench_with_map(path);
	struct verify_area area;

	(void)state;
	close_verify(b, true);
	unlink(path);
	b->file[0].bytes = 32 * page * 4096;
	open_verify(b);
	area = *verify_store_find(b->store, &b->job, "one");
	assert_int_equal(area.map.blocks, 32 * page);
	verify_map_done(&area.map, 3, verify_map_issue(&area.map, 3));
	verify_map_done(&area.map, far, verify_map_issue(&area.map, far));
	assert_int_equal(verify_file_next(&area, 3), 3);
	assert_int_equal(verify_file_next(&area, 4), 4);
	assert_int_equal(verify_file_next(&area, far), far);
	if (verify_file_next(&area, page) == page) {
		print_message("no holes in files here\n");
	} else {
		assert_int_equal(verify_file_next(&area, page), 20 * page);
		assert_true(verify_file_next(&area, 21 * page) >= area.map.blocks);
	}
	/* What is known is not asked for: there is nothing of the file at that place. */
	area.place = (uint64_t)1 << 40;
	assert_int_equal(verify_file_next(&area, far), far);
	close_verify(b, true);
	b->file[0].bytes = DISK;
	unlink(path);
	b->job.verify_map = NULL;
	open_verify(b);
	bench_close(b);
}

static void refusals(void **state)
{
	char path[] = "/tmp/kickio-map-XXXXXX";
	struct bench *b = bench_with_map(path);
	FILE *f;

	(void)state;
	close_verify(b, true);
	b->job.bs[DDIR_WRITE] = 2048;
	refused(b, "do not fit this job");
	b->job.bs[DDIR_WRITE] = 8192;
	b->file[0].bytes = DISK * 2;
	refused(b, "do not fit this job");
	b->file[0].bytes = DISK;
	b->job.bs[DDIR_WRITE] = 1000;
	refused(b, "must be multiples of 512");
	b->job.bs[DDIR_WRITE] = 4096;
	b->file[0].path = (char *)"three";
	b->job.rw = RW_READ;
	refused(b, "tells nothing about three");
	b->file[0].path = (char *)"one";
	b->job.verify_map = (char *)"/nonexistent/map";
	refused(b, "/nonexistent/map");
	b->job.verify_map = path;
	f = fopen(path, "r+");
	assert_non_null(f);
	fseek(f, 512 + 8, SEEK_SET);
	fwrite("\xff\xff\xff\x7f\0\0\0\0", 8, 1, f);
	fclose(f);
	refused(b, "is damaged");
	assert_int_equal(truncate(path, 100), 0);
	refused(b, "is no generation map");
	b->job.rw = RW_WRITE;
	refused(b, "is no generation map");
	b->job.verify_map = NULL;
	b->file[0].bytes = (uint64_t)1 << 50;
	refused(b, "choose larger blocks");
	unlink(path);
	b->file[0].bytes = DISK;
	open_verify(b);
	bench_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(map_outlives), cmocka_unit_test(map_lags), cmocka_unit_test(headers_only),
		cmocka_unit_test(told_to_the_host), cmocka_unit_test(known_by_name),
		cmocka_unit_test(holes_are_passed_by), cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
