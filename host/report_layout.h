/* Laying out plain text for a terminal and a mail: at most REPORT_COLUMNS wide, UTF-8 counted by character. */
#ifndef KB_REPORT_LAYOUT_H
#define KB_REPORT_LAYOUT_H

#include "guest/text.h"

#define REPORT_COLUMNS 100

/* Characters of s: bytes that do not continue one. */
size_t layout_width(const char *s);

/*
 * Append s as one table entry, filled up to width (negative: to the right of it). Control characters, which a
 * name or a guest's message may hold, become '?'. Never cut.
 */
void layout_pad(struct text *out, const char *s, int width);

/*
 * Append a paragraph: label, filled up to indent columns, then s broken between words so that no line is too
 * long; the lines after the first begin with indent blanks. A word that does not fit a line is broken.
 */
void layout_wrap(struct text *out, const char *label, size_t indent, const char *s);

#endif
