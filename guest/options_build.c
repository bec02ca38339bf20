#include "guest/options_build.h"

#include <stdlib.h>
#include <string.h>

#include "guest/option_table.h"

static int no_memory(struct error *e)
{
	return error_set(e, STATUS_HOST, "out of memory");
}

static int copy_string(char **place, const char *from, struct error *e)
{
	*place = from ? strdup(from) : NULL;
	return from && !*place ? no_memory(e) : 0;
}

int build_begin(struct build *b, struct error *e)
{
	if (job_defaults(&b->global, e))
		return -1;
	return option_defaults(program_options, b->jobs, e);
}

void build_free(struct build *b)
{
	job_release(&b->global);
}

int build_next_file(struct build *b, struct error *e)
{
	job_release(&b->global);
	b->open = false;
	b->wall = b->jobs->count > 0;
	return job_defaults(&b->global, e);
}

static int new_job(struct build *b, struct error *e)
{
	struct jobs *jobs = b->jobs;

	if (jobs->count == b->capacity) {
		size_t capacity = b->capacity ? 2 * b->capacity : 8;
		struct job *job = realloc(jobs->job, capacity * sizeof(*job));

		if (!job)
			return no_memory(e);
		jobs->job = job;
		b->capacity = capacity;
	}
	if (job_copy(&jobs->job[jobs->count], &b->global, e))
		return -1;
	if (b->wall)
		jobs->job[jobs->count].stonewall = true;
	b->wall = false;
	jobs->count++;
	b->open = true;
	return 0;
}

static struct job *current(struct build *b)
{
	return b->open ? &b->jobs->job[b->jobs->count - 1] : &b->global;
}

static bool section_wanted(const struct jobs *jobs, const char *name)
{
	for (size_t i = 0; i < jobs->nsections; i++)
		if (strcmp(jobs->section[i], name) == 0)
			return true;
	return jobs->nsections == 0;
}

int build_section(struct build *b, const char *name, struct error *e)
{
	if (*name == '\0')
		return error_set(e, STATUS_FAILED, "a job needs a name");
	b->skip = false;
	if (strncmp(name, "global", 6) == 0) {
		b->open = false;
		return 0;
	}
	if (b->from_file && !section_wanted(b->jobs, name)) {
		b->skip = true;
		return 0;
	}
	if (new_job(b, e))
		return -1;
	return copy_string(&current(b)->name, name, e);
}

static int write_down(struct build *b, const char *name, const char *value, struct error *e)
{
	struct written **list = b->open ? &current(b)->written : &b->jobs->global;
	size_t *n = b->open ? &current(b)->nwritten : &b->jobs->nglobal;
	struct written *grown = realloc(*list, (*n + 1) * sizeof(*grown));

	if (!grown)
		return no_memory(e);
	*list = grown;
	grown[*n] = (struct written){ .name = NULL };
	if (copy_string(&grown[*n].name, name, e) || copy_string(&grown[*n].value, value, e)) {
		free(grown[*n].name);
		return -1;
	}
	++*n;
	return 0;
}

static int unknown(const struct build *b, const char *name, const char *value, struct error *e)
{
	const char *near = option_nearest(name);
	const char *dashes = b->from_file ? "" : "--";

	if (option_known_to_fio(name))
		return error_set(e, STATUS_FAILED,
				 "option %s%s is known to fio but not supported by kickio", dashes, name);
	if (b->from_file)
		error_set(e, STATUS_FAILED,
			  "Bad option <%s%s%s>%s%s%s", name, value ? "=" : "", value ? value : "",
			  near ? "\nDid you mean " : "", near ? near : "", near ? "?" : "");
	else
		error_set(e, STATUS_FAILED, "unrecognized option '--%s%s%s'%s%s%s", name, value ? "=" : "",
			  value ? value : "", near ? "\nDid you mean " : "", near ? near : "", near ? "?" : "");
	return -1;
}

static int store(const struct option *o, void *base, const char *name, const char *value, bool bare, struct error *e)
{
	if (!value && !option_value_optional(o) && !bare)
		return error_set(e, STATUS_FAILED, "option %s requires an argument", name);
	if (option_store(o, base, value, e))
		return error_context(e, "failed parsing %s%s%s", name, value ? "=" : "", value ? value : "");
	return 0;
}

static int job_option(struct build *b, const struct option *o, const char *name, const char *value, struct error *e)
{
	bool is_name = strcmp(o->name, "name") == 0;

	if (is_name && value && !b->from_file) {
		if (build_section(b, value, e))
			return -1;
		if (!b->open)
			return 0;
	}
	/* fio joins the two where filename is read: a folder that comes later has no effect there */
	if (!b->from_file && o->kind == OPTION_DIRECTORY && current(b)->filename)
		return error_set(e, STATUS_FAILED,
				 "fio ignores --directory after --filename; write --directory first");
	if (store(o, current(b), name, value, b->from_file && o->kind == OPTION_LOG, e))
		return -1;
	return write_down(b, o->name, value, e);
}

int build_option(struct build *b, const char *name, const char *value, struct error *e)
{
	const struct option *o = job_option_find(name);

	if (b->skip)
		return 0;
	if (o)
		return job_option(b, o, name, value, e);
	o = option_find(program_options, name);
	if (!o)
		return unknown(b, name, value, e);
	if (b->from_file)
		return error_set(e, STATUS_FAILED,
				 "option %s belongs on the command line, not into a job file", name);
	return store(o, b->jobs, name, value, false, e);
}
