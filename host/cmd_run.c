#include <stdio.h>

#include "host/command.h"
#include "host/reporting.h"
#include "host/running.h"

static int run(int argc, char **argv, struct error *e)
{
	struct running r = RUNNING_NONE;
	struct reporting_outcome outcome;
	int status = -1;

	if (run_options_parse(argc, argv, "osrcCf", &r.options, e) || running_measure(&r, "quick", e) ||
	    reporting_write(r.x.store, stdout, NULL, r.scenario->fail_on, &outcome, e))
		goto out;
	status = reporting_status(&outcome, e);
out:
	running_free(&r);
	return status < 0 ? e->status : status;
}

const struct command cmd_run = {
	"run", "run [SCENARIO] [-o DIR] [--set SECTION.KEY=VALUE]... [--fail-on VERDICTS] [--connect URI]...\n"
	"       kickbench run --resume DIR [--connect URI]...",
	"boot the variants of a scenario in randomised blocks, measure, compare", run,
};
