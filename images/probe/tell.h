/* What was measured, as JSON. */
#ifndef PROBE_TELL_H
#define PROBE_TELL_H

#include "guest/text.h"
#include "images/probe/measure.h"

/*
 * The object of a result frame's key "probe": the job as understood, the device as negotiated, and what was measured.
 * Distributions are {"N","mean","min","max","bins":{"ns":count…}} in ns, bins as in fio's JSON (guest/histogram.h).
 * b: NULL with a job that had no disk.
 */
void tell_measured(struct text *out, const struct job *job, const struct blk *b, const struct measured *m);

#endif
