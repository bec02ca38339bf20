/* Programs that are run for us: what they say is kept for a message, an interruption ends them. */
#ifndef KB_PROGRAM_H
#define KB_PROGRAM_H

#include <signal.h>
#include <stdbool.h>

#include "guest/text.h"

struct program {
	const char *package; /* Debian's, told when the program is not there */
	int out;             /* its standard output; -1: into said, with what it complains about */
	bool loud;           /* what it complains about (progress) is shown on stderr, too */
	const volatile sig_atomic_t *interrupted; /* signal number, may be NULL */
	int in;              /* its standard input; 0: none */
};

/*
 * Run argv[0] (looked up in PATH; argv ends with NULL). said (may be NULL) gets the end of what it said.
 * Returns its exit status, or -1: it cannot be run, was killed, or we were interrupted.
 */
int program_run(const char *const *argv, const struct program *p, struct text *said, struct error *e);

/* The same; a status other than 0 is an error, with the last line of what was said: "WHAT: qemu-img: …". */
int program_must(const char *const *argv, const struct program *p, const char *what, struct error *e);

/* Is there such a program in PATH? */
bool program_exists(const char *name);

/* The last line of a text that is not empty, up to 300 characters of it; progress that \r overwrites is left out. */
void program_last_line(const struct text *said, char *line, size_t room);

#endif
