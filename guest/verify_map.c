#include "guest/verify_map.h"

#include <stdlib.h>

/*
 * A word: last generation, how far below it the least acceptable one is, how many writes were issued since
 * none was in flight, how many are in flight, whether one of those failed, whether it was told.
 */
#define LAST_MASK 0xffffffffu
#define SLACK_SHIFT 32
#define BATCH_SHIFT 42
#define COUNT_MASK 0x3ffu /* of slack and batch; all ones: too many to know */
#define FLIGHT_SHIFT 52
#define FLIGHT_MASK 0x1ffu
#define FAILED ((uint64_t)1 << 61)
#define CHANGED ((uint64_t)1 << 62)

struct state {
	uint32_t last;
	unsigned slack, batch, flight;
	bool failed, changed;
};

static struct state unpack(uint64_t word)
{
	return (struct state){
		.last = (uint32_t)(word & LAST_MASK), .slack = word >> SLACK_SHIFT & COUNT_MASK,
		.batch = word >> BATCH_SHIFT & COUNT_MASK, .flight = word >> FLIGHT_SHIFT & FLIGHT_MASK,
		.failed = (word & FAILED) != 0, .changed = (word & CHANGED) != 0,
	};
}

static uint64_t pack(const struct state *s)
{
	return s->last | (uint64_t)s->slack << SLACK_SHIFT | (uint64_t)s->batch << BATCH_SHIFT |
	       (uint64_t)s->flight << FLIGHT_SHIFT | (s->failed ? FAILED : 0) | (s->changed ? CHANGED : 0);
}

static unsigned one_more(unsigned count, unsigned most)
{
	return count < most ? count + 1 : most;
}

static void issue(struct state *s)
{
	if (s->flight == 0) {
		s->batch = 0;
		s->failed = false;
	}
	/* After 2^32 - 1 writes of one block its generations are no longer told apart. */
	if (s->last < LAST_MASK) {
		s->last++;
		s->slack = one_more(s->slack, COUNT_MASK);
	}
	s->batch = one_more(s->batch, COUNT_MASK);
	s->flight = one_more(s->flight, FLIGHT_MASK);
}

static void done(struct state *s, bool ok)
{
	s->failed |= !ok;
	/* A count that ran over never comes back to zero: then the range only grows, which hides but never invents. */
	if (s->flight == 0 || s->flight == FLIGHT_MASK || --s->flight)
		return;
	if (!s->failed)
		s->slack = s->batch == COUNT_MASK ? COUNT_MASK : s->batch - 1;
	s->batch = 0;
}

static void mark(struct verify_map *m, uint64_t block)
{
	if (m->changed && !__atomic_load_n(&m->changed[block / VERIFY_CHUNK], __ATOMIC_SEQ_CST))
		__atomic_store_n(&m->changed[block / VERIFY_CHUNK], 1, __ATOMIC_SEQ_CST);
}

uint32_t verify_map_issue(struct verify_map *m, uint64_t block)
{
	uint64_t old = __atomic_load_n(&m->entry[block], __ATOMIC_SEQ_CST);
	struct state s;

	do {
		s = unpack(old);
		issue(&s);
		s.changed = true;
	} while (!__atomic_compare_exchange_n(&m->entry[block], &old, pack(&s), false, __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
	mark(m, block);
	return s.last;
}

void verify_map_done(struct verify_map *m, uint64_t block, bool ok)
{
	uint64_t old = __atomic_load_n(&m->entry[block], __ATOMIC_SEQ_CST);
	struct state s;

	do {
		s = unpack(old);
		done(&s, ok);
		s.changed = true;
	} while (!__atomic_compare_exchange_n(&m->entry[block], &old, pack(&s), false, __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
	mark(m, block);
}

static struct verify_range range_of(uint64_t word)
{
	struct state s = unpack(word);

	return (struct verify_range){
		.least = s.slack == COUNT_MASK || s.slack > s.last ? 0 : s.last - s.slack, .last = s.last,
	};
}

struct verify_range verify_map_range(const struct verify_map *m, uint64_t block)
{
	return range_of(__atomic_load_n(&m->entry[block], __ATOMIC_SEQ_CST));
}

void verify_map_forget_flights(struct verify_map *m)
{
	for (uint64_t i = 0; i < m->blocks; i++) {
		struct state s = unpack(m->entry[i]);

		/* Look before writing: most of a large map is a hole, and is to stay one. */
		if (!s.flight && !s.batch && !s.failed)
			continue;
		s.flight = s.batch = 0;
		s.failed = false;
		m->entry[i] = pack(&s);
	}
}

/* ---- on the wire ---- */

struct run {
	uint64_t first, count;
	struct verify_range range;
};

static void put_run(struct text *out, const struct run *r)
{
	if (r->count == 0)
		return;
	if (out->length && out->data[out->length - 1] != '"')
		text_add(out, ",");
	text_add(out, "%llx", (unsigned long long)r->first);
	if (r->count > 1)
		text_add(out, "+%llx", (unsigned long long)r->count);
	text_add(out, ":%x", r->range.last);
	if (r->range.least != r->range.last)
		text_add(out, "-%x", r->range.least);
}

/* One chunk; false when the limit came before its end. */
static bool encode_chunk(struct verify_map *m, uint64_t chunk, struct text *out, size_t end)
{
	uint64_t block = chunk * VERIFY_CHUNK, stop = block + VERIFY_CHUNK;
	struct run run = {0};

	/* Taken back first: who changes a block behind us marks the chunk again. */
	__atomic_store_n(&m->changed[chunk], 0, __ATOMIC_SEQ_CST);
	if (stop > m->blocks)
		stop = m->blocks;
	for (; block < stop && out->length < end; block++) {
		uint64_t word = __atomic_load_n(&m->entry[block], __ATOMIC_SEQ_CST);
		struct verify_range range;

		if (!(word & CHANGED))
			continue;
		word = __atomic_fetch_and(&m->entry[block], ~CHANGED, __ATOMIC_SEQ_CST);
		range = range_of(word);
		if (run.count && run.first + run.count == block && run.range.last == range.last &&
		    run.range.least == range.least) {
			run.count++;
			continue;
		}
		put_run(out, &run);
		run = (struct run){ block, 1, range };
	}
	put_run(out, &run);
	if (block == stop)
		return true;
	__atomic_store_n(&m->changed[chunk], 1, __ATOMIC_SEQ_CST);
	return false;
}

bool verify_map_encode(struct verify_map *m, struct text *out, size_t limit)
{
	uint64_t chunks = (m->blocks + VERIFY_CHUNK - 1) / VERIFY_CHUNK;
	size_t end = out->length + limit;

	for (uint64_t i = 0; i < chunks; i++) {
		uint64_t chunk = (m->cursor + i) % chunks;

		if (!__atomic_load_n(&m->changed[chunk], __ATOMIC_SEQ_CST))
			continue;
		/* The next call goes on here, so that a busy start does not keep the end from being told. */
		if (!encode_chunk(m, chunk, out, end)) {
			m->cursor = chunk;
			return true;
		}
	}
	m->cursor = 0;
	return false;
}

static bool take_number(const char **s, char before, uint64_t most, uint64_t *n)
{
	const char *p = *s;
	uint64_t v = 0;

	if (before && *p++ != before)
		return false;
	if (!((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'f')))
		return false;
	for (; (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'f'); p++) {
		if (v >> 60)
			return false;
		v = v << 4 | (uint64_t)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
	}
	if (v > most)
		return false;
	*n = v;
	*s = p;
	return true;
}

static bool take_run(const char **s, uint64_t blocks, struct run *run)
{
	uint64_t last, least;

	run->count = 1;
	if (!take_number(s, 0, blocks, &run->first))
		return false;
	if (**s == '+' && !take_number(s, '+', blocks, &run->count))
		return false;
	if (!take_number(s, ':', LAST_MASK, &last))
		return false;
	least = last;
	if (**s == '-' && !take_number(s, '-', last, &least))
		return false;
	run->range = (struct verify_range){ (uint32_t)least, (uint32_t)last };
	return run->count <= blocks - run->first && (**s == ',' || **s == '\0');
}

int verify_map_decode(struct verify_map *m, const char *runs, struct error *e)
{
	while (*runs) {
		const char *at = runs;
		struct state s = {0};
		struct run run;

		if (!take_run(&runs, m->blocks, &run))
			return error_set(e, STATUS_FAILED, "not a run of %llu blocks: %.40s",
					 (unsigned long long)m->blocks, at);
		s.last = run.range.last;
		s.slack = run.range.least == 0 || s.last - run.range.least > COUNT_MASK ? COUNT_MASK :
			  s.last - run.range.least;
		for (uint64_t i = 0; i < run.count; i++)
			m->entry[run.first + i] = pack(&s);
		runs += *runs == ',';
	}
	return 0;
}
