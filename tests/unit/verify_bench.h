/* A disk in memory below struct verify, whose writes a test can let go wrong. Include after cmocka. */
#ifndef KB_TESTS_VERIFY_BENCH_H
#define KB_TESTS_VERIFY_BENCH_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static inline void on_line(void *context, const char *line)
{
	struct bench *b = context;
	size_t used = strlen(b->told);

	snprintf(b->told + used, sizeof(b->told) - used, "%s\n", line);
}

static inline void open_verify(struct bench *b)
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

static inline struct bench *bench_open(uint64_t bs)
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

static inline void bench_close(struct bench *b)
{
	verify_close(b->v);
	verify_store_close(b->store, true);
	for (unsigned i = 0; i < DEPTH; i++)
		free(b->io[i].buffer);
	free(b);
}

static inline struct io *begin(struct bench *b, unsigned i, enum ddir ddir, unsigned file, uint64_t offset, uint32_t length)
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
static inline void write_faulty(struct bench *b, unsigned file, uint64_t offset, uint32_t length, uint64_t to_offset,
			 uint32_t skip, uint32_t bytes)
{
	struct io *io = begin(b, 0, DDIR_WRITE, file, offset, length);

	memcpy(b->disk[file] + to_offset + skip, (char *)io->buffer + skip, bytes);
	io->moved = length;
	assert_int_equal(verify_complete(b->v, io), 0);
}

static inline void write_well(struct bench *b, unsigned file, uint64_t offset, uint32_t length)
{
	write_faulty(b, file, offset, length, offset, 0, length);
}

static inline int finish_read(struct bench *b, struct io *io)
{
	memcpy(io->buffer, b->disk[io->file] + io->offset, io->length);
	io->moved = io->length;
	return verify_complete(b->v, io);
}

static inline int read_back(struct bench *b, unsigned file, uint64_t offset, uint32_t length)
{
	return finish_read(b, begin(b, 0, DDIR_READ, file, offset, length));
}

static inline void expect_told(struct bench *b, const char *text)
{
	if (!strstr(b->told, text))
		fail_msg("not told: \"%s\", but: %s", text, b->told);
}

/* All that was written, as the phase after a write phase reads it. */
static inline unsigned whole_phase(struct bench *b, unsigned *reads)
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

#endif
