/* Documents of fio to trials of a run. */
#include "host/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/checksum.h"
#include "guest/text.h"
#include "host/fio_bytes.h"
#include "host/import_cell.h"
#include "host/import_private.h"

bool import_wanted(const json_t *document, const char *section)
{
	const char *heading = json_string_value(json_object_get(document, "section"));

	return !section || (heading && strstr(heading, section));
}

static const char *guest_of(const struct import *i)
{
	return i->r->guest ? i->r->guest : "unknown";
}

/* The cell of these jobs, which is made when it is not there. Its index, negative without memory. */
static json_int_t cell_of(struct import *i, const json_t *jobs, struct error *e)
{
	json_t *cell = import_cell(jobs, guest_of(i)), *cells = json_object_get(i->run, "cells"), *known;
	json_int_t index = (json_int_t)json_array_size(cells);
	struct text key = { 0 };

	if (!cell)
		return error_set(e, STATUS_HOST, "out of memory");
	import_cell_key(cell, &key);
	known = json_object_get(i->cell_index, text_get(&key));
	if (known) {
		index = json_integer_value(known);
	} else if (import_cell_name(cell, i->names, e) || json_array_append(cells, cell)) {
		index = error_set(e, STATUS_HOST, "out of memory");
	} else {
		import_set_count(i->cell_index, text_get(&key), index);
	}
	text_free(&key);
	json_decref(cell);
	return index;
}

/* {clone key:[jobs]}, in order of appearance. */
static json_t *group_jobs(const json_t *document)
{
	json_t *groups = json_object(), *job;
	struct text key = { 0 };
	size_t k;

	json_array_foreach(json_object_get(document, "jobs"), k, job) {
		json_t *group;

		import_clone_key(job, &key);
		group = json_object_get(groups, text_get(&key));
		if (!group) {
			group = json_array();
			json_object_set_new(groups, text_get(&key), group);
		}
		json_array_append(group, job);
	}
	text_free(&key);
	return groups;
}

/* Why its numbers are not to be used; "" when they are. */
static void trouble_of(const json_t *jobs, struct text *message)
{
	const json_t *job;
	size_t k;

	json_array_foreach(jobs, k, job) {
		const char *status = json_string_value(json_object_get(job, "status")) ?: "", *why;

		if (strcmp(status, "failed") == 0) {
			why = json_string_value(json_object_get(job, "error_text"));
			if (why)
				text_add(message, "%s", why);
			else
				text_add(message, "fio's error %lld",
					 (long long)json_integer_value(json_object_get(job, "error")));
		} else if (strcmp(status, "no data") == 0) {
			text_add(message, "no data: the job printed no result");
		} else if (strcmp(status, "inconsistent") == 0) {
			const json_t *mark = json_array_get(json_object_get(job, "marks"), 0);

			why = json_string_value(json_object_get(mark, "what"));
			text_add(message, "inconsistent: %s", why ? why : "the printed numbers disagree");
		}
		if (message->length)
			return;
	}
}

static json_t *marks_of(const json_t *jobs)
{
	json_t *marks = json_array();
	const json_t *job;
	size_t k;

	json_array_foreach(jobs, k, job)
		json_array_extend(marks, json_object_get(job, "marks"));
	return marks;
}

/* The print's own words about itself, without its other jobs. */
static json_t *reduced(const json_t *document, json_t *jobs)
{
	json_t *copy = json_copy((json_t *)document);

	json_object_set(copy, "jobs", jobs);
	return copy;
}

static int add_trial(struct import *i, const json_t *document, json_t *jobs, json_int_t cell_number, json_t *boot,
		     const char *path, const char *digest, struct error *e)
{
	json_int_t number = json_integer_value(json_object_get(boot, "boot")),
		   block = json_integer_value(json_object_get(boot, "block"));
	const json_t *cell = json_array_get(json_object_get(i->run, "cells"), (size_t)cell_number),
		     *job = json_array_get(jobs, 0);
	json_t *scenario = json_object_get(i->run, "scenario"), *trial, *planned;
	json_int_t repeat = import_occupy(i, cell_number, i->r->variant, block, number),
		   line = json_integer_value(json_object_get(job, "line"));
	struct text message = { 0 };

	if (repeat > import_count(scenario, "repeats"))
		import_set_count(scenario, "repeats", repeat);
	trouble_of(jobs, &message);
	trial = json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:O,s:s,s:s,s:o,s:s,s:s?,s:o,s:{s:s,s:I},s:o}", "schema",
			  "kickbench-trial/1", "trial", ++i->last_trial, "boot", number, "block", block, "repeat",
			  repeat, "cell", cell_number, "cell_name", json_object_get(cell, "name"), "guest", guest_of(i),
			  "variant", i->r->variant, "argv", import_argv(job, json_object_get(cell, "options")),
			  "status", message.length ? "failed" : "ok", "message",
			  message.length ? text_get(&message) : NULL, "fio", reduced(document, jobs), "source", "file",
			  path, "line", line, "marks", marks_of(jobs));
	text_free(&message);
	planned = json_pack("{s:I,s:I,s:s,s:I}", "trial", i->last_trial, "cell", cell_number, "variant", i->r->variant,
			    "repeat", repeat);
	if (*digest) {
		json_object_set_new(planned, "digest", json_string(digest));
		import_set_count(i->digests, digest, i->last_trial);
	}
	if (!trial || json_array_append_new(i->trials, trial) ||
	    json_array_append_new(json_object_get(boot, "trials"), planned))
		return error_set(e, STATUS_HOST, "out of memory");
	return 0;
}

/* The run's number within its variant: one more than any of its cells had. */
static json_int_t next_block(const struct import *i, const json_int_t *cell, size_t n)
{
	json_int_t block = 0;

	for (size_t k = 0; k < n; k++) {
		struct slot s = import_slot(cell[k], i->r->variant, 0, 0);
		json_int_t highest = import_count(i->highest, s.cell_variant);

		block = highest > block ? highest : block;
	}
	return block + 1;
}

static int new_boot(struct import *i, json_int_t number, json_int_t block, json_t **out, struct error *e)
{
	json_t *scenario = json_object_get(i->run, "scenario");

	*out = json_pack("{s:I,s:I,s:s,s:[s],s:[]}", "boot", number, "block", block, "guest", guest_of(i), "variants",
			 i->r->variant, "trials");
	if (!*out || json_array_append_new(import_boots(i), *out))
		return error_set(e, STATUS_HOST, "out of memory");
	import_index_boot(i, *out);
	i->last_boot = number > i->last_boot ? number : i->last_boot;
	if (block > import_count(scenario, "blocks"))
		import_set_count(scenario, "blocks", block);
	return 0;
}

/* The boot that the user named, in which more outputs may lie already. */
static int named_boot(struct import *i, const json_int_t *cell, size_t n, json_t **out, struct error *e)
{
	char key[32];
	const char *variant, *guest;

	snprintf(key, sizeof(key), "%u", i->r->boot);
	*out = json_object_get(i->boot_index, key);
	if (!*out)
		return new_boot(i, i->r->boot, i->r->block ? i->r->block : next_block(i, cell, n), out, e);
	variant = json_string_value(json_array_get(json_object_get(*out, "variants"), 0));
	guest = json_string_value(json_object_get(*out, "guest"));
	if (!variant || strcmp(variant, i->r->variant) || !guest || strcmp(guest, guest_of(i)))
		return error_set(e, STATUS_USAGE, "boot %u is one of variant %s and guest %s already", i->r->boot,
				 variant ? variant : "?", guest ? guest : "?");
	if (i->r->block && import_count(*out, "block") != i->r->block)
		return error_set(e, STATUS_USAGE, "boot %u belongs to block %lld already", i->r->boot,
				 (long long)import_count(*out, "block"));
	return 0;
}

/* What a boot is to hold must not stand in another boot of its block: the two would be added up. */
static int check_slots(const struct import *i, const json_int_t *cell, size_t n, json_int_t block, json_int_t boot,
		       struct error *e)
{
	for (size_t k = 0; k < n; k++) {
		struct slot s = import_slot(cell[k], i->r->variant, block, boot);
		json_int_t other = import_count(i->boot_of, s.with_block);
		const json_t *name =
			json_object_get(json_array_get(json_object_get(i->run, "cells"), (size_t)cell[k]), "name");

		if (other && other != boot)
			return error_set(e, STATUS_USAGE,
					 "block %lld already has a run of %s with %s (boot %lld): another block, or "
					 "--boot %lld when it ran in that same boot",
					 (long long)block, json_string_value(name), i->r->variant, (long long)other,
					 (long long)other);
	}
	return 0;
}

#define DIGEST_SIZE 17

/*
 * Of an output's numbers, wherever they stood. "" for one without any: titles alone may well be the same. Two
 * real runs never agree in all of their amounts and times; a copy that counted as a second run would halve the noise.
 */
static void digest_of(const json_t *document, char digest[DIGEST_SIZE])
{
	json_t *jobs = json_deep_copy(json_object_get(document, "jobs")), *job;
	bool numbers = false;
	char *text;
	size_t k;

	json_array_foreach(jobs, k, job) {
		numbers = numbers || json_object_get(job, "read") || json_object_get(job, "write") ||
			  json_object_get(job, "trim") || json_object_get(job, "mixed");
		json_object_del(job, "line");
		json_object_del(job, "marks");
		json_object_del(job, "job options"); /* what stands around may be cut off in a copy */
	}
	text = numbers ? json_dumps(jobs, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(12)) : NULL;
	digest[0] = '\0';
	if (text)
		snprintf(digest, DIGEST_SIZE, "%016llx", (unsigned long long)xxhash64(text, strlen(text)));
	free(text);
	json_decref(jobs);
}

static int add_document(struct import *i, const char *path, const json_t *document, const char *digest, struct error *e)
{
	json_t *groups = group_jobs(document), *jobs, *boot = NULL;
	size_t n = json_object_size(groups), k = 0;
	json_int_t *cell = calloc(n ? n : 1, sizeof(*cell)), block;
	const char *key;
	int status = cell ? 0 : error_set(e, STATUS_HOST, "out of memory");

	json_object_foreach(groups, key, jobs)
		if (status == 0 && (cell[k++] = cell_of(i, jobs, e)) < 0)
			status = -1;
	if (status == 0 && n) {
		block = i->r->block ? i->r->block : next_block(i, cell, n);
		status = i->r->boot ? named_boot(i, cell, n, &boot, e)
				    : check_slots(i, cell, n, block, i->last_boot + 1, e) ||
					      new_boot(i, i->last_boot + 1, block, &boot, e);
	}
	if (status == 0 && boot)
		status = check_slots(i, cell, n, import_count(boot, "block"), import_count(boot, "boot"), e);
	k = 0;
	json_object_foreach(groups, key, jobs)
		if (status == 0)
			status = add_trial(i, document, jobs, cell[k++], boot, path, digest, e);
	free(cell);
	json_decref(groups);
	return status ? -1 : 0;
}

/* A file is named once, however often parts of it are taken. */
static void add_file(struct import *i, const json_t *path, long long size, long long mtime)
{
	json_t *files = json_object_get(i->run, "files"), *entry, *other;
	size_t k;

	entry = json_pack("{s:O,s:I,s:o}", "path", path, "size", (json_int_t)size, "mtime",
			  mtime < 0 ? json_null() : json_integer(mtime));
	json_array_foreach(files, k, other)
		if (json_equal(entry, other)) {
			json_decref(entry);
			return;
		}
	json_array_append_new(files, entry);
}

int import_add(struct import *i, const char *path, long long size, long long mtime, const json_t *outputs,
	       json_t *notes, struct error *e)
{
	struct fio_import into = { NULL, notes };
	json_t *name = fio_string(path, strlen(path)), *document;
	size_t k, before = i->taken;
	int status = name ? 0 : error_set(e, STATUS_HOST, "out of memory");

	json_array_foreach(outputs, k, document) {
		char digest[DIGEST_SIZE];
		json_int_t trial;

		if (status || !import_wanted(document, i->r->section))
			continue;
		digest_of(document, digest);
		trial = *digest ? import_count(i->digests, digest) : 0;
		if (trial) {
			status = fio_note(&into, (size_t)json_integer_value(json_object_get(document, "line")), e,
					  "this output is trial %lld already, number by number: a copy is no second "
					  "run",
					  (long long)trial);
			continue;
		}
		status = add_document(i, json_string_value(name), document, digest, e);
		i->taken += status == 0;
	}
	if (status == 0 && i->taken > before)
		add_file(i, name, size, mtime);
	json_decref(name);
	return status;
}

size_t import_taken(const struct import *i)
{
	return i->taken;
}
