#include "host/dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/text.h"
#include "host/os.h"

int dirs_make(const char *path, struct error *e)
{
	char copy[4096];

	if (!*path)
		return error_set(e, STATUS_HOST, "a folder needs a name");
	if (strlen(path) >= sizeof(copy))
		return error_set(e, STATUS_HOST, "%s: path too long", path);
	strcpy(copy, path);
	for (char *p = copy + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(copy, 0777);
		*p = '/';
	}
	if (mkdir(path, 0777) && errno != EEXIST)
		return error_errno(e, STATUS_HOST, "cannot make the folder %s", path);
	return 0;
}

char *dirs_join(const char *a, const char *b)
{
	struct text t = { 0 };

	text_add(&t, "%s/%s", a, b);
	if (t.failed)
		text_free(&t);
	return t.data; /* the text's own memory */
}

void dirs_sync_of(const char *file)
{
	char *copy = strdup(file), *slash = copy ? strrchr(copy, '/') : NULL;
	int fd;

	if (slash) {
		*slash = '\0';
		fd = open(*copy ? copy : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0) {
			fsync(fd);
			close(fd);
		}
	}
	free(copy);
}

static int put(char *out, size_t room, struct error *e, const char *a, const char *b)
{
	int n = snprintf(out, room, "%s%s", a, b);

	return n < 0 || (size_t)n >= room ? error_set(e, STATUS_HOST, "%s%s: path too long", a, b) : 0;
}

static int find_data(struct dirs *d, struct error *e)
{
	char exe[1024], probe[1100], *slash;
	static const char *const beside[] = { "/..", "/../share/kickbench" };

	if (os_program_path(exe, sizeof(exe)))
		return error_errno(e, STATUS_HOST, "cannot find out where kickbench lies");
	slash = strrchr(exe, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < 2; i++) {
		snprintf(probe, sizeof(probe), "%s%s/images", exe, beside[i]);
		if (access(probe, F_OK) == 0) {
			char *real;

			*strrchr(probe, '/') = '\0';
			real = realpath(probe, NULL);
			if (!real)
				return error_errno(e, STATUS_HOST, "%s", probe);
			put(d->data, sizeof(d->data), e, real, "");
			free(real);
			return e->status ? -1 : 0;
		}
	}
	return error_set(e, STATUS_HOST, "the folder images is neither in %s%s nor in %s%s", exe, beside[0], exe, beside[1]);
}

/* $NAME/kickbench, or ~/DEFAULT/kickbench. */
static int below_home(char *out, size_t room, const char *name, const char *otherwise, struct error *e)
{
	const char *xdg = getenv(name), *home = getenv("HOME");
	const struct passwd *pw;

	if (xdg && *xdg == '/') {
		if (put(out, room, e, xdg, "/kickbench"))
			return -1;
		return dirs_make(out, e);
	}
	if (!home || *home != '/') {
		pw = getpwuid(getuid());
		home = pw ? pw->pw_dir : NULL;
	}
	if (!home)
		return error_set(e, STATUS_HOST, "neither %s nor HOME is set", name);
	return put(out, room, e, home, otherwise) ? -1 : dirs_make(out, e);
}

int dirs_find(struct dirs *d, struct error *e)
{
	if (find_data(d, e) ||
	    below_home(d->state, sizeof(d->state), "XDG_STATE_HOME", "/.local/state/kickbench", e) ||
	    below_home(d->cache, sizeof(d->cache), "XDG_CACHE_HOME", "/.cache/kickbench", e))
		return -1;
	if (put(d->build, sizeof(d->build), e, d->data, "/build"))
		return -1;
	return access(d->build, W_OK) == 0 ? 0 : put(d->build, sizeof(d->build), e, d->cache, "");
}

void dirs_kickio(const char *data, int way, char *path, size_t room)
{
	snprintf(path, room, "%s/build/kickio", data);
	if (access(path, way))
		snprintf(path, room, "%s/kickio", data);
}
