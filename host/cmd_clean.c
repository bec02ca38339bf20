#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/command.h"
#include "host/disk.h"
#include "host/leftovers.h"
#include "host/run_options.h"
#include "host/session.h"

/* Remove the files of a folder whose names begin and end so. Returns how many. */
static unsigned remove_files(const char *folder, const char *begin, const char *end)
{
	DIR *dir = opendir(folder);
	struct dirent *d;
	unsigned n = 0;
	char path[4096];

	while (dir && (d = readdir(dir))) {
		size_t length = strlen(d->d_name);

		if (strncmp(d->d_name, begin, strlen(begin)) || length < strlen(end) || strcmp(d->d_name + length - strlen(end), end))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, d->d_name);
		if (unlink(path) == 0) {
			printf("removed %s\n", path);
			n++;
		}
	}
	if (dir)
		closedir(dir);
	return n;
}

static void say(const char *line)
{
	printf("%s\n", line);
}

/* Copies on another host. Returns how many were removed, -1 with e. */
static int clean_host(const struct session *s, struct error *e)
{
	struct hv_host host = { .here = true };

	if (s->ops->host && s->ops->host(s->hv, &host, e))
		return -1;
	return host.here || !s->ops->remove_files ? 0 : s->ops->remove_files(s->hv, say, e);
}

static int run(int argc, char **argv, struct error *e)
{
	struct run_options o;
	struct session s = { .lock = -1 };
	static const char *const folders[] = { "disks", "trial", "originals", "trial/originals" };
	char path[1100];
	unsigned n = 0;
	int status;

	if (run_options_parse(argc, argv, "c", &o, e))
		return e->status;
	if (o.scenario)
		return error_set(e, STATUS_USAGE, "clean takes no scenario"), e->status;
	status = session_open(&s, driver_at(0)->kind, o.connect, "clean", e); /* removes leftover guests */
	for (size_t i = 0; status == 0 && i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", s.dirs.state, folders[i]);
		n += remove_files(path, DISK_PREFIX, "");
	}
	if (status == 0 && o.connect) {
		int there = clean_host(&s, e);

		status = there < 0 ? -1 : 0;
		n += there < 0 ? 0 : (unsigned)there;
	}
	if (status == 0) {
		disk_memory_folder(path, sizeof(path));
		n += remove_files(path, DISK_PREFIX, "");
		n += remove_files(s.dirs.cache, "accel-", ".json");
		n += remove_files(s.dirs.cache, "image-digests", ".json");
		snprintf(path, sizeof(path), "%s/media", s.dirs.cache);
		n += remove_files(path, "", ".part"); /* what is whole was perhaps waited for long */
		snprintf(path, sizeof(path), "%s/prepared", s.dirs.cache);
		n += remove_files(path, "", ".qcow2") + remove_files(path, "kickio-", ".tar");
		snprintf(path, sizeof(path), "%s/overlays", s.dirs.state);
		n += remove_files(path, "", ".qcow2"); /* the lock is ours: they are nobody's */
		printf("%u files removed; results are left alone\n", n);
	}
	session_close(&s);
	run_options_free(&o);
	return e->status;
}

const struct command cmd_clean = { "clean", "clean [--connect URI]",
				   "remove leftover guests, test disks, prepared images and what trials found out; never results", run };
