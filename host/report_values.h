/* Ratios and p values as reports for people print them. */
#ifndef KB_REPORT_VALUES_H
#define KB_REPORT_VALUES_H

#include "guest/text.h"
#include "host/compare.h"

/* "1.131 [1.094, 1.169]", the 95 % interval; without one the ratio alone, "-" when there is none. */
void report_ratio(const struct effect *e, struct text *out);

/* "0.0353", "<0.0001", "-" for NAN. */
void report_p(double p, struct text *out);

/* What to know of a row of metrics: "higher is better", "constant: not tested". */
const char *report_note(const struct effect *e, enum metric metric);

#endif
