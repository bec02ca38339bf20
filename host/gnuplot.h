/* gnuplot as a subprocess: commands in, what it draws out. Nothing is written to a file. */
#ifndef KB_GNUPLOT_H
#define KB_GNUPLOT_H

#include <stddef.h>

#include "guest/text.h"

#define GNUPLOT_PACKAGE "gnuplot-nox"
#define GNUPLOT_DEADLINE_MS 20000

/*
 * Append what gnuplot (found in PATH; its start-up files are not read) prints for a script. An error says that it is
 * missing, what it complained of, or that it was ended after deadline_ms; out is then as it was.
 */
int gnuplot_run(const char *script, size_t length, unsigned deadline_ms, struct text *out, struct error *e);

#endif
