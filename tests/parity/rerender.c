/*
 * Take a json+ report of fio on stdin, fill our result structures from it and print all of our reports of the
 * same numbers: the text to argv[1], the JSON to argv[2], terse to argv[3]. Whatever differs from what fio printed beside that
 * JSON is a difference in formatting, rounding or merging, since the measurement is the same.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/os.h"
#include "guest/output.h"
#include "guest/report.h"

const bool os_has_processes = true;

static double number(json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static uint64_t integer(json_t *o, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(o, key));
}

/* Mean and deviation have six decimals in JSON; the sum of integers is a whole number again. */
static void moments(struct moments *m, struct histogram *h, json_t *o)
{
	const char *key;
	json_t *value;

	m->n = integer(o, "N");
	m->min = m->base = integer(o, "min");
	m->max = integer(o, "max");
	m->sum = llround((number(o, "mean") - (double)m->base) * (double)m->n);
	if (m->n)
		m->sum2 = pow(number(o, "stddev"), 2) * (double)(m->n - 1) + pow((double)m->sum, 2) / (double)m->n;
	if (!h)
		return;
	json_object_foreach(json_object_get(o, "bins"), key, value)
		h->count[histogram_index(strtoull(key, NULL, 10))] += (uint64_t)json_integer_value(value);
}

/* A mean of few whole numbers, of which six decimals are known. */
static double exact_mean(double mean)
{
	for (unsigned n = 1; n <= 64; n++)
		if (fabs(mean * n - (double)llround(mean * n)) < n * 6e-7)
			return (double)llround(mean * n) / n;
	return mean;
}

static void samples(struct samples *s, json_t *o, const char *kind, const char *deviation)
{
	char key[32];

	snprintf(key, sizeof(key), "%s_samples", kind);
	s->n = integer(o, key);
	snprintf(key, sizeof(key), "%s_min", kind);
	s->min = integer(o, key);
	snprintf(key, sizeof(key), "%s_max", kind);
	s->max = integer(o, key);
	snprintf(key, sizeof(key), "%s_mean", kind);
	s->mean = exact_mean(number(o, key));
	if (s->n > 1)
		s->m2 = pow(number(o, deviation), 2) * (double)(s->n - 1);
}

static struct histogram *optional(json_t *o)
{
	return json_object_get(o, "percentile") ? calloc(1, sizeof(struct histogram)) : NULL;
}

static void direction(struct direction *d, json_t *o)
{
	d->bytes = integer(o, "io_bytes");
	d->ios = integer(o, "total_ios");
	d->short_ios = integer(o, "short_ios");
	d->dropped_ios = integer(o, "drop_ios");
	d->runtime_us = integer(o, "runtime") * 1000;
	d->slat_histogram = optional(json_object_get(o, "slat_ns"));
	d->lat_histogram = optional(json_object_get(o, "lat_ns"));
	moments(&d->slat, d->slat_histogram, json_object_get(o, "slat_ns"));
	moments(&d->clat, &d->clat_histogram, json_object_get(o, "clat_ns"));
	moments(&d->lat, d->lat_histogram, json_object_get(o, "lat_ns"));
	samples(&d->bw, o, "bw", "bw_dev");
	samples(&d->iops, o, "iops", "iops_stddev");
}

/* Counts again from percentages of a total; what shows as the least that is shown was at least one. */
static void shares(uint64_t *count, unsigned n, const char *const *names, json_t *o, uint64_t total,
		   double least)
{
	for (unsigned i = 0; i < n; i++) {
		double percent = number(o, names[i]);

		count[i] = (uint64_t)llround(percent * (double)total / 100);
		if (percent == least)
			count[i] = 1;
	}
}

/* The same where the total is not in the report: shares of 10^8, which make up 100 % together. */
static void batches(uint64_t *count, json_t *o)
{
	const uint64_t total = 100000000;
	uint64_t known = 0;

	shares(count, DEPTH_CLASSES, report_batch_names, o, total, 0.1);
	for (unsigned i = 0; i < DEPTH_CLASSES; i++)
		known += count[i];
	for (unsigned i = 0; i < DEPTH_CLASSES; i++)
		if (count[i] == 1 && known < total)
			count[i] = total - known;
}

static struct written *written(json_t *o, size_t *n)
{
	struct written *list = calloc(json_object_size(o) + 1, sizeof(*list));
	const char *key;
	json_t *value;

	*n = 0;
	json_object_foreach(o, key, value)
	{
		list[*n].name = strdup(key);
		list[(*n)++].value = strdup(json_string_value(value));
	}
	return list;
}

static bool has_percentiles(json_t *o, const char *kind)
{
	const char *key;
	json_t *value;

	json_object_foreach(o, key, value)
		if (json_object_get(json_object_get(value, kind), "percentile"))
			return true;
	return false;
}

static void job(struct job *j, json_t *o, json_t *list)
{
	const char *key, *description = json_string_value(json_object_get(o, "desc"));
	json_t *value;

	j->name = strdup(json_string_value(json_object_get(o, "jobname")));
	j->description = description ? strdup(description) : NULL;
	j->iodepth = (unsigned)integer(o, "latency_depth");
	j->written = written(json_object_get(o, "job options"), &j->nwritten);
	j->percentile_precision = 2;
	j->continue_on_error = json_object_get(o, "total_err") ? CONTINUE_READ : 0;
	j->clat_percentiles = has_percentiles(o, "clat_ns");
	json_object_foreach(list, key, value)
		j->percentiles[j->npercentiles++] = strtod(key, NULL);
}

static void result(struct job_result *r, const struct job *j, json_t *o)
{
	static const char *const names[DDIRS] = { "read", "write", "trim" };
	json_t *sync = json_object_get(o, "sync");
	uint64_t ios;

	r->job = j;
	r->members = 1;
	r->started = true;
	r->groupid = (unsigned)integer(o, "groupid");
	for (int d = 0; d < DDIRS; d++)
		direction(&r->dir[d], json_object_get(o, names[d]));
	ios = report_ios(r);
	r->syncs = integer(sync, "total_ios");
	moments(&r->sync_lat, &r->sync_histogram, json_object_get(sync, "lat_ns"));
	r->total_errors = integer(o, "total_err");
	r->first_error = (int)integer(o, "first_error");
	r->total_runtime_ms = integer(o, "job_runtime");
	r->user_us = (uint64_t)llround(number(o, "usr_cpu") * (double)r->total_runtime_ms / 100) * 1000;
	r->system_us = (uint64_t)llround(number(o, "sys_cpu") * (double)r->total_runtime_ms / 100) * 1000;
	r->context_switches = integer(o, "ctx");
	r->major_faults = integer(o, "majf");
	r->minor_faults = integer(o, "minf");
	shares(r->depth, DEPTH_CLASSES, report_depth_names, json_object_get(o, "iodepth_level"), ios, 0.1);
	batches(r->submit, json_object_get(o, "iodepth_submit"));
	batches(r->complete, json_object_get(o, "iodepth_complete"));
	shares(r->lat_ns, LAT_NS_CLASSES, report_lat_ms_names, json_object_get(o, "latency_ns"), ios, 0.01);
	shares(r->lat_us, LAT_US_CLASSES, report_lat_ms_names, json_object_get(o, "latency_us"), ios, 0.01);
	shares(r->lat_ms, LAT_MS_CLASSES, report_lat_ms_names, json_object_get(o, "latency_ms"), ios, 0.01);
}

static void disk(struct disk_util *u, json_t *o)
{
	snprintf(u->name, sizeof(u->name), "%s", json_string_value(json_object_get(o, "name")));
	u->ios[0] = integer(o, "read_ios");
	u->ios[1] = integer(o, "write_ios");
	u->merges[0] = integer(o, "read_merges");
	u->merges[1] = integer(o, "write_merges");
	u->ticks_ms[0] = integer(o, "read_ticks");
	u->ticks_ms[1] = integer(o, "write_ticks");
	u->in_queue_ms = integer(o, "in_queue");
	u->util = number(o, "util");
}

/* The list of percentiles that the run was asked for, from the first job and direction that has one. */
static json_t *percentile_list(json_t *o)
{
	const char *key;
	json_t *value, *list;

	json_object_foreach(o, key, value)
	{
		static const char *const kinds[] = { "clat_ns", "lat_ns", "slat_ns" };

		for (int i = 0; i < 3; i++) {
			list = json_object_get(json_object_get(value, kinds[i]), "percentile");
			if (list)
				return list;
		}
	}
	return NULL;
}

static void save(const char *path, const struct text *t)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text_get(t), f) < 0 || fclose(f)) {
		perror(path);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	json_error_t error;
	json_t *root = json_loadf(stdin, 0, &error), *list, *o;
	struct run_result run = { .report = NULL };
	struct jobs jobs = { .job = NULL };
	struct text text = {0}, json = {0}, terse = {0};
	size_t i;

	if (argc != 4 || !root) {
		fprintf(stderr, "rerender: line %d: %s\n", root ? 0 : error.line, root ? "usage" : error.text);
		return 1;
	}
	list = json_object_get(root, "jobs");
	jobs.count = run.nreports = json_array_size(list);
	jobs.job = calloc(jobs.count, sizeof(*jobs.job));
	jobs.global = written(json_object_get(root, "global options"), &jobs.nglobal);
	run.report = calloc(jobs.count, sizeof(*run.report));
	json_array_foreach(list, i, o)
	{
		job(&jobs.job[i], o, percentile_list(o));
		run.report[i] = calloc(1, sizeof(**run.report));
		result(run.report[i], &jobs.job[i], o);
		if (run.report[i]->groupid >= run.ngroups)
			run.ngroups = run.report[i]->groupid + 1;
	}
	list = json_object_get(root, "disk_util");
	run.ndisks = json_array_size(list);
	run.disk = calloc(run.ndisks + 1, sizeof(*run.disk));
	json_array_foreach(list, i, o)
		disk(&run.disk[i], o);
	output_text(&text, &jobs, &run);
	output_json(&json, &jobs, &run, true);
	output_terse(&terse, &run);
	save(argv[1], &text);
	save(argv[2], &json);
	save(argv[3], &terse);
	return 0;
}
