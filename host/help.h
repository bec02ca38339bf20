/* What kickbench tells of itself, from the tables of commands and keys: on a terminal and as the manual page. */
#ifndef KB_HELP_H
#define KB_HELP_H

#include <stdio.h>

#include "host/command.h"

/* commands: all of them, in the order of the help, NULL at the end. */
void help_usage(FILE *out, const struct command *const *commands);
void help_command(FILE *out, const struct command *c);

/* Every key of a scenario. */
void help_keys(FILE *out);

/* kickbench.1, in mdoc. */
void help_manual(FILE *out, const struct command *const *commands);

/* Who is told of every key, section by section. */
struct help_reader {
	void (*section)(FILE *out, const char *title, const char *about); /* about: "" nothing */
	void (*key)(FILE *out, const char *name, const char *values, const char *text); /* values: NULL none */
};
void help_each_key(FILE *out, const struct help_reader *reader);

#endif
