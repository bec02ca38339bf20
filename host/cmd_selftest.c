#include <stdio.h>

#include "host/command.h"
#include "host/reporting.h"
#include "host/running.h"
#include "host/selftest.h"

/* What makes an A/A run of any scenario. Last, so that nothing that the user sets undoes it. */
static int oppose_itself(struct run_options *o, char *blocks, size_t room, struct error *e)
{
	if (run_options_set(o, "scenario.against=itself", e) ||
	    run_options_set(o, "scenario.fail_on=worse, better, stalled, corrupt", e))
		return -1;
	if (!o->blocks)
		return 0;
	snprintf(blocks, room, "scenario.blocks=%s", o->blocks);
	return run_options_set(o, blocks, e);
}

static int account(struct store *store, struct error *e)
{
	struct comparison *c = NULL;
	struct dataset *d = NULL;
	struct text text = { 0 };
	int status = -1;

	if (dataset_load(store_path(store), &d, e) || compare(d, &c, e))
		goto out;
	if (selftest_text(c, &text)) {
		error_set(e, STATUS_HOST, "out of memory");
		goto out;
	}
	fputs(text_get(&text), stdout);
	printf("The run as a comparison: kickbench report %s\n", store_path(store));
	status = store_write(store, "selftest.txt", text_get(&text), text.length, e);
out:
	text_free(&text);
	comparison_free(c);
	dataset_free(d);
	return status;
}

static int run(int argc, char **argv, struct error *e)
{
	struct running r = RUNNING_NONE;
	struct reporting_outcome outcome;
	char blocks[64];
	int status = -1;

	if (run_options_parse(argc, argv, "oscb", &r.options, e) || oppose_itself(&r.options, blocks, sizeof(blocks), e) ||
	    running_measure(&r, "selftest", e) || reporting_write(r.x.store, NULL, r.scenario->fail_on, &outcome, e) ||
	    account(r.x.store, e))
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
