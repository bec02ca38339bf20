/*
 * What is in the buffers that are written: fio's zero_buffers, refill_buffers, scramble_buffers,
 * buffer_pattern, buffer_compress_percentage and dedupe_percentage. Each clone has one.
 */
#ifndef KB_BUFFERS_H
#define KB_BUFFERS_H

#include <stdint.h>
#include <string.h>

#include "guest/job.h"
#include "guest/offsets.h"

enum buffers_before_write {
	BUFFERS_KEEP,   /* as they were filled at first */
	BUFFERS_STAMP,  /* each 512 bytes differ from all others, most of them stays */
	BUFFERS_REFILL, /* new contents */
};

struct buffers {
	enum buffers_before_write before_write;
	const struct job *job; /* kept, not owned */
	struct random64 random;
	uint64_t last; /* seed of the last block that was no duplicate */
};

void buffers_init(struct buffers *b, const struct job *job, uint64_t seed);

/* First contents, before the measurement. Also what BUFFERS_REFILL does before each write. */
void buffers_fill(struct buffers *b, void *buffer, uint32_t length);

/* A new number and the offset into the first 16 bytes of each 512. */
static inline void buffers_stamp(struct buffers *b, void *buffer, uint32_t length, uint64_t offset)
{
	char *sector = buffer;
	uint64_t number[2] = { random64_next(&b->random), offset };

	for (uint32_t left = length; left >= sizeof(number); left -= 512, sector += 512) {
		memcpy(sector, number, sizeof(number));
		if (left < 512)
			break;
		number[1] += 512;
	}
}

/* The buffer of a write to offset, right before it. */
static inline void buffers_prepare(struct buffers *b, void *buffer, uint32_t length, uint64_t offset)
{
	if (b->before_write == BUFFERS_STAMP)
		buffers_stamp(b, buffer, length, offset);
	else if (b->before_write == BUFFERS_REFILL)
		buffers_fill(b, buffer, length);
}

#endif
