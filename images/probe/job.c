#include "images/probe/job.h"

#include <stdio.h>
#include <string.h>

#define COUNT_MAX 10000000

struct option {
	const char *name;
	const char *const *words; /* of a choice; NULL: a number */
	unsigned nwords;
	uint32_t low, high, step;
};

enum { MODE, OP, BS, REQUESTS, DEPTH, COUNT, OMIT_KICK, IGNORE_INTERRUPT, OPTIONS };

static const char *const modes[] = {"kick", "done-irq", "events", "cpu", "health", "all"};
static const char *const ops[] = {"read", "write", "flush"};

static const struct option options[OPTIONS] = {
	[MODE] = {"mode", modes, JOB_MODES, 0, 0, 0},
	[OP] = {"op", ops, 3, 0, 0, 0},
	[BS] = {"bs", NULL, 0, BLK_SECTOR, BLK_BYTES_MAX, BLK_SECTOR},
	[REQUESTS] = {"requests", NULL, 0, 0, RING_SIZE_MAX, 1},
	[DEPTH] = {"depth", NULL, 0, 1, RING_SIZE_MAX, 1},
	[COUNT] = {"count", NULL, 0, 1, COUNT_MAX, 1},
	[OMIT_KICK] = {"omit-kick", NULL, 0, 1, COUNT_MAX, 1},
	[IGNORE_INTERRUPT] = {"ignore-interrupt", NULL, 0, 1, COUNT_MAX, 1},
};

const char *job_mode_name(enum job_mode mode)
{
	return modes[mode];
}

const char *job_op_name(enum blk_op op)
{
	return ops[op];
}

static int choose(const struct option *o, const char *value, uint32_t *to, struct error *e)
{
	char all[80] = "";
	size_t used = 0;

	for (unsigned i = 0; i < o->nwords; i++) {
		if (strcmp(value, o->words[i]) == 0) {
			*to = i;
			return 0;
		}
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "", o->words[i]);
	}
	return error_set(e, STATUS_FAILED, "--%s=%.40s: there is %s", o->name, value, all);
}

/* A whole number, with a k (1024) behind it if one likes. */
static int read_number(const struct option *o, const char *value, uint32_t *to, struct error *e)
{
	uint64_t v = 0;
	const char *p = value;

	for (; *p >= '0' && *p <= '9' && v < UINT32_MAX; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	if (p != value && *p == 'k') {
		v *= 1024;
		p++;
	}
	if (p == value || *p)
		return error_set(e, STATUS_FAILED, "--%s=%.40s: not a whole number", o->name, value);
	if (v < o->low || v > o->high || v % o->step)
		return error_set(e, STATUS_FAILED, "--%s=%.40s: from %u to %u%s", o->name, value, (unsigned)o->low,
				 (unsigned)o->high, o->step > 1 ? ", a multiple of 512" : "");
	*to = (uint32_t)v;
	return 0;
}

/* The value of --name=value when arg is that option. */
static const char *value_of(const char *arg, const char *name)
{
	size_t n = strlen(name);

	return strncmp(arg, "--", 2) == 0 && strncmp(arg + 2, name, n) == 0 && arg[2 + n] == '=' ? arg + 3 + n : NULL;
}

static int take(const char *arg, const char *disk, uint32_t values[OPTIONS], struct job *job, struct error *e)
{
	const char *value = value_of(arg, "name");

	if (value) {
		snprintf(job->name, sizeof(job->name), "%s", value);
		return 0;
	}
	value = value_of(arg, "filename");
	if (value)
		return strcmp(value, disk) == 0 ? 0 : error_set(e, STATUS_FAILED, "--filename=%.60s: the job's disk is %s", value,
								 disk);
	for (unsigned i = 0; i < OPTIONS; i++) {
		value = value_of(arg, options[i].name);
		if (value)
			return options[i].words ? choose(&options[i], value, &values[i], e) :
						  read_number(&options[i], value, &values[i], e);
	}
	return error_set(e, STATUS_FAILED, "%.80s: the probe has no such option (name, filename, mode, op, bs, requests, depth, "
			 "count, omit-kick, ignore-interrupt)", arg);
}

int job_parse(char *const *argv, size_t argc, const char *disk, struct job *job, struct error *e)
{
	uint32_t v[OPTIONS] = {[BS] = 4096, [REQUESTS] = 1, [COUNT] = 2000};

	*job = (struct job){.name = "probe"};
	for (size_t i = 0; i < argc; i++)
		if (take(argv[i], disk, v, job, e) < 0)
			return -1;
	job->mode = (enum job_mode)v[MODE];
	job->op = (enum blk_op)v[OP];
	job->bytes = v[BS];
	job->requests = v[REQUESTS];
	job->depth = v[DEPTH] ? v[DEPTH] : job->mode == JOB_ALL ? job->requests : 1;
	job->count = v[COUNT];
	job->omit_kick = v[OMIT_KICK];
	job->ignore_interrupt = v[IGNORE_INTERRUPT];
	if (job->requests == 0 && job->mode != JOB_KICK)
		return error_set(e, STATUS_FAILED, "--requests=0: only mode=kick notifies an empty queue");
	if ((job->omit_kick || job->ignore_interrupt) && job->mode != JOB_EVENTS)
		return error_set(e, STATUS_FAILED, "--%s: only mode=events waits for interrupts as a driver does, so that it is lost "
				 "without", options[job->omit_kick ? OMIT_KICK : IGNORE_INTERRUPT].name);
	return 0;
}
