#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest/verify_block.h"
#include "guest/verify_file.h"
#include "host/clock.h"
#include "host/opinion.h"
#include "host/writelog.h"

#define FLUSH_CHECK "flush log"
#define IMAGE_CHECK "image at the last flush"

/* ---- the job ---- */

#define EVERY 8u
#define WRITES 256u
#define BLOCK 4096u
#define REGION 4194304u

static void option(struct opinion_flush_job *job, const char *fmt, ...) KB_PRINTF(2, 3);

static void option(struct opinion_flush_job *job, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(job->option[job->argc], sizeof(job->option[0]), fmt, ap);
	va_end(ap);
	job->argv[job->argc] = job->option[job->argc];
	job->argc++;
}

void opinion_flush_job(uint64_t disk_bytes, unsigned block_size, bool direct, struct opinion_flush_job *job)
{
	uint64_t region;

	*job = (struct opinion_flush_job){ .every = EVERY, .writes = WRITES };
	job->block_size = block_size > BLOCK || disk_bytes < BLOCK ? block_size : BLOCK;
	region = disk_bytes < REGION ? disk_bytes / job->block_size * job->block_size : REGION;
	option(job, "--name=flush");
	option(job, "--rw=randwrite");
	option(job, "--ioengine=psync");
	option(job, "--iodepth=1");
	option(job, "--direct=%d", direct);
	option(job, "--bs=%u", job->block_size);
	option(job, "--size=%llu", (unsigned long long)region);
	/* Small disks are written several times over. */
	option(job, "--io_size=%llu", (unsigned long long)WRITES * job->block_size);
	option(job, "--fsync=%u", EVERY);
	/* What fsync= leaves out behind the last write. */
	option(job, "--end_fsync=1");
	option(job, "--verify=crc32c");
}

int opinion_flush_writes(const json_t *fio, const struct opinion_flush_job *job, uint64_t *writes, struct error *e)
{
	const json_t *of = json_array_get(json_object_get(fio, "jobs"), 0);
	json_int_t failed = json_integer_value(json_object_get(of, "error"));
	json_int_t wrote = json_integer_value(json_object_get(json_object_get(of, "write"), "total_ios"));
	json_int_t synced = json_integer_value(json_object_get(json_object_get(of, "sync"), "total_ios"));

	*writes = (uint64_t)wrote;
	if (!of)
		return error_set(e, STATUS_FAILED, "the result has no job");
	if (failed)
		return error_set(e, STATUS_FAILED, "the job ended with error %lld", (long long)failed);
	if ((uint64_t)wrote != job->writes || (uint64_t)synced + 1 < (uint64_t)wrote / job->every)
		return error_set(e, STATUS_FAILED, "the job wrote %lld blocks and called fsync %lld times: it was to write %llu, with one after "
				 "every %u", (long long)wrote, (long long)synced, (unsigned long long)job->writes, job->every);
	return 0;
}

/* ---- flushes ---- */

static int check_flushes(const struct opinion_log_request *r, struct writelog *log, struct writelog_flushes *f,
			 struct cell_result *result, struct error *e)
{
	struct cell_check check = { .name = FLUSH_CHECK };
	struct error why = {0};
	double start = clock_s();

	if (writelog_check_flushes(log, r->map_id, r->writes, r->every, f, &why) < 0) {
		check.status = CELL_FAIL;
		snprintf(check.message, sizeof(check.message), "%.500s", why.text);
		return cell_add(result, &check, e);
	}
	if (f->missing && f->seen < r->writes)
		snprintf(check.message, sizeof(check.message), "fsync %llu of %llu returned, and of the %llu writes of the job only "
			 "%llu reached the disk", (unsigned long long)f->first_missing, (unsigned long long)f->expected,
			 (unsigned long long)r->writes, (unsigned long long)f->seen);
	else if (f->missing)
		snprintf(check.message, sizeof(check.message), "fsync %llu of %llu returned without a flush of the disk behind its "
			 "writes; so did %llu in all", (unsigned long long)f->first_missing, (unsigned long long)f->expected,
			 (unsigned long long)f->missing);
	check.status = f->missing ? CELL_FAIL : CELL_PASS;
	check.seconds = clock_s() - start;
	check.evidence = json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:b}", "expected", (json_int_t)f->expected, "missing",
				   (json_int_t)f->missing, "first_missing", (json_int_t)f->first_missing, "writes",
				   (json_int_t)r->writes, "writes_in_log", (json_int_t)f->seen, "entries",
				   (json_int_t)writelog_entries(log), "cut", writelog_cut(log));
	return cell_add(result, &check, e);
}

/* ---- the map as it was then ---- */

struct earlier {
	const struct verify_area *area;
	uint32_t *later; /* per block: the lowest generation that was written behind the flush, 0: none was */
};

static void note_later(void *context, const struct verify_header *h)
{
	struct earlier *x = context;
	uint64_t block = h->offset / x->area->unit;

	if (block < x->area->map.blocks && (!x->later[block] || h->generation < x->later[block]))
		x->later[block] = h->generation;
}

static int read_later(struct earlier *x, struct writelog *log, uint64_t from, struct error *e)
{
	for (uint64_t i = from; i < writelog_entries(log); i++) {
		struct writelog_entry entry;

		if (writelog_entry(log, i, &entry, e) < 0 ||
		    writelog_headers(log, &entry, x->area->id, note_later, x, e) < 0)
			return -1;
	}
	return 0;
}

static int put_earlier(const struct earlier *x, const char *path, struct error *e)
{
	struct verify_area to = { .path = x->area->path, .unit = x->area->unit };
	struct verify_file *file = verify_file_open(path, true, x->area->id, e);
	int r = file ? verify_file_area(file, true, x->area->unit * x->area->map.blocks, &to, e) : -1;

	for (uint64_t b = 0; r == 0 && b < x->area->map.blocks; b++) {
		struct verify_range range = verify_map_range(&x->area->map, b);
		char run[64];

		if (x->later[b] && range.last >= x->later[b])
			range.last = x->later[b] - 1;
		if (range.last == 0)
			continue;
		if (range.least > range.last)
			range.least = range.last;
		snprintf(run, sizeof(run), "%llx:%x-%x", (unsigned long long)b, range.last, range.least);
		r = verify_map_decode(&to.map, run, e);
	}
	/* One that may lag: the guest's copy does. */
	verify_file_close(file, false);
	return r;
}

/* The guest's map without what it wrote behind entry `from`, which begins with the last generation that is written there. */
static int earlier_map(const struct opinion_request *r, struct writelog *log, uint64_t from, const char *path, struct error *e)
{
	struct verify_area area = { .path = r->guest_path };
	struct verify_file *file = verify_file_open(r->map, false, 0, e);
	struct earlier x = { .area = &area };
	int status = file ? verify_file_area(file, false, 0, &area, e) : -1;

	if (status == 0) {
		x.later = calloc(area.map.blocks, sizeof(*x.later));
		status = x.later ? 0 : error_errno(e, STATUS_HOST, "generation map");
	}
	if (status == 0)
		status = read_later(&x, log, from, e);
	if (status == 0)
		status = put_earlier(&x, path, e);
	free(x.later);
	verify_file_close(file, false);
	return status;
}

/* ---- the image as it was then ---- */

static int copy_original(const char *path, int to, struct error *e)
{
	static const unsigned char zeros[65536];
	unsigned char piece[sizeof(zeros)];
	int from = open(path, O_RDONLY | O_CLOEXEC), r = 0;
	off_t at = 0;
	ssize_t n;

	if (from < 0)
		return error_errno(e, STATUS_HOST, "%s", path);
	while (r == 0 && (n = read(from, piece, sizeof(piece))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || (memcmp(piece, zeros, (size_t)n) && pwrite(to, piece, (size_t)n, at) != n))
			r = error_errno(e, STATUS_HOST, "copy of %s", path);
		else
			at += n;
	}
	close(from);
	return r;
}

static int make_scratch(const struct opinion_log_request *r, struct writelog *log, uint64_t end, struct error *e)
{
	int fd = open(r->image.image, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), status = 0;

	if (fd < 0 || ftruncate(fd, (off_t)r->disk_bytes) < 0)
		status = error_errno(e, STATUS_HOST, "%s", r->image.image);
	if (status == 0 && r->original)
		status = copy_original(r->original, fd, e);
	if (status == 0)
		status = writelog_replay(log, end, fd, e);
	if (fd >= 0)
		close(fd);
	return status;
}

static int check_image(const struct opinion_log_request *r, struct writelog *log, const struct writelog_flushes *f,
		       struct cell_result *result, struct error *e)
{
	struct cell_check check = { .name = IMAGE_CHECK, .status = CELL_SKIPPED };
	struct opinion_request image = r->image;
	struct text map = {0};
	struct error why = {0};
	int status;

	if (!log || !f->covered) {
		snprintf(check.message, sizeof(check.message), "the log has no flush that answers an fsync");
		return cell_add(result, &check, e);
	}
	text_add(&map, "%s.map", r->image.image);
	unlink(text_get(&map));
	if (make_scratch(r, log, f->last_flush, &why) < 0 ||
	    (image.map && earlier_map(&r->image, log, f->last_flush, text_get(&map), &why) < 0)) {
		check.status = CELL_FAIL;
		snprintf(check.message, sizeof(check.message), "%.500s", why.text);
		status = cell_add(result, &check, e);
	} else {
		image.map = image.map ? text_get(&map) : NULL;
		status = opinion_image(&image, IMAGE_CHECK, result, e);
	}
	unlink(r->image.image);
	unlink(text_get(&map));
	text_free(&map);
	return status;
}

int opinion_log(const struct opinion_log_request *request, struct cell_result *result, struct error *e)
{
	struct writelog_flushes f = {0};
	struct writelog *log = NULL;
	struct error why = {0};
	int r;

	if (writelog_open(request->log, &log, &why) < 0) {
		struct cell_check check = { .name = FLUSH_CHECK, .status = CELL_FAIL };

		snprintf(check.message, sizeof(check.message), "%.500s", why.text);
		r = cell_add(result, &check, e);
	} else {
		r = check_flushes(request, log, &f, result, e);
	}
	if (r == 0)
		r = check_image(request, log, &f, result, e);
	writelog_close(log);
	return r;
}
