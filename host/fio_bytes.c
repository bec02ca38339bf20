#include "host/fio_bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t fio_utf8_length(const char *bytes, size_t length)
{
	const unsigned char *s = (const unsigned char *)bytes;
	size_t n = length == 0 || s[0] == 0 ? 0
		   : s[0] < 0x80	    ? 1
		   : s[0] < 0xc2	    ? 0
		   : s[0] < 0xe0	    ? 2
		   : s[0] < 0xf0	    ? 3
		   : s[0] < 0xf5	    ? 4
					    : 0;

	if (n > length)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* too long a form, a surrogate, beyond U+10FFFF */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

json_t *fio_string(const char *bytes, size_t length)
{
	struct text t = { 0 };
	json_t *string;

	for (size_t i = 0; i < length;) {
		size_t n = fio_utf8_length(bytes + i, length - i);

		text_add_bytes(&t, n ? bytes + i : "\357\277\275", n ? n : 3);
		i += n ? n : 1;
	}
	string = t.failed ? NULL : json_string(text_get(&t));
	text_free(&t);
	return string;
}

void fio_blank(char *bytes, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (bytes[i] != '\n')
			bytes[i] = ' ';
}

static int append(json_t *array, const char *key, size_t line, struct error *e, const char *fmt, va_list list)
{
	char text[512];
	json_t *entry, *string;

	vsnprintf(text, sizeof(text), fmt, list);
	string = fio_string(text, strlen(text));
	entry = string ? json_pack("{s:I,s:o}", "line", (json_int_t)line, key, string) : NULL;
	if (!entry || json_array_append_new(array, entry))
		return error_set(e, STATUS_HOST, "out of memory");
	return 0;
}

int fio_note(struct fio_import *into, size_t line, struct error *e, const char *fmt, ...)
{
	size_t n = json_array_size(into->notes);
	va_list list;
	int status;

	if (n >= FIO_MOST_NOTES)
		return n > FIO_MOST_NOTES ? 0
					  : json_array_append_new(into->notes, json_pack("{s:I,s:s}", "line",
											 (json_int_t)line, "message",
											 "there is more from here on "
											 "that cannot be read"));
	va_start(list, fmt);
	status = append(into->notes, "message", line, e, fmt, list);
	va_end(list);
	return status;
}

int fio_mark(json_t *job, size_t line, struct error *e, const char *fmt, ...)
{
	json_t *marks = json_object_get(job, "marks");
	va_list list;
	int status;

	if (!marks) {
		marks = json_array();
		if (json_object_set_new(job, "marks", marks))
			return error_set(e, STATUS_HOST, "out of memory");
	}
	va_start(list, fmt);
	status = append(marks, "what", line, e, fmt, list);
	va_end(list);
	return status;
}
