#include "host/fio_terse.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/fio_bytes.h"

#define MAX_FIELDS 4096

/* What the versions differ in. */
static const struct layout {
	char version;
	size_t head;       /* fields before the first direction */
	size_t directions; /* read, write, trim */
	size_t each;       /* fields of one */
} layouts[] = {
	{ '2', 4, 3, 41 }, { '3', 5, 2, 41 }, { '4', 5, 3, 41 }, { '5', 5, 3, 47 },
};

/* Within a direction; after its percentiles come lat and bw. */
enum {
	IO_KIB,
	BW_KIB,
	IOPS,
	RUNTIME,
	SLAT,
	CLAT = SLAT + 4,
	PERCENTILES = CLAT + 4,
	LAT = PERCENTILES + 20,
	BW = LAT + 4
};

/* After the directions. */
enum { USR, SYS, CTX, MAJF, MINF, DEPTHS, BUCKETS = DEPTHS + 7, DISKS = BUCKETS + 22 };

struct field {
	const char *at;
	size_t length;
};

struct line {
	struct field field[MAX_FIELDS];
	size_t count;
	const struct layout *layout;
};

/* A number with unit ("" or "%") behind it. */
static bool number(const struct field *f, const char *unit, double *out)
{
	char text[64], *end;

	if (f->length == 0 || f->length >= sizeof(text))
		return false;
	memcpy(text, f->at, f->length);
	text[f->length] = '\0';
	if (!isdigit((unsigned char)text[0]) && text[0] != '-')
		return false;
	*out = strtod(text, &end);
	return strcmp(end, unit) == 0 && isfinite(*out);
}

/* "99.000000%=1656" */
static bool percentile(const struct field *f, double *percent, double *us)
{
	const char *equal = memchr(f->at, '=', f->length);
	struct field left, right;

	if (!equal)
		return false;
	left = (struct field){ f->at, (size_t)(equal - f->at) };
	right = (struct field){ equal + 1, f->length - left.length - 1 };
	return number(&left, "%", percent) && number(&right, "", us);
}

/* ---- is it one? ---- */

static bool right_numbers(const struct field *f, size_t n, const char *unit)
{
	double ignored;

	for (size_t i = 0; i < n; i++)
		if (!number(&f[i], unit, &ignored))
			return false;
	return true;
}

static bool right_direction(const struct field *f, size_t each)
{
	double p, us;

	if (!right_numbers(f, PERCENTILES, "") || !right_numbers(&f[LAT], 6, "") || !right_numbers(&f[BW + 2], 1, "%") ||
	    !right_numbers(&f[BW + 3], each - BW - 3, ""))
		return false;
	for (size_t i = 0; i < 20; i++)
		if (!percentile(&f[PERCENTILES + i], &p, &us))
			return false;
	return true;
}

/* Field by field; *wrong: what is not as it should be. */
static bool right(const struct line *l, const char **wrong)
{
	const struct layout *a = l->layout;
	const struct field *tail = &l->field[a->head + a->directions * a->each];
	double number_of;

	*wrong = "it has too few (cut off, or with unified_rw_reporting)";
	if (l->count < a->head + a->directions * a->each + DISKS)
		return false;
	*wrong = "its first fields are no group and error number";
	if (!number(&l->field[a->head - 2], "", &number_of) || !number(&l->field[a->head - 1], "", &number_of))
		return false;
	*wrong = "a direction's fields are not in their places";
	for (size_t i = 0; i < a->directions; i++)
		if (!right_direction(&l->field[a->head + i * a->each], a->each))
			return false;
	*wrong = "the fields after the directions are not in their places";
	return right_numbers(tail, 2, "%") && right_numbers(&tail[CTX], 3, "") &&
	       right_numbers(&tail[DEPTHS], DISKS - DEPTHS, "%");
}

/* Split what is from at to end; the line's layout, or NULL when it does not begin as a terse line. */
static bool split(const char *at, const char *end, struct line *l)
{
	l->count = 0;
	l->layout = NULL;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (*at == layouts[i].version)
			l->layout = &layouts[i];
	if (!l->layout || end - at < 2 || at[1] != ';' || (*at != '2' && (end - at < 6 || memcmp(at + 2, "fio-", 4))))
		return false;
	while (l->count < MAX_FIELDS) {
		const char *semicolon = memchr(at, ';', (size_t)(end - at));

		l->field[l->count++] = (struct field){ at, (size_t)((semicolon ? semicolon : end) - at) };
		if (!semicolon)
			break;
		at = semicolon + 1;
	}
	/* "2;" may begin anything */
	return l->layout->version != '2' || l->count > 40;
}

/* ---- to the form of JSON ---- */

static double value_of(const struct field *f)
{
	char text[64];
	size_t n = f->length < sizeof(text) ? f->length : sizeof(text) - 1;

	memcpy(text, f->at, n);
	text[n] = '\0';
	return strtod(text, NULL);
}

/* Whole where it was printed so, and fits. */
static json_t *json_number(double value)
{
	return value == floor(value) && fabs(value) < 9e15 ? json_integer((json_int_t)value) : json_real(value);
}

/* min, max, mean, stddev. All 0: not measured. */
static json_t *latency(const struct field *f)
{
	double v[4];

	for (int i = 0; i < 4; i++)
		v[i] = 1000 * value_of(&f[i]);
	if (v[0] == 0 && v[1] == 0 && v[2] == 0)
		return NULL;
	return json_pack("{s:o,s:o,s:f,s:f}", "min", json_number(v[0]), "max", json_number(v[1]), "mean", v[2],
			 "stddev", v[3]);
}

static json_t *percentiles(const struct field *f)
{
	json_t *list = json_object();

	for (int i = 0; i < 20; i++) {
		double p, us;
		char key[32];

		if (!percentile(&f[i], &p, &us) || !(p > 0)) /* places that are not in use are 0%=0 */
			continue;
		snprintf(key, sizeof(key), "%f", p);
		json_object_set_new(list, key, json_number(1000 * us));
	}
	return list;
}

/* NULL: this direction did nothing. */
static json_t *direction(const struct field *f)
{
	static const struct {
		const char *name;
		int at;
	} kind[] = { { "slat_ns", SLAT }, { "clat_ns", CLAT }, { "lat_ns", LAT } };
	json_t *d;

	if (value_of(&f[IO_KIB]) == 0 && value_of(&f[RUNTIME]) == 0 && value_of(&f[IOPS]) == 0)
		return NULL;
	d = json_pack("{s:o,s:o,s:o,s:f}", "io_bytes", json_number(1024 * value_of(&f[IO_KIB])), "bw_bytes",
		      json_number(1024 * value_of(&f[BW_KIB])), "runtime", json_number(value_of(&f[RUNTIME])), "iops",
		      value_of(&f[IOPS]));
	for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		json_t *it = latency(&f[kind[i].at]);

		if (it && kind[i].at == CLAT)
			json_object_set_new(it, "percentile", percentiles(&f[PERCENTILES]));
		if (it)
			json_object_set_new(d, kind[i].name, it);
	}
	return d;
}

static json_t *disks(const struct field *f, size_t count)
{
	static const char *const name[] = { "read_ios",	  "write_ios",	 "read_merges", "write_merges",
					    "read_ticks", "write_ticks", "in_queue" };
	json_t *list = json_array();
	double util;

	for (; count >= 9 && right_numbers(&f[1], 7, "") && number(&f[8], "%", &util); f += 9, count -= 9) {
		json_t *disk = json_pack("{s:o}", "name", fio_string(f[0].at, f[0].length));

		for (size_t i = 0; i < 7; i++)
			json_object_set_new(disk, name[i], json_number(value_of(&f[1 + i])));
		json_object_set_new(disk, "util", json_real(util));
		json_array_append_new(list, disk);
	}
	if (json_array_size(list))
		return list;
	json_decref(list);
	return NULL;
}

static json_t *job_of(const struct line *l, size_t number_of_line)
{
	static const char *const name[] = { "read", "write", "trim" };
	const struct layout *a = l->layout;
	const struct field *tail = &l->field[a->head + a->directions * a->each], *jobname = &l->field[a->head - 3];
	double code = value_of(&l->field[a->head - 1]);
	json_int_t error = fabs(code) < 1e9 ? (json_int_t)code : -1;
	size_t did = 0;
	json_t *job =
		json_pack("{s:o,s:o,s:I,s:I,s:f,s:f,s:o,s:o,s:o}", "jobname", fio_string(jobname->at, jobname->length),
			  "groupid", json_number(value_of(&l->field[a->head - 2])), "error", error, "line",
			  (json_int_t)number_of_line, "usr_cpu", value_of(&tail[USR]), "sys_cpu", value_of(&tail[SYS]),
			  "ctx", json_number(value_of(&tail[CTX])), "majf", json_number(value_of(&tail[MAJF])), "minf",
			  json_number(value_of(&tail[MINF])));

	for (size_t i = 0; job && i < a->directions; i++) {
		json_t *d = direction(&l->field[a->head + i * a->each]);

		if (d)
			json_object_set_new(job, name[i], d);
		did += d != NULL;
	}
	json_object_set_new(job, "status", json_string(error ? "failed" : did ? "ok" : "no data"));
	return job;
}

/* ---- lines ---- */

struct reading {
	struct fio_import *into;
	struct line *line;
	json_t *document; /* that the next line may belong to; borrowed */
};

static bool same_version(const json_t *document, const json_t *version)
{
	const json_t *have = json_object_get(document, "fio version");

	return version ? json_equal(have, version) : !have;
}

static bool has_job(const json_t *document, const json_t *job)
{
	const json_t *other;
	size_t i;

	json_array_foreach(json_object_get(document, "jobs"), i, other)
		if (json_equal(json_object_get(other, "jobname"), json_object_get(job, "jobname")) &&
		    json_equal(json_object_get(other, "groupid"), json_object_get(job, "groupid")))
			return true;
	return false;
}

/* A line of its own run or of another's? A run's lines all repeat its disks. */
static json_t *document_for(struct reading *r, json_t *job, const json_t *version, const json_t *disk_util, size_t line,
			    struct error *e)
{
	bool again = r->document && has_job(r->document, job);
	const json_t *have = json_object_get(r->document, "disk_util");

	if (r->document && same_version(r->document, version) &&
	    (!again || (have && disk_util && json_equal(have, disk_util))))
		return r->document;
	if (again && !have && !disk_util &&
	    fio_mark(job, line, e,
		     "read as a run of its own: the line above has the same job, and nothing printed tells whether "
		     "they ran together"))
		return NULL;
	r->document = json_pack("{s:I,s:[]}", "line", (json_int_t)line, "jobs");
	if (!r->document || json_array_append_new(r->into->outputs, r->document)) {
		error_set(e, STATUS_HOST, "out of memory");
		r->document = NULL;
	}
	return r->document;
}

static int take_line(struct reading *r, size_t number_of_line, struct error *e)
{
	const struct line *l = r->line;
	const struct layout *a = l->layout;
	size_t disks_at = a->head + a->directions * a->each + DISKS;
	bool more = a->version != '2' && l->count > disks_at;
	json_t *job = job_of(l, number_of_line),
	       *version = a->version == '2' ? NULL : fio_string(l->field[1].at, l->field[1].length);
	json_t *disk_util = more ? disks(&l->field[disks_at], l->count - disks_at) : NULL, *document;

	document = job ? document_for(r, job, version, disk_util, number_of_line, e) : NULL;
	if (!document || json_array_append(json_object_get(document, "jobs"), job)) {
		json_decref(job);
		json_decref(version);
		json_decref(disk_util);
		return error_set(e, STATUS_HOST, "out of memory");
	}
	json_decref(job);
	if (version)
		json_object_set_new(document, "fio version", version);
	if (disk_util)
		json_object_set_new(document, "disk_util", disk_util);
	return 0;
}

/* A terse line may stand behind a prompt or a carriage return: where in the line does it begin? */
static const char *begin_of(const char *line, const char *end)
{
	const char *at = memchr(line, ';', (size_t)(end - line));

	if (!at || at == line || !strchr("2345", at[-1]) || (at - 1 > line && isalnum((unsigned char)at[-2])))
		return NULL;
	return at - 1;
}

int fio_terse_read(char *bytes, size_t length, struct fio_import *into, struct error *e)
{
	struct reading r = { .into = into, .line = malloc(sizeof(*r.line)) };
	const char *wrong;
	size_t number_of_line = 1;
	int status = 0;

	if (!r.line)
		return error_set(e, STATUS_HOST, "out of memory");
	for (size_t at = 0, next; status == 0 && at < length; at = next, number_of_line++) {
		char *newline = memchr(bytes + at, '\n', length - at);
		size_t to = newline ? (size_t)(newline - bytes) : length;
		const char *begin, *end = bytes + to;

		next = to + 1;
		if (to > at && end[-1] == '\r')
			end--;
		begin = begin_of(bytes + at, end);
		if (!begin || !split(begin, end, r.line)) {
			for (size_t i = at; i < to; i++)
				if (!isspace((unsigned char)bytes[i]))
					r.document = NULL; /* something else stands between */
			continue;
		}
		if (right(r.line, &wrong))
			status = take_line(&r, number_of_line, e);
		else
			status = fio_note(into, number_of_line, e,
					  "a terse line of version %c with %zu fields is not read: %s", *begin,
					  r.line->count, wrong);
		fio_blank(bytes, (size_t)(begin - bytes), to);
	}
	free(r.line);
	return status;
}
