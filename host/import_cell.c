#include "host/import_cell.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/parse.h"

/* What tells a cell from another beside the job's name. */
static const char *const option[] = { "rw", "bs", "iodepth", "numjobs", "ioengine" };

#define NOPTIONS (sizeof(option) / sizeof(option[0]))

static const char *text_of(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s && *s ? s : NULL;
}

/* ---- options ---- */

/* "4096" and "4K" to "4k", "08" to "8"; what is no such number stays. */
static void canonical(const char *key, const char *value, char *out, size_t room)
{
	static const char unit[] = "kmg";
	const char *suffix = "";
	uint64_t n;

	if (strcmp(key, "iodepth") == 0 && parse_u64(value, &n) == 0) {
		snprintf(out, room, "%llu", (unsigned long long)n);
	} else if (strcmp(key, "bs") == 0 && parse_size(value, &n) == 0 && n > 0) {
		for (size_t i = 0; i < 3 && n % 1024 == 0; i++) {
			n /= 1024;
			suffix = unit + i;
		}
		snprintf(out, room, "%llu%.1s", (unsigned long long)n, suffix);
	} else {
		snprintf(out, room, "%s", value);
	}
}

/* The sum; where one does not tell, what the numjobs option says. NULL: not known. */
static json_t *numjobs_of(const json_t *jobs)
{
	const char *told = text_of(json_object_get(json_array_get(jobs, 0), "job options"), "numjobs");
	json_int_t n = 0;
	const json_t *job;
	uint64_t number;
	char text[32];
	size_t i;

	json_array_foreach(jobs, i, job) {
		json_int_t members = json_integer_value(json_object_get(job, "members"));

		if (members <= 0 || members > 1000000) {
			n = told && parse_u64(told, &number) == 0 && number <= 1000000 ? (json_int_t)number : 0;
			break;
		}
		n += members;
	}
	if (n <= 0)
		return NULL;
	snprintf(text, sizeof(text), "%lld", (long long)n);
	return json_string(text);
}

static json_t *options_of(const json_t *job)
{
	const json_t *told = json_object_get(job, "job options");
	json_t *options = json_object();
	char value[256];

	for (size_t i = 0; i < NOPTIONS; i++) {
		const char *s = text_of(told, option[i]);

		if (!s && strcmp(option[i], "bs") == 0)
			s = text_of(told, "bsrange");
		if (!s || strcmp(option[i], "numjobs") == 0)
			continue;
		canonical(option[i], s, value, sizeof(value));
		json_object_set_new(options, option[i], json_string(value));
	}
	return options;
}

json_t *import_argv(const json_t *job, const json_t *options)
{
	const char *name = text_of(job, "jobname"), *numjobs = text_of(options, "numjobs"), *key;
	json_t *argv = json_array(), *value;
	struct text word = { 0 };

	text_add(&word, "--name=%s", name ? name : "");
	json_array_append_new(argv, json_string(text_get(&word)));
	json_object_foreach(json_object_get(job, "job options"), key, value) {
		if (!json_is_string(value) || strcmp(key, "name") == 0 || strcmp(key, "numjobs") == 0)
			continue;
		text_reset(&word);
		text_add(&word, *json_string_value(value) ? "--%s=%s" : "--%s", key, json_string_value(value));
		json_array_append_new(argv, json_string(text_get(&word)));
	}
	if (numjobs) {
		text_reset(&word);
		text_add(&word, "--numjobs=%s", numjobs);
		json_array_append_new(argv, json_string(text_get(&word)));
	}
	text_free(&word);
	return argv;
}

json_t *import_cell(const json_t *jobs, const char *guest)
{
	const json_t *job = json_array_get(jobs, 0);
	const char *name = text_of(job, "jobname");
	json_t *options = options_of(job), *numjobs = numjobs_of(jobs);

	if (numjobs)
		json_object_set_new(options, "numjobs", numjobs);
	return json_pack("{s:s,s:s,s:o,s:o}", "guest", guest, "workload", name ? name : "(no name)", "argv",
			 import_argv(job, options), "options", options);
}

/* ---- keys ---- */

/* JSON and command lines leave out what is fio's default; headers, which tell of the same run in text, print it. */
static const char *in_force(const json_t *options, const char *name)
{
	const char *value = text_of(options, name);

	if (value || !text_of(options, "rw"))
		return value;
	return strcmp(name, "bs") == 0 ? "4k" : strcmp(name, "iodepth") == 0 ? "1" : NULL;
}

static void add_options(const json_t *options, struct text *key)
{
	for (size_t i = 0; i < NOPTIONS; i++) {
		text_add(key, ",");
		text_add_json_string(key, in_force(options, option[i]));
	}
}

void import_clone_key(const json_t *job, struct text *key)
{
	json_t *options = options_of(job);

	text_reset(key);
	text_add(key, "%lld,", (long long)json_integer_value(json_object_get(job, "groupid")));
	text_add_json_string(key, text_of(job, "jobname"));
	add_options(options, key);
	json_decref(options);
}

void import_cell_key(const json_t *cell, struct text *key)
{
	text_reset(key);
	text_add_json_string(key, text_of(cell, "guest"));
	text_add(key, ",");
	text_add_json_string(key, text_of(cell, "workload"));
	add_options(json_object_get(cell, "options"), key);
}

/* ---- names ---- */

static void add_part(struct text *point, const char *key, const char *value)
{
	if (value)
		text_add(point, "%s%s%s%s", point->length ? " " : "", key, *key ? "=" : "", value);
}

static void point_of(const json_t *cell, bool engine, struct text *point)
{
	const json_t *options = json_object_get(cell, "options");
	const char *job = text_of(cell, "workload"), *rw = text_of(options, "rw"), *bs = text_of(options, "bs"),
		   *depth = text_of(options, "iodepth");

	if (rw && strncmp(job, rw, strlen(rw)))
		add_part(point, "", rw);
	add_part(point, "numjobs", text_of(options, "numjobs"));
	if (bs && strcmp(bs, "4k"))
		add_part(point, "bs", bs);
	if (depth && strcmp(depth, "1"))
		add_part(point, "iodepth", depth);
	if (engine)
		add_part(point, "ioengine", text_of(options, "ioengine"));
}

/* For a line of a report: no control characters. */
static void tidy(char *s)
{
	for (; *s; s++)
		if (iscntrl((unsigned char)*s))
			*s = ' ';
}

int import_cell_name(json_t *cell, json_t *names, struct error *e)
{
	struct text point = { 0 }, name = { 0 };
	int status;

	for (unsigned attempt = 0;; attempt++) {
		text_reset(&point);
		text_reset(&name);
		point_of(cell, attempt > 0, &point);
		if (attempt > 1)
			text_add(&name, "%s: ", text_of(cell, "guest"));
		text_add(&name, "%s%s%s", text_of(cell, "workload"), point.length ? " " : "", text_get(&point));
		if (attempt > 2)
			text_add(&name, " (%u)", attempt - 1);
		if (!name.failed)
			tidy(name.data);
		if (name.failed || point.failed || !json_object_get(names, text_get(&name)))
			break;
	}
	status = name.failed || point.failed || json_object_set_new(names, text_get(&name), json_true()) ||
		 json_object_set_new(cell, "name", json_string(text_get(&name))) ||
		 json_object_set_new(cell, "point", json_string(text_get(&point)));
	text_free(&name);
	text_free(&point);
	return status ? error_set(e, STATUS_HOST, "out of memory") : 0;
}
