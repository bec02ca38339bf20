/* The time stamp counter of this host, which an emulated guest sees as its own. */
#ifndef KB_TSC_H
#define KB_TSC_H

#include <stdint.h>

/* Thousands of ticks in a second, measured against the monotonic clock in about 30 ms; 0: this host has no such counter. */
uint64_t tsc_khz(void);

#endif
