#include <stdio.h>
#include <string.h>

#include "host/command.h"
#include "host/kick.h"
#include "host/os.h"
#include "host/reporting.h"
#include "host/running.h"

static const struct reporting_account account = { "kick.txt", kick_text, "\n" };

static bool is_set(const struct run_options *o, const char *key)
{
	for (size_t i = 0; i < o->nset; i++)
		if (strstr(o->set[i], key))
			return true;
	return false;
}

/*
 * The vCPU gets a CPU of its own, where there are two at least and the user says nothing of it: else the kernel wakes the thread
 * that serves the queue on the CPU of the one that has kicked, which then is away as long as if it had done the work itself.
 */
static int pin_apart(struct run_options *o, char pins[2][64], struct error *e)
{
	unsigned found[2];

	if (o->scenario || o->connect || is_set(o, "vcpupin") || is_set(o, "emulatorpin") || os_cpus(found, 2) < 2)
		return 0;
	snprintf(pins[0], sizeof(pins[0]), "disk.vcpupin=%u", found[0]);
	snprintf(pins[1], sizeof(pins[1]), "disk.emulatorpin=%u", found[1]);
	return run_options_set(o, pins[0], e) || run_options_set(o, pins[1], e) ? -1 : 0;
}

static int run(int argc, char **argv, struct error *e)
{
	struct running r = RUNNING_NONE;
	struct reporting_outcome outcome;
	char blocks[BLOCKS_TEXT_SIZE], pins[2][64];
	int status = -1;

	if (run_options_parse(argc, argv, "oscb", &r.options, e) || pin_apart(&r.options, pins, e) ||
	    run_options_set_blocks(&r.options, blocks, e) || running_measure(&r, "kick-short", e) ||
	    reporting_write(r.x.store, stdout, &account, r.scenario->fail_on, &outcome, e))
		goto out;
	status = reporting_status(&outcome, e);
out:
	running_free(&r);
	return status < 0 ? e->status : status;
}

const struct command cmd_kick = {
	"kick", "kick [SCENARIO] [--blocks N] [-o DIR] [--set SECTION.KEY=VALUE]... [--connect URI]",
	"what one notification costs with ioeventfd off and on, in under a minute, by a guest without an operating system", run,
};
