/*
 * Tables that somebody made by hand from a sweep over numjobs:
 *
 *	IOPs per fio
 *	1 2 4 8 <- njobs
 *	24470 49785 97255 163767 fio.4kb.raw.psync
 *	-
 *	…
 *
 * One document per label and number of jobs; tables with other titles add to it. By words of its title a table
 * holds IOPS; the response time (µs unless ms or ns is said), which is taken for the completion latency, from
 * which it differs by the submission at most; vmstat's us+sy; CPU time per operation; iostat's r_await or w_await,
 * requests per operation ("~1" is about 1) and request size in KB of 1024 bytes. Those that fio does not print
 * are a job's
 * "table":{"guest_busy":%,"cpu_us_per_io":µs,"await_us":µs,"requests_per_io":n,"request_bytes":n}
 * Direction and depth come from the fio command lines above, as far as they agree; bs and engine from the label.
 */
#ifndef KB_FIO_TABLE_H
#define KB_FIO_TABLE_H

#include <stddef.h>

#include "host/fio_import.h"

/* What was read is overwritten by blanks; newlines stay, so that line numbers hold. */
int fio_table_read(char *bytes, size_t length, struct fio_import *into, struct error *e);

#endif
