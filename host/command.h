/* The commands of kickbench: one entry each, in one visible table in main.c. */
#ifndef KB_COMMAND_H
#define KB_COMMAND_H

#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include "guest/error.h"

struct command {
	const char *name;
	const char *usage;
	const char *help;
	/* argv[0] is the command's name. Returns an exit status; a status other than that of a verdict comes with e. */
	int (*run)(int argc, char **argv, struct error *e);
};

extern const struct command cmd_clean;
extern const struct command cmd_compare;
extern const struct command cmd_doctor;
extern const struct command cmd_history;
extern const struct command cmd_image;
extern const struct command cmd_import;
extern const struct command cmd_kick;
extern const struct command cmd_plan;
extern const struct command cmd_regress;
extern const struct command cmd_report;
extern const struct command cmd_run;
extern const struct command cmd_selftest;

/* The signal that asked kickbench to end, 0 none. */
extern volatile sig_atomic_t command_signal;

/*
 * The next option of a command's line: 1, its letter in *c (0 before the first call) and its value in optarg; 0: no more, the operands
 * begin at argv[optind]; -1: it is unknown, or its value is missing. longs as in getopt_long(3); every command knows -o, too.
 */
int command_option(const char *command, int argc, char **argv, const struct option *longs, int *c, struct error *e);

/* Append a text, which stays whose it is, to a list that free() ends. */
int command_keep(const char ***list, size_t *count, const char *text, struct error *e);

/* before, then lines with what could work on a terminal made plain (host/escape.h), and a line end. */
void command_print(FILE *out, const char *before, const char *lines);

/*
 * An exit status as `git bisect run` understands it: 0 is good, 1 bad, and all else says nothing about the revision. Without
 * bisect it stays what it is.
 */
#define STATUS_CANNOT_TELL 125
int command_bisect(bool bisect, int status);

/* A line on stderr before something takes long. */
void command_say(const char *line);

#endif
