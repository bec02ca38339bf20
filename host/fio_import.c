#include "host/fio_import.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/fio_bytes.h"
#include "host/fio_json.h"
#include "host/fio_table.h"
#include "host/fio_terse.h"
#include "host/fio_text.h"
#include "host/fio_text_section.h"

static int read_text(char *bytes, size_t length, struct fio_import *into, struct error *e)
{
	return fio_text_read(bytes, length, into, e);
}

/* In this order: each leaves to the next what it did not read. exact: of one run in two forms the higher is kept. */
static const struct form {
	const char *name;
	int (*read)(char *bytes, size_t length, struct fio_import *into, struct error *e);
	int exact;
} forms[] = {
	{ "json", fio_json_read, 3 },
	{ "terse", fio_terse_read, 1 },
	{ "table", fio_table_read, 0 },
	{ "text", read_text, 2 },
};

#define NFORMS (sizeof(forms) / sizeof(forms[0]))

static int exactness(const json_t *document)
{
	const char *name = json_string_value(json_object_get(document, "form"));

	for (size_t i = 0; name && i < NFORMS; i++)
		if (strcmp(forms[i].name, name) == 0)
			return forms[i].exact;
	return 0;
}

/* ---- order of the file ---- */

struct place {
	json_int_t line;
	size_t index; /* keeps the order of what begins in one line */
	json_t *value;
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static int sort_by_line(json_t **array, struct error *e)
{
	size_t n = json_array_size(*array);
	struct place *place = calloc(n ? n : 1, sizeof(*place));
	json_t *sorted = json_array();
	int status = 0;

	for (size_t i = 0; place && i < n; i++) {
		json_t *value = json_array_get(*array, i);

		place[i] = (struct place){ json_integer_value(json_object_get(value, "line")), i, value };
	}
	if (place)
		qsort(place, n, sizeof(*place), by_place);
	for (size_t i = 0; place && sorted && i < n; i++)
		status |= json_array_append(sorted, place[i].value);
	if (!place || !sorted || status) {
		json_decref(sorted);
		free(place);
		return error_set(e, STATUS_HOST, "out of memory");
	}
	free(place);
	json_decref(*array);
	*array = sorted;
	return 0;
}

/* ---- one run in two forms (--output-format=json,normal) ---- */

/* Whether the numbers are those of one run; *compared: there were some. The text has four digits of IOPS. */
static bool same_direction(const json_t *a, const json_t *b, bool *compared)
{
	double x = json_number_value(json_object_get(a, "iops")), y = json_number_value(json_object_get(b, "iops"));

	if (!a || !b)
		return !a && !b;
	*compared = true;
	return json_equal(json_object_get(a, "runtime"), json_object_get(b, "runtime")) &&
	       fabs(x - y) <= 1 + 0.006 * fmax(x, y);
}

static bool same_run(const json_t *a, const json_t *b)
{
	static const char *const direction[] = { "read", "write", "trim", "mixed" };
	const json_t *jobs = json_object_get(a, "jobs"), *others = json_object_get(b, "jobs"), *job;
	bool compared = false;
	size_t i;

	if (exactness(a) == exactness(b) || exactness(a) == 0 || exactness(b) == 0 ||
	    json_array_size(jobs) != json_array_size(others))
		return false;
	json_array_foreach(jobs, i, job) {
		const json_t *other = json_array_get(others, i);

		if (!json_equal(json_object_get(job, "jobname"), json_object_get(other, "jobname")))
			return false;
		for (size_t k = 0; k < sizeof(direction) / sizeof(direction[0]); k++)
			if (!same_direction(json_object_get(job, direction[k]), json_object_get(other, direction[k]),
					    &compared))
				return false;
	}
	return compared;
}

static void add_missing(json_t *to, const json_t *from, const char *const *key, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!json_object_get(to, key[i]) && json_object_get(from, key[i]))
			json_object_set(to, key[i], json_object_get(from, key[i]));
}

/* What the form that is dropped told beyond the one that is kept. */
static void complete(json_t *kept, const json_t *dropped)
{
	static const char *const of_document[] = { "section", "time", "disk_util" }, *const of_job[] = { "error_text" };
	const json_t *others = json_object_get(dropped, "jobs");
	json_t *job;
	size_t i;

	add_missing(kept, dropped, of_document, 3);
	json_array_foreach(json_object_get(kept, "jobs"), i, job) {
		const json_t *other = json_array_get(others, i);
		json_t *options = json_object_get(other, "job options");

		add_missing(job, other, of_job, 1);
		if (json_object_get(other, "members")) /* printed in a title, guessed from JSON */
			json_object_set(job, "members", json_object_get(other, "members"));
		if (!json_object_get(job, "job options") && options)
			json_object_set(job, "job options", options);
		else if (options)
			json_object_update_missing(json_object_get(job, "job options"), options);
		if (strcmp(json_string_value(json_object_get(other, "status")) ?: "", "failed") == 0)
			json_object_set(job, "status", json_object_get(other, "status"));
	}
}

static int drop_copies(json_t **outputs, struct error *e)
{
	json_t *kept = json_array(), *document;
	size_t i;

	json_array_foreach(*outputs, i, document) {
		size_t n = json_array_size(kept);
		json_t *last = json_array_get(kept, n ? n - 1 : 0);
		bool copy = last && same_run(last, document);

		if (copy && exactness(last) > exactness(document)) {
			complete(last, document);
			continue;
		}
		if (copy)
			complete(document, last);
		if (copy ? json_array_set(kept, n - 1, document) : json_array_append(kept, document)) {
			json_decref(kept);
			return error_set(e, STATUS_HOST, "out of memory");
		}
	}
	json_decref(*outputs);
	*outputs = kept;
	return 0;
}

/* ---- headings above what is no text ---- */

static bool needs_section(const json_t *document)
{
	return strcmp(json_string_value(json_object_get(document, "form")) ?: "", "text") != 0;
}

/* outputs are in order of lines, as the headings are. */
static int set_sections(json_t *outputs, const struct fio_lines *lines, struct error *e)
{
	struct fio_sections sections = { 0 };
	json_t *heading = NULL, *document;
	size_t i, next = 0;
	int status = 0;

	json_array_foreach(outputs, i, document) {
		size_t line = (size_t)json_integer_value(json_object_get(document, "line"));

		for (; next < lines->count && lines->line[next].number < line; next++) {
			const char *text;
			size_t length;

			if (!fio_section_at(&sections, lines, next, &text, &length))
				continue;
			json_decref(heading);
			heading = fio_string(text, length);
			status |= !heading;
		}
		if (heading && needs_section(document))
			status |= json_object_set(document, "section", heading);
	}
	json_decref(heading);
	return status ? error_set(e, STATUS_HOST, "out of memory") : 0;
}

static int find_sections(const char *bytes, size_t length, json_t *outputs, struct error *e)
{
	struct fio_lines lines = { 0 };
	const json_t *document;
	bool needed = false;
	size_t i;
	int status;

	json_array_foreach(outputs, i, document)
		needed = needed || needs_section(document);
	if (!needed)
		return 0;
	status = fio_lines_split(bytes, length, &lines, e) || set_sections(outputs, &lines, e) ? -1 : 0;
	fio_lines_free(&lines);
	return status;
}

int fio_import_bytes(const char *bytes, size_t length, struct fio_import *out, struct error *e)
{
	char *copy = malloc(length ? length : 1);
	int status = 0;

	*out = (struct fio_import){ json_array(), json_array() };
	if (!copy || !out->outputs || !out->notes) {
		free(copy);
		return error_set(e, STATUS_HOST, "out of memory");
	}
	memcpy(copy, bytes, length);
	for (size_t i = 0; status == 0 && i < NFORMS; i++) {
		size_t first = json_array_size(out->outputs);

		status = forms[i].read(copy, length, out, e);
		for (size_t k = first; status == 0 && k < json_array_size(out->outputs); k++)
			json_object_set_new(json_array_get(out->outputs, k), "form", json_string(forms[i].name));
	}
	free(copy);
	if (status || sort_by_line(&out->outputs, e) || sort_by_line(&out->notes, e))
		return -1;
	return find_sections(bytes, length, out->outputs, e) || drop_copies(&out->outputs, e) ? -1 : 0;
}
