/* fio's command line, as far as kickio supports it. One table row is the whole option: see options.c. */
#ifndef KB_OPTIONS_H
#define KB_OPTIONS_H

#include <stdio.h>

#include "guest/job.h"
#include "guest/text.h"

/*
 * Parse a command line (argv[0] is skipped) and the job files that it names into jobs.
 * Everything is checked: values, unknown options, sizes against block sizes.
 * notes collects lines for the user, as fio prints them before it starts. On error jobs is empty.
 */
int options_parse(int argc, char *const *argv, struct jobs *jobs, struct text *notes, struct error *e);

/* --help; --cmdhelp=NAME (NULL: all options, a line each). 0, or -1 for an unknown name. */
void options_help(FILE *out);
int options_cmdhelp(FILE *out, const char *name, struct error *e);

#endif
