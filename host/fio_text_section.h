/* Headings above fio's outputs: what the author of a text says of the runs that follow. */
#ifndef KB_FIO_TEXT_SECTION_H
#define KB_FIO_TEXT_SECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "host/fio_text_lines.h"

/* State over the lines of one text; zero-initialise it. */
struct fio_sections {
	bool fenced; /* between two ``` of markdown, where "# " is no heading */
};

/*
 * Is line index a heading? "| x |" between rules, a line underlined by as many "=", "=== x ===", "## x", and "# x" in
 * a text without "# fio …" prompts. *text and *length are then the heading without its ornaments.
 * Call it once per line, in order.
 */
bool fio_section_at(struct fio_sections *s, const struct fio_lines *l, size_t index, const char **text, size_t *length);

#endif
