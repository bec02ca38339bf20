/* From options to a whole run folder, for run and selftest: scenario, plan, guests, disks, and the loop over the boots. */
#ifndef KB_RUNNING_H
#define KB_RUNNING_H

#include <jansson.h>

#include "host/experiment.h"
#include "host/run_options.h"
#include "host/session.h"

/* Everything that one run holds. Begin with RUNNING_NONE, end with running_free. */
struct running {
	struct run_options options;
	struct session session;
	struct scenario *scenario;
	struct plan *plan;
	struct experiment x;
	json_t *resumed_set; /* the --set values of the run that is resumed */
	const char **resumed;
};

#define RUNNING_NONE { .session = { .lock = -1 } }

/*
 * Measure what r->options ask for; usual: the scenario when they name none. 0: every trial is stored in r->x.store, ok or not.
 * -1: the run stopped; a folder without a trial is discarded, else stderr says how to go on.
 */
int running_measure(struct running *r, const char *usual, struct error *e);

void running_free(struct running *r);

#endif
