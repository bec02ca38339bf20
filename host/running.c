#include "host/running.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/command.h"
#include "host/hosts.h"
#include "host/os.h"
#include "host/reporting.h"

static int draw_seed(uint64_t *seed, struct error *e)
{
	if (os_random(seed, sizeof(*seed)))
		return error_errno(e, STATUS_HOST, "no random seed");
	*seed >>= 24; /* short enough to be typed */
	return 0;
}

/* The scenario of a new run, or the one that a run folder keeps. */
static int read_scenario(struct running *r, const char *usual, struct error *e)
{
	struct run_options *o = &r->options;
	char path[4096];

	if (!o->resume) {
		if (session_scenario(&r->session.dirs, o->scenario ? o->scenario : usual, path, sizeof(path), e))
			return -1;
		r->x.set = o->set;
		r->x.nset = o->nset;
		return scenario_read(path, o->set, o->nset, &r->scenario, e);
	}
	if (o->scenario || o->nset || o->output)
		return error_set(e, STATUS_USAGE, "run: --resume takes the scenario from its folder: leave out SCENARIO, --set and -o");
	if (store_open(o->resume, &r->x.store, e))
		return -1;
	if (reporting_resumed_set(r->x.store, &r->resumed_set, &r->resumed, &r->x.nset, e))
		return -1;
	r->x.set = r->resumed;
	snprintf(path, sizeof(path), "%s/scenario.ini", o->resume);
	return scenario_read(path, r->resumed, r->x.nset, &r->scenario, e);
}

static int make_plan(struct running *r, struct error *e)
{
	uint64_t seed = r->scenario->seed;

	if (r->options.resume) {
		if (reporting_resumed_seed(r->x.store, &seed, e))
			return -1;
	} else if (!r->scenario->seed_set && draw_seed(&seed, e)) {
		return -1;
	}
	return plan_make(r->scenario, seed, &r->plan, e);
}

static void announce(struct running *r)
{
	const struct experiment *x = &r->x;
	bool exact;
	double s = plan_seconds(r->scenario, r->plan, &x->prepared[0].accel.pace, &exact);

	r->x.expected_s = s;
	for (size_t i = 0; i < x->nprepared; i++) {
		const struct accel_outcome *a = &x->prepared[i].accel;

		fprintf(stderr, "%s: %s%s%s\n", accel_name(a->used), a->why, x->nprepared > 1 ? "; " : "",
			x->nprepared > 1 ? a->qemu_version : "");
	}
	for (unsigned i = 0; x->nhosts > 1 && i < x->nhosts; i++)
		fprintf(stderr, "host %u, every %u. block from %u: %s\n", i + 1, x->nhosts, i + 1, hosts_label(x, i));
	fprintf(stderr, "%s: %u blocks, %zu boots, %zu trials in %zu cells, seed %llu, about %d min %02d s%s\n",
		r->scenario->name, r->plan->nblocks, r->plan->nboots, r->plan->ntrials, r->plan->ncells,
		(unsigned long long)r->plan->seed, (int)s / 60, (int)s % 60,
		exact ? "" : " (guessed: some jobs end with their data, not with the clock)");
	fprintf(stderr, "results: %s\n", store_path(x->store));
}

static int connect_hosts(struct running *r, struct error *e)
{
	const char *none[1] = { NULL };
	const char *const *uri = r->options.nhosts ? r->options.host : none;
	unsigned n = r->options.nhosts ? (unsigned)r->options.nhosts : 1, made = 1;
	struct hv **hv = calloc(n, sizeof(*hv));
	int status = -1;

	if (!hv)
		return error_set(e, STATUS_HOST, "out of memory");
	if (n > r->plan->nblocks) {
		error_set(e, STATUS_USAGE, "%u hosts for %u blocks: each needs one at least", n, r->plan->nblocks);
		goto out;
	}
	hv[0] = r->session.hv;
	while (made < n && session_connect(&r->session, uri[made], &hv[made], e) == 0)
		made++;
	if (!e->status)
		status = hosts_make(&r->x, uri, hv, n, e);
	for (unsigned i = 1; i < made && !r->x.peer; i++)
		r->session.ops->close(hv[i]);
out:
	free(hv);
	return status;
}

static int prepare(struct running *r, const char *usual, struct error *e)
{
	struct experiment *x = &r->x;
	const struct run_options *o = &r->options;

	if (dirs_find(&r->session.dirs, e) || read_scenario(r, usual, e) || reporting_check_primary(r->scenario, e))
		return -1;
	if (o->fail_on && fail_on_parse(o->fail_on, &r->scenario->fail_on, e))
		return error_context(e, "--fail-on");
	if (make_plan(r, e))
		return -1;
	/* Under the lock: else somebody who came second could discard the first one's folder. */
	if (session_open(&r->session, r->scenario->guest[0].driver, o->connect, o->resume ? o->resume : o->output ? o->output : r->scenario->name, e))
		return -1;
	if (!o->resume && store_create(o->output, "results", r->scenario->name, STORE_RUN, &x->store, e))
		return -1;
	x->scenario = r->scenario;
	x->plan = r->plan;
	x->dirs = &r->session.dirs;
	x->driver = r->session.driver;
	x->ops = r->session.ops;
	x->interrupted = &command_signal;
	if (connect_hosts(r, e) || hosts_prepare(x, command_say, e))
		return -1;
	announce(r);
	return o->resume ? experiment_take_up(x, e) : experiment_record(x, e);
}

static void hint(const struct running *r)
{
	const char *path = store_path(r->x.store);

	fprintf(stderr, "what was finished is kept: kickbench report %s shows it, kickbench run --resume %s goes on\n", path, path);
}

int running_measure(struct running *r, const char *usual, struct error *e)
{
	if (prepare(r, usual, e)) {
		if (r->x.store && !r->options.resume && !r->x.run)
			store_discard(r->x.store);
		return -1;
	}
	if (experiment_run(&r->x, e)) {
		hint(r);
		return -1;
	}
	return 0;
}

void running_free(struct running *r)
{
	experiment_free(&r->x);
	session_close(&r->session);
	plan_free(r->plan);
	scenario_free(r->scenario);
	run_options_free(&r->options);
	free(r->resumed);
	json_decref(r->resumed_set);
}
