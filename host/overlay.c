#include "host/overlay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/checksum.h"
#include "guest/text.h"
#include "host/dirs.h"
#include "host/process.h"
#include "host/os.h"

extern char **environ;

const char *overlay_format(const char *image, struct error *e)
{
	char magic[4] = "";
	int fd = open(image, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, magic, sizeof(magic), 0);

	if (n < 0)
		error_errno(e, STATUS_HOST, "image %s", image);
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return NULL;
	return n == 4 && !memcmp(magic, "QFI\xfb", 4) ? "qcow2" : "raw";
}

/* What qemu-img complained about: its last line. */
static void last_line(int fd, char *line, size_t room)
{
	ssize_t n = pread(fd, line, room - 1, 0);
	char *cut;

	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	cut = strstr(line, "qemu-img: ");
	if (cut)
		memmove(line, cut + 10, strlen(cut + 10) + 1);
}

/* what: goes before its complaint. */
static int run_qemu_img(char *const *argv, const char *what, struct error *e)
{
	posix_spawn_file_actions_t actions;
	char why[512];
	int fd = os_nameless_file(), status = 0, failed;
	pid_t pid;

	if (fd < 0)
		return error_errno(e, STATUS_HOST, "qemu-img");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fd, STDERR_FILENO);
	failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (failed) {
		close(fd);
		errno = failed;
		return error_errno(e, STATUS_HOST, "cannot run qemu-img (package qemu-utils)");
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	last_line(fd, why, sizeof(why));
	close(fd);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return error_set(e, STATUS_HOST, "%s: %s", what, *why ? why : "qemu-img was killed");
}

int overlay_make(const char *backing, const char *backing_format, const char *path, struct error *e)
{
	char *argv[] = { (char *)"qemu-img", (char *)"create", (char *)"-q", (char *)"-f", (char *)"qcow2", (char *)"-F",
			 (char *)backing_format, (char *)"-b", (char *)backing, (char *)path, NULL };

	struct text what = { 0 };
	int status;

	text_add(&what, "the overlay %s could not be made", path);
	status = run_qemu_img(argv, text_get(&what), e);
	text_free(&what);
	if (status)
		unlink(path);
	return status;
}

int overlay_check_unused(const char *image, const char *format, struct error *e)
{
	char *argv[] = { (char *)"qemu-img", (char *)"info", (char *)"-f", (char *)format, (char *)image, NULL };

	return run_qemu_img(argv, image, e);
}

char *overlay_path(const char *folder, const char *name, struct error *e)
{
	struct text path = { 0 };
	char *copy = NULL;

	if (dirs_make(folder, e))
		return NULL;
	text_add(&path, "%s/%ld-%" PRIu64 "-%s.qcow2", folder, (long)getpid(), process_started(getpid()), name);
	if (!path.failed)
		copy = strdup(text_get(&path));
	text_free(&path);
	if (!copy)
		error_set(e, STATUS_HOST, "out of memory");
	return copy;
}

unsigned overlay_sweep(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *d;
	unsigned removed = 0;

	while (dir && (d = readdir(dir))) {
		uint64_t started;
		long pid;
		char *path;

		if (sscanf(d->d_name, "%ld-%" SCNu64 "-", &pid, &started) != 2 || process_lives((pid_t)pid, started))
			continue;
		path = dirs_join(folder, d->d_name);
		removed += path && unlink(path) == 0;
		free(path);
	}
	if (dir)
		closedir(dir);
	return removed;
}

int overlay_free_bytes(const char *folder, unsigned long long *bytes)
{
	struct statvfs fs;

	if (statvfs(folder, &fs))
		return -1;
	*bytes = (unsigned long long)fs.f_bavail * fs.f_frsize;
	return 0;
}

int overlay_check_space(const char *folder, unsigned long long bytes, struct error *e)
{
	unsigned long long have;

	if (overlay_free_bytes(folder, &have))
		return error_errno(e, STATUS_HOST, "%s", folder);
	if (have >= bytes)
		return 0;
	return error_set(e, STATUS_HOST, "%s has %llu MiB free, and a guest's throw-away overlay may need %llu MiB there", folder,
			 have >> 20, bytes >> 20);
}

/* ---- digests ---- */

static int compute(const char *image, uint64_t size, char digest[65], struct error *e)
{
	unsigned char raw[SHA256_BYTES];
	int fd = open(image, O_RDONLY | O_CLOEXEC);
	void *map = fd < 0 ? MAP_FAILED : mmap(NULL, size ? size : 1, PROT_READ, MAP_PRIVATE, fd, 0);

	if (map == MAP_FAILED) {
		error_errno(e, STATUS_HOST, "image %s", image);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	posix_madvise(map, size ? size : 1, POSIX_MADV_SEQUENTIAL);
	sha256(map, size, raw);
	munmap(map, size ? size : 1);
	close(fd);
	for (size_t i = 0; i < sizeof(raw); i++)
		snprintf(digest + 2 * i, 3, "%02x", raw[i]);
	return 0;
}

int overlay_digest(const char *image, const char *cache_dir, char digest[65], struct error *e)
{
	char *file = dirs_join(cache_dir, "image-digests.json"), *real = realpath(image, NULL);
	json_t *all = NULL;
	struct text state = { 0 };
	const char *known_state, *known = NULL;
	struct stat st;
	int status = -1;

	if (!file || !real || stat(real, &st)) {
		error_errno(e, STATUS_HOST, "image %s", image);
		goto out;
	}
	text_add(&state, "%jd %ju %jd.%09ld", (intmax_t)st.st_size, (uintmax_t)st.st_ino, (intmax_t)st.st_mtim.tv_sec,
		 st.st_mtim.tv_nsec);
	all = json_load_file(file, 0, NULL);
	if (!json_is_object(all)) {
		json_decref(all);
		all = json_object();
	}
	if (json_unpack(json_object_get(all, real), "{s:s,s:s}", "state", &known_state, "sha256", &known) == 0 &&
	    !strcmp(known_state, text_get(&state)) && strlen(known) == 64) {
		memcpy(digest, known, 65);
		status = 0;
		goto out;
	}
	status = compute(real, (uint64_t)st.st_size, digest, e);
	/* A lost cache costs time, nothing else: failures are not reported. */
	if (!status && json_object_set_new(all, real, json_pack("{s:s,s:s}", "state", text_get(&state), "sha256", digest)) == 0)
		json_dump_file(all, file, JSON_INDENT(1) | JSON_SORT_KEYS);
out:
	json_decref(all);
	text_free(&state);
	free(file);
	free(real);
	return status;
}
