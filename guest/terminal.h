/* Where the report, the notes and the progress of a run go. */
#ifndef KB_TERMINAL_H
#define KB_TERMINAL_H

#include <stdio.h>

#include "guest/job.h"
#include "guest/run.h"

struct terminal {
	const struct jobs *jobs;
	FILE *report; /* stdout or --output */
	bool normal;  /* the text form is among the output formats */
	bool eta;     /* show progress lines on stdout */
	size_t shown; /* length of the progress line on the screen */
	uint64_t newline_us; /* when the last line was left standing */
	struct progress before;
};

/* Opens jobs->output when there is one. terminal_close() in any case. */
int terminal_open(struct terminal *t, const struct jobs *jobs, struct error *e);

/* -1 when what was written did not arrive. */
int terminal_close(struct terminal *t, struct error *e);

/* Hooks of a run; context is the terminal. */
void terminal_note(void *context, const char *line);
void terminal_progress(void *context, const struct progress *now);

#endif
