/* The command line, and the checks that need a whole job. */
#include "guest/options.h"

#include <stdlib.h>
#include <string.h>

#include "guest/jobfile.h"
#include "guest/option_table.h"
#include "guest/options_build.h"
#include "guest/os.h"

const char options_no_jobs[] = "No job(s) defined";

/* One step through the command line: an option with its value, or a job file. */
struct word {
	bool is_option;
	char name[64];
	const char *value; /* NULL: none; of a job file its path */
};

/* Whether an option takes the next word as its value. Unknown ones do not, so that they are reported alone. */
static bool takes_next(const char *name)
{
	const struct option *o = option_find(job_options, name);

	if (!o)
		o = option_find(program_options, name);
	return o && !option_value_optional(o);
}

static struct word next_word(int argc, char *const *argv, int *i)
{
	const char *arg = argv[(*i)++];
	struct word w = { .value = arg };
	size_t length;

	if (arg[0] != '-' || arg[1] == '\0')
		return w;
	arg += arg[1] == '-' ? 2 : 1;
	w.is_option = true;
	length = strcspn(arg, "=");
	if (length >= sizeof(w.name))
		length = sizeof(w.name) - 1;
	memcpy(w.name, arg, length);
	w.value = strchr(arg, '=');
	if (w.value)
		w.value++;
	else if (takes_next(w.name) && *i < argc)
		w.value = argv[(*i)++];
	return w;
}

static int command_line(struct build *b, int argc, char *const *argv, const char **file, struct error *e)
{
	for (int i = 1; i < argc;) {
		struct word w = next_word(argc, argv, &i);

		if (w.is_option) {
			if (build_option(b, w.name, w.value, e))
				return -1;
			continue;
		}
		if (*file)
			return error_set(e, STATUS_FAILED,
					 "more than one job file: fio starts the second after the first has ended "
					 "(stonewall), which kickio does not support");
		*file = w.value;
	}
	return 0;
}

static uint64_t least_block(const struct job *job)
{
	uint64_t least = job->bs[0];

	for (int d = 1; d < DDIRS; d++)
		if (job->bs[d] < least)
			least = job->bs[d];
	return least;
}

static int check_job(const struct jobs *jobs, struct job *job, struct text *notes, struct error *e)
{
	uint64_t least = least_block(job);

	if (jobs->readonly && rw_writes(job->rw))
		return error_set(e, STATUS_FAILED,
				 "job <%s> has write or trim bit set, but kickio is in read-only mode",
				 job->name);
	if (job->size.bytes && job->size.bytes < least)
		return error_set(e, STATUS_FAILED,
				 "size too small, must not be less than minimum block size: %llu < %llu",
				 (unsigned long long)job->size.bytes, (unsigned long long)least);
	if (!os_has_processes && !job->thread)
		text_add(notes, "kickio: this platform does not support process shared mutexes, forcing use of threads. "
				"Use the 'thread' option to get rid of this warning.\n");
	if (job->time_based && !job->runtime_us) {
		text_add(notes, "kickio: time_based requires a runtime/timeout setting\n");
		job->time_based = false;
	}
	if (job->engine->synchronous && job->iodepth > 1)
		text_add(notes, "note: both iodepth >= 1 and synchronous I/O engine are selected, "
				"queue depth will be capped at 1\n");
	return 0;
}

static int check(struct jobs *jobs, struct text *notes, struct error *e)
{
	unsigned groupid = 0;

	if (jobs->count == 0)
		return error_set(e, STATUS_FAILED, "%s", options_no_jobs);
	for (size_t i = 0; i < jobs->count; i++) {
		struct job *job = &jobs->job[i];

		if (i > 0 && job->new_group)
			groupid++;
		job->groupid = groupid;
		if (check_job(jobs, job, notes, e))
			return -1;
	}
	return 0;
}

int options_parse(int argc, char *const *argv, struct jobs *jobs, struct text *notes, struct error *e)
{
	struct build b = { .jobs = jobs };
	const char *file = NULL;
	int rc;

	*jobs = (struct jobs){ .count = 0 };
	rc = build_begin(&b, e);
	if (rc == 0)
		rc = command_line(&b, argc, argv, &file, e);
	if (rc == 0 && file)
		rc = jobfile_parse(&b, file, e);
	if (rc == 0)
		rc = check(jobs, notes, e);
	build_free(&b);
	if (rc)
		jobs_free(jobs);
	return rc;
}

static int inform(FILE *out, const struct word *w, struct error *e)
{
	if (strcmp(w->name, "version") == 0) {
		options_version(out);
		return 1;
	}
	if (strcmp(w->name, "help") == 0 || strcmp(w->name, "h") == 0) {
		options_help(out);
		return 1;
	}
	if (strcmp(w->name, "cmdhelp") == 0)
		return options_cmdhelp(out, w->value, e) ? -1 : 1;
	if (strcmp(w->name, "enghelp") == 0)
		return options_enghelp(out, w->value, e) ? -1 : 1;
	return 0;
}

int options_information(int argc, char *const *argv, FILE *out, struct error *e)
{
	for (int i = 1; i < argc;) {
		struct word w = next_word(argc, argv, &i);
		int done = w.is_option ? inform(out, &w, e) : 0;

		if (done)
			return done;
	}
	return 0;
}
