/* The host's monotonic clock. */
#ifndef KB_HOST_CLOCK_H
#define KB_HOST_CLOCK_H

/* Seconds since some instant. */
double clock_s(void);

#endif
