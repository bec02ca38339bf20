#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/text.h"
#include "host/command.h"
#include "host/fio_file.h"
#include "host/import.h"
#include "host/metrics.h"
#include "host/parse.h"
#include "host/report_layout.h"

struct options {
	struct import_request request;
	const char **file;
	size_t nfiles;
	bool list;
};

/* ---- command line ---- */

static int whole(const char *option, const char *text, unsigned *out, struct error *e)
{
	uint64_t n;

	if (parse_u64(text, &n) || n < 1 || n > 100000)
		return error_set(e, STATUS_USAGE, "import: %s %s is no number from 1 to 100000", option, text);
	*out = (unsigned)n;
	return 0;
}

/* Names stand in reports, in messages, and as words on command lines. */
static int check_name(const char *option, const char *name, struct error *e)
{
	for (const char *p = name; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f)
			return error_set(e, STATUS_USAGE, "import: %s: a name has no blanks or control characters",
					 option);
	if (!*name || strlen(name) > 64)
		return error_set(e, STATUS_USAGE, "import: %s: a name has 1 to 64 characters", option);
	return 0;
}

/* An option with a value. */
static int take(struct options *o, const char *option, const char *value, struct error *e)
{
	struct import_request *r = &o->request;

	if (strcmp(option, "--variant") == 0)
		r->variant = value;
	else if (strcmp(option, "--guest") == 0)
		r->guest = value;
	else if (strcmp(option, "--section") == 0)
		r->section = value;
	else if (strcmp(option, "-o") == 0 || strcmp(option, "--output") == 0)
		r->folder = value;
	else if (strcmp(option, "--block") == 0)
		return whole(option, value, &r->block, e);
	else if (strcmp(option, "--boot") == 0)
		return whole(option, value, &r->boot, e);
	else
		return error_set(e, STATUS_USAGE, "import: unknown option %s (see kickbench help)", option);
	return 0;
}

static int parse(int argc, char **argv, struct options *o, struct error *e)
{
	bool names_only = false;

	for (int i = 1; i < argc; i++) {
		char option[64];
		const char *word = argv[i], *equal = strchr(word, '=');

		if (names_only || *word != '-' || strcmp(word, "-") == 0) {
			o->file[o->nfiles++] = word;
		} else if (strcmp(word, "--") == 0) {
			names_only = true;
		} else if (strcmp(word, "--baseline") == 0) {
			o->request.baseline = true;
		} else if (strcmp(word, "--list") == 0) {
			o->list = true;
		} else if (strncmp(word, "--", 2) == 0 && equal) {
			snprintf(option, sizeof(option), "%.*s", (int)(equal - word), word);
			if (take(o, option, equal + 1, e))
				return -1;
		} else if (i + 1 == argc) {
			return error_set(e, STATUS_USAGE,
					 "import: %s is unknown, or needs a value (see kickbench help)", word);
		} else if (take(o, word, argv[++i], e)) {
			return -1;
		}
	}
	if (o->nfiles == 0)
		return error_set(e, STATUS_USAGE, "import: which FILE? (- is standard input; see kickbench help)");
	if (!o->list && !o->request.variant)
		return error_set(e, STATUS_USAGE,
				 "import: say with --variant NAME what was measured, or look with --list");
	if (o->request.variant && check_name("--variant", o->request.variant, e))
		return -1;
	return o->request.guest ? check_name("--guest", o->request.guest, e) : 0;
}

/* ---- --list ---- */

static const char *text_of(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s && *s ? s : "-";
}

static void column(struct text *out, const char *s, int width)
{
	text_add(out, "  ");
	layout_pad(out, s, width);
}

static void below(struct text *out, const char *s)
{
	text_add(out, "        ");
	layout_pad(out, s, 0);
	text_add(out, "\n");
}

/* Read and write, as far as they are there: "5236" or "9816+4214". */
static void iops_text(const json_t *job, struct text *out)
{
	static const char *const direction[] = { "read", "write", "trim", "mixed" };

	for (size_t i = 0; i < sizeof(direction) / sizeof(direction[0]); i++) {
		const json_t *iops = json_object_get(json_object_get(job, direction[i]), "iops");
		char value[METRIC_TEXT_SIZE];

		if (!json_is_number(iops))
			continue;
		metric_text_of_run(UNIT_RATE, json_number_value(iops), value);
		text_add(out, "%s%s", out->length ? "+" : "", value);
	}
	if (!out->length)
		text_add(out, "-");
}

static void list_job(const json_t *document, const json_t *job, struct text *out)
{
	const json_t *options = json_object_get(job, "job options"), *mark;
	json_int_t members = json_integer_value(json_object_get(job, "members"));
	struct text iops = { 0 };
	char jobs[24] = "-";
	size_t i;

	if (members)
		snprintf(jobs, sizeof(jobs), "%lld", (long long)members);
	iops_text(job, &iops);
	text_add(out, "%6lld", (long long)json_integer_value(json_object_get(job, "line")));
	column(out, text_of(document, "fio version"), 18);
	column(out, text_of(job, "jobname"), 20);
	column(out, text_of(options, "rw"), 10);
	column(out, text_of(options, "bs"), 6);
	column(out, jobs, -7);
	column(out, text_get(&iops), 17);
	text_add(out, "  %s\n", text_of(job, "status"));
	text_free(&iops);
	if (strcmp(text_of(job, "error_text"), "-"))
		below(out, text_of(job, "error_text"));
	json_array_foreach(json_object_get(job, "marks"), i, mark) {
		struct text line = { 0 };

		text_add(&line, "line %lld: %s", (long long)json_integer_value(json_object_get(mark, "line")),
			 text_of(mark, "what"));
		below(out, text_get(&line));
		text_free(&line);
	}
}

static void list(const struct options *o, const char *name, const json_t *outputs)
{
	const char *section = "";
	const json_t *document, *job;
	struct text out = { 0 };
	size_t i, k;

	layout_pad(&out, name, 0);
	text_add(&out, "\n  line  %-18s  %-20s  %-10s  %-6s  %7s  %-17s  %s\n", "fio", "job", "rw", "bs", "numjobs", "IOPS",
		 "status");
	json_array_foreach(outputs, i, document) {
		const char *heading = json_string_value(json_object_get(document, "section"));

		if (!import_wanted(document, o->request.section))
			continue;
		if (heading && strcmp(heading, section)) {
			text_add(&out, "        -- ");
			layout_pad(&out, section = heading, 0);
			text_add(&out, "\n");
		}
		json_array_foreach(json_object_get(document, "jobs"), k, job)
			list_job(document, job, &out);
	}
	fputs(text_get(&out), stdout);
	text_free(&out);
}

/* ---- the command ---- */

static size_t wanted(const json_t *outputs, const char *section)
{
	const json_t *document;
	size_t i, n = 0;

	json_array_foreach(outputs, i, document)
		n += import_wanted(document, section);
	return n;
}

static int import_file(const struct options *o, struct import *into, const char *path, struct error *e)
{
	struct fio_file f;
	const json_t *outputs;
	int status = fio_file_read(path, &f, e);

	outputs = f.found.outputs;
	if (status == 0 && wanted(outputs, o->request.section) == 0)
		status = error_set(e, STATUS_USAGE,
				   "%s: none of its %zu outputs is below a heading with \"%s\" (--list shows them)", f.name,
				   json_array_size(outputs), o->request.section);
	else if (status == 0 && o->list)
		list(o, f.name, outputs);
	else if (status == 0 && import_add(into, path, f.size, f.mtime, outputs, f.found.notes, e))
		status = error_context(e, "%s", f.name);
	fio_file_say(&f, f.found.notes);
	fio_file_free(&f);
	return status;
}

static int run(int argc, char **argv, struct error *e)
{
	struct options o = { .file = calloc((size_t)argc, sizeof(*o.file)) };
	struct import *into = NULL;
	const char *path;
	int status = o.file ? parse(argc, argv, &o, e) : error_set(e, STATUS_HOST, "out of memory");

	if (status == 0 && !o.list)
		status = import_open(&o.request, &into, e);
	for (size_t i = 0; status == 0 && i < o.nfiles; i++)
		status = import_file(&o, into, o.file[i], e);
	if (status == 0 && into && import_taken(into) == 0)
		status = error_set(e, STATUS_USAGE, "import: nothing new: all of it is in %s already", o.request.folder);
	if (status == 0 && into)
		status = import_store(into, &path, e);
	if (status == 0 && into)
		printf("%s: %zu output%s of %s\n", path, import_taken(into), import_taken(into) == 1 ? "" : "s",
		       o.request.variant);
	import_free(into);
	free(o.file);
	return status ? e->status : STATUS_OK;
}

const struct command cmd_import = {
	"import",
	"import FILE... --variant NAME [-o DIR] [--guest NAME] [--section TEXT] [--block N] [--boot N] [--baseline]\n"
	"       kickbench import FILE... --list [--section TEXT]",
	"make a run folder of fio's outputs, or add to one: text, JSON, terse lines, among other text", run,
};
