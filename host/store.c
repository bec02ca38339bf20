#include "host/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "guest/text.h"
#include "host/dirs.h"
#include "host/file_write.h"

struct store {
	char *path;
};

#define OF(kind) (1u << (kind))

static const struct { const char *name; unsigned kinds; } folders[] = {
	{ "domains", OF(STORE_RUN) },
	{ "trials", OF(STORE_RUN) },
	{ "console", OF(STORE_RUN) | OF(STORE_MATRIX) },
	{ "cells", OF(STORE_MATRIX) },
};

#define NFOLDERS (sizeof(folders) / sizeof(folders[0]))

static struct store *new_store(const char *path, struct error *e)
{
	struct store *s = calloc(1, sizeof(*s));

	if (s)
		s->path = strdup(path);
	if (!s || !s->path) {
		error_set(e, STATUS_HOST, "out of memory");
		store_close(s);
		return NULL;
	}
	return s;
}

/* RESULTS/<time>-<name>, with -2, -3 … behind it when two runs begin in one second. */
static int make_named(const char *results, const char *name, char *path, size_t room, struct error *e)
{
	char stamp[32];
	time_t now = time(NULL);
	struct tm tm;

	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
	if (dirs_make(results, e))
		return -1;
	for (int k = 1; k < 1000; k++) {
		if (k == 1)
			snprintf(path, room, "%s/%s-%s", results, stamp, name);
		else
			snprintf(path, room, "%s/%s-%s-%d", results, stamp, name, k);
		if (mkdir(path, 0777) == 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	return error_errno(e, STATUS_HOST, "cannot make the run folder %s", path);
}

/* Something beside the folders that a killed run may have left empty: somebody's files, not to be written over. */
static bool holds_files(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir))) {
		found = strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
		for (size_t i = 0; i < NFOLDERS; i++)
			found = found && strcmp(entry->d_name, folders[i].name);
	}
	if (dir)
		closedir(dir);
	return found;
}

int store_create(const char *path, const char *results, const char *name, enum store_kind kind, struct store **out,
		 struct error *e)
{
	char made[4096];
	struct stat st;

	*out = NULL;
	if (!path) {
		if (make_named(results, name, made, sizeof(made), e))
			return -1;
		path = made;
	} else {
		char *run = dirs_join(path, "run.json");
		bool taken = run && stat(run, &st) == 0;

		free(run);
		if (taken)
			return error_set(e, STATUS_USAGE, "%s already holds a run: choose another folder, or go on with --resume %s",
					 path, path);
		if (holds_files(path))
			return error_set(e, STATUS_USAGE, "%s is not empty: choose a new folder, a run's files have fixed names", path);
		if (dirs_make(path, e))
			return -1;
	}
	*out = new_store(path, e);
	if (!*out)
		return -1;
	for (size_t i = 0; i < NFOLDERS; i++) {
		char *folder;

		if (!(folders[i].kinds & OF(kind)))
			continue;
		folder = dirs_join(path, folders[i].name);
		if (!folder || (mkdir(folder, 0777) && errno != EEXIST)) {
			error_errno(e, STATUS_HOST, "cannot make the folder %s/%s", path, folders[i].name);
			free(folder);
			store_close(*out);
			*out = NULL;
			return -1;
		}
		free(folder);
	}
	return 0;
}

int store_open(const char *path, struct store **out, struct error *e)
{
	char *run = dirs_join(path, "run.json");
	struct stat st;

	*out = NULL;
	if (!run)
		return error_set(e, STATUS_HOST, "out of memory");
	if (stat(run, &st)) {
		free(run);
		return error_errno(e, STATUS_USAGE, "%s is no run folder: run.json", path);
	}
	free(run);
	*out = new_store(path, e);
	return *out ? 0 : -1;
}

const char *store_path(const struct store *s)
{
	return s->path;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	free(s->path);
	free(s);
}

void store_discard(struct store *s)
{
	for (size_t i = 0; i < NFOLDERS; i++) {
		char *folder = dirs_join(s->path, folders[i].name);

		if (folder)
			rmdir(folder); /* fails where something is in it: kept */
		free(folder);
	}
	rmdir(s->path);
}

#define WAIT_MS 10000

/*
 * The one temporary name, so that what a killed run left is written over, locked until it has its own name: two reports of
 * one folder at once would write into each other's bytes.
 */
static int open_temporary(const char *path, struct error *e)
{
	struct timespec pause = { .tv_nsec = 10000000 };

	for (int ms = 0; ms < WAIT_MS; ms += 10) {
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		struct stat mine, there;

		if (fd < 0)
			return error_errno(e, STATUS_HOST, "cannot write %s", path);
		if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
			close(fd);
			nanosleep(&pause, NULL);
			continue;
		}
		/* not one that was renamed between the two calls */
		if (fstat(fd, &mine) == 0 && stat(path, &there) == 0 && mine.st_ino == there.st_ino && ftruncate(fd, 0) == 0)
			return fd;
		close(fd);
	}
	return error_set(e, STATUS_HOST, "cannot write %s: another kickbench writes there", path);
}

int store_write(struct store *s, const char *name, const char *bytes, size_t length, struct error *e)
{
	char *path = dirs_join(s->path, name), *temporary = path ? dirs_join(s->path, ".writing") : NULL;
	int fd, status = -1;

	if (!temporary) {
		free(path);
		return error_set(e, STATUS_HOST, "out of memory");
	}
	fd = open_temporary(temporary, e);
	if (fd < 0)
		goto out;
	if (file_write_all(fd, bytes, length) || fsync(fd) || rename(temporary, path)) {
		error_errno(e, STATUS_HOST, "cannot write %s", path);
		unlink(temporary);
	} else {
		status = 0;
	}
	close(fd);
	if (status == 0)
		dirs_sync_of(path);
out:
	free(temporary);
	free(path);
	return status;
}

int store_write_json(struct store *s, const char *name, const json_t *value, struct error *e)
{
	char *text = json_dumps(value, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	struct text line = { 0 };
	int status;

	if (!text)
		return error_set(e, STATUS_HOST, "%s: cannot be written as JSON", name);
	text_add(&line, "%s\n", text);
	free(text);
	status = line.failed ? error_set(e, STATUS_HOST, "out of memory")
			     : store_write(s, name, line.data, line.length, e);
	text_free(&line);
	return status;
}

/* Of another kind, or of another version of the same kind. */
static void wrong_schema(const char *path, const char *have, const char *want, struct error *e)
{
	static const struct { const char *kind, *words; } known[] = {
		{ "kickbench-run/", "of a run, for kickbench run, report and compare" },
		{ "kickbench-regress/", "of a regression matrix, for kickbench regress, report and compare" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strncmp(have, known[i].kind, strlen(known[i].kind)) && strncmp(want, known[i].kind, strlen(known[i].kind))) {
			error_at(e, STATUS_USAGE, path, 0, "schema is %s, expected %s: the folder is %s", have, want, known[i].words);
			return;
		}
	error_at(e, STATUS_USAGE, path, 0, "schema is %s, expected %s: written by another version of kickbench?", have, want);
}

int store_read_json(const struct store *s, const char *name, const char *schema, json_t **out, struct error *e)
{
	char *path = dirs_join(s->path, name);
	json_error_t why;
	const char *have;
	json_t *value;

	*out = NULL;
	if (!path)
		return error_set(e, STATUS_HOST, "out of memory");
	value = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
	if (!value) {
		if (why.line > 0)
			error_at(e, STATUS_USAGE, path, why.line, "%s", why.text);
		else
			error_set(e, STATUS_USAGE, "%s: %s", path, why.text);
		free(path);
		return -1;
	}
	have = json_string_value(json_object_get(value, "schema"));
	if (!have || strcmp(have, schema)) {
		wrong_schema(path, have ? have : "missing", schema, e);
		json_decref(value);
		free(path);
		return -1;
	}
	free(path);
	*out = value;
	return 0;
}

bool store_has(const struct store *s, const char *name)
{
	char *path = dirs_join(s->path, name);
	bool there = path && access(path, F_OK) == 0;

	free(path);
	return there;
}

int store_cut_trial(struct store *s, unsigned trial, struct error *e)
{
	char name[64], cut[64];
	char *from, *to;
	int status = 0;

	for (int k = 1;; k++) {
		snprintf(cut, sizeof(cut), "trials/%06u.cut-%d.json", trial, k);
		if (!store_has(s, cut))
			break;
	}
	snprintf(name, sizeof(name), "trials/%06u.json", trial);
	from = dirs_join(s->path, name);
	to = dirs_join(s->path, cut);
	if (!from || !to)
		status = error_set(e, STATUS_HOST, "out of memory");
	else if (rename(from, to))
		status = error_errno(e, STATUS_HOST, "cannot rename %s to %s", from, to);
	free(from);
	free(to);
	return status;
}
