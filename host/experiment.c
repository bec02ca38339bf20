#include "host/experiment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/hosts.h"
#include "host/place.h"
#include "host/run_file.h"
#include "host/stall.h"
#include "host/trial.h"

#define LEAST_HELLO_S 30
#define STOP_TIMEOUT_S 10
#define ARGUMENTS_MORE 1 /* randseed */

static const char *variant_name(const struct experiment *x, unsigned variant)
{
	return x->scenario->variant[variant].name;
}

/* ---- test disks ---- */

static int use_disk(struct experiment *x, struct settings *s, unsigned file, unsigned *index, struct error *e)
{
	struct disk d;

	if (place_disk(x->ops, x->hv, &x->host, s, x->dirs->state, file, &d, e))
		return -1;
	for (size_t i = 0; d.path && i < x->ndisks; i++)
		if (x->disk[i].path && !strcmp(x->disk[i].path, d.path)) {
			*index = (unsigned)i;
			x->disk[i].holds = d.holds;
			disk_free(&d);
			return 0;
		}
	*index = (unsigned)x->ndisks;
	x->disk[x->ndisks++] = d;
	return 0;
}

int experiment_prepare_disks(struct experiment *x, struct error *e)
{
	size_t n = x->scenario->nvariants;
	unsigned files = x->scenario->pairing == PAIRING_DISKS ? 2 : 1;

	x->settings = calloc(n, sizeof(*x->settings));
	x->disk = calloc(2 * n, sizeof(*x->disk));
	x->disk_of = calloc(n, sizeof(*x->disk_of));
	if (!x->settings || !x->disk || !x->disk_of)
		return error_set(e, STATUS_HOST, "out of memory");
	for (size_t v = 0; v < n; v++) {
		struct settings *s = &x->settings[v];

		if (settings_copy(s, &x->scenario->variant[v].settings))
			return error_set(e, STATUS_HOST, "out of memory");
		for (unsigned file = 0; file < files; file++)
			if (use_disk(x, s, file, &x->disk_of[v][file], e))
				return error_context(e, "test disk of variant %s", variant_name(x, (unsigned)v));
	}
	return 0;
}

/* The disks of a boot get what its variants want: what another one left, or another file system, goes. */
static int restore_disks(struct experiment *x, const struct plan_boot *boot, struct error *e)
{
	for (unsigned d = 0; d < boot->ndisks; d++) {
		struct disk *disk = &x->disk[x->disk_of[boot->variant[d]][boot->file[d]]];
		enum filesystem wanted = x->settings[boot->variant[d]].filesystem;
		double seconds;

		if (!disk->path || (!disk->dirty && disk->holds == wanted))
			continue;
		progress_show(&x->view, "restoring the test disk");
		if (place_restore(x->ops, x->hv, disk, wanted, &seconds, e))
			return -1;
	}
	return 0;
}

/* ---- one boot ---- */

/* What a boot needs of the experiment; request points into x and name. */
static void make_request(struct experiment *x, const struct plan_boot *boot, const char *name, const char *console,
			 const char *overlays, struct boot_request *r)
{
	const struct guest *guest = &x->scenario->guest[boot->guest];
	const struct prepared *p = experiment_prepared(x, boot->guest, boot->variant[0]);
	double ten_times = 10 * p->accel.pace.boot_s;

	*r = (struct boot_request){
		.name = name,
		.variant = variant_name(x, boot->variant[0]),
		.boot = boot->number,
		.block = boot->block + 1,
		.guest = guest,
		.machine = &p->machine,
		.accel = p->accel.used,
		.image = &p->image,
		.ndisks = boot->ndisks,
		.hello_timeout = guest->boot_timeout > 0 ? guest->boot_timeout
			       : ten_times > LEAST_HELLO_S ? ten_times : LEAST_HELLO_S,
		.ask_virtio_status = p->accel.virtio_status,
		.overlay_dir = overlays,
		.elsewhere = !x->host.here,
		.console_log = console,
		.interrupted = x->interrupted,
	};
	for (unsigned d = 0; d < boot->ndisks; d++) {
		r->settings[d] = &x->settings[boot->variant[d]];
		r->source[d] = x->disk[x->disk_of[boot->variant[d]][boot->file[d]]].path;
	}
}

/* The trial that runs. */
struct shown {
	struct experiment *x;
	const struct plan_trial *trial;
	struct boot *boot;
	unsigned slot; /* its disk of the boot */
};

static void show_progress(void *context, const struct trial_progress *p)
{
	const struct shown *s = context;
	char line[256];

	snprintf(line, sizeof(line), "block %u/%u %s: %s, %.0f IOPS", s->trial->block + 1, s->x->plan->nblocks,
		 variant_name(s->x, s->trial->variant), s->x->plan->cell[s->trial->cell].name,
		 p->elapsed_s > 0 ? (double)p->ios / p->elapsed_s : 0);
	progress_show(&s->x->view, line);
}

/* The boot is given up anyway: nothing is disturbed. */
static int explain_stall(void *context, struct trial *trial, struct error *e)
{
	const struct shown *s = context;

	progress_show(&s->x->view, "the guest stands still: asking who has dropped it");
	return stall_of_trial(s->boot, s->slot, trial, e);
}

/* Disk k of the boot that a trial works on. */
static unsigned slot_of(const struct plan_boot *boot, const struct plan_trial *t)
{
	return boot->ndisks > 1 && boot->variant[1] == t->variant ? 1 : 0;
}

/* What a job with verify= had written, so that its disk can still be verified after a reset. */
static void save_maps(struct experiment *x, unsigned number, const struct trial *trial)
{
	struct error e = {0};
	char path[4096];

	if (!trial->maps || map_copy_empty(trial->maps))
		return;
	snprintf(path, sizeof(path), "%s/trials/%06u.map", store_path(x->store), number);
	unlink(path); /* of a block that was cut */
	if (map_copy_save(trial->maps, path, &e) < 0)
		progress_line(&x->view, e.text);
}

/* Run one trial and store it. 1: it stalled, the boot is over. */
static int one_trial(struct experiment *x, struct boot *b, const struct plan_boot *boot, const struct plan_trial *t,
		     json_t **effective, struct error *e)
{
	const struct cell *cell = &x->plan->cell[t->cell];
	unsigned slot = slot_of(boot, t);
	struct shown shown = { .x = x, .trial = t, .boot = b, .slot = slot };
	char id[16], seed[48];
	char **argv = calloc(cell->argc + ARGUMENTS_MORE, sizeof(*argv));
	struct trial_request request = { .id = id, .argv = argv, .argc = cell->argc, .disk = slot,
					 .stall_timeout = x->scenario->guest[boot->guest].stall_timeout,
					 .progress = show_progress, .stalled = explain_stall, .context = &shown };
	struct trial trial = { 0 };
	bool first = !*effective;
	json_t *record = NULL;
	char started[32];
	int status = -1;

	if (!argv)
		return error_set(e, STATUS_HOST, "out of memory");
	request.wait_for_count = x->scenario->guest[boot->guest].tool == TOOL_PROBE;
	if (x->scenario->guest[boot->guest].tool == TOOL_FIO)
		request.tool = "fio";
	if (cell->on_files)
		request.filesystem = filesystem_name(x->settings[t->variant].filesystem);
	memcpy(argv, cell->argv, cell->argc * sizeof(*argv));
	snprintf(id, sizeof(id), "%06u", t->number);
	if (!cell->own_seed) {
		snprintf(seed, sizeof(seed), "--randseed=%" PRIu64, plan_offset_seed(x->plan, t->block, t->cell));
		argv[request.argc++] = seed;
	}
	if (cell->writes && place_soil(x->ops, x->hv, &x->disk[x->disk_of[t->variant][boot->file[slot]]], e)) {
		free(argv);
		return -1;
	}
	run_file_time(started);
	show_progress(&shown, &(struct trial_progress){ 0 });
	if (trial_run(b, &request, &trial, e))
		goto out;
	/* Stored before anything else is asked of the guest: no question may cost a trial. */
	record = run_file_trial(x, b, t, &request, started, &trial, *effective);
	if (!record || run_file_store_trial(x, t->number, record, e))
		goto out;
	if (first && trial.status != TRIAL_STALLED) {
		*effective = boot_verify(b, slot);
		json_object_set(record, "effective", *effective ? *effective : json_null());
		if (run_file_store_trial(x, t->number, record, e))
			goto out;
	}
	status = trial.status == TRIAL_STALLED;
	if (trial.status != TRIAL_OK) {
		char line[900];

		snprintf(line, sizeof(line), "trial %u (%s, %s) %s: %s", t->number, variant_name(x, t->variant), cell->name,
			 trial_status_name(trial.status), trial.message);
		progress_line(&x->view, line);
	}
out:
	save_maps(x, t->number, &trial);
	if (!record && status == -1 && !e->status)
		error_set(e, STATUS_HOST, "out of memory");
	json_decref(record);
	trial_free(&trial);
	free(argv);
	return status;
}

/* The trials that a stalled guest can no longer run are stored as what they are. */
static int give_up_rest(struct experiment *x, struct boot *b, const struct plan_boot *boot, unsigned from, struct error *e)
{
	for (unsigned k = from; k < boot->ntrials; k++) {
		const struct plan_trial *t = &x->plan->trial[boot->first_trial + k];
		struct trial_request request = { 0 };
		struct trial trial = { .status = TRIAL_FAILED };
		char started[32];
		json_t *record;
		int status;

		run_file_time(started);
		snprintf(trial.message, sizeof(trial.message), "not run: the guest had stalled before");
		record = run_file_trial(x, b, t, &request, started, &trial, NULL);
		status = record ? run_file_store_trial(x, t->number, record, e) : error_set(e, STATUS_HOST, "out of memory");
		json_decref(record);
		if (status)
			return -1;
		x->view.done++;
	}
	return 0;
}

static int run_trials(struct experiment *x, struct boot *b, const struct plan_boot *boot, struct error *e)
{
	json_t *effective[2] = { NULL, NULL };
	int status = 0;

	for (unsigned k = 0; k < boot->ntrials && status == 0; k++) {
		const struct plan_trial *t = &x->plan->trial[boot->first_trial + k];

		status = one_trial(x, b, boot, t, &effective[slot_of(boot, t)], e);
		x->view.done += status >= 0;
		if (status > 0) {
			boot_kill(b);
			status = give_up_rest(x, b, boot, k + 1, e) ? -1 : 1;
		}
	}
	json_decref(effective[0]);
	json_decref(effective[1]);
	return status < 0 ? -1 : 0;
}

/* "linux: none and kickfd": what a boot is of; the guest's name only where there are several. */
static void name_boot(const struct experiment *x, const struct plan_boot *boot, char *name, size_t size)
{
	bool several = x->scenario->nguests > 1, two = boot->ndisks > 1;

	snprintf(name, size, "%s%s%s%s%s", several ? x->scenario->guest[boot->guest].name : "", several ? ": " : "",
		 variant_name(x, boot->variant[0]), two ? " and " : "", two ? variant_name(x, boot->variant[1]) : "");
}

static int one_boot(struct experiment *x, const struct plan_boot *boot, struct error *e)
{
	struct boot_request request;
	struct boot b;
	char name[64], console[4096], overlays[1100], line[1024], of[512];
	double stopped;

	if (restore_disks(x, boot, e))
		return -1;
	snprintf(name, sizeof(name), "%ld-%u", (long)getpid(), boot->number);
	snprintf(console, sizeof(console), "%s/console/%06u.log", store_path(x->store), boot->number);
	experiment_overlays(x, overlays, sizeof(overlays));
	make_request(x, boot, name, console, overlays, &request);
	name_boot(x, boot, of, sizeof(of));
	snprintf(line, sizeof(line), "block %u/%u %s: booting", boot->block + 1, x->plan->nblocks, of);
	progress_show(&x->view, line);
	if (boot_start(&b, x->ops, x->hv, &request, e) || run_trials(x, &b, boot, e)) {
		boot_kill(&b);
		return error_context(e, "boot %u (%s)", boot->number, of);
	}
	snprintf(line, sizeof(line), "boot %u/%zu  block %u  %s  guest up in %.1f s (kernel to hello %.2f s), %u trials",
		 boot->number, x->plan->nboots, boot->block + 1, of, b.wall_to_hello, b.boot_to_hello, boot->ntrials);
	stopped = boot_stop(&b, STOP_TIMEOUT_S);
	if (stopped >= STOP_TIMEOUT_S)
		progress_line(&x->view, "the guest did not power off in time: its plug was pulled");
	progress_line(&x->view, line);
	return 0;
}

/* ---- all of them ---- */

static void trial_file(unsigned number, char name[32])
{
	snprintf(name, 32, "trials/%06u.json", number);
}

/* Whether all trials of a block are stored. Those of a block that was cut are put aside, to be run again. */
static int block_done(struct experiment *x, unsigned block, struct error *e)
{
	size_t planned = 0, stored = 0;
	char name[32];

	for (size_t i = 0; i < x->plan->ntrials; i++)
		if (x->plan->trial[i].block == block) {
			trial_file(x->plan->trial[i].number, name);
			planned++;
			stored += store_has(x->store, name);
		}
	if (stored == planned)
		return 1;
	for (size_t i = 0; i < x->plan->ntrials; i++)
		if (x->plan->trial[i].block == block) {
			trial_file(x->plan->trial[i].number, name);
			if (store_has(x->store, name) && store_cut_trial(x->store, x->plan->trial[i].number, e))
				return -1;
		}
	return 0;
}

static int boot_on(struct experiment *x, struct experiment *host, const struct plan_boot *boot, struct error *e)
{
	int status;

	if (host == x)
		return one_boot(x, boot, e);
	host->view = x->view; /* there is one terminal: it is handed on */
	status = one_boot(host, boot, e);
	x->view = host->view;
	return status ? error_context(e, "host %s", host->host.name) : 0;
}

int experiment_run(struct experiment *x, struct error *e)
{
	unsigned block = UINT32_MAX;
	struct error ignored = { 0 };
	int done = 0, status = 0;

	progress_open(&x->view, stderr, x->plan->ntrials, x->expected_s);
	for (size_t i = 0; i < x->plan->nboots && status == 0; i++) {
		const struct plan_boot *boot = &x->plan->boot[i];

		if (boot->block != block) {
			block = boot->block;
			done = block_done(x, block, e);
		}
		if (done < 0)
			status = -1;
		else if (done)
			progress_skip(&x->view, boot->ntrials);
		else
			status = boot_on(x, hosts_of_block(x, boot->block), boot, e);
	}
	progress_clear(&x->view);
	run_file_end(x, status ? e->text : NULL, status ? e : &ignored);
	return status;
}

void experiment_free_disks(struct experiment *x)
{
	for (size_t i = 0; i < x->ndisks; i++)
		disk_release(&x->disk[i]);
	for (size_t v = 0; x->settings && v < x->scenario->nvariants; v++)
		settings_free(&x->settings[v]);
	free(x->settings);
	free(x->disk);
	free(x->disk_of);
}

void experiment_free(struct experiment *x)
{
	hosts_close(x);
	experiment_free_machines(x);
	experiment_free_disks(x);
	json_decref(x->run);
	json_decref(x->facts);
	store_close(x->store);
}
