#include "guest/latency.h"

#include <string.h>

/* Upper bounds, exclusive; values of a thousand and more are in the next unit, or in the last class. */
static const uint16_t bounds[LAT_MS_CLASSES - 1] = { 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000 };

static unsigned class_within(uint64_t value, unsigned classes)
{
	unsigned i = 0;

	while (i < classes - 1 && value >= bounds[i])
		i++;
	return i;
}

unsigned latency_class(uint64_t ns)
{
	if (ns < 1000)
		return class_within(ns, LAT_NS_CLASSES);
	if (ns < 1000000)
		return LAT_NS_CLASSES + class_within(ns / 1000, LAT_US_CLASSES);
	return LAT_NS_CLASSES + LAT_US_CLASSES + class_within(ns / 1000000, LAT_MS_CLASSES);
}

/* Smallest value of a bucket; for the one behind the last, where that would begin. */
static uint64_t bucket_start(unsigned index)
{
	if (index < 2 * HISTOGRAM_PER_GROUP)
		return index;
	return (uint64_t)(HISTOGRAM_PER_GROUP + index % HISTOGRAM_PER_GROUP) << (index / HISTOGRAM_PER_GROUP - 1);
}

void latency_table_init(struct latency_table *t)
{
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		unsigned first = latency_class(bucket_start(i));
		unsigned last = latency_class(bucket_start(i + 1) - 1);

		t->of_bucket[i] = first == last ? (uint8_t)first : LATENCY_STRADDLES;
	}
}

void latency_store(struct job_result *r, const uint64_t count[LATENCY_CLASSES])
{
	memcpy(r->lat_ns, count, sizeof(r->lat_ns));
	memcpy(r->lat_us, count + LAT_NS_CLASSES, sizeof(r->lat_us));
	memcpy(r->lat_ms, count + LAT_NS_CLASSES + LAT_US_CLASSES, sizeof(r->lat_ms));
}
