#include <stdarg.h>
#include <stdlib.h>

#include "guest/check_internal.h"

static const char *const words[] = {"pass", "fail", "skipped"};

static void add(struct check_report *r, enum check_status status, bool corrupt, const char *name, const char *fmt,
		va_list arguments)
{
	struct check_line *longer = realloc(r->line, (r->count + 1) * sizeof(*longer)), *line;

	if (!longer) {
		r->incomplete = true;
		return;
	}
	r->line = longer;
	line = &longer[r->count++];
	*line = (struct check_line){.status = status, .corrupt = corrupt};
	snprintf(line->name, sizeof(line->name), "%s", name);
	vsnprintf(line->message, sizeof(line->message), fmt, arguments);
}

void check_add(struct check *c, enum check_status status, const char *name, const char *fmt, ...)
{
	va_list arguments;

	va_start(arguments, fmt);
	add(c->report, status, false, name, fmt, arguments);
	va_end(arguments);
}

void check_add_corrupt(struct check *c, const char *name, const char *fmt, ...)
{
	va_list arguments;

	va_start(arguments, fmt);
	add(c->report, CHECK_FAIL, true, name, fmt, arguments);
	va_end(arguments);
}

bool check_no_writes(struct check *c, const char *name)
{
	if (!c->writes)
		check_add(c, CHECK_SKIPPED, name, "%s", c->why_not);
	return !c->writes;
}

int check_exit_status(const struct check_report *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->line[i].status == CHECK_FAIL)
			return 1;
	return r->incomplete || r->count == 0;
}

void check_text(const struct check_report *r, bool only_failed, struct text *out)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct check_line *l = &r->line[i];

		if (!only_failed || l->status == CHECK_FAIL)
			text_add(out, "%.4s %s%s%s\n", words[l->status], l->name, l->message[0] ? ": " : "", l->message);
	}
	if (r->incomplete)
		text_add(out, "fail all: out of memory\n");
}

void check_json(const struct check_report *r, struct text *out)
{
	text_add(out, "{\"checks\":[");
	for (size_t i = 0; i < r->count; i++) {
		const struct check_line *l = &r->line[i];

		text_add(out, "%s{\"name\":", i ? "," : "");
		text_add_json_string(out, l->name);
		text_add(out, ",\"status\":\"%s\",\"message\":", words[l->status]);
		text_add_json_string(out, l->message);
		text_add(out, "%s}", l->corrupt ? ",\"corrupt\":true" : "");
	}
	text_add(out, "]}");
	out->failed |= r->incomplete;
}

void check_report_free(struct check_report *r)
{
	free(r->line);
	r->line = NULL;
	r->count = 0;
}
