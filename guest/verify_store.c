#include "guest/verify_store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "guest/offsets.h"
#include "guest/verify_block.h"
#include "guest/verify_file.h"

#define NOTEWORTHY ((uint64_t)256 << 20)

struct area {
	struct verify_area area;
	const char *map_path; /* the job's, NULL: memory only */
	const char *real;     /* path of the file */
	uint64_t end;         /* bytes of the file that are covered */
	void *memory;         /* the marks, and without a file the entries */
	size_t memory_bytes;
	char *path;
	bool written; /* some client writes */
};

struct verify_store {
	struct area *area;
	unsigned count;
	struct verify_file **file;
	unsigned nfiles;
	uint64_t id; /* of maps in memory */
};

/* ---- which maps are needed ---- */

uint64_t verify_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

uint64_t verify_unit(const struct verify_client *client)
{
	const struct job *job = client->job;
	uint64_t unit = 0;

	for (unsigned d = DDIR_READ; d <= DDIR_WRITE; d++) {
		if (!(d == DDIR_READ ? rw_reads(job->rw) : rw_writes(job->rw)))
			continue;
		unit = verify_divisor(verify_divisor(unit, job_bs_min(job, d)), job_bs_max(job, d));
		unit = verify_divisor(unit, job->blockalign[d]);
		for (unsigned i = 0; i < job->bssplit[d].count; i++)
			unit = verify_divisor(unit, job->bssplit[d].part[i].bs);
		if (job->bs_range[d].hi && job->bs_unaligned)
			unit = 1;
	}
	for (unsigned i = 0; i < client->files->count; i++)
		unit = verify_divisor(unit, client->files->file[i].start);
	return unit;
}

static bool same_map(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static struct area *find_area(struct verify_store *store, const char *map_path, const char *path)
{
	for (unsigned i = 0; i < store->count; i++)
		if (same_map(store->area[i].map_path, map_path) && strcmp(store->area[i].path, path) == 0)
			return &store->area[i];
	return NULL;
}

static struct area *add_area(struct verify_store *store, const char *map_path, const char *path, struct error *e)
{
	struct area *grown = realloc(store->area, (store->count + 1) * sizeof(*grown)), *a;

	if (!grown) {
		error_errno(e, STATUS_FAILED, "generation map");
		return NULL;
	}
	store->area = grown;
	a = &grown[store->count];
	*a = (struct area){ .map_path = map_path, .path = strdup(path) };
	if (!a->path) {
		error_errno(e, STATUS_FAILED, "generation map");
		return NULL;
	}
	a->area.path = a->path;
	a->area.file = verify_file_number(path);
	store->count++;
	return a;
}

/* A job that only reads, and names no map, has none unless another job of the run writes the file. */
static int add_client(struct verify_store *store, const struct verify_client *c, struct error *e)
{
	const struct job *job = c->job;
	bool writes = rw_writes(job->rw) && !job->verify_only;
	uint64_t unit = verify_unit(c);

	if (unit % VERIFY_SECTOR)
		return error_set(e, STATUS_FAILED, "%s: verify=: block sizes, alignments and offset= must be multiples of %u",
				 job->name, VERIFY_SECTOR);
	if (job->verify_name && c->files->count > 1)
		return error_set(e, STATUS_FAILED, "%s: verify_name= is a name for one file, this job has %u", job->name,
				 c->files->count);
	if (!writes && !job->verify_map)
		return 0;
	for (unsigned i = 0; i < c->files->count; i++) {
		const struct file *f = &c->files->file[i];
		const char *name = verify_known_as(job, f->path);
		struct area *a = find_area(store, job->verify_map, name);

		if (!a && (a = add_area(store, job->verify_map, name, e)))
			a->real = f->path;
		if (!a)
			return -1;
		if (strcmp(a->real, f->path) != 0)
			return error_set(e, STATUS_FAILED, "%s: verify_name=%s: %s has that name, %s cannot have it, too", job->name,
					 name, a->real, f->path);
		a->written |= writes;
		if (!writes)
			continue;
		a->area.unit = verify_divisor(a->area.unit, unit);
		if (f->start + f->bytes > a->end)
			a->end = f->start + f->bytes;
	}
	return 0;
}

/* ---- their memory ---- */

/* Of most maps only a part is ever touched: a system that counts the whole beforehand would refuse them. */
#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

static int share_memory(struct area *a, size_t bytes, struct error *e)
{
	a->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON | MAP_NORESERVE, -1, 0);
	if (a->memory == MAP_FAILED) {
		a->memory = NULL;
		return error_errno(e, STATUS_FAILED, "cannot get %zu bytes for the generation map of %s", bytes, a->path);
	}
	a->memory_bytes = bytes;
	return 0;
}

static struct verify_file *open_file(struct verify_store *store, const struct area *a, struct error *e)
{
	struct verify_file **grown;
	bool written = false;

	for (unsigned i = 0; i < store->nfiles; i++)
		if (strcmp(verify_file_path(store->file[i]), a->map_path) == 0)
			return store->file[i];
	for (unsigned i = 0; i < store->count; i++)
		written |= store->area[i].written && same_map(store->area[i].map_path, a->map_path);
	grown = realloc(store->file, (store->nfiles + 1) * sizeof(*grown));
	if (!grown) {
		error_errno(e, STATUS_FAILED, "generation map");
		return NULL;
	}
	store->file = grown;
	grown[store->nfiles] = verify_file_open(a->map_path, written, store->id, e);
	return grown[store->nfiles] ? grown[store->nfiles++] : NULL;
}

static int open_area(struct verify_store *store, struct area *a, struct error *e)
{
	struct verify_map *map = &a->area.map;
	uint64_t blocks = a->area.unit ? (a->end + a->area.unit - 1) / a->area.unit : 0;
	size_t marks;
	struct verify_file *file = NULL;

	if (a->map_path) {
		file = open_file(store, a, e);
		if (!file || verify_file_area(file, a->written, a->end, &a->area, e) < 0)
			return -1;
		blocks = map->blocks;
	}
	map->blocks = blocks;
	a->area.id = file ? a->area.id : store->id;
	marks = (size_t)(blocks / VERIFY_CHUNK + 1);
	marks = (marks + 7) / 8 * 8;
	if (share_memory(a, marks + (file ? 0 : (size_t)blocks * sizeof(*map->entry)), e) < 0)
		return -1;
	map->changed = a->memory;
	if (!file)
		map->entry = (uint64_t *)(void *)(map->changed + marks);
	return 0;
}

static int check_size(const struct verify_store *store, const struct note_sink *notes, struct error *e)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < store->count; i++)
		if (store->area[i].area.unit)
			bytes += store->area[i].end / store->area[i].area.unit * sizeof(uint64_t);
	if (bytes > VERIFY_MAP_LIMIT)
		return error_set(e, STATUS_FAILED, "verify=: the generation maps would take %llu MiB, at most %llu are "
				 "allowed: choose larger blocks or a smaller size=", (unsigned long long)bytes >> 20,
				 (unsigned long long)VERIFY_MAP_LIMIT >> 20);
	if (bytes > NOTEWORTHY)
		note_send(notes, "kickio: verify=: the generation maps may grow to %llu MiB of memory",
			  (unsigned long long)bytes >> 20);
	return 0;
}

/* Not what jobs are seeded with: it must differ from run to run. Never 0. */
static uint64_t fresh_id(void)
{
	struct timespec t;
	struct random64 r;

	clock_gettime(CLOCK_REALTIME, &t);
	r = random64_stream((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec, (uint64_t)getpid());
	return random64_next(&r) | 1;
}

int verify_store_open(struct verify_store **store, const struct verify_client *clients, unsigned count,
		      const struct note_sink *notes, struct error *e)
{
	struct verify_store *s;
	int r = 0;

	*store = NULL;
	if (count == 0)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_errno(e, STATUS_FAILED, "generation map");
	s->id = fresh_id();
	for (unsigned i = 0; r == 0 && i < count; i++)
		r = add_client(s, &clients[i], e);
	if (r == 0)
		r = check_size(s, notes, e);
	for (unsigned i = 0; r == 0 && i < s->count; i++)
		r = open_area(s, &s->area[i], e);
	if (r < 0)
		verify_store_close(s, false);
	else
		*store = s;
	return r;
}

struct verify_area *verify_store_find(struct verify_store *store, const struct job *job, const char *path)
{
	struct area *a = store ? find_area(store, job->verify_map, verify_known_as(job, path)) : NULL;

	return a ? &a->area : NULL;
}

bool verify_store_tell(struct verify_store *store, struct text *out, size_t limit)
{
	size_t told = 0;
	bool more = false;

	for (unsigned i = 0; store && i < store->count && !more; i++) {
		struct verify_area *a = &store->area[i].area;
		struct text runs = {0};

		more = told >= limit || verify_map_encode(&a->map, &runs, limit - told);
		told += runs.length;
		if (runs.length) {
			text_add(out, "%s{\"path\":", told == runs.length ? ",\"verify_map\":[" : ",");
			text_add_json_string(out, a->path);
			text_add(out, ",\"map\":\"%016llx\",\"unit\":%llu,\"blocks\":%llu,\"runs\":\"%s\"}",
				 (unsigned long long)a->id, (unsigned long long)a->unit,
				 (unsigned long long)a->map.blocks, text_get(&runs));
		}
		text_free(&runs);
	}
	if (told)
		text_add(out, "]");
	return more;
}

const char *verify_store_path(const struct verify_store *store, uint32_t file)
{
	for (unsigned i = 0; store && i < store->count; i++)
		if (store->area[i].area.file == file)
			return store->area[i].path;
	return NULL;
}

void verify_store_close(struct verify_store *store, bool whole)
{
	if (!store)
		return;
	for (unsigned i = 0; i < store->nfiles; i++)
		verify_file_close(store->file[i], whole);
	for (unsigned i = 0; i < store->count; i++) {
		if (store->area[i].memory)
			munmap(store->area[i].memory, store->area[i].memory_bytes);
		free(store->area[i].path);
	}
	free(store->file);
	free(store->area);
	free(store);
}
