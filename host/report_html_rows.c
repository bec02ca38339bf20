/* Paragraphs that were laid out for a terminal, whole again for a browser, which knows its own width. */
#include <stdbool.h>
#include <string.h>

#include "host/escape.h"
#include "host/report_html_parts.h"
#include "host/report_layout.h"

/* A line of the text, without its end. */
struct line {
	const char *at;
	size_t length, indent;
};

static size_t blanks_of(const char *s, size_t length)
{
	size_t n = 0;

	while (n < length && s[n] == ' ')
		n++;
	return n;
}

static bool next_line(const char **s, struct line *out)
{
	if (!**s)
		return false;
	out->at = *s;
	out->length = strcspn(*s, "\n");
	out->indent = blanks_of(out->at, out->length);
	*s += out->length + ((*s)[out->length] == '\n');
	return true;
}

static size_t width_of(const char *s, size_t length)
{
	size_t n = 0;

	for (size_t i = 0; i < length; i++)
		n += ((unsigned char)s[i] & 0xc0) != 0x80;
	return n;
}

/* layout_wrap() broke here when the next line's first word had no room left. column: where words begin. */
static bool goes_on(const struct line *l, const struct line *next, size_t column)
{
	const char *word = next->at + next->indent;
	size_t length = strcspn(word, " \n");

	return next->length && next->indent == column && width_of(l->at, l->length) + 1 + width_of(word, length) > REPORT_COLUMNS;
}

/* A word that filled the line alone was broken within. */
static bool broken_word(const struct line *l, size_t column)
{
	return width_of(l->at, l->length) == REPORT_COLUMNS && l->length > column &&
	       !memchr(l->at + column, ' ', l->length - column);
}

/* The rest of the paragraph that l begins, from the byte `from` on. Moves *s behind it. */
static void paragraph(struct text *out, const char **s, struct line l, size_t from, size_t column)
{
	struct text whole = { 0 };
	struct line next;
	const char *ahead = *s;

	text_add_bytes(&whole, l.at + from, l.length - from);
	while (next_line(&ahead, &next) && goes_on(&l, &next, column)) {
		if (!broken_word(&l, column))
			text_add(&whole, " ");
		text_add_bytes(&whole, next.at + next.indent, next.length - next.indent);
		l = next;
		*s = ahead;
	}
	escape_xml(out, text_get(&whole));
	text_free(&whole);
}

/* Does the line have a label, and the words at the column? */
static bool labelled(const struct line *l, size_t column)
{
	return column && l->length > column && (l->indent == column || (l->indent < column && l->at[column - 1] == ' ')) &&
	       l->at[column] != ' ';
}

static void list(struct text *out, const char **s, struct line l, size_t column, const char *class)
{
	size_t level = l.indent;
	const char *ahead;

	text_add(out, "<dl%s>\n", class);
	for (;;) {
		struct text label = { 0 };

		text_add_bytes(&label, l.at, l.indent < column ? column : 0);
		while (label.length && label.data[label.length - 1] == ' ')
			label.data[--label.length] = '\0';
		text_add(out, "<dt>");
		escape_xml(out, text_get(&label) + (label.length ? l.indent : 0));
		text_add(out, "</dt><dd>");
		text_free(&label);
		paragraph(out, s, l, column, column);
		text_add(out, "</dd>\n");
		ahead = *s;
		if (!next_line(&ahead, &l) || !labelled(&l, column) || (l.indent != level && l.indent != column))
			break;
		*s = ahead;
	}
	text_add(out, "</dl>\n");
}

void html_rows(struct text *out, const char *laid_out, size_t words, size_t deeper)
{
	const char *s = laid_out + strcspn(laid_out, "\n");
	struct line l;

	s += *s == '\n';
	while (next_line(&s, &l)) {
		if (l.length == l.indent)
			continue;
		if (words && labelled(&l, words)) {
			list(out, &s, l, words, "");
		} else if (deeper && l.indent == 4 && labelled(&l, deeper)) {
			list(out, &s, l, deeper, " class=\"deeper\"");
		} else {
			text_add(out, "<p>");
			paragraph(out, &s, l, l.indent, l.indent);
			text_add(out, "</p>\n");
		}
	}
}
