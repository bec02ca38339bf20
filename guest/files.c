#include "guest/files.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "guest/note.h"
#include "guest/offsets.h"
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

/* filename_format: $jobname, $jobnum and $filenum in any case; all else stays. */
static void generate_name(const struct job *job, unsigned jobnum, unsigned filenum, struct text *name)
{
	const char *format = job->filename_format ? job->filename_format : "$jobname.$jobnum.$filenum";

	text_reset(name);
	while (*format) {
		if (!strncasecmp(format, "$jobname", 8)) {
			text_add(name, "%s", job->name);
			format += 8;
		} else if (!strncasecmp(format, "$jobnum", 7)) {
			text_add(name, "%u", jobnum);
			format += 7;
		} else if (!strncasecmp(format, "$filenum", 8)) {
			text_add(name, "%u", filenum);
			format += 8;
		} else {
			text_add_bytes(name, format++, 1);
		}
	}
}

static int find_names(struct file_set *files, const struct job *job, unsigned jobnum, const char *directory,
		      struct failure *failure)
{
	struct text name = {0};
	const char *rest = job->filename;
	unsigned n = job->nrfiles ? job->nrfiles : 1;
	int r = 0;

	if (job->filename) {
		while (r == 0 && *rest) {
			list_next(&rest, &name);
			if (name.length)
				r = add_file(files, directory, text_get(&name), failure);
		}
	} else if (n == 1 && name_is_device(job)) {
		r = add_file(files, NULL, job->name, failure);
	} else {
		for (unsigned i = 0; r == 0 && i < n; i++) {
			generate_name(job, jobnum, i, &name);
			r = add_file(files, directory, text_get(&name), failure);
		}
	}
	text_free(&name);
	if (r == 0 && files->count == 0)
		return FAIL(failure, EINVAL, "filename");
	return r;
}

/* ---- what is there ---- */

/* A block size or alignment of the job that is no multiple of the sector; 0: none. */
static uint64_t odd_size(const struct job *job, enum ddir ddir, uint32_t sector)
{
	if (job_bs_min(job, ddir) % sector)
		return job_bs_min(job, ddir);
	if (job_bs_max(job, ddir) % sector)
		return job_bs_max(job, ddir);
	return job->blockalign[ddir] % sector ? job->blockalign[ddir] : 0;
}

static int check_alignment(const struct file *f, const struct job *job, const struct note_sink *notes,
			   struct failure *failure)
{
	uint32_t sector = f->target.sector;
	uint64_t odd;

	if (sector < 2 || (f->target.kind != OS_CHAR && !job->direct))
		return 0;
	for (unsigned d = DDIR_READ; d <= DDIR_WRITE; d++) {
		if (!(d == DDIR_READ ? rw_reads(job->rw) : rw_writes(job->rw)))
			continue;
		odd = odd_size(job, (enum ddir)d, sector);
		if (odd == 0)
			continue;
		note_send(notes, "kickio: %s: bs=%llu is not a multiple of the %u byte sectors of %s", job->name,
			  (unsigned long long)odd, sector, f->path);
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
	if (f->target.mounted && rw_writes(job->rw) && !job->allow_mounted_write) {
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

	*files = (struct file_set){ .jobnum = jobnum };
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

/* FNV-1a */
uint64_t files_path_seed(const char *path)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *path; path++)
		h = (h ^ (unsigned char)*path) * 0x100000001b3u;
	return h;
}

/* percent of bytes without overflow: both are whole numbers up to 2^64 and 100. */
static uint64_t percent_of(uint64_t bytes, unsigned percent)
{
	return bytes / 100 * percent + bytes % 100 * percent / 100;
}

static uint64_t region_start(const struct file *f, const struct job *job, unsigned jobnum, uint64_t bs)
{
	uint64_t there = f->target.bytes;
	uint64_t step = job->offset_increment.percent ? percent_of(there, job->offset_increment.percent) :
							job->offset_increment.bytes;
	uint64_t start = job->offset.percent ? percent_of(there, job->offset.percent) : job->offset.bytes;

	/* Beyond what a file can hold, which size_file() tells. */
	if (step && jobnum > (UINT64_MAX / 2 - 1) / step)
		return UINT64_MAX / 2;
	start += step * jobnum;
	return job->offset.percent || job->offset_increment.percent ? (start + bs - 1) / bs * bs : start;
}

/* One of the sizes of filesize=lo-hi, in whole blocks; the same for the same path in every run. */
static uint64_t drawn_size(const struct file *f, const struct job *job, uint64_t bs)
{
	uint64_t lo = job->filesize.lo, span = job->filesize.hi - lo, size;
	struct random64 random = random64_stream(files_path_seed(f->path), 1);

	if (span == 0)
		return lo;
	size = lo + (span == UINT64_MAX ? random64_next(&random) : random64_below(&random, span + 1));
	return size < bs ? size : size / bs * bs;
}

/* What file number index gets of size=: an equal share, the first ones a block more while bytes remain. */
static uint64_t share(uint64_t size, unsigned count, unsigned index, uint64_t bs)
{
	uint64_t each = size / count;

	return each + (index < (size - each * count) / bs ? bs : 0);
}

static int size_file(struct file *f, const struct job *job, const struct file_set *files, uint64_t bs,
		     const struct note_sink *notes, struct failure *failure)
{
	uint64_t there = f->target.bytes, rest, wanted;
	bool grows = f->target.kind == OS_REGULAR || f->target.kind == OS_MISSING;
	bool sized = job->filesize.hi || (job->size.bytes && !job->size.percent);

	if (!there && !sized) {
		note_send(notes, "%s: you need to specify size=", job->name);
		return FAIL(failure, EINVAL, "total_file_size");
	}
	f->start = region_start(f, job, files->jobnum, bs);
	if (there && f->start >= there && !(grows && sized)) {
		note_send(notes, "%s: you need to specify valid offset=", job->name);
		return FAIL(failure, EINVAL, "total_file_size");
	}
	rest = there - f->start;
	wanted = sized ? share(job->size.bytes, files->count, (unsigned)(f - files->file), bs) : rest;
	if (job->filesize.hi)
		wanted = drawn_size(f, job, bs);
	if (job->size.percent)
		wanted = percent_of(job->filesize.hi ? wanted : there, job->size.percent);
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
	return 0;
}

/*
 * Files without a block are passed by, as in fio, but each direction needs one that has room: a mixed job that
 * can never do one of its directions would end at once, or look for room for ever.
 */
static int check_room(const struct file_set *files, const struct job *job, const struct note_sink *notes,
		      struct failure *failure)
{
	uint64_t most = 0, bs = job_smallest_bs(job);

	for (unsigned i = 0; i < files->count; i++)
		most = files->file[i].bytes > most ? files->file[i].bytes : most;
	for (unsigned d = DDIR_READ; most >= bs && d <= DDIR_WRITE; d++)
		if ((d == DDIR_READ ? rw_reads(job->rw) : rw_writes(job->rw)) && job_bs_min(job, (enum ddir)d) > bs)
			bs = job_bs_min(job, (enum ddir)d);
	if (most >= bs)
		return 0;
	note_send(notes, "kickio: size too small, must not be less than minimum block size: %llu < %llu",
		  (unsigned long long)most, (unsigned long long)bs);
	return FAIL(failure, EINVAL, "total_file_size");
}

int files_size(struct file_set *files, const struct job *job, const struct note_sink *notes,
	       struct failure *failure)
{
	uint64_t bs = job_smallest_bs(job), there = 0;

	files->size = 0;
	for (unsigned i = 0; i < files->count; i++) {
		struct file *f = &files->file[i];

		if (size_file(f, job, files, bs, notes, failure) < 0)
			return -1;
		if (f->target.kind == OS_CHAR && f->target.sector > 1 && f->start % f->target.sector) {
			note_send(notes, "kickio: %s: offset=%llu is not a multiple of the %u byte sectors of %s",
				  job->name, (unsigned long long)f->start, f->target.sector, f->path);
			return FAIL(failure, EINVAL, "offset");
		}
		files->size += f->bytes;
		there += f->target.bytes;
	}
	if (check_room(files, job, notes, failure) < 0)
		return -1;
	files->limit = files->size;
	if (job->filesize.hi && job->size.bytes && !job->size.percent && job->size.bytes < files->size)
		files->limit = job->size.bytes;
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
