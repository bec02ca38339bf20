#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "host/accel.h"
#include "host/command.h"
#include "host/environment.h"
#include "host/image.h"
#include "host/place.h"
#include "host/run_options.h"
#include "host/session.h"

struct findings {
	unsigned bad, warned;
};

static void KB_PRINTF(3, 4) say(struct findings *f, char sign, const char *fmt, ...)
{
	va_list ap;

	f->bad += sign == '!';
	f->warned += sign == '?';
	printf("%s ", sign == '!' ? "FAIL" : sign == '?' ? "warn" : "  ok");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

static void say_health(const char *name, const struct accel_health *h, struct findings *f)
{
	struct text words = { 0 };

	if (isnan(h->loop_ns))
		return;
	accel_health_words(h, &words);
	say(f, accel_healthy(h) ? ' ' : '?', "the probe under %s: up in %.1f s; %s", name, h->boot_s, text_get(&words));
	text_free(&words);
}

static void check_accelerator(struct session *s, const struct hv_host *host, const struct machine *machine,
			      const struct image *image, const char *disks, struct findings *f)
{
	struct accel_request r = { .machine = machine, .image = image, .host = host, .dirs = &s->dirs, .disk_dir = disks,
				   .say = command_say, .interrupted = &command_signal };
	struct accel_outcome out;
	struct error e = { 0 };

	if (s->driver->decide(s->ops, s->hv, &r, &out, &e)) {
		say(f, '!', "trial guest: %s", e.text);
		return;
	}
	say(f, out.used == ACCEL_KVM ? ' ' : '?', "accelerator %s%s: %s", accel_name(out.used), out.cached ? " (known from before)" : "",
	    out.why);
	say_health("KVM", &out.kvm, f);
	say_health("TCG", &out.tcg, f);
	say(f, ' ', "emulator: %s", *out.qemu_version ? out.qemu_version : "does not tell its version");
	say(f, out.virtio_status ? ' ' : '?', "emulator's x-query-virtio-status: %s", out.virtio_status
	    ? "survived, negotiated features are verified" : "ends it: not asked again, negotiated features stay unverified");
	say(f, ' ', "guest: up in %.1f s, off in %.1f s; %.0f reads of 4 KiB and %.0f MiB/s of 1 MiB; disk restored at %.0f MiB/s",
	    out.pace.boot_s, out.pace.stop_s, out.pace.iops, out.pace.bandwidth / 1048576, out.pace.restore / 1048576);
}

static void check_space(const char *folder, struct findings *f)
{
	struct statvfs v;

	if (statvfs(folder, &v))
		say(f, '!', "%s: cannot be looked at", folder);
	else
		say(f, (double)v.f_bavail * (double)v.f_frsize < 2e9 ? '?' : ' ', "%s: %.1f GB free for test disks", folder,
		    (double)v.f_bavail * (double)v.f_frsize / 1e9);
}

static void check_host(struct findings *f)
{
	json_t *host = environment_take("", 256u << 20), *warnings = json_object_get(host, "warnings"), *w;
	size_t i;

	say(f, ' ', "host: %s, %d CPUs, Linux %s", json_string_value(json_object_get(host, "cpu")) ?: "unknown CPU",
	    (int)json_integer_value(json_object_get(host, "cpus")), json_string_value(json_object_get(host, "kernel")) ?: "?");
	json_array_foreach(warnings, i, w)
		say(f, '?', "%s", json_string_value(w));
	json_decref(host);
}

static int run(int argc, char **argv, struct error *e)
{
	struct guest guest = { .name = (char *)"linux", .image = (char *)"images/linux" };
	struct findings f = { 0 };
	struct run_options o;
	struct session s = { .lock = -1 };
	struct hv_version v;
	struct hv_host host = { .here = true };
	struct image image = { 0 };
	struct error why = { 0 };
	char disks[1100];

	machine_default(&guest.machine);
	if (run_options_parse(argc, argv, "c", &o, e))
		return e->status;
	if (o.scenario)
		return error_set(e, STATUS_USAGE, "doctor takes no scenario"), e->status;
	check_host(&f);
	if (session_open(&s, DRIVER_LIBVIRT, o.connect, "doctor", &why)) {
		say(&f, '!', "%s", why.text);
	} else if (s.ops->version(s.hv, &v, &why) || (s.ops->host && s.ops->host(s.hv, &host, &why))) {
		say(&f, '!', "%s", why.text);
	} else {
		say(&f, ' ', "%s with %s (%s)", v.library, v.hypervisor, v.emulator);
		if (host.here)
			check_space(s.dirs.state, &f);
		else
			say(&f, '?', "guests run on %s with %u CPUs: what is said of this host does not concern them", host.name, host.cpus);
		snprintf(disks, sizeof(disks), "%s/trial", s.dirs.state);
		if (dirs_make(disks, &why) ||
		    image_prepare(&guest, &guest.machine, s.dirs.data, s.dirs.build, command_say, &image, &why) ||
		    place_image(s.ops, s.hv, &host, &image, &guest.machine, &why)) {
			say(&f, '!', "%s", why.text);
		} else {
			say(&f, ' ', "guest image: Linux %s", image.kernel_version);
			check_accelerator(&s, &host, &guest.machine, &image, disks, &f);
		}
	}
	image_free(&image);
	session_close(&s);
	run_options_free(&o);
	if (command_signal)
		return error_set(e, STATUS_INCOMPLETE, "interrupted by signal %d", (int)command_signal), e->status;
	printf("%s\n", f.bad ? "this host cannot run kickbench yet" : f.warned ? "this host can run kickbench; see the warnings"
										: "this host can run kickbench");
	return f.bad ? STATUS_HOST : STATUS_OK;
}

const struct command cmd_doctor = { "doctor", "doctor [--connect URI]", "tell whether this host can run it, and how well", run };
