/*
 * fio's JSON and json+, of every version from 2.0 on, and of client and server (--client): "client_stats" become
 * jobs, its "All clients" is left out, since it repeats them.
 *
 * What older versions print is turned into today's form: io_bytes in KiB (up to 2.20), µs (up to 2.98), bins by
 * bucket index (2.x). A direction that did nothing and a latency that was not measured are zeros in JSON: left out.
 * "global options" are put below a job's own. Of several reports of one run (--status-interval) the last counts.
 */
#ifndef KB_FIO_JSON_H
#define KB_FIO_JSON_H

#include <stddef.h>

#include "host/fio_import.h"

/*
 * Every JSON object of fio in bytes, wherever it stands. What was read, and what began as one of fio's and is
 * damaged (a note says where), is overwritten by blanks; newlines stay, so that line numbers hold.
 */
int fio_json_read(char *bytes, size_t length, struct fio_import *into, struct error *e);

#endif
