#include "host/fio_json.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/fio_bytes.h"
#include "host/fio_json_direction.h"
#include "host/fio_json_scan.h"

static void copy(json_t *to, const json_t *from, const char *key)
{
	json_t *value = json_object_get(from, key);

	if (value && !json_is_null(value))
		json_object_set(to, key, value);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : "";
}

/* ---- lines of the jobs ---- */

/* Line of the next "jobname" from *at on, within a repaired object whose first line is *line; 0 when there is none. */
static size_t next_job_line(const char *text, size_t *at, size_t *line)
{
	static const char key[] = "\"jobname\"";
	const char *found = strstr(text + *at, key);
	size_t end = found ? (size_t)(found - text) : strlen(text);

	for (; *at < end; ++*at)
		*line += text[*at] == '\n';
	if (!found)
		return 0;
	*at += sizeof(key) - 1;
	return *line;
}

/* ---- jobs ---- */

/* Those of the whole run, those of the job over them. */
static json_t *options_of(const json_t *root, const json_t *job)
{
	json_t *global = json_object_get(root, "global options"), *own = json_object_get(job, "job options");
	json_t *options = json_is_object(global) ? json_copy(global) : json_object(), *value;
	const char *key;
	void *next;

	if (json_is_object(own))
		json_object_update(options, own);
	json_object_foreach_safe(options, next, key, value)
		if (!json_is_string(value))
			json_object_del(options, key);
	if (json_object_size(options) || json_is_object(own))
		return options;
	json_decref(options);
	return NULL;
}

/* What clones have in common when group_reporting did not merge them. */
static void clone_key(const json_t *job, struct text *key)
{
	text_reset(key);
	text_add(key, "%lld ", (long long)json_integer_value(json_object_get(job, "groupid")));
	text_add_json_string(key, text_of(job, "hostname"));
	text_add_json_string(key, text_of(job, "jobname"));
}

/* How many entries there are of each: {key:n}. */
static json_t *count_clones(const json_t *list)
{
	json_t *counts = json_object();
	struct text key = { 0 };
	const json_t *job;
	size_t i;

	json_array_foreach(list, i, job) {
		clone_key(job, &key);
		json_object_set_new(counts, text_get(&key),
				    json_integer(json_integer_value(json_object_get(counts, text_get(&key))) + 1));
	}
	text_free(&key);
	return counts;
}

static json_int_t clones_of(const json_t *counts, const json_t *job)
{
	struct text key = { 0 };
	json_int_t n;

	clone_key(job, &key);
	n = json_integer_value(json_object_get(counts, text_get(&key)));
	text_free(&key);
	return n > 0 ? n : 1;
}

/*
 * JSON does not tell how many jobs an entry stands for: numjobs over the number of entries of that name, since
 * group_reporting leaves one of them. 0: not known.
 */
static json_int_t members_of(const json_t *options, json_int_t entries)
{
	const char *numjobs = json_string_value(json_object_get(options, "numjobs"));
	long n = numjobs ? strtol(numjobs, NULL, 10) : 1;

	if (!options || n < 1 || n > 1000000)
		return 0;
	return n % entries == 0 ? n / entries : 1;
}

/*
 * job_runtime (since 3.8) is the sum over an entry's jobs. When it is longer than they can have taken, group_reporting
 * has put jobs of other sections into the entry, too: then it is not known how many.
 */
static bool too_few(const json_t *out, json_int_t members, double all_runtimes)
{
	return json_number_value(json_object_get(out, "job_runtime")) > 1.5 * (double)members * all_runtimes;
}

static void set_members(json_t *out, json_int_t members)
{
	static const char *const name[] = { "read", "write", "trim", "mixed" };
	bool told = json_number_value(json_object_get(out, "job_runtime")) > 0;
	double longest = 0, all = 0;

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		double ms = json_number_value(json_object_get(json_object_get(out, name[i]), "runtime"));

		longest = ms > longest ? ms : longest;
		all += ms > 0 ? ms : 0;
	}
	if (!members || (told && too_few(out, members, all)))
		return;
	json_object_set_new(out, "members", json_integer(members));
	if (!told && longest > 0 && longest < 1e12) {
		json_object_set_new(out, "job_runtime", json_integer((json_int_t)longest * members));
		json_object_set_new(out, "job_runtime_estimated", json_true());
	}
}

static const char *status_of(const json_t *out, int worst, size_t directions)
{
	if (json_integer_value(json_object_get(out, "error")))
		return "failed";
	return directions == 0 ? "no data" : worst ? "inconsistent" : "ok";
}

static int read_job(const json_t *root, const json_t *counts, const json_t *job, const struct fio_json_units *units,
		    size_t line, json_t *jobs, struct error *e)
{
	static const char *const kept[] = { "jobname",	 "groupid", "hostname",	   "port",	    "error",
					    "job_start", "elapsed", "usr_cpu",	   "sys_cpu",	    "ctx",
					    "majf",	 "minf",    "job_runtime", "iodepth_level", "steadystate" };
	static const char *const name[] = { "read", "write", "trim", "mixed" };
	json_t *out = json_object(), *options = options_of(root, job), *sync = json_object_get(job, "sync");
	json_int_t members = members_of(options, clones_of(counts, job));
	size_t directions = 0;
	int worst = 0;

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		copy(out, job, kept[i]);
	json_object_set_new(out, "line", json_integer((json_int_t)line));
	if (options)
		json_object_set_new(out, "job options", options);
	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		json_t *direction;

		if (fio_json_direction(json_object_get(job, name[i]), name[i], units, line, out, &direction, &worst, e))
			goto failed;
		if (direction) {
			json_object_set_new(out, name[i], direction);
			directions++;
		}
	}
	if (json_number_value(json_object_get(sync, "total_ios")) > 0)
		json_object_set(out, "sync", sync);
	set_members(out, members);
	json_object_set_new(out, "status", json_string(status_of(out, worst, directions)));
	if (json_array_append_new(jobs, out))
		return error_set(e, STATUS_HOST, "out of memory");
	return 0;
failed:
	json_decref(out);
	return -1;
}

/* ---- documents ---- */

static const json_t *job_list(const json_t *root)
{
	const json_t *list = json_object_get(root, "client_stats");

	return json_is_array(list) ? list : json_object_get(root, "jobs");
}

/* NULL and a note when there is nothing in it. */
static int read_document(const json_t *root, const char *text, size_t line, struct fio_import *into, json_t **out,
			 struct error *e)
{
	static const char *const kept[] = { "fio version", "timestamp", "timestamp_ms", "time", "disk_util" };
	const json_t *list = job_list(root), *job;
	struct fio_json_units units = fio_json_units(json_string_value(json_object_get(root, "fio version")));
	json_t *jobs = json_array(), *counts = count_clones(list);
	size_t at = 0, at_line = line, i;

	*out = NULL;
	json_array_foreach(list, i, job) {
		size_t job_line = next_job_line(text, &at, &at_line);

		if (strcmp(text_of(job, "jobname"), "All clients") == 0 && json_array_size(list) > 1)
			continue;
		if (!json_is_string(json_object_get(job, "jobname"))) {
			if (fio_note(into, line, e, "jobs[%zu] of fio's JSON has no \"jobname\": left out", i))
				goto failed;
			continue;
		}
		if (read_job(root, counts, job, &units, job_line ? job_line : line, jobs, e))
			goto failed;
	}
	json_decref(counts);
	if (json_array_size(jobs) == 0) {
		json_decref(jobs);
		return fio_note(into, line, e, "fio's JSON holds no jobs");
	}
	*out = json_pack("{s:I,s:o}", "line", (json_int_t)line, "jobs", jobs);
	for (i = 0; *out && i < sizeof(kept) / sizeof(kept[0]); i++)
		copy(*out, root, kept[i]);
	return *out ? 0 : error_set(e, STATUS_HOST, "out of memory");
failed:
	json_decref(counts);
	json_decref(jobs);
	return -1;
}

/* One whole object: parse a repaired copy. What the parser refuses is noted. */
static int read_extent(const char *bytes, const struct extent *x, struct fio_import *into, json_t **out, struct error *e)
{
	struct text text = { 0 };
	json_error_t why;
	json_t *root;
	int status;

	*out = NULL;
	fio_json_repair(bytes + x->from, x->to - x->from, &text);
	if (text.failed) {
		text_free(&text);
		return error_set(e, STATUS_HOST, "out of memory");
	}
	root = json_loadb(text.data, text.length, 0, &why);
	if (!root)
		status = fio_note(into, x->line + (size_t)(why.line > 0 ? why.line - 1 : 0), e,
				  "fio's JSON cannot be read: %s", why.text);
	else
		status = read_document(root, text_get(&text), x->line, into, out, e);
	json_decref(root);
	text_free(&text);
	return status;
}

/* ---- reports of one run ---- */

static double elapsed_of(const json_t *document)
{
	return json_number_value(json_object_get(json_array_get(json_object_get(document, "jobs"), 0), "elapsed"));
}

/* The same jobs, begun at the same time where that is told. */
static bool same_jobs(const json_t *a, const json_t *b)
{
	const json_t *job;
	size_t i;

	if (json_array_size(a) != json_array_size(b))
		return false;
	json_array_foreach(a, i, job) {
		const json_t *other = json_array_get(b, i), *start = json_object_get(job, "job_start");

		if (strcmp(text_of(job, "jobname"), text_of(other, "jobname")) ||
		    (start && !json_equal(start, json_object_get(other, "job_start"))))
			return false;
	}
	return true;
}

/* As much more run time as the clock went on: both are in whole seconds, so 2 s of difference are allowed. */
static bool clock_went_on(const json_t *earlier, const json_t *later)
{
	double clock = json_number_value(json_object_get(later, "timestamp")) -
		       json_number_value(json_object_get(earlier, "timestamp"));
	double ran = elapsed_of(later) - elapsed_of(earlier);

	return json_is_number(json_object_get(earlier, "timestamp")) && elapsed_of(earlier) > 0 && clock > 0 && ran > 0 &&
	       fabs(ran - clock) <= 2;
}

static bool no_less(const json_t *earlier, const json_t *later, const char *key)
{
	return json_number_value(json_object_get(later, key)) >= json_number_value(json_object_get(earlier, key));
}

/* *longest: ms of the later one's directions. */
static bool has_grown(const json_t *earlier, const json_t *later, double *longest)
{
	static const char *const name[] = { "read", "write", "trim", "mixed" };

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		const json_t *a = json_object_get(earlier, name[i]), *b = json_object_get(later, name[i]);
		const json_t *old = json_object_get(a, "clat_ns"), *new = json_object_get(b, "clat_ns");

		if (!no_less(a, b, "total_ios") || !no_less(a, b, "io_bytes") || !no_less(a, b, "runtime") ||
		    (old && (!no_less(old, new, "max") || !no_less(new, old, "min"))))
			return false;
		*longest = fmax(*longest, json_number_value(json_object_get(b, "runtime")));
	}
	return no_less(earlier, later, "ctx");
}

/* Begun before the other was printed, and it did all of that one's work. */
static bool overlaps(const json_t *earlier, const json_t *later)
{
	const json_t *a = json_object_get(earlier, "jobs"), *b = json_object_get(later, "jobs"), *job;
	double clock = json_number_value(json_object_get(later, "timestamp_ms")) -
		       json_number_value(json_object_get(earlier, "timestamp_ms")), longest = 0;
	size_t i;

	if (!json_is_number(json_object_get(earlier, "timestamp_ms")) || clock < 0)
		return false;
	json_array_foreach(a, i, job)
		if (!has_grown(job, json_array_get(b, i), &longest))
			return false;
	return clock < longest;
}

/*
 * later goes on where earlier stood. Two runs one after the other take about the same time each, and the second one
 * begins when the first one has been printed.
 */
static bool is_interim(const json_t *earlier, const json_t *later)
{
	return same_jobs(json_object_get(earlier, "jobs"), json_object_get(later, "jobs")) &&
	       (clock_went_on(earlier, later) || overlaps(earlier, later));
}

static int append_document(struct fio_import *into, json_t *document, size_t first, struct error *e)
{
	size_t n = json_array_size(into->outputs);
	const json_t *last = n > first ? json_array_get(into->outputs, n - 1) : NULL;

	if (last && is_interim(last, document)) {
		size_t line = (size_t)json_integer_value(json_object_get(last, "line"));

		json_array_remove(into->outputs, n - 1);
		if (fio_note(into, line, e, "a report from within the run: only the last of them counts")) {
			json_decref(document);
			return -1;
		}
	}
	return json_array_append_new(into->outputs, document) ? error_set(e, STATUS_HOST, "out of memory") : 0;
}

int fio_json_read(char *bytes, size_t length, struct fio_import *into, struct error *e)
{
	size_t first = json_array_size(into->outputs);
	struct extents found;
	int status = fio_json_scan(bytes, length, &found, e);

	for (size_t i = 0; status == 0 && i < found.count; i++) {
		const struct extent *x = &found.list[i];
		json_t *document = NULL;

		if (x->kind == EXTENT_FIO)
			status = read_extent(bytes, x, into, &document, e);
		else if (x->kind == EXTENT_DEEP)
			status = fio_note(into, x->line, e, "JSON nested deeper than %d: skipped", FIO_JSON_DEPTH);
		else
			status = fio_note(into, x->line, e, "fio's JSON begins here and %s in line %zu: not read",
					  x->kind == EXTENT_CUT ? "is cut off" : "is damaged", x->last);
		if (status == 0 && document)
			status = append_document(into, document, first, e);
		if (x->kind != EXTENT_DEEP)
			fio_blank(bytes, x->from, x->to);
	}
	fio_json_scan_free(&found);
	return status;
}
