#include "host/boot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/output.h"
#include "host/clock.h"
#include "host/drivers.h"
#include "host/nbd.h"
#include "host/overlay.h"
#include "host/system.h"

const char *const boot_serials[BOOT_DISKS] = { "kb-disk0", "kb-disk1" };

#define OVERLAY_ROOM (256ull << 20) /* what a system may write in one boot */
#define BYE_TIMEOUT_MS 2000
/* Under TCG a guest that was reset takes 5 to 17 times as long to its kernel: what is loaded is written over translated code. */
#define AGAIN 4

/* A trial guest belongs to no scenario, and libvirt alone has one. */
static const struct driver *driver_of(const struct boot_request *r, struct error *e)
{
	return driver_get(r->guest ? r->guest->driver : DRIVER_LIBVIRT, e);
}

int boot_xml(const struct boot_request *r, struct text *xml, struct error *e)
{
	const struct driver *d = driver_of(r, e);

	return d ? d->describe(r, xml, e) : -1;
}

json_t *boot_verify(struct boot *b, size_t disk)
{
	const struct driver *d = driver_of(&b->request, &(struct error){ 0 });

	return d ? d->verify(b, disk) : NULL;
}

/* Settings that only a running guest takes. */
static int settle(struct boot *b, struct error *e)
{
	const struct driver *d = driver_of(&b->request, e);

	return !d ? -1 : d->settle ? d->settle(b, e) : 0;
}

/* Whether a serial number says nothing: bhyve makes up "BHYVE-…" where none is given (usr.sbin/bhyve/pci_virtio_block.c). */
static bool says_nothing(const char *serial)
{
	return !serial || !*serial || !strncmp(serial, "BHYVE-", 6);
}

/*
 * The path of test disk i in the guest: by its serial number, or, where the system tells none, by its size. NULL: it is
 * not there, or not the only one.
 */
static const char *find_disk(const struct boot *b, const json_t *disks, size_t i)
{
	const char *by_size = NULL;
	unsigned of_size = 0;
	json_t *disk;
	size_t k;

	json_array_foreach(disks, k, disk) {
		const char *serial = json_string_value(json_object_get(disk, "serial"));
		const char *path = json_string_value(json_object_get(disk, "path"));

		if (serial && !strcmp(serial, boot_serials[i]))
			return path;
		if (!says_nothing(serial) || (uint64_t)json_integer_value(json_object_get(disk, "bytes")) != b->request.settings[i]->size)
			continue;
		by_size = path;
		of_size++;
	}
	return of_size == 1 ? by_size : NULL;
}

int boot_find_disks(struct boot *b, const json_t *disks, struct error *e)
{
	const json_t *disk;
	struct text seen = { 0 };
	size_t k;

	json_array_foreach(disks, k, disk)
		text_add(&seen, "%s%s (serial %s, %" JSON_INTEGER_FORMAT " bytes)", k ? ", " : "",
			 json_string_value(json_object_get(disk, "path")) ?: "?",
			 json_string_value(json_object_get(disk, "serial")) ?: "?",
			 json_integer_value(json_object_get(disk, "bytes")));
	for (size_t i = 0; i < b->request.ndisks; i++) {
		const char *path = find_disk(b, disks, i);

		if (!path) {
			error_set(e, STATUS_INCOMPLETE, "the guest does not see the test disk (serial %s, or else the only one of %llu "
				  "bytes); it sees %s", boot_serials[i], (unsigned long long)b->request.settings[i]->size, seen.length ? text_get(&seen) : "no disk at all: has its kernel the virtio_blk driver?");
			break;
		}
		snprintf(b->disk_path[i], sizeof(b->disk_path[i]), "%s", path);
	}
	text_free(&seen);
	return e->status ? -1 : 0;
}

static int await_hello(struct boot *b, double start, struct error *e)
{
	double limit = b->request.hello_timeout;

	while (!b->hello) {
		double left = start + limit - clock_s();
		struct message m;
		int status = left > 0 ? link_receive(&b->link, (int)(left * 1000) + 1, &m, e) : 0;

		if (status < 0)
			return -1;
		if (status == 0) {
			struct text tail = { 0 };

			link_console_tail(&b->link, &tail);
			error_set(e, STATUS_INCOMPLETE, "the guest has not said hello within %.0f s%s%s", limit,
				  tail.length ? "\nThe end of its console:" : " and its console is empty", text_get(&tail));
			text_free(&tail);
			return -1;
		}
		if (m.type == FRAME_HELLO) {
			b->hello = m.body;
			if (b->stage < BOOT_GREETED) /* else it was reset */
				b->stage = BOOT_GREETED;
			b->wall_to_hello = clock_s() - start;
		} else {
			json_decref(m.body);
		}
	}
	b->boot_to_hello = (double)json_integer_value(json_object_get(b->hello, "uptime_ns")) / 1e9;
	if (json_integer_value(json_object_get(b->hello, "protocol")) != FRAME_PROTOCOL)
		return error_set(e, STATUS_HOST, "the guest's kickio speaks another protocol: make its image again");
	return 0;
}

/* A disk image's throw-away overlay. */
static int make_overlay(struct boot *b, struct error *e)
{
	const struct system *s = b->request.image->system;

	if (!s || !s->overlays || b->request.preparation)
		return 0;
	b->overlay = overlay_path(s->overlays, b->request.name, e);
	if (!b->overlay || overlay_check_space(s->overlays, OVERLAY_ROOM, e))
		return -1;
	b->request.overlay = b->overlay;
	return overlay_make(s->base, s->base_format, b->overlay, e);
}

/* The throw-away files of a copy of a user's domain. */
static int make_files(struct boot *b, struct error *e)
{
	const struct boot_request *r = &b->request;

	if (!r->image->own)
		return 0;
	if (own_files_name(r->image->own, r->overlay_dir, r->name, &b->files, e) ||
	    (b->files.count && overlay_check_space(r->overlay_dir, OVERLAY_ROOM, e)))
		return -1;
	return own_files_make(r->image->own, &b->files, e);
}

static int check_version(const struct boot *b, struct error *e)
{
	const char *version = json_string_value(json_object_get(b->hello, "kickio"));

	if (version && !strcmp(version, kickio_version))
		return 0;
	return error_set(e, STATUS_HOST, "the guest's kickio calls itself %s, and this kickbench belongs to %s",
			 version ? version : "nothing", kickio_version);
}

static int greet(struct boot *b, double start, struct error *e)
{
	const struct system *s = b->request.image->system;
	double since;

	if (!s)
		return await_hello(b, start, e);
	if (!s->login) {
		if (b->request.hello_timeout < s->profile.boot_timeout)
			b->request.hello_timeout = s->profile.boot_timeout;
		return await_hello(b, start, e);
	}
	if (system_use_console(s, b->request.preparation != NULL, &b->link, e))
		return -1;
	since = clock_s();
	if (await_hello(b, since, e))
		return -1;
	b->wall_to_hello += since - start;
	return check_version(b, e);
}

/* A guest that the host could not write for: its overlay may have had no room to grow. */
static void say_space(const struct boot *b, struct error *e)
{
	const struct image *image = b->request.image;
	const char *folder = image->system ? image->system->overlays : image->own ? b->request.overlay_dir : NULL;
	unsigned long long bytes;

	if (b->guest && folder && b->ops->state(b->guest) == HV_IO_ERROR && overlay_free_bytes(folder, &bytes) == 0)
		error_context(e, "the guest's overlay is in %s, which has %llu MiB free", folder, bytes >> 20);
}

int boot_start(struct boot *b, const struct hv_ops *ops, struct hv *hv, const struct boot_request *request,
	       struct error *e)
{
	struct text xml = { 0 };
	double start = clock_s();

	*b = (struct boot){ .ops = ops, .request = *request };
	if (make_overlay(b, e) || make_files(b, e) || boot_xml(&b->request, &xml, e))
		goto fail;
	if (request->console_log) {
		b->console = fopen(request->console_log, "w");
		if (!b->console) {
			error_errno(e, STATUS_HOST, "cannot write %s", request->console_log);
			goto fail;
		}
	}
	b->stage = BOOT_DESCRIBED;
	if (ops->start(hv, text_get(&xml), request->interrupted, &b->guest, e)) {
		for (size_t i = 0; i < request->ndisks; i++)
			if (request->settings[i]->backend == BACKEND_NBD)
				nbd_explain(request->settings[i]->path, e);
		if (request->image->own)
			own_domain_explain(request->image->own, e);
		goto fail;
	}
	b->stage = BOOT_STARTED;
	link_open(&b->link, ops, b->guest, b->console, request->interrupted);
	if (settle(b, e) || greet(b, start, e) || boot_find_disks(b, json_object_get(b->hello, "disks"), e))
		goto fail;
	if (ops->pid(b->guest) > 0)
		hostcount_threads(ops, b->guest, &b->threads, &(struct error){ 0 });
	text_free(&xml);
	b->stage = BOOT_UP;
	return 0;
fail:
	text_free(&xml);
	say_space(b, e);
	boot_kill(b);
	return -1;
}

bool boot_greets_itself(const struct boot *b)
{
	return !b->request.image->system || !b->request.image->system->login;
}

int boot_greet_again(struct boot *b, struct error *e)
{
	double once = b->request.hello_timeout;
	int status;

	link_restart(&b->link);
	json_decref(b->hello);
	b->hello = NULL;
	b->request.hello_timeout *= AGAIN;
	status = greet(b, clock_s(), e);
	b->request.hello_timeout = once;
	if (status)
		return -1;
	return boot_find_disks(b, json_object_get(b->hello, "disks"), e);
}

int boot_settle_again(struct boot *b, struct error *e)
{
	if (b->ops->pid(b->guest) > 0)
		hostcount_threads(b->ops, b->guest, &b->threads, &(struct error){ 0 });
	return settle(b, e);
}

static void say_goodbye(struct boot *b, double timeout)
{
	double end = clock_s() + BYE_TIMEOUT_MS / 1000.0;
	bool gone = false;
	struct message m;

	if (!b->request.image->system) {
		link_drain(&b->link, (int)(timeout * 1000));
		return;
	}
	while (!gone && clock_s() < end) {
		int status = link_receive(&b->link, BYE_TIMEOUT_MS, &m, &(struct error){ 0 });

		gone = status <= 0 || m.type == FRAME_BYE;
		if (status > 0)
			json_decref(m.body);
	}
}

double boot_stop(struct boot *b, double timeout)
{
	double start = clock_s();
	json_t *nothing = json_object();

	if (b->guest && link_send(&b->link, FRAME_BYE, nothing, &(struct error){ 0 }) == 0)
		say_goodbye(b, timeout);
	json_decref(nothing);
	boot_kill(b);
	return clock_s() - start;
}

void boot_kill(struct boot *b)
{
	if (b->guest) {
		link_close(&b->link);
		b->ops->destroy(b->guest);
	}
	if (b->console)
		fclose(b->console);
	json_decref(b->hello);
	if (b->overlay)
		unlink(b->overlay);
	free(b->overlay);
	b->overlay = NULL;
	own_files_remove(&b->files);
	b->guest = NULL;
	b->console = NULL;
	b->hello = NULL;
}
