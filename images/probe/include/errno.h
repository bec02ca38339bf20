/* Declared for error_errno(), which nothing here calls: not defined. */
#ifndef PROBE_ERRNO_H
#define PROBE_ERRNO_H

extern int errno;

#endif
