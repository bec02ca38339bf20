/* The preparation boot of a disk image, and the cache of what came out. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/checksum.h"
#include "host/boot.h"
#include "host/clock.h"
#include "host/overlay.h"
#include "host/system.h"

#define ROOM (1ull << 30)  /* what a system may write while kickio is built */
#define OFF_TIMEOUT_S 120
#define MOST_VCPUS 4
#define LEAST_MEMORY (512ull << 20)
#define NAME_DIGITS 12     /* of the digests in a file's name */

/* prepared/IMAGE-KEY.qcow2: by the first half, what an image was prepared for before is found. */
static int name_prepared(const struct system *s, const struct dirs *dirs, struct text *folder, struct text *name, size_t *group)
{
	unsigned char raw[SHA256_BYTES];
	struct text who = { 0 };

	text_add(&who, "%s\n%s", s->image, s->profile.file);
	sha256(text_get(&who), who.length, raw);
	text_free(&who);
	text_add(folder, "%s/prepared", dirs->cache);
	for (size_t i = 0; i < NAME_DIGITS / 2; i++)
		text_add(name, "%02x", raw[i]);
	text_add(name, "-");
	*group = name->length;
	text_add(name, "%.*s.qcow2", NAME_DIGITS, s->key);
	return folder->failed || name->failed ? -1 : 0;
}

/* What was prepared of an older image, archive or profile is of no use any more. */
static void remove_older(const char *folder, const char *name, size_t group, const char *archive)
{
	const char *keep = strrchr(archive, '/') + 1;
	DIR *dir = opendir(folder);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		char *path;

		bool prepared = !strncmp(d->d_name, name, group) && strcmp(d->d_name, name);
		bool brought = !strncmp(d->d_name, "kickio-", 7) && strcmp(d->d_name, keep);

		if (!prepared && !brought)
			continue;
		path = dirs_join(folder, d->d_name);
		if (path)
			unlink(path);
		free(path);
	}
	if (dir)
		closedir(dir);
}

static int sync_file(const char *path, struct error *e)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), bad = fd < 0 || fsync(fd);

	if (bad)
		error_errno(e, STATUS_HOST, "%s", path);
	if (fd >= 0)
		close(fd);
	return bad ? -1 : 0;
}

/* Nothing is measured here: compiling gets what the host has. A shallow copy. */
static struct machine builder(const struct machine *machine)
{
	struct machine m = *machine;
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned most = online < 1 ? 1 : online > MOST_VCPUS ? MOST_VCPUS : (unsigned)online;

	m.vcpus = m.vcpus > most ? m.vcpus : most;
	m.memory = m.memory > LEAST_MEMORY ? m.memory : LEAST_MEMORY;
	return m;
}

/* Boot it over the overlay, have the agent greet us, power it off by its console. */
static int boot_it(struct system *s, const struct system_preparation *p, const char *overlay, struct error *e)
{
	char name[64];
	struct machine machine = builder(p->machine);
	struct boot_request request = { .name = name, .guest = p->guest, .machine = &machine, .accel = p->accel,
					.image = p->image, .preparation = overlay, .console_log = p->log,
					.hello_timeout = 60, .interrupted = p->interrupted };
	struct boot b;
	int status;

	snprintf(name, sizeof(name), "%ld-prepare", (long)getpid());
	if (boot_start(&b, p->ops, p->hv, &request, e))
		return -1;
	status = system_script(s, PROFILE_STOP, &b.link, e);
	if (!status && !link_drain(&b.link, OFF_TIMEOUT_S * 1000))
		status = error_set(e, STATUS_INCOMPLETE, "the guest has not powered off within %d s of [stop] in %s", OFF_TIMEOUT_S,
				   s->profile.file);
	boot_kill(&b);
	return status;
}

static int prepare_new(struct system *s, const struct system_preparation *p, const char *folder, const char *to, struct error *e)
{
	char *overlay = overlay_path(folder, "prepare", e);
	char line[1200];
	double start = clock_s();
	int status = -1;

	if (!overlay)
		return -1;
	if (p->say) {
		snprintf(line, sizeof(line), "preparing %s with kickio (once: it is built there, which takes minutes under TCG)", s->image);
		p->say(line);
	}
	if (overlay_check_space(folder, ROOM, e) || overlay_make(s->image, s->format, overlay, e))
		goto out;
	if (boot_it(s, p, overlay, e) || sync_file(overlay, e))
		goto out;
	if (rename(overlay, to)) {
		error_errno(e, STATUS_HOST, "%s", to);
		goto out;
	}
	dirs_sync_of(to);
	status = 0;
	if (p->say) {
		snprintf(line, sizeof(line), "prepared in %.0f s: %s", clock_s() - start, to);
		p->say(line);
	}
out:
	if (status)
		unlink(overlay);
	free(overlay);
	return status;
}

int system_prepare(struct system *s, const struct system_preparation *p, struct error *e)
{
	struct text folder = { 0 }, name = { 0 }, path = { 0 };
	size_t group = 0;
	int status = -1;

	if (!s->image)
		return 0;
	overlay_sweep(s->overlays);
	if (!s->login)
		return 0;
	if (name_prepared(s, p->dirs, &folder, &name, &group)) {
		error_set(e, STATUS_HOST, "out of memory");
		goto out;
	}
	text_add(&path, "%s/%s", text_get(&folder), text_get(&name));
	if (access(text_get(&path), R_OK)) {
		overlay_sweep(text_get(&folder));
		remove_older(text_get(&folder), text_get(&name), group, s->archive);
		if (prepare_new(s, p, text_get(&folder), text_get(&path), e)) {
			error_context(e, "preparing %s", s->image);
			goto out;
		}
	}
	free(s->base);
	free(s->base_format);
	s->base = path.failed ? NULL : strdup(text_get(&path));
	s->base_format = strdup("qcow2");
	status = s->base && s->base_format ? 0 : error_set(e, STATUS_HOST, "out of memory");
out:
	text_free(&folder);
	text_free(&name);
	text_free(&path);
	return status;
}
