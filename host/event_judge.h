/* What the result of a job tells of the errors in its middle. Pure functions of the guest's result frame. */
#ifndef KB_EVENT_JUDGE_H
#define KB_EVENT_JUDGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "guest/text.h"

/* The one error that a job is to meet. */
struct event_expected {
	const char *kind; /* "read", "write", "sync" */
	uint64_t place;   /* a byte that the request reaches over; not looked at for a sync */
	uint64_t reads, writes, syncs; /* that the job makes in all, with the one that fails; 0: not looked at */
};

struct event_errors {
	uint64_t counted;       /* as its clones say (continue_on_error) */
	int first;              /* errno of the first, 0: none */
	unsigned told, elsewhere; /* lines about one; those that are not about what was expected */
	char line[256];         /* the first such line, or else the first of all */
	uint64_t reads, writes, syncs;
};

void event_errors_read(const json_t *result, const struct event_expected *x, struct event_errors *out);

/* Whether there was this one error and no other. why: what is wrong, appended. */
bool event_errors_right(const struct event_errors *errors, const struct event_expected *x, struct text *why);

/* Whether the job did all the rest. */
bool event_went_on(const struct event_errors *errors, const struct event_expected *x, struct text *why);

/* Whether a line of kickio tells of an I/O error: its kind and where. file and error are left out. */
bool event_error_line(const char *line, char kind[16], uint64_t *offset, uint64_t *bytes);

#endif
