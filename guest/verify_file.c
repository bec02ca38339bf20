#include "guest/verify_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/os.h"

#define TABLE_BYTES 65536u /* at least a page everywhere */
#define MAGIC "kickio verify map 1\n"

enum state { STATE_WHOLE, STATE_IN_USE };

struct head {
	char magic[32];
	uint64_t id;
	uint32_t state, count;
	uint64_t order; /* 1 in the machine's byte order */
};

struct row {
	uint64_t unit, blocks;
	uint64_t place; /* of the map within the file */
	char path[488];
};

#define MAX_ROWS ((TABLE_BYTES - sizeof(struct row)) / sizeof(struct row))

_Static_assert(sizeof(struct head) <= sizeof(struct row) && sizeof(struct row) == 512, "rows of 512 bytes");

struct piece {
	void *memory;
	size_t bytes;
};

struct verify_file {
	char *path;
	int fd;
	bool written, was_in_use;
	struct head *head;
	struct row *row;
	struct piece *piece; /* mapped maps */
	unsigned npieces;
};

static size_t map_bytes(uint64_t blocks)
{
	return (size_t)((blocks * sizeof(uint64_t) + TABLE_BYTES - 1) / TABLE_BYTES * TABLE_BYTES);
}

const char *verify_file_path(const struct verify_file *f)
{
	return f->path;
}

/* The length that the table says, so that no access falls behind the end of a file that was cut. */
static int check_rows(const struct verify_file *f, uint64_t length, struct error *e)
{
	if (f->head->count > MAX_ROWS)
		return error_set(e, STATUS_FAILED, "verify_map=%s is damaged: %u files", f->path, f->head->count);
	for (unsigned i = 0; i < f->head->count; i++) {
		const struct row *r = &f->row[i];

		if (r->unit == 0 || r->unit % 512 || r->blocks == 0 || r->blocks > VERIFY_MAP_LIMIT / 8 || r->place < TABLE_BYTES ||
		    r->place % TABLE_BYTES || r->place > length || map_bytes(r->blocks) > length - r->place ||
		    !memchr(r->path, 0, sizeof(r->path)))
			return error_set(e, STATUS_FAILED, "verify_map=%s is damaged: row %u", f->path, i);
	}
	return 0;
}

static int check_head(const struct verify_file *f, uint64_t length, struct error *e)
{
	if (strncmp(f->head->magic, MAGIC, sizeof(f->head->magic)) != 0)
		return error_set(e, STATUS_FAILED, "verify_map=%s is no generation map", f->path);
	if (f->head->order != 1)
		return error_set(e, STATUS_FAILED, "verify_map=%s comes from a machine of the other byte order", f->path);
	return check_rows(f, length, e);
}

/* Durable before the first write that it is to tell of. */
static int create(struct verify_file *f, uint64_t id, struct error *e)
{
	*f->head = (struct head){ .id = id, .order = 1, .state = STATE_WHOLE };
	memcpy(f->head->magic, MAGIC, sizeof(MAGIC));
	if (fsync(f->fd) < 0)
		return error_errno(e, STATUS_FAILED, "verify_map=%s", f->path);
	return 0;
}

static int map_table(struct verify_file *f, uint64_t id, struct error *e)
{
	int protection = PROT_READ | (f->written ? PROT_WRITE : 0);
	struct stat st;
	bool fresh;

	if (fstat(f->fd, &st) < 0)
		return error_errno(e, STATUS_FAILED, "verify_map=%s", f->path);
	if (!S_ISREG(st.st_mode))
		return error_set(e, STATUS_FAILED, "verify_map=%s is not a file", f->path);
	fresh = f->written && st.st_size == 0;
	if (!fresh && st.st_size < (off_t)TABLE_BYTES)
		return error_set(e, STATUS_FAILED, "verify_map=%s is no generation map", f->path);
	if (fresh && ftruncate(f->fd, TABLE_BYTES) < 0)
		return error_errno(e, STATUS_FAILED, "verify_map=%s", f->path);
	f->head = mmap(NULL, TABLE_BYTES, protection, MAP_SHARED, f->fd, 0);
	if (f->head == MAP_FAILED) {
		f->head = NULL;
		return error_errno(e, STATUS_FAILED, "verify_map=%s cannot be mapped", f->path);
	}
	f->row = (struct row *)(void *)((char *)f->head + sizeof(struct row));
	return fresh ? create(f, id, e) : check_head(f, (uint64_t)st.st_size, e);
}

struct verify_file *verify_file_open(const char *path, bool written, uint64_t id, struct error *e)
{
	struct verify_file *f = calloc(1, sizeof(*f));

	if (!f) {
		error_errno(e, STATUS_FAILED, "verify_map=%s", path);
		return NULL;
	}
	f->written = written;
	f->path = strdup(path);
	f->fd = open(path, written ? O_RDWR | O_CREAT : O_RDONLY, 0644);
	if (!f->path || f->fd < 0) {
		error_errno(e, STATUS_FAILED, "verify_map=%s", path);
		verify_file_close(f, false);
		return NULL;
	}
	if (map_table(f, id, e) < 0) {
		f->written = false; /* whatever it is, leave it as it was */
		verify_file_close(f, false);
		return NULL;
	}
	f->was_in_use = f->head->state != STATE_WHOLE;
	if (written)
		f->head->state = STATE_IN_USE;
	return f;
}

/* ---- the map of one file ---- */

static int map_row(struct verify_file *f, const struct row *row, struct verify_area *area, struct error *e)
{
	int protection = PROT_READ | (f->written ? PROT_WRITE : 0);
	struct piece *grown = realloc(f->piece, (f->npieces + 1) * sizeof(*grown)), *p;

	if (!grown)
		return error_errno(e, STATUS_FAILED, "verify_map=%s", f->path);
	f->piece = grown;
	p = &grown[f->npieces];
	p->bytes = map_bytes(row->blocks);
	p->memory = mmap(NULL, p->bytes, protection, MAP_SHARED, f->fd, (off_t)row->place);
	if (p->memory == MAP_FAILED)
		return error_errno(e, STATUS_FAILED, "verify_map=%s cannot be mapped", f->path);
	f->npieces++;
	area->id = f->head->id;
	area->unit = row->unit;
	area->map.entry = p->memory;
	area->map.blocks = row->blocks;
	area->lagging = f->was_in_use;
	area->in = f;
	area->place = row->place;
	return 0;
}

static struct row *find_row(const struct verify_file *f, const char *path)
{
	for (unsigned i = 0; i < f->head->count; i++)
		if (strcmp(f->row[i].path, path) == 0)
			return &f->row[i];
	return NULL;
}

/* The row is complete before it counts. */
static struct row *add_row(struct verify_file *f, uint64_t end, const struct verify_area *area, struct error *e)
{
	struct row *row = &f->row[f->head->count];
	struct stat st;
	uint64_t place;

	if (f->head->count >= MAX_ROWS || strlen(area->path) >= sizeof(row->path)) {
		error_set(e, STATUS_FAILED, "verify_map=%s has no room for %s", f->path, area->path);
		return NULL;
	}
	if (fstat(f->fd, &st) < 0) {
		error_errno(e, STATUS_FAILED, "verify_map=%s", f->path);
		return NULL;
	}
	place = ((uint64_t)st.st_size + TABLE_BYTES - 1) / TABLE_BYTES * TABLE_BYTES;
	*row = (struct row){ .unit = area->unit, .blocks = (end + area->unit - 1) / area->unit, .place = place };
	memcpy(row->path, area->path, strlen(area->path));
	if (ftruncate(f->fd, (off_t)(place + map_bytes(row->blocks))) < 0) {
		error_errno(e, STATUS_FAILED, "verify_map=%s", f->path);
		return NULL;
	}
	f->head->count++;
	return row;
}

int verify_file_area(struct verify_file *f, bool written, uint64_t end, struct verify_area *area, struct error *e)
{
	struct row *row = find_row(f, area->path);
	uint64_t unit = area->unit;
	bool found = row != NULL;

	if (!row && !written)
		return error_set(e, STATUS_FAILED, "verify_map=%s tells nothing about %s", f->path, area->path);
	if (!row && !(row = add_row(f, end, area, e)))
		return -1;
	if (written && (unit % row->unit || end > row->unit * row->blocks))
		return error_set(e, STATUS_FAILED, "verify_map=%s has %s in %llu blocks of %llu bytes, which do not fit this "
				 "job: remove the map or name another", f->path, area->path,
				 (unsigned long long)row->blocks, (unsigned long long)row->unit);
	if (map_row(f, row, area, e) < 0)
		return -1;
	if (written && found)
		verify_map_forget_flights(&area->map);
	return 0;
}

uint64_t verify_file_next(const struct verify_area *area, uint64_t block)
{
	uint64_t at = area->place + block * sizeof(*area->map.entry), next;

	if (block >= area->map.blocks)
		return block;
	/* A block that is known cannot be in a hole: most are, and each answer is a call of the system's between two reads. */
	if (!area->in || verify_map_range(&area->map, block).last)
		return block;
	next = os_next_data(area->in->fd, at);
	if (next == UINT64_MAX)
		return UINT64_MAX;
	return next > at ? block + (next - at) / sizeof(*area->map.entry) : block;
}

void verify_file_close(struct verify_file *f, bool whole)
{
	if (!f)
		return;
	for (unsigned i = 0; i < f->npieces; i++) {
		if (f->written)
			msync(f->piece[i].memory, f->piece[i].bytes, MS_SYNC);
		munmap(f->piece[i].memory, f->piece[i].bytes);
	}
	if (f->head) {
		/* A map that lagged once stays behind what an earlier run wrote. */
		if (f->written && whole && !f->was_in_use)
			f->head->state = STATE_WHOLE;
		if (f->written)
			msync(f->head, TABLE_BYTES, MS_SYNC);
		munmap(f->head, TABLE_BYTES);
	}
	if (f->fd >= 0)
		close(f->fd);
	free(f->piece);
	free(f->path);
	free(f);
}
