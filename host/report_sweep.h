/* The sweep (host/sweep.h) in three forms. */
#ifndef KB_REPORT_SWEEP_H
#define KB_REPORT_SWEEP_H

#include "guest/text.h"
#include "host/compare.h"

/* Rows end with their name; "-" is no data, a line of it parts block sizes. */
int report_sweep_text(const struct comparison *c, struct text *out, struct error *e);

/* A table per quantity; an empty row parts block sizes. Only the tables: report_markdown() has what is around them. */
int report_sweep_markdown(const struct comparison *c, struct text *out, struct error *e);

/* Rows of quantity, unit, block_size, guest, workload, variant, then "numjobs=1", ... with twelve digits; empty: no data. */
int report_sweep_csv(const struct comparison *c, struct text *out, struct error *e);

#endif
