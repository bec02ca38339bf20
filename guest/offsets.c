#include "guest/offsets.h"

struct random64 random64_stream(uint64_t seed, uint64_t stream)
{
	struct random64 r = { seed };

	/* The scrambled seed, not the seed: neighbouring seeds and streams must not give shifted sequences. */
	r.state = random64_next(&r) ^ (stream * 0xd1342543de82ef95u);
	r.state = random64_next(&r);
	return r;
}

/* Smallest power of two that is at least n, minus one. */
static uint64_t covering_mask(uint64_t n)
{
	return n < 2 ? 0 : UINT64_MAX >> __builtin_clzll(n - 1);
}

void permutation_init(struct permutation *p, uint64_t n, struct random64 *keys)
{
	unsigned bits;

	p->n = n;
	p->mask = covering_mask(n);
	bits = p->mask ? 64 - (unsigned)__builtin_clzll(p->mask) : 0;
	p->shift = bits < 2 ? 1 : (bits + 1) / 2;
	p->at = 0;
	for (unsigned i = 0; i < 4; i++) {
		p->multiplier[i] = random64_next(keys) | 1;
		p->addend[i] = random64_next(keys);
	}
}

/*
 * Each step is a bijection of the numbers below the covering power of two: multiplying by an odd number
 * and adding modulo 2^k, and folding the upper half into the lower one by xor. The product carries low
 * bits upwards, the fold upper bits downwards; after four rounds each bit depends on all.
 */
static inline uint64_t permute(const struct permutation *p, uint64_t x)
{
	for (unsigned i = 0; i < 4; i++) {
		x = (x * p->multiplier[i] + p->addend[i]) & p->mask;
		x ^= x >> p->shift;
	}
	return x;
}

uint64_t permutation_next(struct permutation *p)
{
	uint64_t x;

	/* Fewer than half of the inputs are skipped: the mask is less than twice n. */
	do
		x = permute(p, p->at++);
	while (x >= p->n);
	return x;
}

uint64_t permutation_at(const struct permutation *p, uint64_t x)
{
	/* Walks along the cycle that x lies on, until it is back among the numbers below n. */
	do
		x = permute(p, x);
	while (x >= p->n);
	return x;
}

void offsets_init(struct offsets *o, const struct offsets_setup *setup)
{
	uint64_t smallest = 0;

	*o = (struct offsets){ .order = setup->order, .start = setup->start };
	o->random = random64_stream(setup->seed, setup->stream);
	for (unsigned d = 0; d < DDIRS; d++) {
		o->bs[d] = setup->bs[d];
		o->map_of[d] = d;
		if (!o->bs[d])
			continue;
		o->blocks[d] = setup->bytes / o->bs[d];
		if (!smallest || o->bs[d] < smallest)
			smallest = o->bs[d];
		for (unsigned other = 0; other < d; other++)
			if (o->bs[other] == o->bs[d])
				o->map_of[d] = other;
	}
	if (smallest)
		o->bytes = setup->bytes / smallest * smallest;
	offsets_restart(o);
}

void offsets_restart(struct offsets *o)
{
	o->left = o->bytes;
	for (unsigned d = 0; d < DDIRS; d++) {
		o->position[d] = o->start;
		if (o->order == ORDER_ONCE && o->bs[d] && o->map_of[d] == d)
			permutation_init(&o->map[d], o->blocks[d], &o->random);
	}
}

bool offsets_next(struct offsets *o, enum ddir ddir, uint64_t *offset)
{
	uint64_t bs = o->bs[ddir];

	if (o->order == ORDER_REPEATS) {
		if (o->blocks[ddir] == 0)
			return false;
		*offset = o->start + random64_below(&o->random, o->blocks[ddir]) * bs;
		return true;
	}
	if (o->left < bs)
		return false;
	o->left -= bs;
	switch (o->order) {
	case ORDER_SEQUENTIAL:
		*offset = o->position[ddir];
		o->position[ddir] += bs;
		break;
	case ORDER_ONCE:
		*offset = o->start + permutation_next(&o->map[o->map_of[ddir]]) * bs;
		break;
	case ORDER_REPEATS:
		break;
	}
	return true;
}
