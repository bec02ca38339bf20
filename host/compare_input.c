#include "host/compare_input.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/text.h"
#include "host/command.h"
#include "host/fio_import.h"
#include "host/import.h"

#define MOST_BYTES ((size_t)256 << 20)

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_there(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* The whole argument when that exists, else what is before its last colon. */
static int split(const char *argument, struct compare_input *in, struct error *e)
{
	const char *colon = strrchr(argument, ':');

	in->path = strdup(argument);
	if (!in->path)
		return error_set(e, STATUS_HOST, "out of memory");
	if (is_there(argument) || !colon || colon == argument || !colon[1])
		return 0;
	in->path[colon - argument] = '\0';
	if (!is_there(in->path)) {
		in->path[colon - argument] = ':';
		return 0;
	}
	in->variant = strdup(colon + 1);
	return in->variant ? 0 : error_set(e, STATUS_HOST, "out of memory");
}

/* ---- a file of fio's output ---- */

static int read_file(const char *path, struct text *bytes, struct error *e)
{
	char part[1 << 16];
	FILE *f = fopen(path, "r");
	size_t n;

	if (!f)
		return error_errno(e, STATUS_USAGE, "%s", path);
	while (bytes->length <= MOST_BYTES && (n = fread(part, 1, sizeof(part), f)) > 0)
		text_add_bytes(bytes, part, n);
	if (ferror(f))
		error_errno(e, STATUS_USAGE, "%s", path);
	else if (bytes->length > MOST_BYTES)
		error_set(e, STATUS_USAGE, "%s: more than %zu MiB: cut out what is fio's", path, MOST_BYTES >> 20);
	else if (bytes->failed)
		error_set(e, STATUS_HOST, "out of memory");
	fclose(f);
	return e->status ? -1 : 0;
}

static void say_notes(const char *path, const json_t *notes)
{
	const json_t *note;
	size_t i;

	json_array_foreach(notes, i, note) {
		struct text line = { 0 };

		text_add(&line, "%s:%lld: %s", path, (long long)json_integer_value(json_object_get(note, "line")),
			 json_string_value(json_object_get(note, "message")));
		command_say(text_get(&line));
		text_free(&line);
	}
}

/* Documents of the file; what could not be read is said at once. */
static int read_outputs(const char *path, struct fio_import *found, struct error *e)
{
	struct text bytes = { 0 };
	int rc = -1;

	if (read_file(path, &bytes, e) || fio_import_bytes(text_get(&bytes), bytes.length, found, e))
		goto out;
	say_notes(path, found->notes);
	if (json_array_size(found->outputs) == 0)
		error_set(e, STATUS_USAGE, "%s: neither a run folder nor an output of fio (kickbench import --list %s)", path, path);
	else
		rc = 0;
out:
	text_free(&bytes);
	return rc;
}

/* "results/kickfd.2.txt": "kickfd.2" */
static char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');

	return dot && dot != name ? strndup(name, (size_t)(dot - name)) : strdup(name);
}

static int import_into(const char *folder, const struct compare_input *in, const json_t *outputs, struct error *e)
{
	struct import_request request = { .variant = in->variant, .folder = folder };
	json_t *notes = json_array(); /* of outputs that are no run of their own */
	struct import *import = NULL;
	const char *path;
	struct stat st;
	int rc = -1;

	if (!notes || stat(in->path, &st))
		error_errno(e, STATUS_USAGE, "%s", in->path);
	else if (import_open(&request, &import, e) == 0 &&
	    import_add(import, in->path, (long long)st.st_size, (long long)st.st_mtime, outputs, notes, e) == 0 &&
	    import_store(import, &path, e) == 0)
		rc = 0;
	say_notes(in->path, notes);
	json_decref(notes);
	import_free(import);
	return rc;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	(void)kind;
	(void)walk;
	return remove(path);
}

/* The folder is gone at once: what was read of it goes by the file's name. */
static int load_imported(struct compare_input *in, const json_t *outputs, struct error *e)
{
	const char *base = getenv("TMPDIR");
	char *place = NULL, *folder = NULL;
	int rc = -1;

	if (asprintf(&place, "%s/kickbench-XXXXXX", base && *base ? base : "/tmp") < 0)
		place = NULL;
	if (!place || !mkdtemp(place)) {
		error_errno(e, STATUS_HOST, "a temporary folder cannot be made");
		goto out;
	}
	if (asprintf(&folder, "%s/import", place) < 0)
		folder = NULL;
	if (!folder)
		error_set(e, STATUS_HOST, "out of memory");
	else if (import_into(folder, in, outputs, e) == 0 && dataset_load(folder, &in->d, e) == 0)
		rc = 0;
	nftw(place, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	if (rc == 0) {
		free(in->d->path);
		in->d->path = strdup(in->path);
		in->d->source[0].path = in->d->path;
		rc = in->d->path ? 0 : error_set(e, STATUS_HOST, "out of memory");
	}
out:
	free(place);
	free(folder);
	return rc;
}

static int load_file(struct compare_input *in, struct error *e)
{
	struct fio_import found = { 0 };
	int rc = -1;

	if (!in->variant)
		in->variant = name_of(in->path);
	if (!in->variant)
		error_set(e, STATUS_HOST, "out of memory");
	else if (read_outputs(in->path, &found, e) == 0)
		rc = load_imported(in, found.outputs, e);
	json_decref(found.outputs);
	json_decref(found.notes);
	return rc;
}

int compare_input_load(const char *argument, struct compare_input *in, struct error *e)
{
	*in = (struct compare_input){ 0 };
	if (split(argument, in, e))
		return -1;
	if (!is_there(in->path))
		return error_errno(e, STATUS_USAGE, "%s", argument);
	return is_folder(in->path) ? dataset_load(in->path, &in->d, e) : load_file(in, e);
}

void compare_input_free(struct compare_input *in)
{
	dataset_free(in->d);
	free(in->path);
	free(in->variant);
}

bool compare_input_same(const struct compare_input *a, const struct compare_input *b)
{
	struct stat x, y;

	return stat(a->path, &x) == 0 && stat(b->path, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
