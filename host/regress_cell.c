/* One cell: its disk, its guest, the guest's checks, the event, the second opinion. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/disk.h"
#include "host/opinion.h"
#include "host/regress_private.h"
#include "host/run_file.h"

#define LEAST_HELLO_S 30
#define STOP_TIMEOUT_S 30

/* ---- before anything runs ---- */

/* A cell's files are those of the base, which have been found, unless an option names another. */
static int take_machine(struct cell_run *c, struct error *e)
{
	const struct prepared *base = &c->r->x.prepared[0];
	const struct machine *asked = scenario_machine(c->r->x.scenario, 0, 0);
	char **mine[] = { &c->machine.emulator, &c->machine.firmware, &c->machine.kernel, &c->machine.initrd };
	char *const found[] = { base->machine.emulator, base->machine.firmware, base->machine.kernel, base->machine.initrd };
	char *const named[] = { asked->emulator, asked->firmware, asked->kernel, asked->initrd };

	if (machine_copy(&c->machine, &c->cell->machine) || settings_copy(&c->settings, &c->cell->settings))
		return error_set(e, STATUS_HOST, "out of memory");
	for (size_t i = 0; i < sizeof(mine) / sizeof(mine[0]); i++) {
		if (!*mine[i] || !named[i] || strcmp(*mine[i], named[i]))
			continue;
		free(*mine[i]);
		*mine[i] = found[i] ? strdup(found[i]) : NULL;
		if (found[i] && !*mine[i])
			return error_set(e, STATUS_HOST, "out of memory");
	}
	return 0;
}

static bool by_libvirt(const struct cell_run *c)
{
	return c->r->x.scenario->guest[0].driver == DRIVER_LIBVIRT;
}

/* A cell whose event cannot be brought about is not what its name says: all else of it is tried. */
static int take_event(struct cell_run *c, struct error *e)
{
	char name[96], reason[300];
	const char *why;

	if (!c->cell->event || !strcmp(c->cell->event, MATRIX_EVENT_NONE))
		return 0;
	c->event = event_get(c->cell->event);
	snprintf(name, sizeof(name), "event %.80s", c->cell->event);
	why = !c->event ? "there is no such event"
	    : !by_libvirt(c) ? "events are made through libvirt, which does not run this guest"
	    : c->event->refused(c->cell);
	if (!why) {
		c->event->needs(c->cell, &c->needs, &c->room);
		return 0;
	}
	c->event = NULL;
	snprintf(reason, sizeof(reason), "%s: %s", name, why);
	cell_skip(c->result, reason);
	return cell_run_note(c, name, CELL_SKIPPED, why, e);
}

const char *cell_run_no_log(const struct cell_run *c)
{
	const struct matrix_cell *cell = c->cell;

	if (*c->r->no_log)
		return c->r->no_log;
	if (c->needs.no_log)
		return c->needs.no_log;
	if (cell->readonly)
		return "nothing is written to a read-only disk";
	if (!by_libvirt(c))
		return "QEMU's blklogwrites is put below the disk through libvirt, which does not run this guest";
	if (cell->settings.backend != BACKEND_FILE && cell->settings.backend != BACKEND_MEMORY)
		return "the disk is no file";
	return cell->bytes > REGRESS_WHOLE ? "the disk is too large for a log of all that is written" : NULL;
}

/* ---- the guest ---- */

static void make_request(struct cell_run *c, struct boot_request *r)
{
	struct regress *reg = c->r;
	const struct prepared *base = &reg->x.prepared[0];
	const struct guest *guest = &reg->x.scenario->guest[0];
	double ten_times = 10 * base->accel.pace.boot_s;

	c->under = (struct domain_under){
		.log = *c->disk.log ? c->disk.log : NULL, .log_sector = c->cell->block_size, .rule = c->needs.rule, .policy = c->needs.policy,
		.readonly = c->cell->readonly, .discard = c->cell->discard,
	};
	*r = (struct boot_request){
		.name = c->name,
		.variant = reg->x.scenario->variant[0].name,
		.boot = c->cell->number,
		.guest = guest,
		.machine = &c->machine,
		.accel = base->accel.used,
		.image = &base->image,
		.settings = { &c->settings },
		.source = { *c->disk.path ? c->disk.path : NULL },
		.under = { &c->under },
		.ndisks = 1,
		.hello_timeout = guest->boot_timeout > 0 ? guest->boot_timeout : ten_times > LEAST_HELLO_S ? ten_times : LEAST_HELLO_S,
		.ask_virtio_status = base->accel.virtio_status,
		.overlay_dir = c->overlays,
		.elsewhere = !reg->x.host.here,
		.console_log = c->console,
		.interrupted = reg->interrupted,
	};
}

/*
 * What an emulator, or libvirt for it, says of options that it does not have or that exclude each other: "QEMU: -device …:
 * WHY". The reason is appended. Not found: it is no refusal.
 */
static bool is_refusal(const char *text, struct text *why)
{
	static const char *const phrases[] = {
		"unsupported configuration: ", "Property ", "property ", "Parameter ", "Unknown driver", "not supported", "does not support",
		"doesn't support", "is not a valid", "nvalid parameter", "not a valid device", "is required", "are required", "must be ",
		"not a multiple of request alignment", "cannot be used", "can't be used", "is not compatible", "nvalid ",
	};

	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
		const char *at = strstr(text, phrases[i]), *from = at;
		size_t n;

		if (!at)
			continue;
		while (from > text && from[-1] != '\n' && strncmp(from, "}: ", 3))
			from--;
		from += strncmp(from, "}: ", 3) ? 0 : 3;
		n = strcspn(from, "\n");
		text_add_bytes(why, from, n);
		return true;
	}
	return false;
}

/* What the host had no more of: no fault of the cell's. */
static bool is_shortage(const char *text)
{
	static const char *const phrases[] = { "Cannot allocate memory", "No space left on device", "Too many open files" };

	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++)
		if (strstr(text, phrases[i]))
			return true;
	return false;
}

/* boot_start() has failed. 0: that is what became of the cell; 1: to be tried once more; -1: the run is over. */
static int judge_boot(struct cell_run *c, struct error *e)
{
	static const char *const names[] = { "the domain", "start", "boot", "the guest sees the disk", "start" }; /* by enum boot_stage */
	struct text why = { 0 };
	int status = 0;

	if (*c->r->interrupted)
		return -1;
	/* What is not described either is refused where the description is at fault; files that cannot be made are the host's. */
	if ((c->boot.stage == BOOT_NOTHING && e->status != STATUS_USAGE) || (c->boot.stage == BOOT_DESCRIBED && is_shortage(e->text)))
		return -1;
	if (c->boot.stage > BOOT_DESCRIBED || (c->boot.stage == BOOT_DESCRIBED && !is_refusal(e->text, &why))) {
		status = cell_run_lost(c, names[c->boot.stage], NULL, e);
	} else if (c->boot.stage == BOOT_DESCRIBED && *c->disk.log && strstr(e->text, "blklogwrites")) {
		snprintf(c->r->no_log, sizeof(c->r->no_log), "%.150s", text_get(&why));
		error_clear(e);
		status = 1;
	} else {
		cell_skip(c->result, why.length ? text_get(&why) : e->text);
		error_clear(e);
	}
	text_free(&why);
	return status;
}

/* Of a disk that the guest can only read: what its jobs are to find, and the map for the second opinion. */
static int fill(struct cell_run *c, struct error *e)
{
	struct regress_area area[REGRESS_AREAS];
	size_t n = regress_areas(c->cell->bytes, area);
	struct opinion_region region[REGRESS_AREAS];
	struct opinion_request request = { .kickio = c->r->kickio, .image = c->disk.path, .guest_path = REGRESS_NAME, .verify = REGRESS_VERIFY,
					   .block_size = regress_block(c->cell->bytes, c->cell->block_size) };

	if (!c->cell->readonly || !*c->disk.path)
		return 0;
	for (size_t i = 0; i < n; i++)
		region[i] = (struct opinion_region){ area[i].offset, area[i].bytes };
	c->nmaps = 0;
	request.map = cell_run_map(c, n > 1 ? "all of it that is read" : area[0].where)->path;
	return opinion_prefill(&request, region, n, e) ? error_context(e, "the disk for reading") : 0;
}

/* 0: done, c->up tells whether there is a guest; 1: once more, with another disk; -1. */
static int boot_once(struct cell_run *c, struct error *e)
{
	struct boot_request request;

	if (regress_disk_make(c->cell, c->r->session->dirs.state, !cell_run_no_log(c), &c->disk, e)) {
		if (c->disk.error != EFBIG && c->disk.error != EOVERFLOW && c->disk.error != EINVAL)
			return -1;
		cell_skip(c->result, e->text);
		error_clear(e);
		return 0;
	}
	/* A server that is away, or another disk than the cell's, is no fault of the driver. */
	if (c->settings.backend == BACKEND_NBD && disk_check_server(&c->settings, e))
		return -1;
	if (fill(c, e) || (*c->disk.path && disk_resolve_cache(&c->settings, c->disk.path, e)))
		return -1;
	make_request(c, &request);
	if (boot_start(&c->boot, c->r->session->ops, c->r->session->hv, &request, e))
		return judge_boot(c, e);
	c->up = true;
	return 0;
}

static int bring_up(struct cell_run *c, struct error *e)
{
	char line[256];
	int status = 1;

	snprintf(line, sizeof(line), "cell %u: booting", c->cell->number);
	progress_show(&c->r->view, line);
	for (int attempt = 0; attempt < 2 && status == 1; attempt++) {
		regress_disk_remove(&c->disk);
		status = boot_once(c, e);
	}
	return status;
}

/* ---- in the guest ---- */

static int run_jobs(struct cell_run *c, const struct regress_jobs *jobs, bool last, struct error *e)
{
	struct regress_area area[REGRESS_AREAS];
	size_t n = regress_areas(c->cell->bytes, area), k = 0;

	for (size_t i = 0; i < jobs->count && c->up; i++) {
		const struct regress_job *job = &jobs->job[i];
		struct cell_task task = { .name = job->name, .argv = job->argv, .argc = job->argc, .bytes = job->bytes, .writes = job->writes };

		if (job->last != last)
			continue;
		if (last && !c->cell->readonly)
			task.map = cell_run_map(c, k < n ? area[k++].where : "");
		if (cell_run_job(c, &task, e))
			return -1;
	}
	return 0;
}

static int run_event(struct cell_run *c, struct error *e)
{
	char name[96], line[160];
	bool gone = false;

	if (!c->event || !c->up)
		return 0;
	snprintf(name, sizeof(name), "event %.80s", c->event->name);
	snprintf(line, sizeof(line), "cell %u: %s", c->cell->number, name);
	progress_show(&c->r->view, line);
	if (c->event->run(&c->boot, c->cell, c->result, &gone, e))
		return cell_run_lost(c, name, NULL, e);
	if (gone) {
		boot_kill(&c->boot);
		c->up = false;
	}
	return 0;
}

/* Plain jobs, the event, then what the host will look at: nothing writes behind that. */
static int use_guest(struct cell_run *c, struct error *e)
{
	const char *os = json_string_value(json_object_get(c->boot.hello, "os"));
	struct regress_jobs jobs;
	bool early;
	int status;

	snprintf(c->result->qemu_version, sizeof(c->result->qemu_version), "%s", c->boot.qemu_version);
	snprintf(c->result->guest_kernel, sizeof(c->result->guest_kernel), "%s",
		 json_string_value(json_object_get(c->boot.hello, "release")) ?: "");
	if (regress_jobs_make(c->cell, os ? os : "", &jobs, e))
		return -1;
	/* An error that the device has in store is met by whoever comes first. */
	early = c->needs.rule != NULL;
	status = (early && run_event(c, e)) || run_jobs(c, &jobs, false, e) || cell_run_check(c, e) || cell_run_flush(c, e) ||
		 (!early && run_event(c, e)) || run_jobs(c, &jobs, true, e) ? -1 : 0;
	regress_jobs_free(&jobs);
	return status;
}

static int shut_down(struct cell_run *c, struct error *e)
{
	if (!c->up)
		return 0;
	c->up = false;
	if (boot_stop(&c->boot, STOP_TIMEOUT_S) < STOP_TIMEOUT_S)
		return 0;
	return cell_run_note(c, "power off", CELL_FAIL, "the guest did not power off in time: its plug was pulled", e);
}

/* No failure tells anything of a device whose host had no room for it. */
static int check_host(const struct cell_run *c, struct error *e)
{
	unsigned long long left;

	if (c->result->status <= CELL_SKIPPED || !*c->disk.folder || !regress_disk_full(&c->disk, &left))
		return 0;
	return error_set(e, STATUS_INCOMPLETE, "the host's disk is full: %s has %llu KiB left", c->disk.folder, left >> 10);
}

/* Maps are kept as evidence of what is corrupt. */
static void clean_up(struct cell_run *c)
{
	boot_kill(&c->boot);
	regress_disk_remove(&c->disk);
	for (size_t i = 0; i < c->nmaps; i++)
		cell_run_forget(&c->map[i], c->result->status == CELL_CORRUPT);
	cell_run_forget(&c->flush, c->result->status == CELL_CORRUPT);
	machine_free(&c->machine);
	settings_free(&c->settings);
	text_free(&c->room);
}

int regress_cell(struct regress *r, const struct matrix_cell *cell, struct cell_result *result, struct error *e)
{
	struct cell_run *c = calloc(1, sizeof(*c));
	int status = -1;

	*result = (struct cell_result){ .status = CELL_PASS };
	if (!c)
		return error_set(e, STATUS_HOST, "out of memory");
	c->r = r;
	c->cell = cell;
	c->result = result;
	run_file_time(result->started);
	snprintf(result->accel, sizeof(result->accel), "%s", run_file_accel(r->x.prepared[0].accel.used));
	snprintf(c->name, sizeof(c->name), "%ld-%u", (long)getpid(), cell->number);
	snprintf(c->console, sizeof(c->console), "%s/console/%06u.log", store_path(r->store), cell->number);
	experiment_overlays(&r->x, c->overlays, sizeof(c->overlays));
	if (take_machine(c, e) || take_event(c, e) || bring_up(c, e) || (c->up && use_guest(c, e)) || shut_down(c, e) ||
	    check_host(c, e) || cell_run_opinions(c, e))
		goto out;
	status = check_host(c, e);
out:
	clean_up(c);
	free(c);
	return status;
}
