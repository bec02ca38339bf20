#include "host/report_layout.h"

#include <stdlib.h>
#include <string.h>

#include "host/escape.h"

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t layout_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += !continues(*s);
	return n;
}

static void blanks(struct text *out, size_t n)
{
	while (n--)
		text_add_bytes(out, " ", 1);
}

void layout_pad(struct text *out, const char *s, int width)
{
	size_t have = layout_width(s), want = (size_t)abs(width);

	if (width < 0 && have < want)
		blanks(out, want - have);
	escape_terminal(out, s, strlen(s));
	if (width > 0 && have < want)
		blanks(out, want - have);
}

/* The bytes of at most n characters at s. */
static size_t bytes_of(const char *s, size_t length, size_t n)
{
	size_t i = 0;

	while (i < length && (continues(s[i]) || n-- > 0))
		i++;
	return i;
}

static size_t characters(const char *s, size_t length)
{
	size_t n = 0;

	for (size_t i = 0; i < length; i++)
		n += !continues(s[i]);
	return n;
}

static void add_word(struct text *out, size_t *column, size_t indent, const char *word, size_t length)
{
	size_t wide = characters(word, length);

	if (*column > indent && *column + 1 + wide > REPORT_COLUMNS) {
		text_add(out, "\n");
		blanks(out, indent);
		*column = indent;
	} else if (*column > indent) {
		text_add(out, " ");
		++*column;
	}
	while (*column + wide > REPORT_COLUMNS) {
		size_t part = bytes_of(word, length, REPORT_COLUMNS - *column);

		escape_terminal(out, word, part);
		text_add(out, "\n");
		blanks(out, indent);
		word += part;
		length -= part;
		wide = characters(word, length);
		*column = indent;
	}
	escape_terminal(out, word, length);
	*column += wide;
}

void layout_wrap(struct text *out, const char *label, size_t indent, const char *s)
{
	size_t column = layout_width(label);

	layout_pad(out, label, (int)indent);
	if (column > indent) { /* no room beside the label */
		text_add(out, "\n");
		blanks(out, indent);
	}
	column = indent;
	while (*s) {
		size_t length = strcspn(s, " \t\r\n");

		if (length)
			add_word(out, &column, indent, s, length);
		s += length;
		s += strspn(s, " \t\r\n");
	}
	text_add(out, "\n");
}
