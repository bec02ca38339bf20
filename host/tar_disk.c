#include "host/tar_disk.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/dirs.h"

#define BLOCK 512
#define RECORD 10240
#define TIME 946684800u /* 2000-01-01: for NetBSD's make, a file of 1970-01-01 does not exist */
#define BINARY_LIMIT (64l << 20)

/* The fields of the header, from the standard. */
struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, linkname[100], magic[6], version[2],
		uname[32], gname[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is one block");

static void pad(struct text *archive, size_t multiple)
{
	static const char zeros[BLOCK];

	while (!archive->failed && archive->length % multiple) {
		size_t n = multiple - archive->length % multiple;

		text_add_bytes(archive, zeros, n < BLOCK ? n : BLOCK);
	}
}

int tar_disk_add(struct text *archive, const char *name, unsigned mode, const void *bytes, size_t length, struct error *e)
{
	struct header h;
	unsigned sum = 0;

	memset(&h, 0, sizeof(h));
	if (strlen(name) >= sizeof(h.name))
		return error_set(e, STATUS_HOST, "%s: the name is too long for the archive", name);
	memcpy(h.name, name, strlen(name));
	snprintf(h.mode, sizeof(h.mode), "%07o", mode & 07777);
	snprintf(h.uid, sizeof(h.uid), "%07o", 0);
	snprintf(h.gid, sizeof(h.gid), "%07o", 0);
	snprintf(h.size, sizeof(h.size), "%011zo", length);
	snprintf(h.mtime, sizeof(h.mtime), "%011o", TIME);
	memset(h.checksum, ' ', sizeof(h.checksum));
	h.type = '0';
	memcpy(h.magic, "ustar", 6);
	memcpy(h.version, "00", 2);
	for (size_t i = 0; i < sizeof(h); i++)
		sum += ((const unsigned char *)&h)[i];
	snprintf(h.checksum, sizeof(h.checksum), "%06o", sum); /* six digits, NUL, and the blank that stands there */
	text_add_bytes(archive, &h, sizeof(h));
	text_add_bytes(archive, bytes, length);
	pad(archive, BLOCK);
	return archive->failed ? error_set(e, STATUS_HOST, "out of memory") : 0;
}

void tar_disk_end(struct text *archive)
{
	static const char zeros[2 * BLOCK];

	text_add_bytes(archive, zeros, sizeof(zeros));
	pad(archive, RECORD);
}

static int add_file(struct text *archive, const char *path, const char *name, struct error *e)
{
	FILE *f = fopen(path, "r");
	struct stat st;
	char *bytes = NULL;
	int status = -1;

	if (!f || fstat(fileno(f), &st) || !S_ISREG(st.st_mode) || st.st_size > BINARY_LIMIT)
		error_errno(e, STATUS_HOST, "%s", path);
	else if (!(bytes = malloc((size_t)st.st_size + 1)))
		error_set(e, STATUS_HOST, "out of memory");
	else if (fread(bytes, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
		error_set(e, STATUS_HOST, "%s cannot be read", path);
	else
		status = tar_disk_add(archive, name, st.st_mode & 0111 ? 0755 : 0644, bytes, (size_t)st.st_size, e);
	free(bytes);
	if (f)
		fclose(f);
	return status;
}

static int is_source(const struct dirent *d)
{
	const char *dot = strrchr(d->d_name, '.');

	return !strcmp(d->d_name, "Makefile") ||
	       (dot && dot > d->d_name && (!strcmp(dot, ".c") || !strcmp(dot, ".h") || !strcmp(dot, ".sh")));
}

static int add_sources(struct text *archive, const char *data_dir, const char *folder, struct error *e)
{
	char path[2048], name[300];
	struct dirent **entry;
	int n, status = 0;

	snprintf(path, sizeof(path), "%s/%s", data_dir, folder);
	n = scandir(path, &entry, is_source, alphasort);
	if (n <= 0)
		return error_set(e, STATUS_HOST, "%s: kickio's sources are not there", path);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s/%s", data_dir, folder, entry[i]->d_name);
		snprintf(name, sizeof(name), "kickio/%s/%s", folder, entry[i]->d_name);
		status = status ? status : add_file(archive, path, name, e);
		free(entry[i]);
	}
	free(entry);
	return status;
}

static int is_target(const struct dirent *d)
{
	return strstr(d->d_name, "x86_64-") == d->d_name || strstr(d->d_name, "aarch64-") == d->d_name;
}

static int add_programs(struct text *archive, const char *folder, struct error *e)
{
	char path[2048], name[300];
	struct dirent **entry;
	int n = scandir(folder, &entry, is_target, alphasort), status = 0;

	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s/kickio", folder, entry[i]->d_name);
		snprintf(name, sizeof(name), "kickio/bin/%s", entry[i]->d_name);
		if (!status && access(path, R_OK) == 0)
			status = add_file(archive, path, name, e);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	return status;
}

int tar_disk_kickio(const char *data_dir, struct text *archive, size_t *sources, struct error *e)
{
	char path[1200], name[200];
	struct utsname here;

	if (add_sources(archive, data_dir, "engines", e) || add_sources(archive, data_dir, "guest", e))
		return -1;
	*sources = archive->length;
	uname(&here);
	snprintf(name, sizeof(name), "kickio/bin/%s-linux", here.machine);
	dirs_kickio(data_dir, R_OK, path, sizeof(path));
	if (access(path, R_OK) == 0 && add_file(archive, path, name, e))
		return -1;
	snprintf(path, sizeof(path), "%s/build", data_dir);
	if (add_programs(archive, path, e))
		return -1;
	snprintf(path, sizeof(path), "%s/build/portability", data_dir);
	if (add_programs(archive, path, e))
		return -1;
	tar_disk_end(archive);
	return archive->failed ? error_set(e, STATUS_HOST, "out of memory") : 0;
}
