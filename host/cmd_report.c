#include <stdio.h>

#include "host/command.h"
#include "host/matrix_print.h"
#include "host/reporting.h"

/* Without an option the folder's own report is brought up to date, too. */
static int refresh(const char *path, struct error *e)
{
	struct store *store;
	struct reporting_outcome outcome;
	int status;

	if (store_open(path, &store, e))
		return e->status;
	status = reporting_write(store, stdout, NULL, 0, &outcome, e) ? e->status : STATUS_OK;
	store_close(store);
	return status;
}

static int run(int argc, char **argv, struct error *e)
{
	static const struct option longs[] = { REPORT_LONG_OPTIONS, { NULL, 0, NULL, 0 } };
	struct report_request request = REPORT_REQUEST_NONE;
	bool plain = true;
	int c = 0, more;

	while ((more = command_option("report", argc, argv, longs, &c, e)) > 0) {
		if (report_option(c, optarg, &request, e) < 0)
			return e->status;
		plain = false;
	}
	if (more)
		return e->status;
	if (argc - optind != 1)
		return error_set(e, STATUS_USAGE, "usage: kickbench report DIR %s", REPORT_USAGE), e->status;
	if (matrix_folder_is(argv[optind]))
		return matrix_print(argv[optind], &request, plain, e);
	if (plain)
		return refresh(argv[optind], e);
	if (report_check(&request, e) || reporting_print(argv[optind], &request, e))
		return e->status;
	return STATUS_OK;
}

const struct command cmd_report = {
	"report", "report DIR " REPORT_USAGE,
	"print the comparison of a run, whole or not, or the matrix of regress (text, html, json, junit), whose exit status it has;\n"
	"    without an option the report.* of the folder are brought up to date, too", run,
};
