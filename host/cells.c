/* From workloads with lists to cells with argument vectors. */
#include "host/plan.h"

#include <stdlib.h>
#include <string.h>

#include "guest/options.h"
#include "host/cells_probe.h"
#include "host/filesystem.h"

#define MOST_CELLS 10000

/* Options that the suite sets, or that would take the result elsewhere. */
static const struct { const char *name, *why; } reserved[] = {
	{ "name", "the section's name is the job's name" },
	{ "status-interval", "progress comes back over the serial line" },
	{ "write_bw_log", "files in the guest are gone with it" },
	{ "write_hist_log", "files in the guest are gone with it" },
	{ "write_iops_log", "files in the guest are gone with it" },
	{ "write_lat_log", "files in the guest are gone with it" },
	{ "output", "the result comes back over the serial line" },
	{ "output-format", "the result comes back over the serial line" },
	{ "eta", "progress comes back over the serial line" },
	{ "eta-newline", "progress comes back over the serial line" },
	{ "eta-interval", "progress comes back over the serial line" },
	{ "parse-only", "the job is meant to run" },
	{ "readonly", "leave it out: a job that only reads cannot write" },
};

static int no_memory(struct error *e)
{
	return error_set(e, STATUS_HOST, "out of memory");
}

static const struct workload_option *find_option(const struct workload *w, const char *name)
{
	for (size_t i = 0; i < w->noptions; i++)
		if (!strcmp(w->option[i].name, name))
			return &w->option[i];
	return NULL;
}

static bool given(const struct workload *w, const char *name)
{
	return find_option(w, name) != NULL;
}

static int check_reserved(const struct workload *w, struct error *e)
{
	for (size_t i = 0; i < w->noptions; i++)
		for (size_t k = 0; k < sizeof(reserved) / sizeof(reserved[0]); k++)
			if (!strcmp(w->option[i].name, reserved[k].name))
				return error_at(e, STATUS_USAGE, w->option[i].file, w->option[i].line, "%s in [workload %s]: %s",
						reserved[k].name, w->name, reserved[k].why);
	return 0;
}

static int add_argument(struct cell *c, const char *name, const char *value)
{
	struct text t = { 0 };
	char **grown = realloc(c->argv, (c->argc + 1) * sizeof(*grown));

	if (!grown)
		return -1;
	c->argv = grown;
	text_add(&t, value ? "--%s=%s" : "--%s", name, value);
	c->argv[c->argc] = t.failed ? NULL : strdup(text_get(&t));
	text_free(&t);
	return c->argv[c->argc++] ? 0 : -1;
}

/* ---- the disk or files on it ---- */

static bool has_upwards(const char *path, size_t length)
{
	for (size_t i = 0; i + 1 < length; i++)
		if (path[i] == '.' && path[i + 1] == '.' && (i == 0 || path[i - 1] == '/') && (i + 2 == length || path[i + 2] == '/'))
			return true;
	return false;
}

/* One name of a list: below the mounted file system; itself only as a folder, relative only below one. */
static bool inside(const char *path, size_t length, bool folder, bool relative)
{
	size_t root = strlen(FILESYSTEM_PATH);

	if (has_upwards(path, length) || length == 0)
		return false;
	if (relative)
		return true;
	if (length < root || strncmp(path, FILESYSTEM_PATH, root))
		return false;
	return length == root ? folder : path[root] == '/' && (folder || length > root + 1);
}

/* All names of a list separated by ':' ('\:' is part of a name). Returns how many, 0 when one is elsewhere. */
static unsigned names_inside(const char *list, bool folder, bool relative)
{
	unsigned n = 0;
	size_t length;

	do {
		for (length = 0; list[length] && list[length] != ':'; length++)
			if (list[length] == '\\' && list[length + 1] == ':')
				length++;
		if (!inside(list, length, folder, relative))
			return 0;
		n++;
		list += length + (list[length] == ':');
	} while (*list);
	return n;
}

/* Names of files need a file system on every variant's disk, and a disk with one is not written over. */
static int check_place(const struct scenario *s, const struct workload *w, bool writes, struct error *e)
{
	const struct workload_option *named = find_option(w, "filename"), *folder = find_option(w, "directory");
	const struct workload_option *at = named ? named : folder;

	for (size_t i = 0; i < s->nvariants; i++) {
		bool none = s->variant[i].settings.filesystem == FILESYSTEM_NONE;

		if (at && none)
			return error_at(e, STATUS_USAGE, at->file, at->line, "%s in [workload %s]: kickbench points the job at the test "
					"disk; with filesystem = ext4 or xfs in [disk] files below " FILESYSTEM_PATH " can be named",
					at->name, w->name);
		if (!at && !none && writes)
			return error_at(e, STATUS_USAGE, s->file, w->line, "[workload %s] would write over the %s of the test disk: "
					"name files below " FILESYSTEM_PATH " (directory = " FILESYSTEM_PATH ")", w->name,
					filesystem_name(s->variant[i].settings.filesystem));
	}
	for (size_t v = 0; folder && v < folder->nvalues; v++)
		if (!names_inside(folder->value[v], true, false))
			return error_at(e, STATUS_USAGE, folder->file, folder->line, "directory = %s in [workload %s] is not below "
					FILESYSTEM_PATH ", where the test disk is mounted", folder->value[v], w->name);
	for (size_t v = 0; named && v < named->nvalues; v++)
		if (!names_inside(named->value[v], false, folder != NULL))
			return error_at(e, STATUS_USAGE, named->file, named->line, "filename = %s in [workload %s] is not below "
					FILESYSTEM_PATH ", where the test disk is mounted", named->value[v], w->name);
	return 0;
}

/* ---- how much ---- */

static uint64_t smallest_disk(const struct scenario *s)
{
	uint64_t disk = s->variant[s->baseline].settings.size;

	for (size_t i = 0; i < s->nvariants; i++)
		if (s->variant[i].settings.size < disk)
			disk = s->variant[i].settings.size;
	return disk;
}

/* Bytes of one clone of a job on the disk itself. 0: e is set. */
static uint64_t bytes_of_disk(const struct scenario *s, const struct workload *w, const struct job *j, struct error *e)
{
	uint64_t disk = smallest_disk(s), offset, rest, bytes;

	offset = j->offset.percent ? disk / 100 * j->offset.percent : j->offset.bytes;
	rest = disk > offset ? disk - offset : 0;
	bytes = j->size.percent ? disk / 100 * j->size.percent : j->size.bytes ? j->size.bytes : rest;
	if (j->size.percent && bytes > rest) /* fio takes what is there */
		bytes = rest;
	if (bytes <= rest && bytes)
		return bytes;
	error_at(e, STATUS_USAGE, s->file, w->line,
		 "[workload %s]: size %llu at offset %llu is not on the test disk of %llu bytes: make disk.size larger",
		 w->name, (unsigned long long)j->size.bytes, (unsigned long long)offset, (unsigned long long)disk);
	return 0;
}

/* The same of a job on files, which have to have room. */
static uint64_t bytes_of_files(const struct scenario *s, const struct workload *w, const struct job *j, struct error *e)
{
	uint64_t disk = smallest_disk(s), all, bytes;
	unsigned files = j->filename ? names_inside(j->filename, false, true) : j->nrfiles ? j->nrfiles : 1;

	all = j->filesize.hi ? j->filesize.hi * files : j->size.bytes;
	bytes = j->size.bytes ? j->size.bytes : all;
	if (bytes == 0) {
		error_at(e, STATUS_USAGE, s->file, w->line, "[workload %s]: its files need a size or filesize", w->name);
		return 0;
	}
	if (j->filesize.hi > disk || all > disk || (!j->filename && all > disk / j->numjobs)) {
		error_at(e, STATUS_USAGE, s->file, w->line,
			 "[workload %s]: its files do not fit on the test disk of %llu bytes: make disk.size larger", w->name,
			 (unsigned long long)disk);
		return 0;
	}
	return bytes;
}

static void measure_job(const struct job *j, uint64_t per_job, struct cell *c)
{
	enum ddir ddir = rw_reads(j->rw) ? DDIR_READ : DDIR_WRITE;
	uint64_t bs = (job_bs_min(j, ddir) + job_bs_max(j, ddir)) / 2, loops = j->loops ? j->loops : 1;

	if (j->io_size.bytes)
		per_job = j->io_size.bytes;
	if (j->number_ios && j->number_ios < per_job / bs)
		per_job = j->number_ios * bs;
	if (__builtin_mul_overflow(per_job, j->numjobs * loops, &c->bytes))
		c->bytes = UINT64_MAX;
	c->ios = c->bytes / bs;
	*(j->time_based ? &c->fixed_s : &c->limit_s) = (double)(j->runtime_us + j->ramp_us) / 1e6;
}

/* The options without directory, which has to exist where it is read: check_place has looked at it. */
static char **without_directory(const struct cell *c, int *argc)
{
	char **argv = calloc(c->argc + 3, sizeof(*argv));
	size_t n = 1;

	if (!argv)
		return NULL;
	argv[0] = (char *)"kickio";
	for (size_t i = 0; i < c->argc; i++)
		if (strncmp(c->argv[i], "--directory", 11))
			argv[n++] = c->argv[i];
	if (!c->on_files)
		argv[n++] = (char *)"--filename=/dev/disk";
	*argc = (int)n;
	return argv;
}

/* kickio's own reading of the cell: whatever it would refuse in the guest is refused here. */
static int read_job(const struct scenario *s, const struct workload *w, struct cell *c, struct error *e)
{
	struct error inner = { 0 };
	struct text notes = { 0 };
	struct jobs jobs = { 0 };
	uint64_t bytes = 0;
	char **argv;
	int argc;

	c->on_files = given(w, "filename") || given(w, "directory");
	argv = without_directory(c, &argc);
	if (!argv)
		return no_memory(e);
	if (options_parse(argc, argv, &jobs, &notes, &inner)) {
		error_at(e, STATUS_USAGE, s->file, w->line, "[workload %s]: %s", w->name, inner.text);
	} else if (check_place(s, w, rw_writes(jobs.job[0].rw), e) == 0) {
		const struct job *j = &jobs.job[0];

		bytes = c->on_files ? bytes_of_files(s, w, j, e) : bytes_of_disk(s, w, j, e);
		c->writes = c->on_files || rw_writes(j->rw);
		c->own_seed = given(w, "randseed") || given(w, "randrepeat");
		if (bytes)
			measure_job(j, bytes, c);
	}
	jobs_free(&jobs);
	free(argv);
	text_free(&notes);
	return bytes ? 0 : -1;
}

static int name_cell(const struct scenario *s, struct cell *c)
{
	struct text t = { 0 };

	if (s->nguests > 1)
		text_add(&t, "%s: ", s->guest[c->guest].name);
	text_add(&t, "%s%s%s", s->workload[c->workload].name, *c->point ? " " : "", c->point);
	c->name = t.failed ? NULL : strdup(text_get(&t));
	text_free(&t);
	return c->name ? 0 : -1;
}

/* Make one cell: index is the point's number in the sweep, the first option with a list turning slowest. */
static int make_cell(const struct scenario *s, unsigned guest, unsigned workload, size_t index, size_t points,
		     struct cell *c, struct error *e)
{
	const struct workload *w = &s->workload[workload];
	bool probe = s->guest[guest].tool == TOOL_PROBE;
	struct text point = { 0 };

	c->guest = guest;
	c->workload = workload;
	if (add_argument(c, "name", w->name))
		goto memory;
	for (size_t i = 0; i < w->noptions; i++) {
		const struct workload_option *o = &w->option[i];
		const char *value = o->value[0];

		if (o->nvalues > 1) {
			points /= o->nvalues;
			value = o->value[index / points % o->nvalues];
			text_add(&point, "%s%s=%s", point.length ? " " : "", o->name, value);
		}
		if (add_argument(c, o->name, *value ? value : NULL))
			goto memory;
	}
	if (!probe && !given(w, "group_reporting") && add_argument(c, "group_reporting", NULL))
		goto memory;
	c->point = point.failed ? NULL : strdup(text_get(&point));
	text_free(&point);
	if (!c->point || name_cell(s, c))
		goto memory;
	return probe ? cells_probe_read(s, w, c, e) : read_job(s, w, c, e);
memory:
	text_free(&point);
	return no_memory(e);
}

/* Points of a workload's sweep; anything above MOST_CELLS where there are more. */
static size_t count_points(const struct workload *w)
{
	size_t points = 1;

	for (size_t i = 0; i < w->noptions && points <= MOST_CELLS; i++)
		points *= w->option[i].nvalues;
	return points;
}

int plan_cells(const struct scenario *s, struct plan *p, struct error *e)
{
	for (unsigned g = 0; g < s->nguests; g++)
		for (unsigned w = 0; w < s->nworkloads; w++) {
			size_t points;
			struct cell *grown;

			if (check_reserved(&s->workload[w], e))
				return -1;
			points = count_points(&s->workload[w]);
			if (points + p->ncells > MOST_CELLS)
				return error_at(e, STATUS_USAGE, s->file, s->workload[w].line,
						"[workload %s]: the scenario has more than %d cells", s->workload[w].name, MOST_CELLS);
			grown = realloc(p->cell, (p->ncells + points) * sizeof(*grown));
			if (!grown)
				return no_memory(e);
			p->cell = grown;
			for (size_t i = 0; i < points; i++) {
				p->cell[p->ncells] = (struct cell){ 0 };
				if (make_cell(s, g, w, i, points, &p->cell[p->ncells++], e))
					return -1;
			}
		}
	return 0;
}
