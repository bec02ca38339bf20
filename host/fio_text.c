/*
 * The order of things in a text: outputs of fio one behind the other, each a preamble (command line, headers,
 * release), blocks of jobs, lines of groups and disks. With status-interval= one output holds several reports, of
 * which the last counts: a report without a preamble of its own that names a job of the report before it (same name,
 * group and pid) replaces that.
 */
#include "host/fio_text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/fio_text_document.h"
#include "host/fio_text_options.h"
#include "host/fio_text_section.h"

enum {
	NOTES_MOST = 100,
	REPORT_SECONDS = 60 /* the blocks of one report are printed at once; a slow terminal is allowed for */
};

/* One report and what stands above it. */
struct report {
	struct fio_preamble above;
	struct fio_block **block;
	size_t blocks, capacity;
	json_t *disks; /* NULL: none */
	json_t *jobs;  /* set of "name groupid pid" */
	bool ended;    /* lines of groups or disks were seen: no block of this report follows */
	bool announced; /* a command line, a header, a release or "Starting …" of its own stands above it */
	json_t *errors; /* notices of errors: {"line","message"} */
};

struct reader {
	struct fio_import *into;
	struct fio_lines lines;
	json_t *section;
	struct report now, before; /* before: of the last document, its blocks gone */
	struct fio_block *block;   /* that lines go to; NULL: none */
	size_t line;  /* the one that is read; SIZE_MAX behind the last */
	bool strayed; /* lines without a job were noted since the last one that begins something */
	size_t notes, unsaid, unsaid_line;
	bool failed; /* no memory */
};

/* ---- notes ---- */

static void add_note(struct reader *r, size_t line, const char *message)
{
	json_t *text = fio_json_text(message, strlen(message));

	if (json_array_append_new(r->into->notes, json_pack("{s:I,s:o}", "line", (json_int_t)line, "message", text)))
		r->failed = true;
}

static void note(struct reader *r, size_t line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void note(struct reader *r, size_t line, const char *fmt, ...)
{
	char message[512];
	va_list ap;

	if (r->notes++ >= NOTES_MOST) {
		if (!r->unsaid++)
			r->unsaid_line = line;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	add_note(r, line, message);
}

static void note_unsaid(struct reader *r)
{
	char message[96];

	if (!r->unsaid)
		return;
	snprintf(message, sizeof(message), "%zu more notes from here on are left out", r->unsaid);
	add_note(r, r->unsaid_line, message);
}

/* ---- reports ---- */

static void preamble_clear(struct fio_preamble *p)
{
	json_decref(p->headers);
	json_decref(p->command);
	json_decref(p->section);
	json_decref(p->signals);
	memset(p, 0, sizeof(*p));
}

static void report_clear(struct report *p)
{
	for (size_t i = 0; i < p->blocks; i++)
		fio_block_free(p->block[i]);
	free(p->block);
	preamble_clear(&p->above);
	json_decref(p->disks);
	json_decref(p->jobs);
	json_decref(p->errors);
	memset(p, 0, sizeof(*p));
}

static bool replaces(const struct report *now, const struct report *before)
{
	json_t *unused;
	const char *key;

	if (now->announced || !before->ended)
		return false;
	json_object_foreach(now->jobs, key, unused)
		if (json_object_get(before->jobs, key))
			return true;
	return false;
}

/* The later report of one output: what stands above the first one holds for it, too. */
static void replace(struct reader *r)
{
	struct fio_preamble *mine = &r->now.above;
	json_t *signals = json_incref(mine->signals);
	size_t interrupted = mine->interrupted, verify = mine->verify;

	preamble_clear(mine);
	*mine = r->before.above;
	memset(&r->before.above, 0, sizeof(r->before.above));
	if (signals && !mine->signals)
		mine->signals = json_incref(signals);
	else if (signals)
		json_object_update(mine->signals, signals);
	json_decref(signals);
	mine->interrupted = mine->interrupted ? mine->interrupted : interrupted;
	mine->verify = mine->verify ? mine->verify : verify;
	json_array_remove(r->into->outputs, json_array_size(r->into->outputs) - 1);
}

static json_t *document(struct reader *r)
{
	struct report *p = &r->now;
	const char *time = p->block[0]->time;
	json_t *jobs = json_array(), *doc;

	for (size_t i = 0; i < p->blocks; i++)
		if (p->block[i]->error)
			p->above.verify = 0; /* then the failure is that job's */
	for (size_t i = 0; i < p->blocks; i++)
		if (json_array_append_new(jobs, fio_job_document(p->block[i], &p->above)))
			r->failed = true;
	doc = json_pack("{s:s,s:I,s:o}", "form", "text", "line",
			(json_int_t)(p->above.line ? p->above.line : p->block[0]->line), "jobs", jobs);
	if (!doc || (p->above.release[0] && json_object_set_new(doc, "fio version", json_string(p->above.release))) ||
	    (p->above.section && json_object_set(doc, "section", p->above.section)) ||
	    (time && json_object_set_new(doc, "time", fio_json_text(time, strlen(time)))) ||
	    (p->disks && json_object_set(doc, "disk_util", p->disks)))
		r->failed = true;
	return doc;
}

/* Another run's block: the report was over, it has this block already, or it was printed much earlier. */
static bool begins_another(const struct report *p, const struct fio_block *b, const char *key)
{
	const struct fio_block *last = p->blocks ? p->block[p->blocks - 1] : NULL;

	if (p->ended || (b->has_pid && json_object_get(p->jobs, key)))
		return true;
	return last && last->when && b->when && llabs((long long)(last->when - b->when)) > REPORT_SECONDS;
}

/* What an earlier reader took (JSON, terse lines) between line from and the one that is read now; NULL: nothing. */
static json_t *read_otherwise(const struct reader *r, size_t from)
{
	json_t *output;
	size_t i;

	json_array_foreach(r->into->outputs, i, output) {
		const char *form = json_string_value(json_object_get(output, "form"));
		size_t line = (size_t)json_integer_value(json_object_get(output, "line"));

		if ((!form || strcmp(form, "text")) && line >= from && line < r->line)
			return output;
	}
	return NULL;
}

/* A notice goes to the failed job of the output that it stands above. False: there is none. */
static bool is_told(const struct reader *r, const json_t *error)
{
	const char *message = json_string_value(json_object_get(error, "message"));
	json_t *output = read_otherwise(r, (size_t)json_integer_value(json_object_get(error, "line"))), *job;
	size_t i;

	json_array_foreach(json_object_get(output, "jobs"), i, job) {
		const char *status = json_string_value(json_object_get(job, "status"));

		if (!status || strcmp(status, "failed"))
			continue;
		if (!json_object_get(job, "error_text"))
			json_object_set_new(job, "error_text", fio_json_text(message, strlen(message)));
		return true;
	}
	return false;
}

/* A run that printed no block: say what is known of it, unless it printed in another form. */
static void note_barren(struct reader *r)
{
	struct report *p = &r->now;
	json_t *error;
	size_t i;

	json_array_foreach(p->errors, i, error)
		if (!is_told(r, error))
			note(r, (size_t)json_integer_value(json_object_get(error, "line")),
			     "an error of fio without a job's block: %s", json_string_value(json_object_get(error, "message")));
	if (read_otherwise(r, p->above.line))
		return;
	if (!json_array_size(p->errors) && (p->above.headers || p->above.release[0] || p->ended))
		note(r, p->above.line, "an output of fio without a job's block");
}

/* A command line above blocks that have no header of their own may be for those of the next output as well. */
static json_t *still_in_force(const struct fio_preamble *above)
{
	return above->headers || above->release[0] ? NULL : json_incref(above->command);
}

static void report_end(struct reader *r)
{
	struct report *p = &r->now;
	json_t *command = still_in_force(&p->above);

	r->block = NULL;
	if (!p->blocks) {
		note_barren(r);
		report_clear(p);
		p->above.command = command;
		return;
	}
	if (replaces(p, &r->before))
		replace(r);
	if (json_array_append_new(r->into->outputs, document(r)))
		r->failed = true;
	report_clear(&r->before);
	r->before = *p;
	memset(p, 0, sizeof(*p));
	for (size_t i = 0; i < r->before.blocks; i++)
		fio_block_free(r->before.block[i]);
	free(r->before.block);
	r->before.block = NULL;
	r->before.blocks = r->before.capacity = 0;
	p->above.command = command;
}

/* A line that stands above blocks: a new output begins when this one has some already. */
static void above_blocks(struct reader *r, size_t line)
{
	if (r->now.blocks || r->now.ended)
		report_end(r);
	r->block = NULL;
	r->now.announced = true;
	if (!r->now.above.line)
		r->now.above.line = line;
	if (!r->now.above.section && r->section)
		r->now.above.section = json_incref(r->section);
}

/* ---- lines ---- */

static void on_command(struct reader *r, const char *text)
{
	json_t *command = fio_read_command(text);

	if (r->now.blocks || r->now.ended || r->now.above.headers || r->now.above.release[0])
		report_end(r);
	r->block = NULL;
	r->now.announced = true;
	json_decref(r->now.above.command);
	r->now.above.command = command;
	r->failed = r->failed || !command;
}

static void on_header(struct reader *r, size_t line, const char *text)
{
	json_t *header, *other;
	const char *key;

	/* fio prints all headers before its release: a release above the first one is another's, or the author's remark. */
	if (r->now.above.release[0] && r->now.above.headers)
		report_end(r);
	above_blocks(r, line);
	if (!r->now.above.headers) {
		r->now.above.release[0] = '\0';
		r->now.above.line = line;
	}
	header = fio_read_header(text);
	if (!r->now.above.headers)
		r->now.above.headers = json_object();
	key = json_string_value(json_object_get(header, "key"));
	other = key ? json_object_get(r->now.above.headers, key) : NULL;
	if (!key || (other && json_equal(other, header)))
		r->failed = r->failed || !header;
	else if (json_object_set(r->now.above.headers, key, other ? json_null() : header))
		r->failed = true;
	json_decref(header);
}

static void on_version(struct reader *r, size_t line, const char *text)
{
	size_t n = strcspn(text + 4, " ");
	char release[48];

	snprintf(release, sizeof(release), "fio-%.*s", (int)(n > 40 ? 40 : n), text + 4);
	if (r->now.above.release[0] && r->now.above.headers && strcmp(release, r->now.above.release))
		report_end(r);
	above_blocks(r, line);
	snprintf(r->now.above.release, sizeof(r->now.above.release), "%s", release);
}

static void on_verify(struct reader *r, size_t line)
{
	if (r->now.ended)
		report_end(r);
	if (!r->now.above.verify)
		r->now.above.verify = line;
}

static void on_notice(struct reader *r, size_t line, const char *text)
{
	bool interrupted = !strncmp(text, "fio: terminating on signal", 26);
	char pid[32];
	const char *what;

	if (!interrupted && strncmp(text, "fio: pid=", 9))
		return;
	if (r->now.ended)
		report_end(r);
	if (interrupted) {
		r->now.above.interrupted = line;
		return;
	}
	snprintf(pid, sizeof(pid), "%ld", strtol(text + 9, NULL, 10));
	what = strstr(text, "got signal=");
	if (what) {
		if (!r->now.above.signals)
			r->now.above.signals = json_object();
		if (json_object_set_new(r->now.above.signals, pid, fio_json_text(what, strlen(what))))
			r->failed = true;
	}
	if (what || strstr(text, "err=")) {
		if (!r->now.errors)
			r->now.errors = json_array();
		if (json_array_append_new(r->now.errors, json_pack("{s:I,s:o}", "line", (json_int_t)line, "message",
								   fio_json_text(text + 5, strlen(text + 5)))))
			r->failed = true;
	}
}

static void on_title(struct reader *r, size_t line, const char *text)
{
	struct report *p = &r->now;
	struct fio_block *b = fio_block_open(text, line), **more;
	struct text key = {0};

	r->block = NULL;
	if (!b) {
		note(r, line, "a job's title that cannot be read: %.80s", text);
		return;
	}
	text_add(&key, "%s %ld %ld", json_string_value(b->name), b->groupid, b->pid);
	if (begins_another(p, b, text_get(&key)))
		report_end(r);
	if (p->blocks == p->capacity) {
		more = realloc(p->block, (p->capacity * 2 + 8) * sizeof(*more));
		if (!more) {
			r->failed = true;
			goto out;
		}
		p->block = more;
		p->capacity = p->capacity * 2 + 8;
	}
	if (!p->blocks && !p->above.section && r->section)
		p->above.section = json_incref(r->section);
	if (!p->jobs)
		p->jobs = json_object();
	if (b->has_pid && json_object_set(p->jobs, text_get(&key), json_true()))
		r->failed = true;
	p->block[p->blocks++] = r->block = b;
	b = NULL;
out:
	fio_block_free(b);
	text_free(&key);
}

static void on_disk(struct reader *r, const char *text)
{
	json_t *disk;

	r->block = NULL;
	r->now.ended = r->now.ended || r->now.blocks;
	if (!r->now.blocks)
		return;
	disk = fio_disk_document(text);
	if (!r->now.disks)
		r->now.disks = json_array();
	if (disk && json_array_append_new(r->now.disks, disk))
		r->failed = true;
}

static void on_block_line(struct reader *r, const struct fio_line *line, const char *text)
{
	const char *wrong;

	if (r->block) {
		wrong = fio_block_line(r->block, line, text);
		if (wrong)
			note(r, line->number, "%s: %.100s", wrong, text);
	} else if (line->kind == FIO_DIRECTION) {
		note(r, line->number, "a direction line without a job's title above it: %.100s", text);
		r->strayed = true;
	} else if ((line->kind == FIO_LATENCY || line->kind == FIO_PERCENTILES) && !r->strayed) {
		note(r, line->number, "latencies without a job's title above them: %.100s", text);
		r->strayed = true;
	}
}

static void on_line(struct reader *r, const struct fio_line *line, const char *text)
{
	if (line->kind == FIO_COMMAND || line->kind == FIO_HEADER || line->kind == FIO_TITLE)
		r->strayed = false;
	switch (line->kind) {
	case FIO_COMMAND:
		on_command(r, text);
		break;
	case FIO_HEADER:
		on_header(r, line->number, text);
		break;
	case FIO_VERSION:
		on_version(r, line->number, text);
		break;
	case FIO_STARTING:
		above_blocks(r, line->number);
		break;
	case FIO_NOTICE:
		on_notice(r, line->number, text);
		break;
	case FIO_VERIFY:
		on_verify(r, line->number);
		break;
	case FIO_TITLE:
		on_title(r, line->number, text);
		break;
	case FIO_GROUP:
	case FIO_DISKS:
		r->block = NULL;
		r->now.ended = true;
		if (!r->now.above.line && !r->now.blocks)
			r->now.above.line = line->number;
		break;
	case FIO_DISK:
		on_disk(r, text);
		break;
	default:
		on_block_line(r, line, text);
		break;
	}
}

int fio_text_read(const char *bytes, size_t length, struct fio_import *into, struct error *e)
{
	struct reader r = {.into = into};
	struct fio_sections sections = {0};
	const char *heading;
	size_t n;
	int rc = -1;

	if (!into->outputs)
		into->outputs = json_array();
	if (!into->notes)
		into->notes = json_array();
	if (!into->outputs || !into->notes) {
		error_set(e, STATUS_HOST, "no memory for fio's output");
		return -1;
	}
	if (fio_lines_split(bytes, length, &r.lines, e))
		goto out;
	if (r.lines.diff)
		note(&r, r.lines.diff, "a comparison (diff) of two outputs: its lines with < and > are not read");
	for (size_t i = 0; i < r.lines.count && !r.failed; i++) {
		const char *text = fio_lines_text(&r.lines, i);

		r.line = r.lines.line[i].number;
		if (fio_section_at(&sections, &r.lines, i, &heading, &n)) {
			json_decref(r.section);
			r.section = fio_json_text(heading, n);
			r.block = NULL;
			r.strayed = false;
		} else {
			on_line(&r, &r.lines.line[i], text);
		}
	}
	r.line = SIZE_MAX;
	report_end(&r);
	note_unsaid(&r);
	rc = r.failed ? error_set(e, STATUS_HOST, "no memory for fio's output") : 0;
out:
	report_clear(&r.now);
	report_clear(&r.before);
	json_decref(r.section);
	fio_lines_free(&r.lines);
	return rc;
}
