/* A folder for the files of one test: made below $TMPDIR, removed with all that is in it. Include after cmocka. */
#ifndef KB_TESTS_SCRATCH_H
#define KB_TESTS_SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct scratch {
	char folder[256];
	char path[512]; /* of the file that was named last */
};

static inline int scratch_open(void **state)
{
	struct scratch *s = calloc(1, sizeof(*s));
	const char *base = getenv("TMPDIR");

	if (!s)
		return -1;
	snprintf(s->folder, sizeof(s->folder), "%s/kickbench-unit-XXXXXX", base && *base ? base : "/tmp");
	*state = s;
	return mkdtemp(s->folder) ? 0 : -1;
}

static inline int scratch_remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	(void)kind;
	(void)walk;
	return remove(path);
}

static inline int scratch_close(void **state)
{
	struct scratch *s = *state;

	nftw(s->folder, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(s);
	return 0;
}

/* The path of a name; valid until the next call. */
static inline const char *scratch_path(struct scratch *s, const char *name)
{
	snprintf(s->path, sizeof(s->path), "%s/%s", s->folder, name);
	return s->path;
}

/* Write a file (folders of its name are made), return its path. */
static inline const char *scratch_bytes(struct scratch *s, const char *name, const void *bytes, size_t length)
{
	const char *path = scratch_path(s, name);
	FILE *f;

	for (char *p = s->path + strlen(s->folder) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(s->path, 0777);
		*p = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, length, f), length);
	assert_int_equal(fclose(f), 0);
	return path;
}

static inline const char *scratch_text(struct scratch *s, const char *name, const char *text)
{
	return scratch_bytes(s, name, text, strlen(text));
}

/* Fail, showing both, unless text holds piece. */
static inline void holds(const char *text, const char *piece)
{
	if (!strstr(text, piece))
		fail_msg("\"%s\" is not in \"%s\"", piece, text);
}

#endif
