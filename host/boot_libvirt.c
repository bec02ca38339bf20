/* A guest as libvirt gets it. */
#include "host/boot_libvirt.h"

#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/process.h"
#include "host/system.h"
#include "host/tsc.h"

/* What a domain's description points to. */
struct disks {
	struct domain_disk test[BOOT_DISKS];
	struct domain_extra own[2];
};

/* A disk image's own disks: its system, and while it is prepared, the archive. */
static void describe_system(const struct boot_request *r, struct domain_spec *spec, struct domain_extra *own)
{
	const struct system *s = r->image->system;

	own[0] = (struct domain_extra){ .path = r->preparation ? r->preparation : r->overlay ? r->overlay : s->base,
					.format = "qcow2", .serial = "kb-system" };
	own[1] = (struct domain_extra){ .path = s->archive, .format = "raw", .serial = "kb-kickio", .readonly = true };
	spec->extra = own;
	spec->nextra = s->archive ? 2 : 1;
	spec->stand_in = s->profile.file;
	if (!spec->kernel)
		spec->cmdline = NULL;
}

/* The domain of a request; disks must outlive spec. */
static struct domain_spec describe(const struct boot_request *r, const char *name, struct disks *disks)
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
		.disk = disks->test,
		.ndisks = r->ndisks,
	};

	for (size_t i = 0; i < r->ndisks; i++)
		disks->test[i] = (struct domain_disk){ .settings = r->settings[i], .source = r->source[i], .under = r->under[i], .serial = boot_serials[i] };
	if (r->image->system)
		describe_system(r, &spec, disks->own);
	return spec;
}

/* Files of a copy are named by the request alone: who only describes it makes none. */
static int copy_xml(const struct boot_request *r, struct domain_spec *spec, struct text *xml, struct error *e)
{
	const struct own_domain *own = r->image->own;
	struct own_files files;
	struct domain_copy copy = { .xml = own->xml, .original = &own->original, .wishes = own->wishes };
	int status;

	if (own_files_name(own, r->overlay_dir, r->name, &files, e))
		return -1;
	copy.instead = files.path;
	spec->stand_in = files.stand_in;
	status = domain_copy_xml(&copy, spec, xml, e) ? error_context(e, "%s", own->source) : 0;
	own_files_free(&files);
	return status;
}

/*
 * On virtio-mmio (microvm) ACPI says that there is no old timer, and the emulation's CPU does not tell how fast its time stamp
 * counter is, so that Linux has nothing to measure it by and stands still without a word. It is the host's, whose speed we can
 * tell when that is this one. A hypervisor's guest is told by that.
 */
static int add_counter_speed(const struct boot_request *r, struct text *arguments, struct error *e)
{
	const char *given = text_get(arguments);
	uint64_t khz;

	if (!machine_is_mmio(r->machine) || r->accel != ACCEL_TCG || !strstr(given, "tsc=") || strstr(given, "tsc_early_khz="))
		return 0;
	khz = r->elsewhere ? 0 : tsc_khz();
	if (!khz)
		return error_set(e, STATUS_USAGE, "machine = microvm under TCG: Linux has to be told how fast the time stamp counter of the "
				 "host that emulates it is, which is not known here: set kernel_args = tsc_early_khz=N, thousands of "
				 "ticks a second (dmesg there: tsc: Detected, its MHz times 1000)");
	text_add(arguments, " tsc_early_khz=%" PRIu64, khz);
	return 0;
}

int boot_libvirt_describe(const struct boot_request *r, struct text *xml, struct error *e)
{
	struct disks disks;
	struct text name = { 0 }, arguments = { 0 };
	struct domain_spec spec;
	struct utsname host = { 0 };
	int status = 0;

	uname(&host);
	text_add(&name, "%s%s", DOMAIN_PREFIX, r->name);
	spec = describe(r, text_get(&name), &disks);
	spec.owner_host = host.nodename;
	if (spec.cmdline) {
		text_add(&arguments, "%s", spec.cmdline);
		status = add_counter_speed(r, &arguments, e);
		spec.cmdline = text_get(&arguments);
	}
	if (!status)
		status = r->image->own ? copy_xml(r, &spec, xml, e) : domain_xml(&spec, xml, e);
	text_free(&name);
	text_free(&arguments);
	return status;
}

int boot_libvirt_settle(struct boot *b, struct error *e)
{
	struct disks disks;
	struct domain_spec spec = describe(&b->request, b->request.name, &disks);
	int status = 0;

	for (size_t i = 0; i < b->request.ndisks && !status; i++) {
		struct text command = { 0 }, reply = { 0 };

		if (domain_poll_command(&spec, i, &command))
			status = b->ops->qmp(b->guest, text_get(&command), &reply, e);
		text_free(&command);
		text_free(&reply);
	}
	if (status)
		return error_context(e, "poll_max_ns");
	boot_ask_version(b);
	return 0;
}
