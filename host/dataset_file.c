/* JSON files of a run folder: read whole, with a limit, and only when they are what they say. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/dataset_private.h"

#define SCHEMA_VERSION 1

/* A plan of a million trials takes 100 MB; beyond this something else was put there. */
#define MAX_FILE_BYTES ((size_t)512 << 20)

static int check_schema(const json_t *document, const char *family, struct error *e)
{
	const char *schema = json_string_value(json_object_get(document, "schema"));
	size_t length = strlen(family);
	char *end;
	long version;

	if (!schema || strncmp(schema, family, length) != 0 || schema[length] != '/')
		return error_set(e, STATUS_USAGE, "this is no %s document", family);
	version = strtol(schema + length + 1, &end, 10);
	if (*end || version < 1)
		return error_set(e, STATUS_USAGE, "schema \"%s\" is not understood", schema);
	if (version > SCHEMA_VERSION)
		return error_set(e, STATUS_USAGE, "written by a newer kickbench (schema %s; this one reads %s/%d)",
				 schema, family, SCHEMA_VERSION);
	return 0;
}

static void stamp_of(const struct stat *st, struct file_stamp *out)
{
	*out = (struct file_stamp){ .size = (uint64_t)st->st_size, .inode = st->st_ino,
				    .modified_ns = st->st_mtim.tv_sec * 1000000000LL + st->st_mtim.tv_nsec,
				    .changed_ns = st->st_ctim.tv_sec * 1000000000LL + st->st_ctim.tv_nsec };
}

/* One byte more than the file has, so that a file that grew is seen. */
static int read_all(int fd, size_t expected, char **bytes, size_t *length)
{
	*length = 0;
	*bytes = malloc(expected + 1);
	if (!*bytes)
		return -1;
	while (*length <= expected) {
		ssize_t n = read(fd, *bytes + *length, expected + 1 - *length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		*length += (size_t)n;
	}
	return 0;
}

/* O_NONBLOCK: a pipe that was put there must not make anyone wait. */
static int load(int folder, const char *name, const char *shown, json_t **out, bool *missing, struct file_stamp *stamp,
		struct error *e)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK), status = -1;
	char *bytes = NULL;
	json_error_t je;
	struct stat st;
	size_t length;

	if (fd < 0) {
		*missing = errno == ENOENT;
		return error_errno(e, STATUS_USAGE, "%s", shown);
	}
	if (fstat(fd, &st)) {
		error_errno(e, STATUS_USAGE, "%s", shown);
	} else if (!S_ISREG(st.st_mode)) {
		error_set(e, STATUS_USAGE, "%s: it is no file", shown);
	} else if ((size_t)st.st_size > MAX_FILE_BYTES) {
		error_set(e, STATUS_USAGE, "%s: it is larger than %zu MiB", shown, MAX_FILE_BYTES >> 20);
	} else if (read_all(fd, (size_t)st.st_size, &bytes, &length)) {
		error_errno(e, STATUS_USAGE, "%s", shown);
	} else {
		stamp_of(&st, stamp);
		*out = json_loadb(bytes, length, 0, &je);
		status = *out ? 0 : error_at(e, STATUS_USAGE, shown, je.line, "%s", je.text);
	}
	free(bytes);
	close(fd);
	return status;
}

int dataset_read(int folder, const char *name, const char *shown, const char *family, json_t **out, bool *missing,
		 struct file_stamp *stamp, struct error *e)
{
	struct file_stamp unused;
	bool absent = false;

	*out = NULL;
	if (!load(folder, name, shown, out, &absent, stamp ? stamp : &unused, e) && check_schema(*out, family, e)) {
		error_context(e, "%s", shown);
		json_decref(*out);
		*out = NULL;
	}
	if (missing)
		*missing = absent;
	return *out ? 0 : -1;
}

bool record_stamp(int folder, unsigned number, struct file_stamp *out)
{
	struct stat st;
	char name[24];

	snprintf(name, sizeof(name), "%06u.json", number);
	if (fstatat(folder, name, &st, 0))
		return false;
	stamp_of(&st, out);
	return true;
}
