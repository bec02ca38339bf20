/* The command line, and the checks that need a whole job. */
#include "guest/options.h"

#include <stdlib.h>
#include <string.h>

#include "guest/jobfile.h"
#include "guest/option_table.h"
#include "guest/options_build.h"

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
	const struct option *o = job_option_find(name);

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

/* The options; job files are passed over. */
static int command_line(struct build *b, int argc, char *const *argv, struct error *e)
{
	for (int i = 1; i < argc;) {
		struct word w = next_word(argc, argv, &i);

		if (w.is_option && build_option(b, w.name, w.value, e))
			return -1;
	}
	return 0;
}

/* The job files, in their order, after the options: the jobs of one wait for those of the file before. */
static int job_files(struct build *b, int argc, char *const *argv, struct error *e)
{
	unsigned files = 0;

	for (int i = 1; i < argc;) {
		struct word w = next_word(argc, argv, &i);

		if (w.is_option)
			continue;
		if (files++ && build_next_file(b, e))
			return -1;
		if (jobfile_parse(b, w.value, e))
			return -1;
	}
	return 0;
}

static int check(struct jobs *jobs, struct text *notes, struct error *e)
{
	unsigned groupid = 0;

	if (jobs->count == 0)
		return error_set(e, STATUS_FAILED, "%s", options_no_jobs);
	if (jobs->minimal)
		jobs->output_format = OUTPUT_TERSE;
	for (size_t i = 0; i < jobs->count; i++) {
		struct job *job = &jobs->job[i];

		if (i > 0 && (job->new_group || job->stonewall))
			groupid++;
		job->groupid = groupid;
		if (options_check_job(jobs, job, notes, e))
			return -1;
	}
	return 0;
}

int options_parse(int argc, char *const *argv, struct jobs *jobs, struct text *notes, struct error *e)
{
	struct build b = { .jobs = jobs };
	int rc;

	*jobs = (struct jobs){ .count = 0 };
	rc = build_begin(&b, e);
	if (rc == 0)
		rc = command_line(&b, argc, argv, e);
	if (rc == 0)
		rc = job_files(&b, argc, argv, e);
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
	if (strcmp(w->name, "man") == 0) {
		options_man(out);
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
