#include "host/compare_input.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/fio_file.h"
#include "host/import.h"

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

/* "results/kickfd.2.txt": "kickfd.2" */
static char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');

	return dot && dot != name ? strndup(name, (size_t)(dot - name)) : strdup(name);
}

static int import_into(const char *folder, const char *variant, const struct fio_file *f, struct error *e)
{
	struct import_request request = { .variant = variant, .folder = folder };
	struct import *import = NULL;
	const char *path;
	int rc = -1;

	if (import_open(&request, &import, e) == 0 &&
	    import_add(import, f->name, f->size, f->mtime, f->found.outputs, f->found.notes, e) == 0 &&
	    import_store(import, &path, e) == 0)
		rc = 0;
	fio_file_say(f, f->found.notes); /* of outputs that are no run of their own */
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
static int load_imported(struct compare_input *in, const struct fio_file *f, struct error *e)
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
	else if (import_into(folder, in->variant, f, e) == 0 && dataset_load(folder, &in->d, e) == 0)
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
	struct fio_file f;
	int rc;

	if (!in->variant)
		in->variant = name_of(in->path);
	if (!in->variant)
		return error_set(e, STATUS_HOST, "out of memory");
	rc = fio_file_read(in->path, &f, e);
	if (rc)
		error_context(e, "expected a run folder or fio's output");
	else
		rc = load_imported(in, &f, e);
	fio_file_free(&f);
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
