#include <stdio.h>

#include "host/command.h"
#include "host/reporting.h"
#include "host/running.h"
#include "host/selftest.h"

/* What makes an A/A run of any scenario. Last, so that nothing that the user sets undoes it. */
static int oppose_itself(struct run_options *o, char blocks[BLOCKS_TEXT_SIZE], struct error *e)
{
	if (run_options_set(o, "scenario.against=itself", e) ||
	    run_options_set(o, "scenario.fail_on=worse, better, stalled, corrupt", e))
		return -1;
	return run_options_set_blocks(o, blocks, e);
}

static const struct reporting_account account = { "selftest.txt", selftest_text, "" };

static int run(int argc, char **argv, struct error *e)
{
	struct running r = RUNNING_NONE;
	struct reporting_outcome outcome;
	char blocks[BLOCKS_TEXT_SIZE];
	int status = -1;

	if (run_options_parse(argc, argv, "oscb", &r.options, e) || oppose_itself(&r.options, blocks, e) ||
	    running_measure(&r, "selftest", e) || reporting_write(r.x.store, stdout, &account, r.scenario->fail_on, &outcome, e))
		goto out;
	status = reporting_status(&outcome, e);
out:
	running_free(&r);
	return status < 0 ? e->status : status;
}

const struct command cmd_selftest = {
	"selftest", "selftest [SCENARIO] [--blocks N] [-o DIR] [--set SECTION.KEY=VALUE]... [--connect URI]",
	"run the scenario's baseline against itself: false alarms, noise, the smallest effect that a run finds here;\n"
	"    status 1 when there was a false verdict, which one run in twenty may have", run,
};
