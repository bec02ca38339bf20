/* From workloads with lists to cells with argument vectors. */
#include "host/plan.h"

#include <stdlib.h>
#include <string.h>

#include "guest/options.h"

#define MOST_CELLS 10000

/* Options that the suite sets, or that would take the result elsewhere. */
static const struct { const char *name, *why; } reserved[] = {
	{ "name", "the section's name is the job's name" },
	{ "filename", "kickbench points the job at the test disk" },
	{ "directory", "kickbench points the job at the test disk" },
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

static bool given(const struct workload *w, const char *name)
{
	for (size_t i = 0; i < w->noptions; i++)
		if (!strcmp(w->option[i].name, name))
			return true;
	return false;
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

/* kickio's own reading of the cell: whatever it would refuse in the guest is refused here. */
static int read_job(const struct scenario *s, const struct workload *w, struct cell *c, struct error *e)
{
	char **argv = calloc(c->argc + 3, sizeof(*argv));
	struct error inner = { 0 };
	struct text notes = { 0 };
	struct jobs jobs = { 0 };
	const struct job *j;
	uint64_t disk = s->variant[s->baseline].settings.size, per_job, offset, rest, bs;

	if (!argv)
		return no_memory(e);
	argv[0] = (char *)"kickio";
	memcpy(argv + 1, c->argv, c->argc * sizeof(*argv));
	argv[c->argc + 1] = (char *)"--filename=/dev/disk";
	if (options_parse((int)c->argc + 2, argv, &jobs, &notes, &inner)) {
		free(argv);
		text_free(&notes);
		return error_at(e, STATUS_USAGE, s->file, w->line, "[workload %s]: %s", w->name, inner.text);
	}
	j = &jobs.job[0];
	for (size_t i = 0; i < s->nvariants; i++)
		if (s->variant[i].settings.size < disk)
			disk = s->variant[i].settings.size;
	bs = j->bs[rw_reads(j->rw) ? DDIR_READ : DDIR_WRITE];
	offset = j->offset.percent ? disk / 100 * j->offset.percent : j->offset.bytes;
	rest = disk > offset ? disk - offset : 0;
	per_job = j->size.percent ? disk / 100 * j->size.percent : j->size.bytes ? j->size.bytes : rest;
	if (j->size.percent && per_job > rest) /* fio takes what is there */
		per_job = rest;
	if (per_job > rest || per_job == 0)
		error_at(e, STATUS_USAGE, s->file, w->line,
			 "[workload %s]: size %llu at offset %llu is not on the test disk of %llu bytes: make disk.size larger",
			 w->name, (unsigned long long)j->size.bytes, (unsigned long long)offset, (unsigned long long)disk);
	if (j->io_size.bytes)
		per_job = j->io_size.bytes;
	if (j->number_ios && j->number_ios < per_job / bs)
		per_job = j->number_ios * bs;
	c->writes = rw_writes(j->rw);
	c->bytes = per_job * j->numjobs;
	c->ios = c->bytes / bs;
	c->own_seed = given(w, "randseed") || given(w, "randrepeat");
	*(j->time_based ? &c->fixed_s : &c->limit_s) = (double)(j->runtime_us + j->ramp_us) / 1e6;
	jobs_free(&jobs);
	free(argv);
	text_free(&notes);
	return e->status ? -1 : 0;
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
	if (!given(w, "group_reporting") && add_argument(c, "group_reporting", NULL))
		goto memory;
	c->point = point.failed ? NULL : strdup(text_get(&point));
	text_free(&point);
	if (!c->point || name_cell(s, c))
		goto memory;
	return read_job(s, w, c, e);
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
