#include "guest/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put(struct error *e, enum status status, const char *prefix, const char *fmt, va_list ap,
		const char *suffix)
{
	size_t used = 0;
	int n;

	if (e->status != STATUS_OK)
		return;
	e->status = status;
	e->text[0] = '\0';
	if (prefix) {
		n = snprintf(e->text, sizeof(e->text), "%s", prefix);
		used = n < 0 ? 0 : (size_t)n;
	}
	if (used < sizeof(e->text)) {
		n = vsnprintf(e->text + used, sizeof(e->text) - used, fmt, ap);
		used += n < 0 ? 0 : (size_t)n;
	}
	if (suffix && used < sizeof(e->text))
		snprintf(e->text + used, sizeof(e->text) - used, ": %s", suffix);
}

int error_set(struct error *e, enum status status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put(e, status, NULL, fmt, ap, NULL);
	va_end(ap);
	return -1;
}

int error_errno(struct error *e, enum status status, const char *fmt, ...)
{
	const char *reason = strerror(errno);
	va_list ap;

	va_start(ap, fmt);
	put(e, status, NULL, fmt, ap, reason);
	va_end(ap);
	return -1;
}

int error_at(struct error *e, enum status status, const char *file, int line, const char *fmt, ...)
{
	char place[512];
	va_list ap;

	if (line > 0)
		snprintf(place, sizeof(place), "%s:%d: ", file, line);
	else
		snprintf(place, sizeof(place), "%s: ", file);
	va_start(ap, fmt);
	put(e, status, place, fmt, ap, NULL);
	va_end(ap);
	return -1;
}

int error_context(struct error *e, const char *fmt, ...)
{
	char was[sizeof(e->text)];
	size_t used, rest;
	va_list ap;
	int n;

	memcpy(was, e->text, sizeof(was));
	va_start(ap, fmt);
	n = vsnprintf(e->text, sizeof(e->text) - 2, fmt, ap);
	va_end(ap);
	used = n < 0 ? 0 : (size_t)n;
	if (used > sizeof(e->text) - 3)
		used = sizeof(e->text) - 3;
	memcpy(e->text + used, ": ", 3);
	used += 2;
	rest = strlen(was);
	if (rest > sizeof(e->text) - 1 - used)
		rest = sizeof(e->text) - 1 - used;
	memcpy(e->text + used, was, rest);
	e->text[used + rest] = '\0';
	return -1;
}

void error_clear(struct error *e)
{
	e->status = STATUS_OK;
	e->text[0] = '\0';
}
