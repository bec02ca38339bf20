#include "guest/histogram.h"

uint64_t histogram_value(unsigned index)
{
	unsigned shift;
	uint64_t lower;

	if (index < 2 * HISTOGRAM_PER_GROUP)
		return index;
	shift = index / HISTOGRAM_PER_GROUP - 1;
	lower = (uint64_t)(HISTOGRAM_PER_GROUP + index % HISTOGRAM_PER_GROUP) << shift;
	return lower + ((uint64_t)1 << shift) / 2;
}

uint64_t histogram_total(const struct histogram *h)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		total += h->count[i];
	return total;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		into->count[i] += from->count[i];
}

uint64_t histogram_percentile(const struct histogram *h, double percent)
{
	uint64_t total = histogram_total(h), sum = 0;
	double wanted = percent / 100.0 * (double)total;
	unsigned last = 0;

	if (total == 0)
		return 0;
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!h->count[i])
			continue;
		last = i;
		sum += h->count[i];
		if ((double)sum >= wanted)
			break;
	}
	return histogram_value(last);
}
