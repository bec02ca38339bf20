#include "guest/buffers.h"

void buffers_init(struct buffers *b, const struct job *job, uint64_t seed)
{
	*b = (struct buffers){ .job = job, .random = random64_stream(seed, 0) };
	if (job->dedupe_percentage || job->buffer_compress_percentage)
		b->before_write = BUFFERS_REFILL;
	else if (job->zero_buffers || job->buffer_pattern.length)
		b->before_write = BUFFERS_KEEP;
	else if (job->refill_buffers)
		b->before_write = BUFFERS_REFILL;
	else
		b->before_write = job->scramble_buffers ? BUFFERS_STAMP : BUFFERS_KEEP;
}

/*
 * A counter in large steps, multiplied, folded, multiplied: less than random64_next() does, and enough for
 * bytes in which compression and deduplication find nothing.
 */
static void fill_random(struct random64 *random, unsigned char *bytes, size_t length)
{
	uint64_t counter = random64_next(random), number;

	for (; length >= sizeof(number); length -= sizeof(number), bytes += sizeof(number)) {
		counter += 0x9e3779b97f4a7c15u;
		number = counter * 0xbf58476d1ce4e5b9u;
		number = (number ^ number >> 32) * 0x94d049bb133111ebu;
		memcpy(bytes, &number, sizeof(number));
	}
	number = random64_next(random);
	memcpy(bytes, &number, length);
}

/* The pattern over and over, from its first byte; none: zeros. */
static void fill_pattern(const struct pattern *pattern, unsigned char *bytes, size_t length)
{
	size_t done = pattern->length < length ? pattern->length : length;

	if (pattern->length == 0) {
		memset(bytes, 0, length);
		return;
	}
	memcpy(bytes, pattern->bytes, done);
	/* Copying what is there doubles it each time; it stays whole patterns. */
	while (done < length) {
		size_t n = done < length - done ? done : length - done;

		memcpy(bytes + done, bytes, n);
		done += n;
	}
}

/* Each chunk begins with what does not compress and ends with what does. */
static void fill_compressible(struct buffers *b, struct random64 *random, unsigned char *bytes, size_t length)
{
	size_t chunk = b->job->buffer_compress_chunk;

	if (chunk == 0 || chunk > length)
		chunk = length;
	while (length) {
		size_t n = chunk < length ? chunk : length;
		size_t hard = (size_t)((uint64_t)n * (100 - b->job->buffer_compress_percentage) / 100);

		fill_random(random, bytes, hard);
		fill_pattern(&b->job->buffer_pattern, bytes + hard, n - hard);
		bytes += n;
		length -= n;
	}
}

void buffers_fill(struct buffers *b, void *buffer, uint32_t length)
{
	const struct job *job = b->job;
	struct random64 random;

	if (job->dedupe_percentage || job->buffer_compress_percentage) {
		/* The first block has none before it. */
		if (b->last == 0 || random64_below(&b->random, 100) >= job->dedupe_percentage)
			b->last = random64_next(&b->random) | 1;
		random = random64_stream(b->last, 0);
		fill_compressible(b, &random, buffer, length);
	} else if (job->zero_buffers || job->buffer_pattern.length) {
		fill_pattern(&job->buffer_pattern, buffer, length);
	} else {
		fill_random(&b->random, buffer, length);
	}
}
