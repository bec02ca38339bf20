/* The classes of fio's "lat (nsec|usec|msec)" lines, exact although the histogram is not. */
#ifndef KB_LATENCY_H
#define KB_LATENCY_H

#include <stdint.h>

#include "guest/histogram.h"
#include "guest/result.h"

#define LATENCY_CLASSES (LAT_NS_CLASSES + LAT_US_CLASSES + LAT_MS_CLASSES)
#define LATENCY_STRADDLES 0xff

/* For each histogram bucket its class, or LATENCY_STRADDLES where a class ends inside the bucket. */
struct latency_table {
	uint8_t of_bucket[HISTOGRAM_BUCKETS];
};

void latency_table_init(struct latency_table *t);

/* The class of a latency: nanosecond classes first, then micro-, then milliseconds. */
unsigned latency_class(uint64_t ns);

/* Write counts by class where reports look for them. */
void latency_store(struct job_result *r, const uint64_t count[LATENCY_CLASSES]);

#endif
