/* The second half of files.h: bringing files into existence, and opening them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/files.h"
#include "guest/offsets.h"

#define LAYOUT_CHUNK (256u << 10)

static bool needs_layout(const struct file *f, const struct job *job)
{
	if (job->create_on_open)
		return false;
	if (f->target.kind != OS_REGULAR && f->target.kind != OS_MISSING)
		return false;
	return f->target.kind == OS_MISSING || f->start + f->bytes > f->target.bytes;
}

/* Make the directories in front of the file's name that are missing. */
static int make_parents(const char *path, struct failure *failure)
{
	char *copy = strdup(path);
	int r = 0;

	if (!copy)
		return FAIL(failure, ENOMEM, "strdup");
	for (char *s = copy + 1; r == 0 && *s; s++) {
		if (*s != '/')
			continue;
		*s = '\0';
		if (mkdir(copy, 0700) < 0 && errno != EEXIST && access(copy, F_OK) < 0)
			r = FAIL(failure, errno, "mkdir(%s)", copy);
		*s = '/';
	}
	free(copy);
	return r;
}

static int write_all(int fd, const unsigned char *bytes, size_t length)
{
	while (length) {
		ssize_t n = write(fd, bytes, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		bytes += n;
		length -= (size_t)n;
	}
	return 0;
}

/* Random data: zeros, or one block over and over, would let a disk or a compressing layer cheat. */
static int write_random(int fd, uint64_t length, uint64_t seed, const volatile int *stop)
{
	uint64_t *chunk = malloc(LAYOUT_CHUNK);
	struct random64 random = random64_stream(seed, 0);
	int error = chunk ? 0 : ENOMEM;

	while (!error && length) {
		size_t n = length < LAYOUT_CHUNK ? (size_t)length : LAYOUT_CHUNK;

		for (size_t i = 0; i < LAYOUT_CHUNK / sizeof(*chunk); i++)
			chunk[i] = random64_next(&random);
		error = write_all(fd, (const unsigned char *)chunk, n);
		length -= n;
		if (*stop)
			error = EINTR;
	}
	free(chunk);
	return error;
}

/* Not every file system can; then the writes themselves find out whether there is room. */
static int reserve(int fd, uint64_t length, const struct job *job, const struct note_sink *notes)
{
	static const enum os_reserve how[] = {
		[FALLOCATE_NATIVE] = OS_RESERVE_NATIVE, [FALLOCATE_POSIX] = OS_RESERVE_POSIX,
		[FALLOCATE_KEEP] = OS_RESERVE_KEEP,
	};
	int error;

	if (job->fallocate == FALLOCATE_NONE)
		return 0;
	if (job->fallocate == FALLOCATE_TRUNCATE)
		return ftruncate(fd, (off_t)length) < 0 ? errno : 0;
	error = os_preallocate(fd, length, how[job->fallocate]);
	if (error == ENOSPC || error == EFBIG || error == EDQUOT)
		return error;
	/* The default is what there is; what was asked for by name is missed. */
	if (error && job->fallocate != FALLOCATE_NATIVE)
		note_send(notes, "kickio: %s: fallocate=%s fails here: %s", job->name,
			  job->fallocate == FALLOCATE_KEEP ? "keep" : "posix", strerror(error));
	return 0;
}

static int fill(int fd, uint64_t length, bool data, uint64_t seed, const volatile int *stop)
{
	int error;

	if (!data)
		return 0;
	error = write_random(fd, length, seed, stop);
	return error ? error : os_flush(fd);
}

static int lay_out(struct file *f, const struct job *job, const volatile int *stop, const struct note_sink *notes,
		   struct failure *failure)
{
	uint64_t length = f->start + f->bytes;
	bool data = rw_reads(job->rw) || job->overwrite;
	struct error e = {0};
	int fd, error;

	if (make_parents(f->path, failure) < 0)
		return -1;
	if (f->target.kind == OS_REGULAR && unlink(f->path) < 0 && errno != ENOENT)
		return FAIL(failure, errno, "unlink(%s)", f->path);
	fd = os_open(f->path, OS_WRITE | OS_CREATE | (data ? OS_TRUNCATE : 0), &e);
	if (fd < 0)
		return FAIL(failure, errno, "open(%s)", f->path);
	error = reserve(fd, length, job, notes);
	if (!error)
		error = fill(fd, length, data, files_path_seed(f->path), stop);
	f->target.kind = OS_REGULAR;
	f->target.bytes = length;
	f->target.sector = 1;
	if (!error && data)
		os_drop_cache(fd, &f->target, 0, length);
	if (close(fd) < 0 && !error)
		error = errno;
	/* A file that is cut off (space may be reserved to its full size) must not pass for a complete one later. */
	if (!error)
		return 0;
	unlink(f->path);
	return FAIL(failure, error, "write");
}

static void announce(const struct file_set *files, const struct job *job, const struct note_sink *notes)
{
	uint64_t bytes = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < files->count; i++) {
		if (!needs_layout(&files->file[i], job))
			continue;
		bytes += files->file[i].start + files->file[i].bytes;
		n++;
	}
	if (n == 1)
		note_send(notes, "%s: Laying out IO file (1 file / %lluMiB)", job->name,
			  (unsigned long long)bytes >> 20);
	else if (n > 1)
		note_send(notes, "%s: Laying out IO files (%u files / total %lluMiB)", job->name, n,
			  (unsigned long long)bytes >> 20);
}

static bool diskless(const struct job *job)
{
	return job->engine && job->engine->diskless;
}

int files_lay_out(struct file_set *files, const struct job *job, bool readonly, const volatile int *stop,
		  const struct note_sink *notes, struct failure *failure)
{
	if (diskless(job))
		return 0;
	announce(files, job, notes);
	for (unsigned i = 0; i < files->count; i++) {
		struct file *f = &files->file[i];

		if (!needs_layout(f, job))
			continue;
		if (readonly)
			note_send(notes, "kickio: refusing extend of file due to read-only");
		else if (lay_out(f, job, stop, notes, failure) < 0)
			return -1;
	}
	return 0;
}

void files_drop_cache(const struct file_set *files, const struct note_sink *notes)
{
	for (unsigned i = 0; i < files->count; i++) {
		const struct file *f = &files->file[i];
		int error = f->fd < 0 ? 0 : os_drop_cache(f->fd, &f->target, f->start, f->bytes);

		if (error == 0 || error == ENOTSUP || error == EOPNOTSUPP)
			continue;
		if (f->target.kind == OS_BLOCK && (error == EPERM || error == EACCES))
			note_send(notes, "kickio: only root may flush block devices. Cache flush bypassed!");
		else
			note_send(notes, "kickio: cache invalidation of %s failed: %s", f->path, strerror(error));
		return;
	}
}

static void advise(const struct file_set *files, const struct job *job)
{
	bool random = job->fadvise_hint == ADVICE_PATTERN ? rw_random(job->rw) : job->fadvise_hint == ADVICE_RANDOM;

	if (job->fadvise_hint == ADVICE_NONE)
		return;
	for (unsigned i = 0; i < files->count; i++)
		os_advise(files->file[i].fd, random, files->file[i].start, files->file[i].bytes);
}

/* A file that the open itself created, or that the job is going to extend. */
static void note_sizes(struct file_set *files)
{
	for (unsigned i = 0; i < files->count; i++) {
		struct file *f = &files->file[i];

		if (f->target.kind == OS_MISSING)
			f->target.kind = OS_REGULAR;
		if (f->target.kind == OS_REGULAR && f->target.bytes < f->start + f->bytes)
			f->target.bytes = f->start + f->bytes;
	}
}

int files_open(struct file_set *files, const struct job *job, const struct note_sink *notes,
	       struct failure *failure)
{
	unsigned flags = rw_writes(job->rw) ? OS_READ | OS_WRITE : OS_READ;
	struct error e = {0};

	if (diskless(job))
		return 0;
	if (job->direct)
		flags |= OS_DIRECT;
	if (job->sync != SYNC_NONE)
		flags |= job->sync == SYNC_SYNC ? OS_SYNC : OS_DSYNC;
	for (unsigned i = 0; i < files->count; i++) {
		struct file *f = &files->file[i];
		bool missing = f->target.kind == OS_MISSING && job->create_on_open;
		bool creates = missing || (rw_writes(job->rw) && f->target.kind == OS_REGULAR);

		if (missing && make_parents(f->path, failure) < 0)
			goto fail;
		f->fd = os_open(f->path, flags | (creates ? OS_CREATE : 0), &e);
		if (f->fd >= 0)
			continue;
		FAIL(failure, errno, "open(%s)", f->path);
		note_send(notes, "kickio: %s", e.text);
		goto fail;
	}
	if (job->create_on_open)
		note_sizes(files);
	if (job->invalidate)
		files_drop_cache(files, notes);
	advise(files, job);
	return 0;
fail:
	files_close(files);
	return -1;
}

void files_unlink(const struct file_set *files, const struct job *job, const struct note_sink *notes)
{
	for (unsigned i = 0; job->unlink && i < files->count; i++) {
		const struct file *f = &files->file[i];

		/* Another clone, or another name of the same file, may have been faster. */
		if (f->target.kind == OS_REGULAR && unlink(f->path) < 0 && errno != ENOENT)
			note_send(notes, "kickio: cannot unlink %s: %s", f->path, strerror(errno));
	}
}

void files_close(struct file_set *files)
{
	for (unsigned i = 0; i < files->count; i++) {
		if (files->file[i].fd >= 0)
			close(files->file[i].fd);
		files->file[i].fd = -1;
	}
}
