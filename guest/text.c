#include "guest/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct text *t, size_t more)
{
	size_t need = t->length + more + 1;
	size_t capacity = t->capacity ? t->capacity : 256;
	char *data;

	if (t->failed)
		return false;
	if (need <= t->capacity)
		return true;
	while (capacity < need)
		capacity *= 2;
	data = realloc(t->data, capacity);
	if (!data) {
		t->failed = true;
		return false;
	}
	t->data = data;
	t->capacity = capacity;
	return true;
}

void text_add_bytes(struct text *t, const void *bytes, size_t length)
{
	if (!reserve(t, length))
		return;
	memcpy(t->data + t->length, bytes, length);
	t->length += length;
	t->data[t->length] = '\0';
}

void text_add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !reserve(t, (size_t)n))
		return;
	va_start(ap, fmt);
	vsnprintf(t->data + t->length, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->length += (size_t)n;
}

void text_add_json_string(struct text *t, const char *s)
{
	if (!s) {
		text_add(t, "null");
		return;
	}
	text_add_bytes(t, "\"", 1);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			text_add(t, "\\%c", c);
		else if (c == '\n')
			text_add_bytes(t, "\\n", 2);
		else if (c == '\t')
			text_add_bytes(t, "\\t", 2);
		else if (c < 0x20 || c == 0x7f)
			text_add(t, "\\u%04x", c);
		else
			text_add_bytes(t, s, 1);
	}
	text_add_bytes(t, "\"", 1);
}

const char *text_get(const struct text *t)
{
	return t->data ? t->data : "";
}

void text_reset(struct text *t)
{
	t->length = 0;
	t->failed = false;
	if (t->data)
		t->data[0] = '\0';
}

void text_free(struct text *t)
{
	free(t->data);
	*t = (struct text){0};
}
