/*
 * multiply RUNDIR TRIALS NEW: a run folder of about TRIALS trials whose files are those of RUNDIR, over and over: as many
 * blocks as it takes, each with all variants and cells, with another number, block and boot and slightly other values.
 * With "--synthetic" instead of RUNDIR, of a run that this program makes up, with files of about 20 KB.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/run_folder.h"

static void die(const char *what)
{
	fprintf(stderr, "multiply: %s\n", what);
	exit(1);
}

static json_t *load(const char *folder, const char *name)
{
	char path[4096];
	json_error_t e;
	json_t *value;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	value = json_load_file(path, 0, &e);
	if (!value)
		die(e.text);
	return value;
}

static void save(const char *folder, const char *name, json_t *value)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (json_dump_file(value, path, JSON_INDENT(1) | JSON_REAL_PRECISION(12)))
		die(path);
}

/* ---- a run that is made up ---- */

/* 130 bins, as two seconds of I/O in a guest have them. */
static json_t *made_up_bins(double ios, unsigned seed)
{
	json_t *bins = json_object();
	char key[32];

	for (unsigned i = 0; i < 130; i++) {
		double share = exp(-pow((i - 40.0) / 25, 2) / 2) / 60;

		snprintf(key, sizeof(key), "%llu", (unsigned long long)histogram_value(1100 + i));
		json_object_set_new(bins, key, json_integer(1 + (json_int_t)(ios * share * (1 + folder_noise(seed, i, 0) / 5))));
	}
	return bins;
}

static json_t *shares(unsigned n)
{
	json_t *object = json_object();
	char key[32];

	for (unsigned i = 0; i < n; i++) {
		snprintf(key, sizeof(key), "%u", 2u << i);
		json_object_set_new(object, key, json_real(i == 8 ? 59.06824 : 0.0));
	}
	return object;
}

static void widen(json_t *trial, unsigned number)
{
	json_t *job = json_array_get(json_object_get(json_object_get(trial, "fio"), "jobs"), 0);
	json_t *read = json_object_get(job, "read"), *text = json_object();
	double ios = json_number_value(json_object_get(read, "total_ios"));
	char key[32];

	json_object_set_new(json_object_get(read, "clat_ns"), "bins", made_up_bins(ios, number));
	json_object_set_new(json_object_get(read, "clat_ns"), "percentile", shares(17));
	json_object_set_new(read, "lat_ns", json_pack("{s:I, s:O}", "N", (json_int_t)ios, "bins",
						      json_object_get(json_object_get(read, "clat_ns"), "bins")));
	json_object_set_new(job, "latency_us", shares(20));
	json_object_set_new(job, "latency_ms", shares(20));
	for (unsigned i = 0; i < 130; i++) {
		snprintf(key, sizeof(key), "option_%u", i);
		json_object_set_new(text, key, json_string("a value such as an option of a job has, and then some more"));
	}
	json_object_set_new(job, "job options", text);
}

/* A folder of two blocks, two variants and four cells. */
static char *make_up(void)
{
	static struct folder f = { .cell = { "randread numjobs=1", "randread numjobs=4", "randwrite numjobs=1",
					     "randwrite numjobs=4" },
				   .variant = { "none", "kickfd" }, .blocks = 2, .repeats = 1, .pairing = "boots",
				   .primary = "iops" };
	char name[40];

	folder_make(&f);
	for (unsigned number = 1; number <= 16; number++) {
		json_t *trial;

		snprintf(name, sizeof(name), "trials/%06u.json", number);
		trial = load(f.path, name);
		widen(trial, number);
		save(f.path, name, trial);
		json_decref(trial);
	}
	return f.path;
}

/* ---- copies ---- */

/* A member that is a number, by a factor. */
static void vary(json_t *object, const char *key, double factor)
{
	json_t *value = json_object_get(object, key);

	if (json_is_integer(value))
		json_integer_set(value, (json_int_t)llround((double)json_integer_value(value) * factor));
	else if (json_is_real(value))
		json_real_set(value, json_real_value(value) * factor);
}

/* Counts and bins stay; the time that they took differs, and so do the rates. */
static void vary_trial(json_t *trial, const struct folder_place *at)
{
	static const char *const direction[] = { "read", "write" };
	double factor = 1 + 0.05 * folder_noise(at->block, at->cell, 0) + 0.01 * folder_noise(at->trial, 0, 1);
	json_t *jobs = json_object_get(json_object_get(trial, "fio"), "jobs"), *job;
	size_t i;

	json_array_foreach(jobs, i, job) {
		vary(job, "job_runtime", factor);
		for (int d = 0; d < 2; d++) {
			vary(json_object_get(job, direction[d]), "runtime", factor);
			vary(json_object_get(job, direction[d]), "iops", 1 / factor);
			vary(json_object_get(json_object_get(job, direction[d]), "clat_ns"), "mean", factor);
		}
	}
	json_object_set_new(trial, "trial", json_integer(at->trial));
	json_object_set_new(trial, "boot", json_integer(at->boot));
	json_object_set_new(trial, "block", json_integer(at->block));
}

struct job {
	const char *from, *to;
	json_t *plan; /* boots of the run that is multiplied */
	unsigned blocks, trials; /* of it */
	unsigned rounds;
	unsigned part, parts; /* rounds that this process writes */
};

/* One pass over the plan of the run: new boots into boots (NULL: files only). */
static void one_round(const struct job *j, unsigned round, json_t *boots, json_t **trial)
{
	struct folder_place at = { .trial = round * j->trials, .boot = round * (unsigned)json_array_size(j->plan) };
	json_t *boot, *t;
	size_t i, k, n = 0;

	json_array_foreach(j->plan, i, boot) {
		json_t *copy = boots ? json_deep_copy(boot) : NULL;

		at.boot++;
		at.block = round * j->blocks + (unsigned)json_integer_value(json_object_get(boot, "block"));
		json_object_set_new(copy, "boot", json_integer(at.boot));
		json_object_set_new(copy, "block", json_integer(at.block));
		json_array_foreach(json_object_get(boot, "trials"), k, t) {
			char name[40];

			at.trial++;
			at.cell = (unsigned)json_integer_value(json_object_get(t, "cell"));
			if (copy) {
				json_object_set_new(json_array_get(json_object_get(copy, "trials"), k), "trial",
						    json_integer(at.trial));
			} else {
				json_t *one = json_deep_copy(trial[n++]);

				vary_trial(one, &at);
				snprintf(name, sizeof(name), "trials/%06u.json", at.trial);
				save(j->to, name, one);
				json_decref(one);
			}
		}
		if (boots)
			json_array_append_new(boots, copy);
	}
}

static void write_part(const struct job *j)
{
	json_t **trial = calloc(j->trials, sizeof(*trial)), *boot, *t;
	size_t i, k, n = 0;
	char name[40];

	json_array_foreach(j->plan, i, boot) {
		json_array_foreach(json_object_get(boot, "trials"), k, t) {
			snprintf(name, sizeof(name), "trials/%06u.json", (unsigned)json_integer_value(json_object_get(t, "trial")));
			trial[n++] = load(j->from, name);
		}
	}
	for (unsigned round = j->part; round < j->rounds; round += j->parts)
		one_round(j, round, NULL, trial);
	for (i = 0; i < n; i++)
		json_decref(trial[i]);
	free(trial);
}

static void write_run(const struct job *j, json_t *run)
{
	json_t *boots = json_array();

	for (unsigned round = 0; round < j->rounds; round++)
		one_round(j, round, boots, NULL);
	json_object_set_new(json_object_get(run, "scenario"), "blocks", json_integer(j->rounds * j->blocks));
	json_object_set_new(json_object_get(run, "plan"), "boots", boots);
	save(j->to, "run.json", run);
}

int main(int argc, char **argv)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct job j = { 0 };
	char trials[4096], command[4200];
	json_t *run, *boot;
	int status;
	size_t i;

	if (argc != 4)
		die("usage: multiply RUNDIR|--synthetic TRIALS NEW");
	j.from = strcmp(argv[1], "--synthetic") == 0 ? make_up() : argv[1];
	j.to = argv[3];
	snprintf(trials, sizeof(trials), "%s/trials", j.to);
	if (mkdir(j.to, 0777) || mkdir(trials, 0777))
		die(j.to);
	run = load(j.from, "run.json");
	j.plan = json_incref(json_object_get(json_object_get(run, "plan"), "boots"));
	j.blocks = (unsigned)json_integer_value(json_object_get(json_object_get(run, "scenario"), "blocks"));
	json_array_foreach(j.plan, i, boot)
		j.trials += (unsigned)json_array_size(json_object_get(boot, "trials"));
	if (j.trials == 0)
		die("the run has no trials");
	j.rounds = ((unsigned)atoi(argv[2]) + j.trials - 1) / j.trials;
	j.parts = processors > 1 ? (unsigned)processors : 1;
	for (; j.part < j.parts; j.part++)
		if (fork() == 0) {
			write_part(&j);
			_exit(0);
		}
	write_run(&j, run);
	while (wait(&status) > 0)
		if (status)
			die("a part could not be written");
	json_decref(j.plan);
	json_decref(run);
	if (j.from != argv[1]) {
		snprintf(command, sizeof(command), "rm -r -- '%s'", j.from);
		if (system(command))
			die(j.from);
	}
	return 0;
}
