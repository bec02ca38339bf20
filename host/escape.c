#include "host/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define REPLACEMENT 0xfffd

/* Decode the character at s, which is not its end. Returns its bytes; 1 and REPLACEMENT for a byte that starts none. */
static size_t decode(const char *s, uint32_t *point)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 }; /* a longer form than needed is none */
	unsigned char first = (unsigned char)*s;
	size_t length = first < 0x80 ? 1 : (first & 0xe0) == 0xc0 ? 2 : (first & 0xf0) == 0xe0 ? 3 : (first & 0xf8) == 0xf0 ? 4 : 0;

	*point = length == 1 ? first : first & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80) { /* the text's end, too */
			length = 0;
			break;
		}
		*point = *point << 6 | ((unsigned char)s[i] & 0x3f);
	}
	if (length == 0 || *point < least[length] || *point > 0x10ffff || (*point >= 0xd800 && *point < 0xe000)) {
		*point = REPLACEMENT;
		return 1;
	}
	return length;
}

/* Invisible characters that turn the order of what stands around them: embeddings, overrides, isolates. */
static bool turns(uint32_t c)
{
	return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* Characters of XML 1.0 without the controls that it merely discourages. */
static bool allowed(uint32_t c)
{
	if (c == '\t' || c == '\n' || c == '\r')
		return true;
	return c >= 0x20 && !(c >= 0x7f && c < 0xa0) && c != 0xfffe && c != 0xffff && !turns(c);
}

/* Append one character, or what special (NULL: nothing) says instead of it. Returns its bytes in s. */
static size_t add_character(struct text *out, const char *s, const char *(*special)(uint32_t c))
{
	uint32_t c;
	size_t length = decode(s, &c);
	const char *instead = special ? special(c) : NULL;

	if (c == REPLACEMENT || (special && !allowed(c)))
		instead = "\357\277\275";
	if (instead)
		text_add_bytes(out, instead, strlen(instead));
	else
		text_add_bytes(out, s, length);
	return length;
}

static void add_all(struct text *out, const char *s, const char *(*special)(uint32_t c))
{
	while (s && *s)
		s += add_character(out, s, special);
}

static const char *xml_special(uint32_t c)
{
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	case '\t': return "&#9;"; /* these three: a reader makes blanks of them in attributes */
	case '\n': return "&#10;";
	case '\r': return "&#13;";
	default: return NULL;
	}
}

static const char *csv_special(uint32_t c)
{
	return c == '"' ? "\"\"" : NULL;
}

static const char *markdown_special(uint32_t c)
{
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '\t': case '\n': case '\r': return " ";
	case '\\': return "\\\\";
	case '|': return "\\|";
	case '`': return "\\`";
	case '*': return "\\*";
	case '~': return "\\~";
	case '[': return "\\[";
	case ']': return "\\]";
	case '$': return "\\$"; /* mathematics */
	default: return NULL;
	}
}

void escape_terminal(struct text *out, const char *s, size_t length)
{
	const char *end = s + length;
	uint32_t c;

	while (s < end) {
		size_t n = decode(s, &c);

		if (c == '\t')
			text_add(out, " ");
		else if (!allowed(c) || c == '\n' || c == '\r' || c == REPLACEMENT)
			text_add(out, "?");
		else
			text_add_bytes(out, s, n);
		s += n;
	}
}

void escape_utf8(struct text *out, const char *s)
{
	add_all(out, s, NULL);
}

void escape_xml(struct text *out, const char *s)
{
	add_all(out, s, xml_special);
}

void escape_csv(struct text *out, const char *s)
{
	bool formula, quote;

	if (!s || !*s)
		return;
	formula = strchr("=+-@\t\r\n", *s) != NULL;
	quote = formula || strpbrk(s, ",\"\r\n") || *s == ' ' || s[strlen(s) - 1] == ' ';
	if (quote)
		text_add(out, "\"");
	if (formula)
		text_add(out, "'");
	add_all(out, s, csv_special);
	if (quote)
		text_add(out, "\"");
}

static bool word_byte(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void escape_markdown(struct text *out, const char *s)
{
	const char *start = s;

	while (s && *s) {
		/* within a word (io_uring) it is no emphasis, and a mail reads better without the backslash */
		if (*s == '_' && !(s > start && word_byte(s[-1]) && word_byte(s[1])))
			text_add(out, "\\");
		s += add_character(out, s, markdown_special);
	}
}
