#include "host/regress_jobs.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB (1ull << 30)
#define LARGEST (64u << 10) /* block of the mixtures */
#define SOME (2u << 20)     /* what a job at random writes */
#define LEAST_FAR (16u << 10)
#define FAR (64 * GIB)      /* beyond, maps of small blocks would not fit: they count from the disk's start */

/* How a system does many requests at once, and past its cache. */
struct system {
	const char *os;
	const char *deep, *deeper; /* engines for a depth; deeper is the second one, where there is one */
	bool direct;               /* both ways exist and differ */
};

static const struct system systems[] = {
	{ "Linux", "libaio", "io_uring", true },
	{ "FreeBSD", "posixaio", "posixaio", false },
	{ NULL, "psync", "psync", false },
};

static const struct system *system_of(const char *os)
{
	size_t i = 0;

	while (systems[i].os && strcmp(systems[i].os, os))
		i++;
	return &systems[i];
}

static bool has_depth(const char *engine)
{
	return strcmp(engine, "psync") != 0;
}

size_t regress_areas(uint64_t bytes, struct regress_area area[REGRESS_AREAS])
{
	const struct regress_area at[REGRESS_AREAS] = {
		{ 0, 0, "its start" }, { 2 * GIB, 0, "around 2 GiB" }, { 4 * GIB, 0, "around 4 GiB" }, { bytes, 0, "its end" },
	};
	size_t n = 0;

	if (bytes <= REGRESS_WHOLE) {
		area[0] = (struct regress_area){ 0, bytes, "the whole disk" };
		return 1;
	}
	for (size_t i = 0; i < REGRESS_AREAS; i++) {
		uint64_t from = at[i].offset > REGRESS_NEAR ? at[i].offset - REGRESS_NEAR : 0;
		uint64_t end = at[i].offset + REGRESS_NEAR < bytes ? at[i].offset + REGRESS_NEAR : bytes;

		if (at[i].offset > bytes)
			continue;
		from -= from % LARGEST;
		if (end > FAR)
			end -= end % LEAST_FAR;
		if (n && from <= area[n - 1].offset + area[n - 1].bytes)
			area[n - 1].bytes = end - area[n - 1].offset;
		else
			area[n++] = (struct regress_area){ from, end - from, at[i].where };
	}
	return n;
}

unsigned regress_block(uint64_t bytes, unsigned least)
{
	return bytes < LARGEST ? least : bytes > FAR ? LEAST_FAR : 4096;
}

static int argument(struct regress_job *job, struct error *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int argument(struct regress_job *job, struct error *e, const char *fmt, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (job->argc < REGRESS_ARGUMENTS)
		job->argv[job->argc] = strdup(text);
	if (job->argc >= REGRESS_ARGUMENTS || !job->argv[job->argc])
		return error_set(e, STATUS_HOST, "out of memory");
	job->argc++;
	return 0;
}

/* Blocks of all sizes that the disk takes, most of them small; of a disk that is too small for them, its own alone. */
static void block_sizes(const struct matrix_cell *cell, const struct regress_area *area, uint64_t bytes, char out[64])
{
	if (bytes < LARGEST)
		snprintf(out, 64, "--bs=%u", cell->block_size);
	else if (area->offset + area->bytes > FAR)
		snprintf(out, 64, "--bssplit=16k/70:64k/30");
	else
		snprintf(out, 64, "--bssplit=%s", cell->block_size <= 512 ? "512/5:1k/5:4k/50:16k/30:64k/10" : "4k/55:16k/30:64k/15");
}

/* One job: what differs between them. */
struct shape {
	const char *rw, *engine;
	unsigned depth, numjobs, fsync;
	bool direct, last;
	uint64_t some; /* bytes, 0: all of the area */
};

static void name_it(struct regress_job *job, const struct shape *s, const struct regress_area *area, bool both)
{
	size_t used = (size_t)snprintf(job->name, sizeof(job->name), "verify %s, %s depth %u", s->rw, s->engine, s->depth);

	if (s->numjobs > 1)
		used += (size_t)snprintf(job->name + used, sizeof(job->name) - used, ", %u jobs", s->numjobs);
	if (both)
		used += (size_t)snprintf(job->name + used, sizeof(job->name) - used, ", %s", s->direct ? "direct" : "buffered");
	snprintf(job->name + used, sizeof(job->name) - used, ", %s", area->where);
}

static int add(struct regress_jobs *jobs, const struct matrix_cell *cell, const struct system *system, const struct shape *s,
	       const struct regress_area *area, struct error *e)
{
	struct regress_job *job = &jobs->job[jobs->count];
	/* Jobs beside each other have a part each. */
	uint64_t part = s->numjobs > 1 ? area->bytes / s->numjobs / 4096 * 4096 : area->bytes;
	char blocks[64];

	if (jobs->count == REGRESS_JOBS)
		return error_set(e, STATUS_HOST, "more jobs than there is room for");
	jobs->count++;
	job->last = s->last;
	job->writes = !cell->readonly;
	job->bytes = s->numjobs * (s->some && s->some < part ? s->some : part);
	name_it(job, s, area, system->direct);
	block_sizes(cell, area, part, blocks);
	if (argument(job, e, "--name=verify") || argument(job, e, "--rw=%s", s->rw) || argument(job, e, "%s", blocks) ||
	    argument(job, e, "--offset=%" PRIu64, area->offset) || argument(job, e, "--size=%" PRIu64, part) ||
	    argument(job, e, "--ioengine=%s", s->engine) || argument(job, e, "--iodepth=%u", s->depth) ||
	    argument(job, e, "--verify=" REGRESS_VERIFY) || argument(job, e, "--verify_name=" REGRESS_NAME))
		return -1;
	if (s->direct && argument(job, e, "--direct=1"))
		return -1;
	if (s->some && s->some < part && argument(job, e, "--io_size=%" PRIu64, s->some))
		return -1;
	if (s->fsync && argument(job, e, "--fsync=%u", s->fsync))
		return -1;
	if (s->numjobs > 1 && (argument(job, e, "--numjobs=%u", s->numjobs) ||
			       argument(job, e, "--offset_increment=%" PRIu64, part)))
		return -1;
	return 0;
}

/* At random and few first, then every block once and in order: what the host will look at. */
static int write_jobs(struct regress_jobs *jobs, const struct matrix_cell *cell, const struct system *system,
		      const struct regress_area *area, size_t nareas, struct error *e)
{
	unsigned deep = has_depth(system->deep) ? 32 : 1;
	const struct regress_area *end = &area[nareas - 1];
	const struct shape one = { "randwrite", "psync", 1, 1, 0, system->direct, false, SOME };
	const struct shape many = { "randrw", system->deeper, has_depth(system->deeper) ? 8 : 1, 4, 0, system->direct, false, SOME / 2 };
	const struct shape buffered = { "randwrite", "psync", 1, 1, 16, false, false, SOME };
	const struct shape whole = { "write", system->deep, deep, 1, 0, system->direct, true, 0 };

	if (add(jobs, cell, system, &one, end, e))
		return -1;
	if (end->bytes >= many.numjobs * LARGEST && add(jobs, cell, system, &many, end, e))
		return -1;
	if (system->direct && add(jobs, cell, system, &buffered, end, e))
		return -1;
	for (size_t i = 0; i < nareas; i++)
		if (add(jobs, cell, system, &whole, &area[i], e))
			return -1;
	return 0;
}

/* A disk that was filled beforehand. */
static int read_jobs(struct regress_jobs *jobs, const struct matrix_cell *cell, const struct system *system,
		     const struct regress_area *area, size_t nareas, struct error *e)
{
	const struct shape deep = { "read", system->deep, has_depth(system->deep) ? 32 : 1, 1, 0, system->direct, false, 0 };
	const struct shape one = { "randread", "psync", 1, 1, 0, false, false, SOME };

	if (add(jobs, cell, system, &one, &area[nareas - 1], e))
		return -1;
	for (size_t i = 0; i < nareas; i++)
		if (add(jobs, cell, system, &deep, &area[i], e))
			return -1;
	return 0;
}

int regress_jobs_make(const struct matrix_cell *cell, const char *os, struct regress_jobs *out, struct error *e)
{
	const struct system *system = system_of(os);
	struct regress_area area[REGRESS_AREAS];
	size_t n = regress_areas(cell->bytes, area);

	*out = (struct regress_jobs){ .count = 0 };
	if (cell->readonly ? read_jobs(out, cell, system, area, n, e) : write_jobs(out, cell, system, area, n, e)) {
		regress_jobs_free(out);
		return -1;
	}
	return 0;
}

static bool is_chosen(const struct matrix *m, const char *option)
{
	for (size_t i = 0; i < m->noptions; i++)
		if (!strcmp(m->option[i].name, option))
			return true;
	return false;
}

int regress_jobs_check(const struct matrix *matrix, const struct matrix_cell *cell, const char *serial, struct regress_jobs *out,
		       struct error *e)
{
	struct regress_job *job = &out->job[0];

	*out = (struct regress_jobs){ .count = 1 };
	snprintf(job->name, sizeof(job->name), "the disk at its edges");
	/* It is a disk of the cell's own; what a read-only one takes all the same, the jobs behind this one find. */
	if (argument(job, e, "--destroy=1") || argument(job, e, "--serial=%s", serial) ||
	    argument(job, e, "--size=%" PRIu64, cell->bytes) || argument(job, e, "--sector=%u", cell->block_size) ||
	    argument(job, e, "--readonly=%d", cell->readonly))
		goto fail;
	/* What nobody has chosen is QEMU's own choice, of this version or that one. */
	if (is_chosen(matrix, "write_cache") && argument(job, e, "--write-cache=%d", cell->write_cache))
		goto fail;
	if (is_chosen(matrix, "discard") && !cell->readonly && argument(job, e, "--discard=%d", cell->discard))
		goto fail;
	return 0;
fail:
	regress_jobs_free(out);
	return -1;
}

void regress_jobs_free(struct regress_jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++)
		for (size_t k = 0; k < jobs->job[i].argc; k++)
			free(jobs->job[i].argv[k]);
	*jobs = (struct regress_jobs){ .count = 0 };
}

/* Mixed blocks do not fill an area to the last byte, and half of what a mixture does are reads: a quarter tells nothing from something. */
#define LEAST_PART 4

bool regress_job_did(const json_t *fio, uint64_t bytes, bool writes, char *why, size_t room)
{
	uint64_t read = 0, written = 0;
	const json_t *job;
	size_t i;

	json_array_foreach(json_object_get(fio, "jobs"), i, job) {
		read += (uint64_t)json_integer_value(json_object_get(json_object_get(job, "read"), "io_bytes"));
		written += (uint64_t)json_integer_value(json_object_get(json_object_get(job, "write"), "io_bytes"));
	}
	if ((writes ? written : read) < bytes / LEAST_PART || !read) {
		snprintf(why, room, "the job ended as if all were well, and wrote %" PRIu64 " and read %" PRIu64 " of %" PRIu64 " bytes", written, read,
			 bytes);
		return false;
	}
	return true;
}
