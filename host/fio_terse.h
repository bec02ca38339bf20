/*
 * fio's terse lines ("minimal", --terse-version 2 to 5): one line per job. A line counts when every field is where
 * the version has it. KiB become bytes and µs become ns, with the precision that was printed; the number of
 * I/Os is not printed.
 */
#ifndef KB_FIO_TERSE_H
#define KB_FIO_TERSE_H

#include <stddef.h>

#include "host/fio_import.h"

/*
 * Lines that follow each other are jobs of one document. What was read is overwritten by blanks; newlines stay, so
 * that line numbers hold. A line that begins as a terse one and is not whole is noted.
 */
int fio_terse_read(char *bytes, size_t length, struct fio_import *into, struct error *e);

#endif
