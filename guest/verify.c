#include "guest/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "guest/verify_file.h"
#include "guest/verify_internal.h"

#define BACKLOG_MAX 65536u

/* ---- opening ---- */

static int open_file(struct verify *v, struct verify_target *t, const struct file *f)
{
	const struct job *job = v->setup.job;

	t->path = f->path;
	t->fd = f->fd;
	t->number = verify_file_number(verify_known_as(job, f->path));
	t->start = f->start;
	t->end = f->start + f->bytes;
	t->area = verify_store_find(v->setup.store, job, f->path);
	if (t->area && t->end > t->area->unit * t->area->map.blocks)
		t->end = t->area->unit * t->area->map.blocks;
	t->unit = t->area ? t->area->unit : VERIFY_SECTOR;
	t->step = verify_divisor(verify_divisor(t->unit, v->chunk), t->start);
	if (!v->writes)
		return 0;
	/* What this clone wrote. Pages that are never touched take no memory. */
	t->written_bytes = (size_t)(t->area->map.blocks / 8 + 1);
	t->written = mmap(NULL, t->written_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
	if (t->written != MAP_FAILED)
		return 0;
	t->written = NULL;
	return FAIL(v->setup.failure, ENOMEM, "verify");
}

static uint32_t largest_read(const struct job *job)
{
	uint64_t r = rw_reads(job->rw) ? job_bs_max(job, DDIR_READ) : 0;
	uint64_t w = rw_writes(job->rw) ? job_bs_max(job, DDIR_WRITE) : 0;

	return (uint32_t)(r > w ? r : w);
}

static int open_memory(struct verify *v)
{
	const struct job *job = v->setup.job;
	size_t sectors = v->chunk / VERIFY_SECTOR;

	v->target = calloc(v->setup.files->count, sizeof(*v->target));
	v->least = calloc(v->setup.depth * (sectors + 1), sizeof(*v->least));
	v->state = calloc(sectors, sizeof(*v->state));
	v->header = calloc(sectors, sizeof(*v->header));
	v->expected = calloc(sectors, sizeof(*v->expected));
	if (job->verify_backlog && job->verify_backlog <= BACKLOG_MAX) {
		v->backlog_size = (unsigned)job->verify_backlog;
	} else if (job->verify_backlog) {
		v->backlog_size = BACKLOG_MAX;
		note_send(v->setup.notes, "kickio: %s: verify_backlog is at most %u", job->name, BACKLOG_MAX);
	}
	v->backlog = calloc(v->backlog_size + v->setup.depth, sizeof(*v->backlog));
	if (!v->target || !v->least || !v->state || !v->header || !v->expected || !v->backlog)
		return FAIL(v->setup.failure, ENOMEM, "verify");
	return 0;
}

struct verify *verify_open(const struct verify_setup *setup)
{
	struct verify *v = calloc(1, sizeof(*v));
	int r;

	if (!v) {
		FAIL(setup->failure, ENOMEM, "verify");
		return NULL;
	}
	v->setup = *setup;
	v->writes = rw_writes(setup->job->rw) && !setup->job->verify_only;
	v->chunk = largest_read(setup->job);
	r = open_memory(v);
	for (unsigned i = 0; r == 0 && i < setup->files->count; i++)
		r = open_file(v, &v->target[i], &setup->files->file[i]);
	if (r < 0) {
		verify_close(v);
		return NULL;
	}
	if (!v->target[0].area)
		note_send(setup->notes, "kickio: %s: verify=: without verify_map= only headers and checksums are checked: "
			  "lost and stale blocks are not seen", setup->job->name);
	return v;
}

void verify_close(struct verify *v)
{
	if (!v)
		return;
	if (v->faults > VERIFY_TOLD)
		note_send(v->setup.notes, "kickio: verify: %llu more blocks found bad",
			  (unsigned long long)(v->faults - VERIFY_TOLD));
	for (unsigned i = 0; v->target && i < v->setup.files->count; i++)
		if (v->target[i].written)
			munmap(v->target[i].written, v->target[i].written_bytes);
	free(v->target);
	free(v->least);
	free(v->state);
	free(v->header);
	free(v->expected);
	free(v->backlog);
	free(v);
}

/* ---- units ---- */

static uint32_t *least_of(struct verify *v, const struct io *io)
{
	return v->least + (size_t)io->index * (v->chunk / VERIFY_SECTOR + 1);
}

static void seal(struct verify *v, const struct verify_target *t, struct io *io)
{
	const struct job *job = v->setup.job;
	struct verify_header h = {
		.map = t->area->id, .start = io->offset, .length = io->length, .file = t->number,
		.job = v->setup.index, .kind = job->verify,
	};
	uint64_t block = UINT64_MAX;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	h.time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	if (job->verify_pattern.length)
		verify_fill_pattern(io->buffer, io->length, &job->verify_pattern);
	for (uint32_t at = 0; at + VERIFY_SECTOR <= io->length; at += VERIFY_SECTOR) {
		h.offset = io->offset + at;
		if (h.offset / t->unit != block) {
			block = h.offset / t->unit;
			h.generation = verify_map_issue(&t->area->map, block);
		}
		sector_seal((char *)io->buffer + at, &h);
	}
}

void verify_prepare(struct verify *v, struct io *io)
{
	const struct verify_target *t = &v->target[io->file];
	uint32_t *least;

	if (io->ddir == DDIR_WRITE) {
		seal(v, t, io);
		return;
	}
	if (io->ddir != DDIR_READ || !t->area)
		return;
	/* What is completed by now must be there; what completes while the read is under way may be. */
	least = least_of(v, io);
	for (uint64_t block = io->offset / t->unit; block * t->unit < io->offset + io->length; block++)
		*least++ = block < t->area->map.blocks ? verify_map_range(&t->area->map, block).least : 0;
}

static void set_written(struct verify_target *t, uint64_t block, bool written)
{
	if (written)
		t->written[block / 8] |= (unsigned char)(1 << block % 8);
	else
		t->written[block / 8] &= (unsigned char)~(1 << block % 8);
}

static void written(struct verify *v, struct verify_target *t, const struct io *io)
{
	for (uint64_t at = io->offset; at < io->offset + io->length; at += t->unit) {
		/* A block that the region cuts is written up to there, always. */
		uint64_t end = at + t->unit < t->end ? at + t->unit : t->end;
		bool whole = !io->error && end - io->offset <= io->moved;

		verify_map_done(&t->area->map, at / t->unit, whole);
		if (whole)
			set_written(t, at / t->unit, true);
	}
	/* What finds no room is read back at the end. */
	if (!io->error && v->backlog_size && v->backlog_count < v->backlog_size + v->setup.depth)
		v->backlog[v->backlog_count++] = (struct verify_piece){
			.file = io->file, .offset = io->offset, .length = io->length,
		};
}

int verify_complete(struct verify *v, struct io *io)
{
	struct verify_target *t = &v->target[io->file];

	if (io->ddir == DDIR_WRITE)
		written(v, t, io);
	if (io->ddir != DDIR_READ || io->error)
		return 0;
	return verify_look(v, t, io, least_of(v, io)) ? EILSEQ : 0;
}

/* ---- reading back ---- */

void verify_begin(struct verify *v)
{
	v->from_backlog = verify_due(v);
	v->at_file = 0;
	v->at = 0;
	v->backlog_at = 0;
}

bool verify_due(const struct verify *v)
{
	return v->backlog_size && v->backlog_count >= v->backlog_size;
}

uint64_t verify_faults(const struct verify *v)
{
	return v->faults;
}

static void fill_io(const struct verify *v, struct io *io, unsigned file, uint64_t offset, uint64_t length)
{
	io->ddir = DDIR_READ;
	io->file = file;
	io->fd = v->target[file].fd;
	io->offset = offset;
	io->length = (uint32_t)length;
}

static bool next_of_backlog(struct verify *v, struct io *io)
{
	const struct verify_piece *p = &v->backlog[v->backlog_at];
	struct verify_target *t;

	if (v->backlog_at == v->backlog_count) {
		v->backlog_count = 0;
		return false;
	}
	v->backlog_at++;
	t = &v->target[p->file];
	for (uint64_t at = p->offset; at < p->offset + p->length; at += t->unit)
		set_written(t, at / t->unit, false);
	fill_io(v, io, p->file, p->offset, p->length);
	return true;
}

/* Is this block to be read in this phase? Once asked for, it is not again. */
static bool take_block(const struct verify *v, struct verify_target *t, uint64_t offset)
{
	uint64_t block = offset / t->unit;

	if (!t->area)
		return true;
	if (!v->writes)
		return verify_map_range(&t->area->map, block).last != 0;
	if (!(t->written[block / 8] & 1 << block % 8))
		return false;
	set_written(t, block, false);
	return true;
}

/* Skip bytes of the bitmap that are all zero: most of a large file may not have been written. */
static uint64_t skip_unwritten(const struct verify_target *t, uint64_t at)
{
	uint64_t block = at / t->unit, blocks = t->area->map.blocks;

	while (block % 8 == 0 && block + 8 <= blocks && !t->written[block / 8])
		block += 8;
	return block * t->unit > at ? block * t->unit : at;
}

/* The same of what the map's file does not hold. */
static uint64_t skip_unknown(const struct verify_target *t, uint64_t at)
{
	uint64_t block = at / t->unit, next = verify_file_next(t->area, block);

	if (next == block)
		return at;
	return next >= t->area->map.blocks ? t->end : next * t->unit;
}

/*
 * From the first to the last block that is to be read within one chunk of the region: chunks begin where
 * blocks of the job's largest size do, so that jobs with one size read what they wrote, unit by unit.
 */
static bool next_of_file(struct verify *v, unsigned file, struct io *io)
{
	struct verify_target *t = &v->target[file];

	while (v->at < t->end) {
		uint64_t chunk, first = UINT64_MAX, last = 0;

		if (t->written)
			v->at = skip_unwritten(t, v->at);
		else if (t->area)
			v->at = skip_unknown(t, v->at);
		chunk = v->at - (v->at - t->start) % v->chunk;
		for (; v->at < chunk + v->chunk && v->at < t->end; v->at += t->step) {
			if (!take_block(v, t, v->at))
				continue;
			first = first == UINT64_MAX ? v->at : first;
			last = v->at + t->step;
		}
		if (first == UINT64_MAX)
			continue;
		if (last > t->end)
			last = t->end;
		fill_io(v, io, file, first, last - first);
		return true;
	}
	return false;
}

bool verify_next(struct verify *v, struct io *io)
{
	if (v->from_backlog)
		return next_of_backlog(v, io);
	for (; v->at_file < v->setup.files->count; v->at_file++, v->at = 0) {
		if (v->at < v->target[v->at_file].start)
			v->at = v->target[v->at_file].start;
		if (next_of_file(v, v->at_file, io))
			return true;
	}
	v->backlog_count = 0;
	return false;
}
