/* What a run shows while it goes on: one line that changes on a terminal, a line per boot elsewhere. */
#ifndef KB_PROGRESS_H
#define KB_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

struct progress_view {
	FILE *out;
	bool terminal;
	size_t width; /* of the line on the screen */
	size_t done, total; /* trials */
	size_t before;      /* of those done: in an earlier session */
	double started, expected; /* seconds */
};

void progress_open(struct progress_view *v, FILE *out, size_t total, double expected);

/* So many trials were done before this session began. */
void progress_skip(struct progress_view *v, size_t trials);

/* What happens now: "block 3/8 kickfd", "randread numjobs=4: 1234 IOPS". */
void progress_show(struct progress_view *v, const char *what);

/* A whole line that stays: for boots off a terminal, for messages on one. */
void progress_line(struct progress_view *v, const char *line);

/* Wipe the changing line. */
void progress_clear(struct progress_view *v);

#endif
