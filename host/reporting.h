/* From a run folder to its report, for run and report; and what a resume takes from it. */
#ifndef KB_REPORTING_H
#define KB_REPORTING_H

#include <stdint.h>
#include <stdio.h>

#include "host/report.h"
#include "host/scenario.h"
#include "host/store.h"

struct reporting_outcome {
	unsigned failed;   /* verdicts of the mask that occurred */
	size_t lost;       /* planned trials that do not count, of every session */
	size_t incomplete; /* comparisons that lack trials or a value of the primary metric */
	size_t undecided;  /* comparisons without a verdict: unclear, of one run, or of settings that were not in force */
	size_t trials, comparisons;
};

/* A command's own account of its run: printed in place of the report, and kept beside it. */
struct reporting_account {
	const char *file;                                           /* in the run folder: "kick.txt" */
	int (*write)(const struct comparison *c, struct text *out); /* -1: out of memory */
	const char *below; /* between it and the line that names the folder */
};

/*
 * Load, compare, print the text to out (NULL: nowhere) and keep in the folder what host/report.h says of each form;
 * one that needs what the host lacks is named on stderr and left out. account: printed instead of the text; NULL: none.
 */
int reporting_write(struct store *store, FILE *out, const struct reporting_account *account, unsigned fail_on,
		    struct reporting_outcome *outcome, struct error *e);

/* The exit status of a run: that of its verdicts, else 3 with a message in e when something is missing. */
int reporting_status(const struct reporting_outcome *outcome, struct error *e);

/* The same for `git bisect run`: STATUS_CANNOT_TELL, with a message, where something is missing or a comparison undecided. */
int reporting_bisect(const struct reporting_outcome *outcome, struct error *e);

/* Load, compare and print a form of the report; the folder stays as it is. */
int reporting_print(const char *path, const struct report_request *request, struct error *e);

/* The --set values and the seed of a run. *list points into *owner; both are the caller's. */
int reporting_resumed_set(const struct store *store, json_t **owner, const char ***list, size_t *count, struct error *e);
int reporting_resumed_seed(const struct store *store, uint64_t *seed, struct error *e);

/* Whether the scenario's primary metric is one; the scenario itself does not know them. */
int reporting_check_primary(const struct scenario *s, struct error *e);

#endif
