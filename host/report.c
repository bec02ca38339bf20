#include "host/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/file_write.h"
#include "host/report_csv.h"
#include "host/report_html.h"
#include "host/report_json.h"
#include "host/report_junit.h"
#include "host/report_markdown.h"
#include "host/report_sweep.h"
#include "host/report_text.h"

static int write_text(const struct comparison *c, const struct report_options *o, struct text *out, struct error *e)
{
	if (o->layout == LAYOUT_SWEEP)
		return report_sweep_text(c, out, e);
	report_text(c, out);
	return 0;
}

static int write_json(const struct comparison *c, const struct report_options *o, struct text *out, struct error *e)
{
	json_t *report = report_json(c);
	/* as many digits as make the tests' values agree on every machine; far more than any measurement has */
	char *text = report ? json_dumps(report, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) : NULL;

	(void)o;
	json_decref(report);
	if (!text)
		return error_set(e, STATUS_HOST, "out of memory");
	text_add(out, "%s\n", text);
	free(text);
	return 0;
}

static const struct report_format formats[] = {
	{ .name = "text", .file = "report.txt", .keep = KEEP, .sweep = true, .write = write_text },
	{ .name = "markdown", .file = "report.md", .sweep = true, .write = report_markdown },
	{ .name = "html", .file = "report.html", .keep = KEEP_IF_POSSIBLE, .write = report_html },
	{ .name = "json", .file = "report.json", .keep = KEEP, .write = write_json },
	{ .name = "csv", .file = "report.csv", .sweep = true, .write = report_csv },
	{ .name = "junit", .file = "report.xml", .write = report_junit },
};

static const char *const layouts[] = { [LAYOUT_CELLS] = "cells", [LAYOUT_SWEEP] = "sweep" };

#define NFORMATS (sizeof(formats) / sizeof(formats[0]))
#define NLAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

const struct report_format *report_format_at(size_t i)
{
	return i < NFORMATS ? &formats[i] : NULL;
}

const struct report_format *report_format_find(const char *name, struct error *e)
{
	struct text names = { 0 };

	for (size_t i = 0; i < NFORMATS; i++) {
		if (strcmp(formats[i].name, name) == 0) {
			text_free(&names);
			return &formats[i];
		}
		text_add(&names, "%s%s", i ? ", " : "", formats[i].name);
	}
	error_set(e, STATUS_USAGE, "there is no report format %s: it is one of %s", name, text_get(&names));
	text_free(&names);
	return NULL;
}

int report_layout_find(const char *name, enum report_layout *out, struct error *e)
{
	for (size_t i = 0; i < NLAYOUTS; i++)
		if (strcmp(layouts[i], name) == 0)
			return *out = (enum report_layout)i, 0;
	return error_set(e, STATUS_USAGE, "there is no report layout %s: it is one of cells, sweep", name);
}

int report_option(int c, const char *value, struct report_request *r, struct error *e)
{
	switch (c) {
	case 'F':
		r->format = report_format_find(value, e);
		return r->format ? 1 : -1;
	case 'L':
		return report_layout_find(value, &r->options.layout, e) ? -1 : 1;
	case 'N':
		r->options.charts = false;
		return 1;
	case 'o':
		r->file = value;
		return 1;
	default:
		return 0;
	}
}

static const struct report_format *format_of(const struct report_request *r)
{
	return r->format ? r->format : &formats[0];
}

int report_check(const struct report_request *r, struct error *e)
{
	struct text names = { 0 };

	if (r->options.layout != LAYOUT_SWEEP || format_of(r)->sweep)
		return 0;
	for (size_t i = 0; i < NFORMATS; i++)
		if (formats[i].sweep)
			text_add(&names, "%s%s", names.length ? ", " : "", formats[i].name);
	error_set(e, STATUS_USAGE, "the format %s has no layout sweep: that is for %s", format_of(r)->name, text_get(&names));
	text_free(&names);
	return -1;
}

int report_put(const struct text *text, const char *file, struct error *e)
{
	if (text->failed)
		return error_set(e, STATUS_HOST, "out of memory");
	if (file && strcmp(file, "-") != 0)
		return file_write(file, text_get(text), text->length, e);
	if (fwrite(text_get(text), 1, text->length, stdout) != text->length || fflush(stdout))
		return error_errno(e, STATUS_HOST, "the report could not be written");
	return 0;
}

int report_send(const struct comparison *c, const struct report_request *r, struct error *e)
{
	struct text text = { 0 };
	int status = format_of(r)->write(c, &r->options, &text, e) ? -1 : report_put(&text, r->file, e);

	text_free(&text);
	return status;
}

const char *report_state(enum effect_kind kind)
{
	static const char *const state[] = { "no data", "single", "zero", "constant", "interval" };

	return state[kind];
}
