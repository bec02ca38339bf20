#include "guest/files.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/note.h"
#include "guest/text.h"

int failure_set(struct failure *failure, int error, const char *file, int line, const char *fmt, ...)
{
	const char *base = strrchr(file, '/');
	va_list ap;

	if (failure->error)
		return -1;
	failure->error = error;
	snprintf(failure->where, sizeof(failure->where), "%s:%d", base ? base + 1 : file, line);
	va_start(ap, fmt);
	vsnprintf(failure->function, sizeof(failure->function), fmt, ap);
	va_end(ap);
	snprintf(failure->text, sizeof(failure->text), "%s", strerror(error));
	return -1;
}

void note_send(const struct note_sink *sink, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	if (!sink || !sink->line)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	sink->line(sink->context, line);
}

static uint64_t smallest_bs(const struct job *job)
{
	if (!rw_writes(job->rw))
		return job->bs[DDIR_READ];
	if (!rw_reads(job->rw))
		return job->bs[DDIR_WRITE];
	return job->bs[DDIR_READ] < job->bs[DDIR_WRITE] ? job->bs[DDIR_READ] : job->bs[DDIR_WRITE];
}

/* ---- names ---- */

/* Take the next entry of a list separated by ':', where '\:' is a literal colon, off *rest. */
static void list_next(const char **rest, struct text *entry)
{
	const char *s = *rest;

	text_reset(entry);
	for (; *s && *s != ':'; s++) {
		if (s[0] == '\\' && s[1] == ':')
			s++;
		text_add_bytes(entry, s, 1);
	}
	*rest = *s ? s + 1 : s;
}

static unsigned list_count(const char *list)
{
	struct text entry = {0};
	unsigned n = 0;

	while (*list) {
		list_next(&list, &entry);
		n += entry.length > 0;
	}
	text_free(&entry);
	return n;
}

/* Entry number index of those that are not empty; the caller frees text. */
static void list_pick(const char *list, unsigned index, struct text *entry)
{
	for (unsigned n = 0; *list;) {
		list_next(&list, entry);
		if (entry->length && n++ == index)
			return;
	}
	text_reset(entry);
}

static int add_file(struct file_set *files, const char *directory, const char *name, struct failure *failure)
{
	struct file *grown = realloc(files->file, (files->count + 1) * sizeof(*grown));
	struct text path = {0};

	if (!grown)
		return FAIL(failure, ENOMEM, "realloc");
	files->file = grown;
	if (directory && *directory)
		text_add(&path, "%s/", directory);
	text_add(&path, "%s", name);
	if (path.failed || !path.data) {
		text_free(&path);
		return FAIL(failure, ENOMEM, "realloc");
	}
	grown[files->count++] = (struct file){ .path = path.data, .fd = -1 };
	return 0;
}

/* A device that is called like the job is its target when no file is named. */
static bool name_is_device(const struct job *job)
{
	struct os_target target;
	struct error e = {0};

	return os_inspect(job->name, &target, &e) == 0 && (target.kind == OS_BLOCK || target.kind == OS_CHAR);
}

static int find_directory(const struct job *job, unsigned jobnum, struct text *directory,
			  const struct note_sink *notes, struct failure *failure)
{
	struct stat st;
	unsigned n = job->directory ? list_count(job->directory) : 0;

	if (n == 0)
		return 0;
	list_pick(job->directory, jobnum % n, directory);
	if (stat(text_get(directory), &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	note_send(notes, "kickio: %s is not a directory", text_get(directory));
	return FAIL(failure, ENOTDIR, "directory");
}

static int find_names(struct file_set *files, const struct job *job, unsigned jobnum, const char *directory,
		      struct failure *failure)
{
	struct text name = {0};
	const char *rest = job->filename;
	int r = 0;

	if (job->filename) {
		while (r == 0 && *rest) {
			list_next(&rest, &name);
			if (name.length)
				r = add_file(files, directory, text_get(&name), failure);
		}
	} else if (name_is_device(job)) {
		r = add_file(files, NULL, job->name, failure);
	} else {
		text_add(&name, "%s.%u.0", job->name, jobnum);
		r = add_file(files, directory, text_get(&name), failure);
	}
	text_free(&name);
	if (r == 0 && files->count == 0)
		return FAIL(failure, EINVAL, "filename");
	return r;
}

/* ---- what is there ---- */

static int check_alignment(const struct file *f, const struct job *job, const struct note_sink *notes,
			   struct failure *failure)
{
	uint32_t sector = f->target.sector;

	if (sector < 2 || (f->target.kind != OS_CHAR && !job->direct))
		return 0;
	for (unsigned d = DDIR_READ; d <= DDIR_WRITE; d++) {
		if (!(d == DDIR_READ ? rw_reads(job->rw) : rw_writes(job->rw)) || job->bs[d] % sector == 0)
			continue;
		note_send(notes, "kickio: %s: bs=%llu is not a multiple of the %u byte sectors of %s", job->name,
			  (unsigned long long)job->bs[d], sector, f->path);
		return FAIL(failure, EINVAL, "blocksize");
	}
	return 0;
}

static int inspect(struct file *f, const struct job *job, const struct note_sink *notes, struct failure *failure)
{
	struct error e = {0};

	if (os_inspect(f->path, &f->target, &e) < 0) {
		int error = errno ? errno : EIO;

		note_send(notes, "kickio: %s", e.text);
		return FAIL(failure, error, "stat(%s)", f->path);
	}
	if (f->target.kind == OS_OTHER) {
		note_send(notes, "kickio: %s is neither a file nor a disk", f->path);
		return FAIL(failure, EINVAL, "file type");
	}
	/* A mistyped disk must not become a file in memory that is then measured. */
	if (f->target.kind == OS_MISSING && !strncmp(f->path, "/dev/", 5) && strncmp(f->path, "/dev/shm/", 9)) {
		note_send(notes, "kickio: there is no device %s", f->path);
		return FAIL(failure, ENOENT, "open(%s)", f->path);
	}
	if (f->target.mounted && rw_writes(job->rw)) {
		note_send(notes, "kickio: %s appears mounted or in use. Refusing to write to it.", f->path);
		return FAIL(failure, EBUSY, "open(%s)", f->path);
	}
	return check_alignment(f, job, notes, failure);
}

int files_find(struct file_set *files, const struct job *job, unsigned jobnum, bool readonly,
	       const struct note_sink *notes, struct failure *failure)
{
	struct text directory = {0};
	int r;

	*files = (struct file_set){0};
	if (readonly && rw_writes(job->rw)) {
		note_send(notes, "kickio: write operations are not allowed with the --readonly parameter.");
		return FAIL(failure, EPERM, "readonly");
	}
	r = find_directory(job, jobnum, &directory, notes, failure);
	if (r == 0)
		r = find_names(files, job, jobnum, text_get(&directory), failure);
	for (unsigned i = 0; r == 0 && i < files->count; i++)
		r = inspect(&files->file[i], job, notes, failure);
	text_free(&directory);
	if (r < 0)
		files_free(files);
	return r;
}

/* ---- sizes ---- */

/* percent of bytes without overflow: both are whole numbers up to 2^64 and 100. */
static uint64_t percent_of(uint64_t bytes, unsigned percent)
{
	return bytes / 100 * percent + bytes % 100 * percent / 100;
}

static uint64_t region_start(const struct file *f, const struct job *job, uint64_t bs)
{
	if (!job->offset.percent)
		return job->offset.bytes;
	return (percent_of(f->target.bytes, job->offset.percent) + bs - 1) / bs * bs;
}

/* What file number index gets of size=: an equal share, the first ones a block more while bytes remain. */
static uint64_t share(uint64_t size, unsigned count, unsigned index, uint64_t bs)
{
	uint64_t each = size / count;

	return each + (index < (size - each * count) / bs ? bs : 0);
}

static int size_file(struct file *f, const struct job *job, unsigned count, unsigned index, uint64_t bs,
		     const struct note_sink *notes, struct failure *failure)
{
	uint64_t there = f->target.bytes, rest, wanted;
	bool grows = f->target.kind == OS_REGULAR || f->target.kind == OS_MISSING;
	bool sized = job->size.bytes && !job->size.percent;

	if (!there && !sized) {
		note_send(notes, "%s: you need to specify size=", job->name);
		return FAIL(failure, EINVAL, "total_file_size");
	}
	f->start = region_start(f, job, bs);
	if (there && f->start >= there && !(grows && sized)) {
		note_send(notes, "%s: you need to specify valid offset=", job->name);
		return FAIL(failure, EINVAL, "total_file_size");
	}
	rest = there - f->start;
	wanted = sized ? share(job->size.bytes, count, index, bs) : rest;
	if (job->size.percent)
		wanted = percent_of(there, job->size.percent);
	/* fio works on what there is without a word; a workload that is not the one asked for is worth a line. */
	if (wanted > rest && there && !(grows && sized)) {
		if (sized)
			note_send(notes, "kickio: %s: %s ends at %llu bytes, working on %llu instead of %llu",
				  job->name, f->path, (unsigned long long)there, (unsigned long long)rest,
				  (unsigned long long)wanted);
		wanted = rest;
	}
	f->bytes = wanted;
	if (f->bytes > INT64_MAX || f->start > INT64_MAX - f->bytes) {
		note_send(notes, "kickio: %s: offset=%llu and size=%llu reach beyond what a file can hold", job->name,
			  (unsigned long long)f->start, (unsigned long long)f->bytes);
		return FAIL(failure, EFBIG, "total_file_size");
	}
	if (f->bytes >= bs && f->bytes >= job_largest_bs(job))
		return 0;
	if (f->bytes >= bs)
		bs = job_largest_bs(job);
	/* A mixed job that can never do one of its directions would end at once, or look for room for ever. */
	note_send(notes, "kickio: size too small, must not be less than minimum block size: %llu < %llu",
		  (unsigned long long)f->bytes, (unsigned long long)bs);
	return FAIL(failure, EINVAL, "total_file_size");
}

int files_size(struct file_set *files, const struct job *job, const struct note_sink *notes,
	       struct failure *failure)
{
	uint64_t bs = smallest_bs(job), there = 0;

	files->size = 0;
	for (unsigned i = 0; i < files->count; i++) {
		struct file *f = &files->file[i];

		if (size_file(f, job, files->count, i, bs, notes, failure) < 0)
			return -1;
		if (f->target.kind == OS_CHAR && f->target.sector > 1 && f->start % f->target.sector) {
			note_send(notes, "kickio: %s: offset=%llu is not a multiple of the %u byte sectors of %s",
				  job->name, (unsigned long long)f->start, f->target.sector, f->path);
			return FAIL(failure, EINVAL, "offset");
		}
		files->size += f->bytes;
		there += f->target.bytes;
	}
	files->limit = files->size;
	if (job->io_size.percent)
		files->limit = percent_of(there ? there : files->size, job->io_size.percent);
	else if (job->io_size.bytes)
		files->limit = job->io_size.bytes;
	return 0;
}

void files_free(struct file_set *files)
{
	files_close(files);
	for (unsigned i = 0; i < files->count; i++)
		free(files->file[i].path);
	free(files->file);
	*files = (struct file_set){0};
}
