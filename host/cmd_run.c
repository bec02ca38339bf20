#include <stdio.h>

#include "host/command.h"
#include "host/reporting.h"
#include "host/running.h"

static int run(int argc, char **argv, struct error *e)
{
	struct running r = RUNNING_NONE;
	unsigned failed = 0;
	size_t lost = 0;
	int status = -1;

	if (run_options_parse(argc, argv, "osrcf", &r.options, e) || running_measure(&r, "quick", e))
		goto out;
	if (reporting_write(r.x.store, stdout, r.scenario->fail_on, &failed, &lost, e))
		goto out;
	status = failed ? STATUS_FAILED : STATUS_OK;
	if (lost && !failed) { /* those of a session before a resume too */
		error_set(e, STATUS_INCOMPLETE, "%zu of %zu trials failed: the comparison is incomplete", lost,
			  r.plan->ntrials);
		status = -1;
	}
out:
	running_free(&r);
	return status < 0 ? e->status : status;
}

const struct command cmd_run = {
	"run", "run [SCENARIO] [-o DIR] [--set SECTION.KEY=VALUE]... [--fail-on VERDICTS] [--connect URI]\n"
	"       kickbench run --resume DIR [--connect URI]",
	"boot the variants of a scenario in randomised blocks, measure, compare", run,
};
