#include "host/fio_table.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/fio_bytes.h"

#define MAX_COLUMNS 64
#define MAX_LINE 4096 /* longer ones are no table's */

enum quantity { IOPS, RESPONSE, BUSY, CPU, AWAIT, REQUESTS, SIZE, UNKNOWN };

/* The first row whose words are all in the title says what it holds. */
static const struct {
	const char *words[3];
	enum quantity quantity;
} titles[] = {
	{ { "iops" }, IOPS },
	{ { "response time" }, RESPONSE },
	{ { "us+sy" }, BUSY },
	{ { "cpu", "per op" }, CPU },
	{ { "cpu", "per io" }, CPU },
	{ { "r_await" }, AWAIT },
	{ { "w_await" }, AWAIT },
	{ { "areq-sz" }, SIZE },
	{ { "reads per" }, REQUESTS },
	{ { "writes per" }, REQUESTS },
	{ { "requests per" }, REQUESTS },
};

/* Members of "table", and what one printed unit is in theirs. */
static const char *const member[] = { [BUSY] = "guest_busy", [CPU] = "cpu_us_per_io", [AWAIT] = "await_us",
				      [REQUESTS] = "requests_per_io", [SIZE] = "request_bytes" };

struct reading {
	struct fio_import *into;
	char title[MAX_LINE], line[MAX_LINE];
	size_t number;
	double jobs[MAX_COLUMNS];
	size_t columns; /* 0: not within a table */
	enum quantity quantity;
	unsigned seen;       /* mask of quantities whose table was in this sweep */
	json_t *documents;   /* of this sweep: {"LABEL\nJOBS":document} */
	json_t *options;     /* what the command lines say with one voice; null: they differ */
};

/* ---- words ---- */

static bool has_words(const char *title, const char *const words[3])
{
	for (int i = 0; i < 3 && words[i]; i++)
		if (!strcasestr(title, words[i]))
			return false;
	return true;
}

static enum quantity quantity_of(const char *title)
{
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (has_words(title, titles[i].words))
			return titles[i].quantity;
	return UNKNOWN;
}

/* To µs. */
static double time_scale(const char *title)
{
	if (strcasestr(title, "msec") || strcasestr(title, " ms"))
		return 1000;
	return strcasestr(title, "nsec") || strcasestr(title, " ns") ? 0.001 : 1;
}

/* The next blank-separated word as a number, "~" before it let be. *at moves behind it. */
static bool number(const char **at, double *out)
{
	const char *p = *at + strspn(*at, " \t");
	char *end;

	p += *p == '~';
	if (!isdigit((unsigned char)*p))
		return false;
	*out = strtod(p, &end);
	if ((*end && !isspace((unsigned char)*end)) || !isfinite(*out))
		return false;
	*at = end;
	return true;
}

/* "1 2 4 8 <- njobs" */
static bool read_header(struct reading *r)
{
	const char *at = r->line;
	double jobs[MAX_COLUMNS];
	size_t n = 0;

	while (n < MAX_COLUMNS && number(&at, &jobs[n]) && jobs[n] >= 1 && jobs[n] <= 1e6 && jobs[n] == floor(jobs[n]))
		n++;
	at += strspn(at, " \t");
	if (n == 0 || strncmp(at, "<-", 2) || !strcasestr(at, "jobs"))
		return false;
	memcpy(r->jobs, jobs, sizeof(jobs));
	r->columns = n;
	return true;
}

/* ---- what is known of a job ---- */

/* From the command lines: the value that all of them give. */
static int note_options(struct reading *r, struct error *e)
{
	static const struct { const char *in, *key;
	} known[] = {
		{ "--rw=", "rw" }, { "--readwrite=", "rw" }, { "--iodepth=", "iodepth" }, { "--ioengine=", "ioengine" },
		{ "--bs=", "bs" },
	};

	if (!strstr(r->line, "fio ") || !strstr(r->line, " --"))
		return 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *at = strstr(r->line, known[i].in);
		const json_t *have = json_object_get(r->options, known[i].key);
		json_t *value;

		if (!at)
			continue;
		at += strlen(known[i].in);
		value = fio_string(at, strcspn(at, " \t\r"));
		if (!value || json_object_set_new(r->options, known[i].key,
						  have && !json_equal(have, value) ? json_null() : json_incref(value)))
			return error_set(e, STATUS_HOST, "out of memory");
		json_decref(value);
	}
	return 0;
}

/* "4kb" to "4k"; false when it is no size. */
static bool block_size(const char *word, size_t n, char out[32])
{
	size_t digits = 0;

	while (digits < n && digits < 8 && isdigit((unsigned char)word[digits]))
		digits++;
	if (digits == 0 || n < digits + 1 || n > digits + 3 || !strchr("kKmM", word[digits]) ||
	    (n > digits + 1 && tolower((unsigned char)word[n - 1]) != 'b'))
		return false;
	snprintf(out, 32, "%.*s%c", (int)digits, word, tolower((unsigned char)word[digits]));
	return true;
}

/* What the label says about the job goes over what the command lines do. */
static void label_options(const char *label, json_t *options)
{
	static const char *const engine[] = { "sync",	"psync",    "vsync",	"pvsync", "pvsync2",
					      "libaio", "posixaio", "io_uring", "mmap" };

	for (const char *word = label; *word;) {
		size_t n = strcspn(word, ". ");
		char size[32];

		if (block_size(word, n, size))
			json_object_set_new(options, "bs", json_string(size));
		for (size_t i = 0; i < sizeof(engine) / sizeof(engine[0]); i++)
			if (strlen(engine[i]) == n && memcmp(word, engine[i], n) == 0)
				json_object_set_new(options, "ioengine", json_string(engine[i]));
		word += n + (word[n] != '\0');
	}
}

static const char *direction_name(const json_t *options, const char *title)
{
	const char *rw = json_string_value(json_object_get(options, "rw"));

	if (rw && strstr(rw, "write"))
		return "write";
	return !rw && strcasestr(title, "writ") ? "write" : "read";
}

static json_t *new_document(struct reading *r, const char *label, double jobs)
{
	json_t *options = json_object(), *value;
	const char *key, *direction;
	char numjobs[32];
	json_t *document;

	json_object_foreach(r->options, key, value)
		if (!json_is_null(value))
			json_object_set(options, key, value);
	label_options(label, options);
	snprintf(numjobs, sizeof(numjobs), "%.0f", jobs);
	json_object_set_new(options, "numjobs", json_string(numjobs));
	direction = direction_name(options, r->title);
	document = json_pack("{s:I,s:[{s:o,s:I,s:I,s:s,s:o,s:{}}]}", "line", (json_int_t)r->number, "jobs", "jobname",
			     fio_string(label, strlen(label)), "line", (json_int_t)r->number, "members",
			     (json_int_t)jobs, "status", "ok", "job options", options, direction);
	if (document && !json_object_get(options, "rw")) {
		struct error ignored = { 0 };

		fio_mark(json_array_get(json_object_get(document, "jobs"), 0), r->number, &ignored,
			 "nothing tells whether these were reads or writes: taken for %ss", direction);
	}
	return document;
}

/* ---- rows ---- */

static json_t *job_of(json_t *document)
{
	return json_array_get(json_object_get(document, "jobs"), 0);
}

static json_t *member_object(json_t *object, const char *key)
{
	if (!json_object_get(object, key))
		json_object_set_new(object, key, json_object());
	return json_object_get(object, key);
}

static json_t *direction_of(json_t *job)
{
	json_t *d = json_object_get(job, "read");

	return d ? d : json_object_get(job, "write");
}

static void put(const struct reading *r, json_t *job, double value)
{
	double us = time_scale(r->title);

	switch (r->quantity) {
	case IOPS:
		json_object_set_new(direction_of(job), "iops", json_real(value));
		break;
	case RESPONSE:
		json_object_set_new(member_object(direction_of(job), "clat_ns"), "mean", json_real(1000 * us * value));
		break;
	default:
		json_object_set_new(member_object(job, "table"), member[r->quantity],
				    json_real(value * (r->quantity == SIZE			    ? 1024
						       : r->quantity == CPU || r->quantity == AWAIT ? us
												    : 1)));
	}
}

static int take_value(struct reading *r, const char *label, double jobs, double value, struct error *e)
{
	char key[MAX_LINE + 32];
	json_t *document;

	snprintf(key, sizeof(key), "%s\n%.0f", label, jobs);
	document = json_object_get(r->documents, key);
	if (!document) {
		document = new_document(r, label, jobs);
		if (!document || json_object_set_new(r->documents, key, document) ||
		    json_array_append(r->into->outputs, document))
			return error_set(e, STATUS_HOST, "out of memory");
	}
	put(r, job_of(document), value);
	return 0;
}

/* *row: this line was one. "-" alone separates; a line without numbers ends the table. */
static int take_row(struct reading *r, bool *row, struct error *e)
{
	const char *at = r->line;
	double value[MAX_COLUMNS];
	size_t n = 0;

	*row = strcmp(r->line + strspn(r->line, " \t"), "-") == 0;
	if (*row)
		return 0;
	while (n < r->columns && number(&at, &value[n]))
		n++;
	at += strspn(at, " \t");
	*row = n > 0;
	if (!*row)
		return 0;
	if (n < r->columns || !*at || number(&at, &value[0]))
		return fio_note(r->into, r->number, e, "a row that is not %zu numbers and a label: left out", r->columns);
	for (size_t i = 0; i < n; i++)
		if (take_value(r, at, r->jobs[i], value[i], e))
			return -1;
	return 0;
}

/* The title was the last line with something in it. A quantity that was there already begins another sweep. */
static int begin_table(struct reading *r, struct error *e)
{
	r->quantity = quantity_of(r->title);
	if (r->quantity == UNKNOWN) {
		r->columns = 0;
		return fio_note(r->into, r->number, e,
				"a table by number of jobs, but \"%.200s\" does not tell of what", r->title);
	}
	if (r->seen & (1u << r->quantity)) {
		json_object_clear(r->documents);
		r->seen = 0;
	}
	r->seen |= 1u << r->quantity;
	return 0;
}

static int take_line(struct reading *r, bool *taken, struct error *e)
{
	*taken = false;
	if (read_header(r)) {
		*taken = true;
		return begin_table(r, e);
	}
	if (r->columns) {
		if (take_row(r, taken, e))
			return -1;
		if (!*taken)
			r->columns = 0;
	}
	if (!*taken) {
		if (r->line[strspn(r->line, " \t")])
			memcpy(r->title, r->line, sizeof(r->title));
		return note_options(r, e);
	}
	return 0;
}

int fio_table_read(char *bytes, size_t length, struct fio_import *into, struct error *e)
{
	struct reading *r = calloc(1, sizeof(*r));
	int status = 0;
	bool taken;

	if (!r || !(r->documents = json_object()) || !(r->options = json_object())) {
		status = error_set(e, STATUS_HOST, "out of memory");
		goto out;
	}
	r->into = into;
	for (size_t at = 0, to; status == 0 && at < length; at = to + 1) {
		const char *newline = memchr(bytes + at, '\n', length - at);
		size_t n;

		to = newline ? (size_t)(newline - bytes) : length;
		n = to - at < MAX_LINE ? to - at : MAX_LINE - 1;
		memcpy(r->line, bytes + at, n);
		r->line[n] = '\0';
		r->line[strcspn(r->line, "\r")] = '\0';
		while (n > 0 && isspace((unsigned char)r->line[n - 1]))
			r->line[--n] = '\0';
		r->number++;
		status = take_line(r, &taken, e);
		if (status == 0 && taken)
			fio_blank(bytes, at, to);
	}
out:
	if (r) {
		json_decref(r->documents);
		json_decref(r->options);
	}
	free(r);
	return status;
}
