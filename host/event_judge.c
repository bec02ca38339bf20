#include "host/event_judge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ERROR_LINE "kickio: io_u error on file "

/* "kickio: io_u error on file /dev/vda: Input/output error: write offset=8192, buflen=4096" */
bool event_error_line(const char *line, char kind[16], uint64_t *offset, uint64_t *bytes)
{
	const char *at = NULL, *word;
	size_t n;

	if (strncmp(line, ERROR_LINE, strlen(ERROR_LINE)))
		return false;
	for (const char *p = line; (p = strstr(p, " offset=")); p++)
		at = p; /* the last: a path may hold anything */
	if (!at || sscanf(at, " offset=%" SCNu64 ", buflen=%" SCNu64, offset, bytes) != 2)
		return false;
	for (word = at; word > line && word[-1] != ' '; word--)
		;
	n = (size_t)(at - word);
	if (n == 0 || n >= 16)
		return false;
	memcpy(kind, word, n);
	kind[n] = '\0';
	return true;
}

static bool is_expected(const char *kind, uint64_t offset, uint64_t bytes, const struct event_expected *x)
{
	if (strcmp(kind, x->kind))
		return false;
	return !strcmp(kind, "sync") || (x->place >= offset && x->place - offset < bytes);
}

static void take_line(const char *line, const struct event_expected *x, struct event_errors *out)
{
	uint64_t offset, bytes;
	char kind[16];
	bool other;

	if (!event_error_line(line, kind, &offset, &bytes))
		return;
	other = !is_expected(kind, offset, bytes, x);
	if (out->told == 0 || (other && out->elsewhere == 0))
		snprintf(out->line, sizeof(out->line), "%.255s", line);
	out->told++;
	out->elsewhere += other;
}

static uint64_t number(const json_t *of, const char *part, const char *key)
{
	if (part)
		of = json_object_get(of, part);
	return (uint64_t)json_integer_value(json_object_get(of, key));
}

void event_errors_read(const json_t *result, const struct event_expected *x, struct event_errors *out)
{
	const char *notes = json_string_value(json_object_get(result, "notes"));
	const json_t *job;
	size_t i;

	*out = (struct event_errors){ .counted = 0 };
	json_array_foreach(json_object_get(json_object_get(result, "fio"), "jobs"), i, job) {
		out->counted += number(job, NULL, "total_err");
		if (!out->first)
			out->first = (int)number(job, NULL, "first_error");
		out->reads += number(job, "read", "total_ios");
		out->writes += number(job, "write", "total_ios");
		out->syncs += number(job, "sync", "total_ios");
	}
	while (notes && *notes) {
		size_t n = strcspn(notes, "\n");
		char line[512];

		snprintf(line, sizeof(line), "%.*s", (int)(n < sizeof(line) ? n : sizeof(line) - 1), notes);
		take_line(line, x, out);
		notes += n + (notes[n] == '\n');
	}
}

bool event_errors_right(const struct event_errors *errors, const struct event_expected *x, struct text *why)
{
	if (errors->counted == 0 && errors->told == 0)
		text_add(why, "the %s that the device failed came back without an error", x->kind);
	else if (errors->elsewhere)
		text_add(why, "%u of %u errors are not the one that the device gave: %s", errors->elsewhere, errors->told, errors->line);
	else if (errors->counted != 1 || errors->told != 1)
		text_add(why, "the device gave one error, the guest saw %" PRIu64 " (%u told of): %s", errors->counted, errors->told,
			 errors->line);
	else if (errors->first != EIO) /* 5 in every system that kickio knows */
		text_add(why, "the error has arrived as errno %d, not as EIO: %s", errors->first, errors->line);
	else
		return true;
	return false;
}

static bool all_of(const char *what, uint64_t have, uint64_t want, struct text *why)
{
	if (!want || have == want)
		return true;
	text_add(why, "%s%" PRIu64 " of %" PRIu64 " %s", why->length ? ", " : "it ended with ", have, want, what);
	return false;
}

bool event_went_on(const struct event_errors *errors, const struct event_expected *x, struct text *why)
{
	bool whole = all_of("reads", errors->reads, x->reads, why);

	whole &= all_of("writes", errors->writes, x->writes, why);
	return all_of("flushes", errors->syncs, x->syncs, why) && whole;
}
