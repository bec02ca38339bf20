#include "host/compare_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/text.h"

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

int compare_input_load(const char *argument, struct compare_input *in, struct error *e)
{
	*in = (struct compare_input){ 0 };
	if (split(argument, in, e))
		return -1;
	if (!is_there(in->path))
		return error_errno(e, STATUS_USAGE, "%s", argument);
	if (!is_folder(in->path))
		return error_set(e, STATUS_USAGE, "%s is no run folder", in->path);
	return dataset_load(in->path, &in->d, e);
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
