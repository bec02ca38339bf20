#include <stdio.h>
#include <string.h>

#include "host/command.h"
#include "host/reporting.h"

static int run(int argc, char **argv, struct error *e)
{
	struct store *store;
	unsigned failed;
	size_t lost;
	int status;

	if (argc != 2 || argv[1][0] == '-')
		return error_set(e, STATUS_USAGE, "usage: kickbench report RUNDIR"), e->status;
	if (store_open(argv[1], &store, e))
		return e->status;
	status = reporting_write(store, stdout, 0, &failed, &lost, e) ? e->status : STATUS_OK;
	store_close(store);
	return status;
}

const struct command cmd_report = { "report", "report RUNDIR", "print the comparison of a run, whole or not", run };
