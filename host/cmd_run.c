#include <stdio.h>

#include "host/command.h"
#include "host/reporting.h"
#include "host/running.h"

/* What makes a revision bad: what the scenario fails on, and in any case these; what is unclear makes it neither. */
static unsigned bad(const struct running *r)
{
	unsigned fail_on = r->scenario->fail_on;

	return r->options.bisect ? (fail_on | FAIL_WORSE | FAIL_STALLED | FAIL_CORRUPT) & ~(unsigned)FAIL_UNCLEAR : fail_on;
}

static int run(int argc, char **argv, struct error *e)
{
	struct running r = RUNNING_NONE;
	struct reporting_outcome outcome;
	int status = -1;

	if (run_options_parse(argc, argv, "osrcCfB", &r.options, e) || running_measure(&r, "quick", e) ||
	    reporting_write(r.x.store, stdout, NULL, bad(&r), &outcome, e))
		goto out;
	status = r.options.bisect ? reporting_bisect(&outcome, e) : reporting_status(&outcome, e);
out:
	if (status < 0)
		status = command_bisect(r.options.bisect, e->status);
	running_free(&r);
	return status;
}

const struct command cmd_run = {
	"run", "run [SCENARIO] [-o DIR] [--set SECTION.KEY=VALUE]... [--fail-on VERDICTS] [--connect URI]... [--bisect]\n"
	"       kickbench run --resume DIR [--connect URI]... [--bisect]",
	"boot the variants of a scenario in randomised blocks, measure, compare", run,
};
