/* Parts of the text report that have a file of their own. */
#ifndef KB_OUTPUT_PARTS_H
#define KB_OUTPUT_PARTS_H

#include "guest/result.h"
#include "guest/text.h"

/* "    clat (usec): min=…"; nothing without samples. label is right-aligned with its blanks. */
void output_latency(struct text *out, const char *label, const struct moments *m);

/* "    clat percentiles (usec):" and its table; nothing when the histogram is empty or NULL. */
void output_percentiles(struct text *out, const char *label, const struct histogram *h, const struct job *job);

/* The "  lat (usec)   : …" lines. */
void output_distribution(struct text *out, const struct job_result *r);

#endif
