#include "host/fio_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/text.h"
#include "host/command.h"
#include "host/fio_json_scan.h"

#define MOST_BYTES ((size_t)256 << 20)

static int too_large(const struct fio_file *f, struct error *e)
{
	return error_set(e, STATUS_USAGE, "%s: more than %zu MiB: cut out what is fio's", f->name, MOST_BYTES >> 20);
}

static int read_all(int fd, const struct fio_file *f, struct text *bytes, struct error *e)
{
	static char part[1 << 16];
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) != 0) {
		if (n < 0 && errno == EINTR && !command_signal)
			continue;
		if (n < 0)
			return error_errno(e, STATUS_USAGE, "%s", f->name);
		if (bytes->length + (size_t)n > MOST_BYTES)
			return too_large(f, e);
		text_add_bytes(bytes, part, (size_t)n);
		if (bytes->failed)
			return error_set(e, STATUS_HOST, "out of memory");
	}
	return bytes->length ? 0 : error_set(e, STATUS_USAGE, "%s: empty", f->name);
}

static int load(const char *path, struct fio_file *f, struct text *bytes, struct error *e)
{
	bool input = strcmp(path, "-") == 0;
	struct stat st;
	int fd, status;

	*f = (struct fio_file){ .name = input ? "standard input" : path, .mtime = -1 };
	fd = input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st)) {
		error_errno(e, STATUS_USAGE, "%s", f->name);
		if (fd >= 0 && !input)
			close(fd);
		return -1;
	}
	if (S_ISDIR(st.st_mode))
		status = error_set(e, STATUS_USAGE, "%s: a folder, not a file of fio's output", f->name);
	else if (S_ISREG(st.st_mode) && st.st_size > (off_t)MOST_BYTES)
		status = too_large(f, e);
	else
		status = read_all(fd, f, bytes, e);
	f->size = (long long)bytes->length;
	if (S_ISREG(st.st_mode))
		f->mtime = (long long)st.st_mtime;
	if (!input)
		close(fd);
	return status;
}

/* Nothing was found: what is it, then? */
static int nothing_in(const struct fio_file *f, const struct text *bytes, bool noted, struct error *e)
{
	struct extents found = { 0 };
	size_t others = 0, line = 0;

	if (memchr(bytes->data, '\0', bytes->length))
		return error_set(e, STATUS_USAGE, "%s: a binary file, without any output of fio", f->name);
	if (noted)
		return error_set(e, STATUS_USAGE, "%s: no output of fio that can be used: the lines above say why", f->name);
	if (fio_json_scan(bytes->data, bytes->length, &found, e) == 0) {
		others = found.others;
		line = found.other_line;
	}
	fio_json_scan_free(&found);
	if (others)
		return error_set(e, STATUS_USAGE, "%s:%zu: %zu JSON object%s, but no output of fio in the file", f->name,
				 line, others, others == 1 ? "" : "s");
	return error_set(e, STATUS_USAGE, "%s: no output of fio in it", f->name);
}

void fio_file_say(const struct fio_file *f, json_t *notes)
{
	const json_t *note;
	size_t i;

	json_array_foreach(notes, i, note) {
		struct text line = { 0 };

		text_add(&line, "%s:%lld: %s", f->name, (long long)json_integer_value(json_object_get(note, "line")),
			 json_string_value(json_object_get(note, "message")));
		command_say(text_get(&line));
		text_free(&line);
	}
	json_array_clear(notes);
}

int fio_file_read(const char *path, struct fio_file *f, struct error *e)
{
	struct text bytes = { 0 };
	int status = load(path, f, &bytes, e);

	if (status == 0)
		status = fio_import_bytes(bytes.data, bytes.length, &f->found, e);
	if (status == 0) {
		bool noted = json_array_size(f->found.notes) > 0;

		fio_file_say(f, f->found.notes);
		if (json_array_size(f->found.outputs) == 0)
			status = nothing_in(f, &bytes, noted, e);
	}
	text_free(&bytes);
	return status;
}

void fio_file_free(struct fio_file *f)
{
	json_decref(f->found.outputs);
	json_decref(f->found.notes);
	f->found = (struct fio_import){ 0 };
}
