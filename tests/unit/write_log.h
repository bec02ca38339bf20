/*
 * A write log as blklogwrites leaves it, built entry by entry. Layout: drivers/md/dm-log-writes.c (struct log_write_super: magic,
 * version, nr_entries of 8 bytes, sectorsize of 4; struct log_write_entry: sector, nr_sectors, flags, data_len of 8 bytes; all
 * little-endian, each alone in a sector, the data behind it). Include after cmocka.
 */
#ifndef KB_TESTS_WRITE_LOG_H
#define KB_TESTS_WRITE_LOG_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/verify_block.h"
#include "host/writelog.h"

enum { LOG_FLUSH = 1, LOG_FUA = 2, LOG_DISCARD = 4, LOG_MARK = 8, LOG_METADATA = 16 };

struct log_bytes {
	unsigned char *data;
	size_t length, sector;
	uint64_t entries;
	uint64_t time_ns; /* of the next sealed write */
};

static inline void put_number(unsigned char *to, uint64_t n, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (unsigned char)(n >> 8 * i);
}

static inline unsigned char *log_grow(struct log_bytes *l, size_t bytes)
{
	l->data = realloc(l->data, l->length + bytes);
	assert_non_null(l->data);
	memset(l->data + l->length, 0, bytes);
	l->length += bytes;
	return l->data + l->length - bytes;
}

static inline void log_super(struct log_bytes *l, uint64_t entries)
{
	put_number(l->data, 0x6a736677736872u, 8);
	put_number(l->data + 8, 1, 8);
	put_number(l->data + 16, entries, 8);
	put_number(l->data + 24, l->sector, 4);
}

/* Without a super block yet. */
static inline struct log_bytes log_begin(size_t sector)
{
	struct log_bytes l = { .sector = sector, .time_ns = 1000 };

	log_grow(&l, sector);
	return l;
}

/* In sectors of the log. data: NULL for zeros. */
static inline void log_entry(struct log_bytes *l, uint64_t at, uint64_t count, unsigned flags, const void *data)
{
	unsigned char *head = log_grow(l, l->sector);

	put_number(head, at, 8);
	put_number(head + 8, count, 8);
	put_number(head + 16, flags, 8);
	l->entries++;
	if (flags & LOG_DISCARD || count == 0)
		return;
	head = log_grow(l, count * l->sector);
	if (data)
		memcpy(head, data, count * l->sector);
}

static inline void log_flush(struct log_bytes *l)
{
	log_entry(l, 0, 0, LOG_FLUSH, NULL);
}

/* A write of kickio of `sectors` of 512 bytes, sealed as of a map; the data is the generation's lowest byte. */
static inline void seal_write(struct log_bytes *l, unsigned char *data, uint64_t map, uint64_t offset, unsigned sectors,
			      uint32_t generation)
{
	struct verify_header h = {
		.map = map, .start = offset, .length = sectors * 512, .generation = generation, .time_ns = l->time_ns++,
		.file = verify_file_number("/dev/vda"), .kind = VERIFY_CRC32C,
	};

	for (unsigned i = 0; i < sectors; i++) {
		memset(data + i * 512, (int)generation, 512);
		h.offset = offset + i * 512;
		sector_seal(data + i * 512, &h);
	}
}

static inline void log_write(struct log_bytes *l, uint64_t map, uint64_t offset, unsigned sectors, uint32_t generation,
			     unsigned flags)
{
	unsigned char data[65536];

	assert_in_range(sectors, 1, 128);
	seal_write(l, data, map, offset, sectors, generation);
	log_entry(l, offset / l->sector, sectors * 512 / l->sector, flags, data);
}

static inline void expect_flushes(const struct writelog_flushes *f, uint64_t seen, uint64_t expected, uint64_t missing,
				  uint64_t first_missing, uint64_t last_flush, uint64_t covered)
{
	assert_int_equal(f->seen, seen);
	assert_int_equal(f->expected, expected);
	assert_int_equal(f->missing, missing);
	assert_int_equal(f->first_missing, first_missing);
	assert_int_equal(f->last_flush, last_flush);
	assert_int_equal(f->covered, covered);
}

#endif
