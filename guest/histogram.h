/*
 * Log-linear latency histogram, fio's layout: 29 groups of 64 buckets. A value below 128 ns has a
 * bucket of its own; above, the bucket is the top bit and the six bits after it, so that the relative
 * error of a bucket's representative is at most 1/128. Values from about 17.05 s up share the last bucket.
 */
#ifndef KB_HISTOGRAM_H
#define KB_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_GROUPS 29
#define HISTOGRAM_PER_GROUP 64
#define HISTOGRAM_BUCKETS (HISTOGRAM_GROUPS * HISTOGRAM_PER_GROUP)

struct histogram {
	uint64_t count[HISTOGRAM_BUCKETS];
};

/*
 * The bucket of a latency in ns: the top seven bits, after as many groups as there are bits behind them. (Once or
 * more per I/O: no branch.)
 */
static inline unsigned histogram_index(uint64_t ns)
{
	unsigned shift = 57 - (unsigned)__builtin_clzll(ns | HISTOGRAM_PER_GROUP);
	unsigned index = shift * HISTOGRAM_PER_GROUP + (unsigned)(ns >> shift);

	return index < HISTOGRAM_BUCKETS ? index : HISTOGRAM_BUCKETS - 1;
}

static inline void histogram_add(struct histogram *h, uint64_t ns)
{
	h->count[histogram_index(ns)]++;
}

/* The value in ns that stands for a bucket: itself below 128, else the middle. */
uint64_t histogram_value(unsigned index);

uint64_t histogram_total(const struct histogram *h);
void histogram_merge(struct histogram *into, const struct histogram *from);

/*
 * The representative of the smallest bucket whose cumulative count is at least percent/100 of all.
 * 0 when the histogram is empty.
 */
uint64_t histogram_percentile(const struct histogram *h, double percent);

#endif
