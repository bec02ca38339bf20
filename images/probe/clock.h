/* The machine's counter as a clock: calibrated against clocks of known frequency, and not believed blindly. */
#ifndef PROBE_CLOCK_H
#define PROBE_CLOCK_H

#include <stdint.h>

#include "guest/error.h"

/*
 * Find its frequency. An error when it stands still or runs backwards, or when the clocks that it is compared with
 * do not agree within 1 %.
 */
int clock_calibrate(struct error *e);

/* Counts per second; a guess that is rather too high before clock_calibrate(). */
uint64_t clock_hz(void);

/* ns of a number of counts, up to years. */
uint64_t clock_ns(uint64_t counts);

uint64_t clock_counts(uint64_t ns);

/* ns since clock_calibrate() was called: since the probe's start. (The counter itself may have begun with the host.) */
uint64_t clock_now(void);

/* Counts between two readings with nothing in between: what a measured span contains too much. */
uint64_t clock_stamp(void);

#endif
