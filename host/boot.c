#include "host/boot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/process.h"

static const char *const serials[BOOT_DISKS] = { "kb-disk0", "kb-disk1" };

/* The domain of a request; disk must have BOOT_DISKS places and outlive spec. */
static struct domain_spec describe(const struct boot_request *r, const char *name, struct domain_disk *disk)
{
	struct domain_spec spec = {
		.name = name,
		.machine = r->machine,
		.accel = r->accel,
		.kernel = r->image->kernel,
		.initrd = r->image->initrd,
		.cmdline = r->image->arguments,
		.owner_pid = (long)getpid(),
		.owner_started = process_started(getpid()),
		.disk = disk,
		.ndisks = r->ndisks,
	};

	for (size_t i = 0; i < r->ndisks; i++)
		disk[i] = (struct domain_disk){ .settings = r->settings[i], .source = r->source[i], .serial = serials[i] };
	return spec;
}

int boot_xml(const struct boot_request *r, struct text *xml, struct error *e)
{
	struct domain_disk disk[BOOT_DISKS];
	struct text name = { 0 };
	struct domain_spec spec;
	struct utsname host = { 0 };
	int status;

	uname(&host);
	text_add(&name, "%s%s", DOMAIN_PREFIX, r->name);
	spec = describe(r, text_get(&name), disk);
	spec.owner_host = host.nodename;
	status = domain_xml(&spec, xml, e);
	text_free(&name);
	return status;
}

/* Settings that only the running emulator takes. */
static int late_settings(struct boot *b, struct error *e)
{
	struct domain_disk disk[BOOT_DISKS];
	struct domain_spec spec = describe(&b->request, b->request.name, disk);
	int status = 0;

	for (size_t i = 0; i < b->request.ndisks && !status; i++) {
		struct text command = { 0 }, reply = { 0 };

		if (domain_poll_command(&spec, i, &command))
			status = b->ops->qmp(b->guest, text_get(&command), &reply, e);
		text_free(&command);
		text_free(&reply);
	}
	return status ? error_context(e, "poll_max_ns") : 0;
}

static int find_disks(struct boot *b, struct error *e)
{
	json_t *disks = json_object_get(b->hello, "disks"), *disk;
	struct text seen = { 0 };
	size_t k;

	json_array_foreach(disks, k, disk)
		text_add(&seen, "%s%s (serial %s)", k ? ", " : "", json_string_value(json_object_get(disk, "path")) ?: "?",
			 json_string_value(json_object_get(disk, "serial")) ?: "?");
	for (size_t i = 0; i < b->request.ndisks; i++) {
		const char *path = NULL;

		json_array_foreach(disks, k, disk) {
			const char *serial = json_string_value(json_object_get(disk, "serial"));

			if (serial && !strcmp(serial, serials[i]))
				path = json_string_value(json_object_get(disk, "path"));
		}
		if (!path) {
			error_set(e, STATUS_INCOMPLETE, "the guest does not see the test disk (serial %s); it sees %s", serials[i],
				  seen.length ? text_get(&seen) : "no disk at all: has its kernel the virtio_blk driver?");
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
				  tail.length ? "; the end of its console:" : " and its console is empty", text_get(&tail));
			text_free(&tail);
			return -1;
		}
		if (m.type == FRAME_HELLO) {
			b->hello = m.body;
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

int boot_start(struct boot *b, const struct hv_ops *ops, struct hv *hv, const struct boot_request *request,
	       struct error *e)
{
	struct text xml = { 0 };
	double start = clock_s();

	*b = (struct boot){ .ops = ops, .request = *request };
	if (boot_xml(request, &xml, e))
		goto fail;
	if (request->console_log) {
		b->console = fopen(request->console_log, "w");
		if (!b->console) {
			error_errno(e, STATUS_HOST, "cannot write %s", request->console_log);
			goto fail;
		}
	}
	if (ops->start(hv, text_get(&xml), &b->guest, e))
		goto fail;
	link_open(&b->link, ops, b->guest, b->console, request->interrupted);
	if (late_settings(b, e) || await_hello(b, start, e) || find_disks(b, e))
		goto fail;
	boot_ask_version(b);
	if (ops->pid(b->guest) > 0)
		hostcount_threads(ops, b->guest, &b->threads, &(struct error){ 0 });
	text_free(&xml);
	return 0;
fail:
	text_free(&xml);
	boot_kill(b);
	return -1;
}

double boot_stop(struct boot *b, double timeout)
{
	double start = clock_s();
	json_t *nothing = json_object();

	if (b->guest && link_send(&b->link, FRAME_BYE, nothing, &(struct error){ 0 }) == 0)
		link_drain(&b->link, (int)(timeout * 1000));
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
	b->guest = NULL;
	b->console = NULL;
	b->hello = NULL;
}
