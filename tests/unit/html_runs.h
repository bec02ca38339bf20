/* Run folders for the tests of the HTML report and its charts: values as a quiet host gives them, and some as none does. */
#ifndef KB_TESTS_HTML_RUNS_H
#define KB_TESTS_HTML_RUNS_H

#include <time.h>

#include "host/compare.h"
#include "tests/unit/run_folder.h"

/* Per cell: what the second variant does to IOPS. */
static inline void html_shape(const struct folder_place *at, struct folder_trial *t)
{
	static const double factor[] = { 1.131, 1.06, 0.943, 1.001, 1.01, 1.12 }, jobs[] = { 1, 1.9, 3.1 };
	double f = jobs[at->cell % 3];

	if (at->variant == 1)
		f *= factor[at->cell % 6];
	if (at->variant == 2)
		f *= 0.97;
	if (at->cell == 4)
		f *= 1 + 0.06 * folder_noise(at->block, 7, at->variant);
	t->iops *= f;
	t->clat_ns *= (at->variant == 1 ? 1 / factor[at->cell % 6] : 1) * (1 + 0.1 * (at->cell % 3));
	t->guest_cpu_us /= f / jobs[at->cell % 3];
}

static inline void html_incomplete(const struct folder_place *at, struct folder_trial *t)
{
	html_shape(at, t);
	if (at->block > 5)
		t->status = NULL;
	if (at->trial == 3) {
		t->status = "failed";
		t->message = "fio: io_u error on file /dev/vda: Input/output error: read offset=4096, buflen=4096";
	}
}

static inline void html_wild(const struct folder_place *at, struct folder_trial *t)
{
	static const double factor[3][2] = { { 30, 0.00005 }, { 20, 22 }, { 0.0123, 0.0124 } };

	if (at->variant == 1) {
		t->iops *= factor[at->cell][at->block - 1];
		t->clat_ns /= factor[at->cell][at->block - 1];
	}
}

static inline void html_failed(const struct folder_place *at, struct folder_trial *t)
{
	(void)at;
	t->status = "failed";
	t->message = "no such disk";
}

#define HTML_SIX "randread numjobs=1", "randread numjobs=2", "randread numjobs=4", "randwrite numjobs=1", "randwrite numjobs=2", \
	"randwrite numjobs=4"
#define HTML_RUN .blocks = 8, .repeats = 1, .pairing = "boots", .primary = "iops"

static const struct folder run_quick = { HTML_RUN, .cell = { HTML_SIX }, .variant = { "none", "kickfd" }, .shape = html_shape };
static const struct folder run_incomplete = { HTML_RUN, .cell = { "randread", "randwrite" }, .variant = { "none", "kickfd" },
					      .shape = html_incomplete };
static const struct folder run_disks = { .blocks = 6, .repeats = 2, .pairing = "disks", .primary = "clat_mean", .cell = { HTML_SIX },
					 .variant = { "none", "kickfd", "packed" }, .shape = html_shape };
static const struct folder run_single = { HTML_RUN, .cell = { "randread" }, .variant = { "none" } };
static const struct folder run_wild = { .blocks = 2, .repeats = 1, .pairing = "boots", .primary = "iops",
					.cell = { "noisy", "large", "small" }, .variant = { "none", "kickfd" }, .shape = html_wild };
static const struct folder run_failed = { HTML_RUN, .cell = { "randread", "randwrite" }, .variant = { "none", "kickfd" },
					  .shape = html_failed };
static const struct folder run_many = {
	.blocks = 2, .repeats = 1, .pairing = "boots", .primary = "iops", .shape = html_shape, .variant = { "none", "kickfd" },
	.cell = { "bs=4k", "bs=8k", "bs=16k", "bs=32k", "bs=64k", "bs=128k", "bs=256k", "bs=512k", "bs=1m", "bs=2m", "bs=4m", "bs=8m",
		  "m", "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "the last one" },
};
static const struct folder run_hostile = {
	HTML_RUN, .shape = html_shape,
	.cell = { "<img title=\"x\" onerror='alert(1)'>", "`touch x`; system('id') \"\\\n@{~1~}", "\342\200\256right to left </svg></title>",
		  "a name that is far too long for any column of any table and goes on and on, without end & without mercy, so that it has to "
		  "be broken or cut_where_there_is_no_place_to_break_it_since_it_has_no_blanks_at_all" },
	.variant = { "none & nothing", "kick<b onmouseover=1>fd" },
};

struct html_run {
	struct folder f;
	struct dataset *d;
	struct comparison *c;
};

static inline void html_stamp(json_t *trial, unsigned number)
{
	time_t at = 1769860800 + (time_t)number * 97;
	struct tm tm;
	char text[32];

	gmtime_r(&at, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	json_object_set_new(trial, "started", json_string(text));
}

/* Bins as a disk has them: log-normal, with a tail. */
static inline void html_bins(json_t *trial)
{
	json_t *job = json_array_get(json_object_get(json_object_get(trial, "fio"), "jobs"), 0);
	json_t *clat = json_object_get(json_object_get(job, "read"), "clat_ns"), *bins = json_object();
	double mean = json_number_value(json_object_get(clat, "min")), n = json_number_value(json_object_get(clat, "N"));

	for (int i = -30; i <= 90; i++) {
		double z = i / 10.0, weight = exp(-z * z / 2) / 25.07 + (z > 2 ? 0.0004 * exp(-(z - 2) * 0.8) : 0);
		char key[32];

		snprintf(key, sizeof(key), "%llu", (unsigned long long)histogram_value(histogram_index((uint64_t)(mean * exp(0.3 * z)))));
		json_object_set_new(bins, key, json_integer(json_integer_value(json_object_get(bins, key)) +
							    (json_int_t)llround(weight * n)));
	}
	json_object_set_new(clat, "bins", bins);
}

static inline void html_realistic(const struct folder *f)
{
	char name[300];

	for (unsigned number = 1; number < 1000; number++) {
		json_t *trial;

		snprintf(name, sizeof(name), "%s/trials/%06u.json", f->path, number);
		trial = json_load_file(name, 0, NULL);
		if (!trial)
			continue;
		html_stamp(trial, number);
		html_bins(trial);
		if (json_dump_file(trial, name, JSON_COMPACT))
			abort();
		json_decref(trial);
	}
}

/* "randread numjobs=1": what run.json has in two members. */
static inline void html_points(const struct folder *f)
{
	json_t *run, *cell;
	char path[300];
	size_t i;

	snprintf(path, sizeof(path), "%s/run.json", f->path);
	run = json_load_file(path, 0, NULL);
	json_array_foreach(json_object_get(run, "cells"), i, cell) {
		const char *point = strstr(f->cell[i], " numjobs=");

		json_object_set_new(cell, "workload", point ? json_stringn(f->cell[i], (size_t)(point - f->cell[i])) :
						      json_string(f->cell[i]));
		json_object_set_new(cell, "point", json_string(point ? point + 1 : ""));
	}
	folder_put_json(f->path, "run.json", run);
}

static inline void html_run_open(struct html_run *run, struct folder f)
{
	struct error e = { 0 };

	*run = (struct html_run){ .f = f };
	folder_make(&run->f);
	html_realistic(&run->f);
	html_points(&run->f);
	folder_put(run->f.path, "scenario.ini", "[scenario]\nname = quick\n\n[workload randread]\nrw = randread\n# </pre><script>\n# \377\n");
	if (dataset_load(run->f.path, &run->d, &e) || compare(run->d, &run->c, &e)) {
		fprintf(stderr, "%s\n", e.text);
		abort();
	}
}

static inline void html_run_close(struct html_run *run)
{
	comparison_free(run->c);
	dataset_free(run->d);
	folder_remove(&run->f);
}

#endif
