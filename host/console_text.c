#include "host/console_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define KEPT (32u << 10) /* bytes that are looked at: what a step waits for is short */
#define LONGEST_LINE 160 /* of a message */

enum { PLAIN, ESCAPE, CHARSET, CONTROL, STRING, STRING_ESCAPE };

void console_text_free(struct console_text *t)
{
	text_free(&t->said);
	text_free(&t->mask);
	text_free(&t->typed);
	*t = (struct console_text){ 0 };
}

/* ---- from bytes to readable text ---- */

/* One byte of an escape sequence (ECMA-48): the state that follows. */
static int skip(int state, unsigned char c)
{
	switch (state) {
	case ESCAPE:
		if (c == '[')
			return CONTROL;
		if (strchr("]PX^_", c) && c)
			return STRING;
		return strchr("()*+-./#% ", c) && c ? CHARSET : PLAIN;
	case CONTROL:
		return c >= 0x40 && c <= 0x7e ? PLAIN : CONTROL;
	case STRING:
		return c == '\a' ? PLAIN : c == 033 ? STRING_ESCAPE : STRING;
	case STRING_ESCAPE:
		return c == '\\' ? PLAIN : STRING;
	default: /* CHARSET: one more */
		return PLAIN;
	}
}

static void erase_one(struct console_text *t)
{
	size_t n = t->said.length;

	if (n <= t->from || t->said.data[n - 1] == '\n')
		return;
	t->said.data[--t->said.length] = '\0';
	t->mask.data[--t->mask.length] = '\0';
}

static void take(struct console_text *t, unsigned char c)
{
	if (c == 033 && t->state != STRING) {
		t->state = ESCAPE;
	} else if (t->state != PLAIN) {
		t->state = skip(t->state, c);
	} else if (c == '\b') {
		erase_one(t);
	} else if ((c >= ' ' && c != 0x7f) || c == '\n' || c == '\t') {
		text_add_bytes(&t->said, &c, 1);
		text_add_bytes(&t->mask, " ", 1);
	}
}

static size_t less(size_t value, size_t by)
{
	return value > by ? value - by : 0;
}

static void forget_old(struct console_text *t)
{
	size_t cut = less(t->said.length, KEPT);

	if (t->said.length < 2 * KEPT)
		return;
	memmove(t->said.data, t->said.data + cut, KEPT + 1);
	memmove(t->mask.data, t->mask.data + cut, KEPT + 1);
	t->said.length = t->mask.length = KEPT;
	t->from = less(t->from, cut);
	t->echo_from = less(t->echo_from, cut);
}

/* ---- the echo ---- */

/*
 * Is what was typed (blanks aside) at this place? Length of it there, 0: no; *whole: not only its beginning, before
 * the text ends.
 */
static size_t echo_at(const struct console_text *t, size_t at, const char *line, bool *whole)
{
	const char *p = t->said.data + at, *end = t->said.data + t->said.length;

	while (p < end && *line != '\n') {
		if (*p == *line)
			line++;
		else if (!isspace((unsigned char)*p))
			return 0;
		p++;
	}
	*whole = *line == '\n';
	return (size_t)(p - (t->said.data + at));
}

/* The place of the next echo; said.length: not there. */
static size_t find_echo(const struct console_text *t, size_t *length, bool *whole)
{
	for (size_t at = t->echo_from; t->typed.length && at < t->said.length; at++)
		if (t->said.data[at] == t->typed.data[0] && (*length = echo_at(t, at, t->typed.data, whole)))
			return at;
	return t->said.length;
}

static void mask_echoes(struct console_text *t)
{
	size_t length = 0, at, line;
	bool whole = false;

	while ((at = find_echo(t, &length, &whole)) < t->said.length && whole) {
		memset(t->mask.data + at, 'e', length);
		t->echo_from = at + length;
		line = strcspn(t->typed.data, "\n") + 1;
		t->typed.length -= line;
		memmove(t->typed.data, t->typed.data + line, t->typed.length + 1);
	}
}

void console_text_feed(struct console_text *t, const char *bytes, size_t length)
{
	if (!length)
		return;
	for (size_t i = 0; i < length; i++)
		take(t, (unsigned char)bytes[i]);
	t->idle_ms = 0;
	mask_echoes(t);
	forget_old(t);
}

void console_text_idle(struct console_text *t, unsigned ms)
{
	t->idle_ms = ms;
}

void console_text_typed(struct console_text *t, const char *bytes, size_t length)
{
	text_reset(&t->typed); /* what of the last one did not come back until now will not */
	for (size_t i = 0; i < length; i++) {
		bool end = bytes[i] == '\n' || bytes[i] == '\r';

		if (end && t->typed.length && t->typed.data[t->typed.length - 1] != '\n')
			text_add_bytes(&t->typed, "\n", 1);
		else if ((unsigned char)bytes[i] > ' ' && bytes[i] != 0x7f)
			text_add_bytes(&t->typed, &bytes[i], 1);
	}
	if (t->typed.length && t->typed.data[t->typed.length - 1] != '\n')
		text_add_bytes(&t->typed, "\n", 1);
	t->echo_from = t->from;
}

/* ---- what expressions see ---- */

struct view {
	char *text;
	size_t *place; /* of each character in said; one more for the end */
	size_t length;
};

static void make_view(const struct console_text *t, bool joined, struct view *v)
{
	size_t length = 0, end = t->said.length, column = 0;
	bool whole;

	if (t->idle_ms < CONSOLE_ECHO_MS)
		end = find_echo(t, &length, &whole); /* a whole one is masked already: the beginning of one is held back */
	for (size_t i = t->from; i > 0 && t->said.data[i - 1] != '\n'; i--)
		column++;
	v->length = 0;
	for (size_t i = t->from; i < end; i++) {
		char c = t->said.data[i];
		bool wrap = joined && c == '\n' && column && column % CONSOLE_COLUMNS == 0;

		if (c == '\n')
			column = wrap ? column : 0;
		else if (((unsigned char)c & 0xc0) != 0x80) /* no continuation of a UTF-8 character */
			column++;
		if (wrap || t->mask.data[i] == 'e')
			continue;
		v->text[v->length] = c;
		v->place[v->length++] = i;
	}
	v->text[v->length] = '\0';
	v->place[v->length] = end;
}

static bool look(const struct console_text *t, const struct view *v, const regex_t *expression, struct console_match *m)
{
	regmatch_t group[2];
	size_t n = 0;

	if (regexec(expression, v->text, 2, group, 0) || group[0].rm_eo == 0)
		return false;
	if ((size_t)group[0].rm_eo == v->length && t->idle_ms < CONSOLE_QUIET_MS)
		return false;
	m->begin = v->place[group[0].rm_so];
	m->end = v->place[group[0].rm_eo - 1] + 1;
	for (regoff_t i = group[1].rm_so; expression->re_nsub && i >= 0 && i < group[1].rm_eo && n + 1 < sizeof(m->group); i++)
		m->group[n++] = v->text[i];
	m->group[n] = '\0';
	return true;
}

bool console_text_match(const struct console_text *t, const regex_t *expression, struct console_match *m)
{
	struct view v = { .text = malloc(t->said.length - t->from + 1),
			  .place = malloc((t->said.length - t->from + 1) * sizeof(*v.place)) };
	bool found = false;

	if (v.text && v.place && t->said.data)
		for (int joined = 0; joined < 2 && !found; joined++) {
			make_view(t, joined, &v);
			found = look(t, &v, expression, m);
		}
	free(v.text);
	free(v.place);
	return found;
}

void console_text_consume(struct console_text *t, const struct console_match *m)
{
	t->from = m->end;
	if (t->echo_from < t->from)
		t->echo_from = t->from;
}

void console_text_tail(const struct console_text *t, unsigned lines, struct text *out)
{
	const char *text = text_get(&t->said), *end = text + t->said.length, *p = end;
	unsigned found = 0;

	/* back over as many lines as are not empty */
	while (p > text && found <= lines) {
		p--;
		if (*p != '\n' && (p == text || p[-1] == '\n'))
			found++;
		if (found == lines && (p == text || p[-1] == '\n') && *p != '\n')
			break;
	}
	while (p < end) {
		size_t n = strcspn(p, "\n");

		if (n)
			text_add(out, "\n  | ");
		for (size_t i = 0; i < n && i < LONGEST_LINE; i++)
			text_add(out, "%c", p[i] == '\t' ? ' ' : p[i] >= ' ' && p[i] < 0x7f ? p[i] : '?');
		p += n + (p + n < end);
	}
}
