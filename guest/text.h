/* A growing piece of text. Zero-initialise it; text_free() is fine on one that was never used. */
#ifndef KB_TEXT_H
#define KB_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "guest/error.h"

struct text {
	char *data; /* NUL-terminated, NULL while empty */
	size_t length;
	size_t capacity;
	bool failed; /* memory ran out: everything after that was dropped; check once at the end */
};

void text_add(struct text *t, const char *fmt, ...) KB_PRINTF(2, 3);
void text_add_bytes(struct text *t, const void *bytes, size_t length);

/* Append s as a JSON string with its quotes; NULL becomes null. Invalid UTF-8 is passed through. */
void text_add_json_string(struct text *t, const char *s);

/* What was collected, "" when nothing was. Valid until the next change. */
const char *text_get(const struct text *t);

/* Empty it and keep the memory. */
void text_reset(struct text *t);
void text_free(struct text *t);

#endif
