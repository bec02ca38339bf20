/* A disk in memory that loses, misplaces, tears, replays and damages writes; each fault has to get its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/offsets.h"
#include "guest/verify.h"
#include "guest/verify_store.h"

#define DISK 262144u
#define DEPTH 4u

struct bench {
	struct job job;
	struct file file[2];
	struct file_set files;
	struct verify_store *store;
	struct verify *v;
	struct failure failure;
	struct note_sink notes;
	char told[4096];
	unsigned char disk[2][DISK];
	struct io io[DEPTH];
};

static void on_line(void *context, const char *line)
{
	struct bench *b = context;
	size_t used = strlen(b->told);

	snprintf(b->told + used, sizeof(b->told) - used, "%s\n", line);
}

static void open_verify(struct bench *b)
{
	struct verify_client client = { &b->job, &b->files };
	struct error e = {0};
	struct verify_setup setup = {
		.job = &b->job, .index = 3, .depth = DEPTH, .files = &b->files, .notes = &b->notes, .failure = &b->failure,
	};

	assert_int_equal(verify_store_open(&b->store, &client, 1, &b->notes, &e), 0);
	setup.store = b->store;
	b->v = verify_open(&setup);
	assert_non_null(b->v);
}

static struct bench *bench_open(uint64_t bs)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->job = (struct job){ .name = (char *)"t", .rw = RW_RANDWRITE, .verify = VERIFY_CRC32C, .numjobs = 1 };
	b->job.bs[DDIR_READ] = b->job.bs[DDIR_WRITE] = bs;
	b->file[0] = (struct file){ .path = (char *)"one", .bytes = DISK, .fd = 10 };
	b->file[1] = (struct file){ .path = (char *)"two", .bytes = DISK, .fd = 11 };
	b->files = (struct file_set){ .file = b->file, .count = 2 };
	b->notes = (struct note_sink){ on_line, b };
	for (unsigned i = 0; i < DEPTH; i++) {
		b->io[i].index = i;
		b->io[i].buffer = malloc(65536);
		assert_non_null(b->io[i].buffer);
		memset(b->io[i].buffer, 0x5a, 65536);
	}
	open_verify(b);
	return b;
}

static void bench_close(struct bench *b)
{
	verify_close(b->v);
	verify_store_close(b->store, true);
	for (unsigned i = 0; i < DEPTH; i++)
		free(b->io[i].buffer);
	free(b);
}

static struct io *begin(struct bench *b, unsigned i, enum ddir ddir, unsigned file, uint64_t offset, uint32_t length)
{
	struct io *io = &b->io[i];

	io->ddir = ddir;
	io->file = file;
	io->offset = offset;
	io->length = length;
	io->error = 0;
	io->moved = 0;
	verify_prepare(b->v, io);
	return io;
}

/* Only a part of the buffer, perhaps none, reaches the disk, perhaps elsewhere; the caller hears that all is well. */
static void write_faulty(struct bench *b, unsigned file, uint64_t offset, uint32_t length, uint64_t to_offset,
			 uint32_t skip, uint32_t bytes)
{
	struct io *io = begin(b, 0, DDIR_WRITE, file, offset, length);

	memcpy(b->disk[file] + to_offset + skip, (char *)io->buffer + skip, bytes);
	io->moved = length;
	assert_int_equal(verify_complete(b->v, io), 0);
}

static void write_well(struct bench *b, unsigned file, uint64_t offset, uint32_t length)
{
	write_faulty(b, file, offset, length, offset, 0, length);
}

static int finish_read(struct bench *b, struct io *io)
{
	memcpy(io->buffer, b->disk[io->file] + io->offset, io->length);
	io->moved = io->length;
	return verify_complete(b->v, io);
}

static int read_back(struct bench *b, unsigned file, uint64_t offset, uint32_t length)
{
	return finish_read(b, begin(b, 0, DDIR_READ, file, offset, length));
}

static void expect_told(struct bench *b, const char *text)
{
	if (!strstr(b->told, text))
		fail_msg("not told: \"%s\", but: %s", text, b->told);
}

/* All that was written, as the phase after a write phase reads it. */
static unsigned whole_phase(struct bench *b, unsigned *reads)
{
	struct io *io = &b->io[0];
	unsigned bad = 0;

	*reads = 0;
	verify_begin(b->v);
	while (verify_next(b->v, io)) {
		verify_prepare(b->v, io);
		bad += finish_read(b, io) != 0;
		++*reads;
	}
	return bad;
}

static void clean(void **state)
{
	struct bench *b = bench_open(4096);
	unsigned reads;

	(void)state;
	for (unsigned pass = 0; pass < 3; pass++)
		for (unsigned i = 0; i < 32; i++)
			write_well(b, i % 2, (i * 7 % 32) * 4096, 4096);
	assert_int_equal(whole_phase(b, &reads), 0);
	assert_int_equal(reads, 32);
	assert_int_equal(whole_phase(b, &reads), 0);
	assert_int_equal(reads, 0); /* nothing was written since */
	assert_int_equal(read_back(b, 0, 200704, 4096), 0); /* never written: nothing is expected */
	assert_string_equal(b->told, "");
	bench_close(b);
}

static void lost(void **state)
{
	struct bench *b = bench_open(4096);

	(void)state;
	write_faulty(b, 0, 8192, 4096, 8192, 0, 0);
	assert_int_equal(read_back(b, 0, 8192, 4096), EILSEQ);
	expect_told(b, "kickio: verify: lost write (expected generation 1, found zeros) at file one offset 8192, length 4096");
	memset(b->disk[0] + 8192, 0x42, 4096);
	assert_int_equal(read_back(b, 0, 8192, 4096), EILSEQ);
	expect_told(b, "lost write (expected generation 1, found bytes that kickio did not write: 4242424242424242)");
	assert_int_equal(verify_faults(b->v), 2);
	bench_close(b);
}

static void stale(void **state)
{
	struct bench *b = bench_open(4096);

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		write_well(b, 1, 4096, 4096);
	write_faulty(b, 1, 4096, 4096, 4096, 0, 0);
	assert_int_equal(read_back(b, 1, 4096, 4096), EILSEQ);
	expect_told(b, "verify: stale (generation 3, 4 was completed; job 3) at file two offset 4096, length 4096\n");
	bench_close(b);
}

static void torn(void **state)
{
	struct bench *b = bench_open(16384);

	(void)state;
	write_well(b, 0, 16384, 16384);
	write_faulty(b, 0, 16384, 16384, 16384, 0, 10240);
	assert_int_equal(read_back(b, 0, 16384, 16384), EILSEQ);
	expect_told(b, "verify: torn (expected generation 2, found generation 1 of job 3) at file one offset 26624, length 6144");
	b->told[0] = '\0';
	write_faulty(b, 0, 32768, 16384, 32768, 512, 512); /* the first write of all, one sector of it */
	assert_int_equal(read_back(b, 0, 32768, 16384), EILSEQ);
	expect_told(b, "verify: torn (expected generation 1, found zeros) at file one offset 32768, length 512\n");
	expect_told(b, "verify: torn (expected generation 1, found zeros) at file one offset 33792, length 15360\n");
	bench_close(b);
}

static void misplaced(void **state)
{
	struct bench *b = bench_open(4096);

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		write_well(b, 0, i * 4096, 4096);
	write_faulty(b, 0, 4096, 4096, 12288, 0, 4096);
	assert_int_equal(read_back(b, 0, 12288, 4096), EILSEQ);
	expect_told(b, "verify: misdirected write (belongs to offset 4096, generation 2 of job 3) at file one offset 12288, "
		       "length 4096\n");
	assert_int_equal(read_back(b, 0, 4096, 4096), EILSEQ);
	expect_told(b, "verify: stale (generation 1, 2 was completed; job 3) at file one offset 4096");
	b->told[0] = '\0';
	memcpy(b->disk[1] + 8192, b->disk[0] + 8192, 4096);
	write_faulty(b, 1, 8192, 4096, 8192, 0, 0);
	assert_int_equal(read_back(b, 1, 8192, 4096), EILSEQ);
	expect_told(b, "misdirected write (belongs to offset 8192 of one, generation 1 of job 3) at file two offset 8192");
	bench_close(b);
}

static void corrupt(void **state)
{
	struct bench *b = bench_open(4096);

	(void)state;
	write_well(b, 0, 0, 4096);
	b->disk[0][1024 + 300] ^= 0x10;
	assert_int_equal(read_back(b, 0, 0, 4096), EILSEQ);
	expect_told(b, "verify: corrupt (expected generation 1, the data does not match its checksum; header: generation 1 of "
		       "job 3) at file one offset 1024, length 512\n");
	b->told[0] = '\0';
	b->disk[0][1024 + 300] ^= 0x10;
	b->disk[0][2] ^= 1;
	assert_int_equal(read_back(b, 0, 0, 4096), EILSEQ);
	expect_told(b, "corrupt (expected generation 1, the header does not match its checksum) at file one offset 0, length 512");
	bench_close(b);
}

/* Old or new of what is in flight, of what failed and of what overlapped: no fault. */
static void in_flight(void **state)
{
	struct bench *b = bench_open(4096);
	struct io *read, *write, *other;

	(void)state;
	write_well(b, 0, 0, 4096);
	write = begin(b, 1, DDIR_WRITE, 0, 0, 4096);
	assert_int_equal(read_back(b, 0, 0, 4096), 0);
	read = begin(b, 2, DDIR_READ, 0, 0, 4096);
	memcpy(b->disk[0], write->buffer, 2048); /* half of it is there: sectors are old or new, each for itself */
	assert_int_equal(read_back(b, 0, 0, 4096), 0);
	memcpy(b->disk[0], write->buffer, 4096);
	write->moved = 4096;
	verify_complete(b->v, write);
	assert_int_equal(finish_read(b, read), 0); /* began before, ended after */
	write = begin(b, 1, DDIR_WRITE, 0, 0, 4096);
	write->error = EIO;
	verify_complete(b->v, write);
	assert_int_equal(read_back(b, 0, 0, 4096), 0);
	write = begin(b, 1, DDIR_WRITE, 0, 0, 4096);
	other = begin(b, 2, DDIR_WRITE, 0, 0, 4096);
	memcpy(b->disk[0], other->buffer, 4096);
	memcpy(b->disk[0], write->buffer, 4096); /* the earlier one reached the disk last */
	write->moved = other->moved = 4096;
	verify_complete(b->v, other);
	verify_complete(b->v, write);
	assert_int_equal(read_back(b, 0, 0, 4096), 0);
	assert_string_equal(b->told, "");
	bench_close(b);
}

/* Sizes that mix: every byte is read back, whichever write it came from. */
static void mixed_sizes(void **state)
{
	struct bench *b = bench_open(512);
	struct random64 r = random64_stream(9, 1);
	unsigned reads;

	(void)state;
	verify_close(b->v);
	verify_store_close(b->store, true);
	b->job.bs_range[DDIR_WRITE] = (struct range){ 1536, 65536 - 1024 };
	open_verify(b);
	for (unsigned i = 0; i < 500; i++) {
		uint32_t length = (uint32_t)(random64_below(&r, 43) + 1) * 1536 % 64512;
		uint64_t offset = random64_below(&r, (DISK - 65536) / 1536) * 1536;

		write_well(b, i % 2, offset, length ? length : 1536);
	}
	assert_int_equal(whole_phase(b, &reads), 0);
	assert_true(reads >= 8);
	assert_string_equal(b->told, "");
	bench_close(b);
}

static void backlog(void **state)
{
	struct bench *b = bench_open(4096);
	unsigned reads;

	(void)state;
	verify_close(b->v);
	verify_store_close(b->store, true);
	b->job.verify_backlog = 4;
	open_verify(b);
	for (unsigned i = 0; i < 4; i++) {
		assert_false(verify_due(b->v));
		write_well(b, 0, i * 8192, 4096);
	}
	assert_true(verify_due(b->v));
	b->disk[0][8192] ^= 4;
	assert_int_equal(whole_phase(b, &reads), 1);
	assert_int_equal(reads, 4);
	assert_false(verify_due(b->v));
	write_well(b, 0, 8192, 4096);
	assert_int_equal(whole_phase(b, &reads), 0); /* at the end: the rest */
	assert_int_equal(reads, 1);
	bench_close(b);
}

/* ---- with a map in a file ---- */

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
		cmocka_unit_test(clean), cmocka_unit_test(lost), cmocka_unit_test(stale), cmocka_unit_test(torn),
		cmocka_unit_test(misplaced), cmocka_unit_test(corrupt), cmocka_unit_test(in_flight),
		cmocka_unit_test(mixed_sizes), cmocka_unit_test(backlog), cmocka_unit_test(map_outlives),
		cmocka_unit_test(map_lags), cmocka_unit_test(headers_only), cmocka_unit_test(told_to_the_host), cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
