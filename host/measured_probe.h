/* A part of measured_add(): a trial of the probe. */
#ifndef KB_MEASURED_PROBE_H
#define KB_MEASURED_PROBE_H

#include "host/metrics.h"

/*
 * Add the trial's "probe" member. Of a distribution its median is taken, by the bins; repeats have the mean of theirs.
 * *requests: what counters of the whole trial refer to (with an empty queue the kicks), -1 not told.
 */
int measured_add_probe(struct measured *m, const json_t *probe, double *requests, struct error *e);

#endif
