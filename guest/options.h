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

/*
 * The checks that need a whole job, as fio makes them: conflicts are refused, values that make no sense
 * together adjusted, with a note where fio prints one. options_parse() does this to every job.
 */
int options_check_job(const struct jobs *jobs, struct job *job, struct text *notes, struct error *e);

/* The message of options_parse when everything is right but for a job. */
extern const char options_no_jobs[];

/*
 * Do what --version, --help, --man, --cmdhelp[=NAME] or --enghelp[=NAME] on the command line ask for.
 * 1 when one of them was there, 0 when not, -1 and e when the name is unknown.
 */
int options_information(int argc, char *const *argv, FILE *out, struct error *e);

void options_version(FILE *out);

/* kickio.1 in mdoc, from the option table. */
void options_man(FILE *out);

/* --help; --cmdhelp=NAME (NULL or "all": all options, a line each). 0, or -1 for an unknown name. */
void options_help(FILE *out);
int options_cmdhelp(FILE *out, const char *name, struct error *e);

/* --enghelp=NAME (NULL: all engines, a line each). 0, or -1 for an unknown name. */
int options_enghelp(FILE *out, const char *name, struct error *e);

#endif
