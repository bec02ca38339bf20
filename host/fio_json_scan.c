#include "host/fio_json_scan.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/fio_bytes.h"

/* Keys that tell an object of fio. */
enum { KEY_VERSION = 1, KEY_JOBS = 2, KEY_JOBNAME = 4 /* its own, or in an object of its list */ };

static const struct { const char *name; unsigned key; } known[] = {
	{ "fio version", KEY_VERSION }, { "jobs", KEY_JOBS }, { "client_stats", KEY_JOBS }, { "jobname", KEY_JOBNAME },
};

struct frame {
	size_t from, line;
	char open; /* '{' or '[' */
	unsigned keys;
};

struct scan {
	const char *bytes;
	size_t length, at, line;
	struct frame frame[FIO_JSON_DEPTH];
	size_t depth;
	char last; /* what came last: one of { [ , : } ], '"' a string, 'k' a string that may be a key, 's' a scalar */
	size_t string, string_end; /* the last string, without its quotes */
	bool deep;
	struct extents *out;
};

static int add_extent(struct scan *s, enum extent_kind kind, size_t from, size_t line, struct error *e)
{
	struct extents *x = s->out;

	if (x->count == x->room) {
		size_t room = x->room ? 2 * x->room : 16;
		struct extent *list = realloc(x->list, room * sizeof(*list));

		if (!list)
			return error_set(e, STATUS_HOST, "out of memory");
		x->list = list;
		x->room = room;
	}
	x->list[x->count++] = (struct extent){ .kind = kind, .from = from, .to = s->at, .line = line, .last = s->line };
	return 0;
}

/* ---- tokens ---- */

/* After the opening quote. A string ends in its line. */
static bool skip_string(struct scan *s)
{
	s->string = s->at;
	for (; s->at < s->length; s->at++) {
		if (s->bytes[s->at] == '\\' && s->at + 1 < s->length && s->bytes[s->at + 1] != '\n') {
			s->at++;
		} else if (s->bytes[s->at] == '"') {
			s->string_end = s->at++;
			return true;
		} else if (s->bytes[s->at] == '\n') {
			return false;
		}
	}
	return false;
}

static bool in_scalar(char c)
{
	return isalnum((unsigned char)c) || c == '+' || c == '-' || c == '.' || c == '#';
}

static size_t scalar_length(const char *at, size_t room)
{
	size_t n = 0;

	while (n < room && in_scalar(at[n]))
		n++;
	return n;
}

static bool is_word(const char *at, size_t n)
{
	static const char *const word[] = { "true", "false", "null" };

	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
		if (strlen(word[i]) == n && memcmp(at, word[i], n) == 0)
			return true;
	return false;
}

/* What some C libraries print for a mean of nothing; "-1.#IND" begins as a number does. */
static bool is_nan(const char *at, size_t n)
{
	const char *p = *at == '-' && n > 1 ? at + 1 : at;
	size_t left = n - (size_t)(p - at);

	return left >= 3 && (memcmp(p, "nan", 3) == 0 || memcmp(p, "inf", 3) == 0);
}

static bool take_scalar(struct scan *s)
{
	const char *at = s->bytes + s->at;
	size_t n = scalar_length(at, s->length - s->at);

	if (n == 0 || !(isdigit((unsigned char)*at) || (*at == '-' && n > 1) || is_word(at, n) || is_nan(at, n)))
		return false;
	s->at += n;
	return true;
}

static unsigned key_of(const struct scan *s)
{
	size_t n = s->string_end - s->string;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == n && memcmp(s->bytes + s->string, known[i].name, n) == 0)
			return known[i].key;
	return 0;
}

/* ---- objects ---- */

static struct frame *top(struct scan *s)
{
	return &s->frame[s->depth - 1];
}

static bool is_fio(unsigned keys)
{
	return (keys & KEY_JOBS) && (keys & (KEY_VERSION | KEY_JOBNAME));
}

static void open_frame(struct scan *s, char c)
{
	s->frame[s->depth++] = (struct frame){ .from = s->at, .line = s->line, .open = c };
	s->at++;
	s->last = c;
}

static int close_frame(struct scan *s, char c, struct error *e)
{
	struct frame f = *top(s);

	s->at++;
	s->last = c;
	s->depth--;
	if (f.open == '{' && is_fio(f.keys))
		return add_extent(s, EXTENT_FIO, f.from, f.line, e);
	if (s->depth) {
		top(s)->keys |= f.keys & KEY_JOBNAME;
	} else {
		if (s->out->others++ == 0)
			s->out->other_line = f.line;
	}
	return 0;
}

/* It goes on as no JSON does: what was open is given up, and s->at is looked at as if nothing were. */
static int give_up(struct scan *s, enum extent_kind kind, struct error *e)
{
	unsigned keys = 0;
	size_t first = s->depth, depth = s->depth;

	for (size_t i = depth; i-- > 0;) {
		keys |= s->frame[i].keys;
		if (s->frame[i].keys & (KEY_VERSION | KEY_JOBS))
			first = i;
	}
	s->depth = 0;
	if (kind == EXTENT_DEEP) {
		if (s->deep) /* once is enough */
			return 0;
		s->deep = true;
		return add_extent(s, kind, s->frame[0].from, s->frame[0].line, e);
	}
	if (first == depth || !((keys & KEY_VERSION) || is_fio(keys)))
		return 0;
	return add_extent(s, kind, s->frame[first].from, s->frame[first].line, e);
}

static bool may_follow(char last, char c)
{
	switch (c) {
	case '{':
	case '[':
	case 's':
		return strchr("[,:", last);
	case '"':
		return strchr("{[,:", last);
	case ':':
		return last == 'k';
	case '}':
		return strchr("{\"}]s", last);
	case ']':
		return strchr("[\"}]s", last);
	default: /* , */
		return strchr("\"}]s", last);
	}
}

/* One token inside an object. *good: it may stand here. */
static int take_token(struct scan *s, bool *good, struct error *e)
{
	char c = s->bytes[s->at], open = top(s)->open;
	bool key = open == '{' && (s->last == '{' || s->last == ',');

	*good = true;
	switch (c) {
	case '{':
	case '[':
		*good = !key && may_follow(s->last, c);
		if (*good)
			open_frame(s, c);
		return 0;
	case '}':
	case ']':
		*good = may_follow(s->last, c) && open == (c == '}' ? '{' : '[');
		return *good ? close_frame(s, c, e) : 0;
	case '"':
		*good = may_follow(s->last, c);
		if (!*good)
			return 0;
		s->at++;
		*good = skip_string(s);
		s->last = key ? 'k' : '"';
		return 0;
	case ':':
	case ',':
		*good = may_follow(s->last, c);
		if (!*good)
			return 0;
		if (c == ':')
			top(s)->keys |= key_of(s);
		s->at++;
		s->last = c;
		return 0;
	default:
		*good = !key && may_follow(s->last, 's') && take_scalar(s);
		s->last = 's';
		return 0;
	}
}

/* Marks of quotation count as blanks where a line begins; quote says whether we are there, so that this stays linear. */
static bool skip_blank(struct scan *s, bool *quote)
{
	char c = s->bytes[s->at];

	if (c == '\n') {
		s->line++;
		*quote = true;
	} else if (c == '>' ? !*quote : c != ' ' && c != '\t' && c != '\r') {
		return false;
	}
	s->at++;
	return true;
}

int fio_json_scan(const char *bytes, size_t length, struct extents *out, struct error *e)
{
	struct scan *s = calloc(1, sizeof(*s));
	bool quote = true, good;
	int status = 0;

	*out = (struct extents){ 0 };
	if (!s)
		return error_set(e, STATUS_HOST, "out of memory");
	s->bytes = bytes;
	s->length = length;
	s->line = 1;
	s->out = out;
	while (status == 0 && s->at < length) {
		if (skip_blank(s, &quote))
			continue;
		quote = false;
		if (s->depth == 0) {
			if (bytes[s->at] == '{')
				open_frame(s, '{');
			else
				s->at++;
			continue;
		}
		if (s->depth == FIO_JSON_DEPTH) {
			status = give_up(s, EXTENT_DEEP, e);
			continue;
		}
		status = take_token(s, &good, e);
		if (status == 0 && !good)
			status = give_up(s, s->at >= length ? EXTENT_CUT : EXTENT_BROKEN, e);
	}
	if (status == 0 && s->depth)
		status = give_up(s, EXTENT_CUT, e);
	free(s);
	return status;
}

void fio_json_scan_free(struct extents *extents)
{
	free(extents->list);
	*extents = (struct extents){ 0 };
}

/* ---- repair ---- */

/* From the quote at *at to behind the closing one. */
static void repair_string(const char *bytes, size_t length, size_t *at, struct text *out)
{
	size_t i = *at + 1;

	text_add_bytes(out, "\"", 1);
	while (i < length && bytes[i] != '"') {
		size_t n = fio_utf8_length(bytes + i, length - i);

		if (bytes[i] == '\\' && i + 1 < length) {
			bool nul = length - i >= 6 && memcmp(bytes + i, "\\u0000", 6) == 0;
			bool known_escape = strchr("\"\\/bfnrtu", bytes[i + 1]) && bytes[i + 1];

			if (nul)
				text_add(out, "\\ufffd");
			else if (known_escape)
				text_add_bytes(out, bytes + i, 2);
			else
				text_add(out, "\\\\");
			i += nul ? 6 : known_escape ? 2 : 1;
			continue;
		}
		if (n == 0)
			text_add(out, "\357\277\275");
		else if ((unsigned char)bytes[i] < 0x20)
			text_add(out, "\\u%04x", bytes[i]);
		else
			text_add_bytes(out, bytes + i, n);
		i += n ? n : 1;
	}
	text_add_bytes(out, "\"", 1);
	*at = i + 1;
}

static void repair_scalar(const char *at, size_t n, struct text *out)
{
	bool odd = !is_word(at, n) && (is_nan(at, n) || memchr(at, '#', n));
	size_t digits = 0;

	while (digits < n && (isdigit((unsigned char)at[digits]) || at[digits] == '-'))
		digits++;

	if (odd)
		text_add(out, "null");
	else
		text_add_bytes(out, at, n);
	if (!odd && digits == n && n >= 19)
		text_add(out, ".0");
}

void fio_json_repair(const char *bytes, size_t length, struct text *out)
{
	for (size_t i = 0; i < length;) {
		size_t n = scalar_length(bytes + i, length - i);

		if (bytes[i] == '"') {
			repair_string(bytes, length, &i, out);
		} else if (n) {
			repair_scalar(bytes + i, n, out);
			i += n;
		} else {
			text_add_bytes(out, bytes[i] == '>' ? " " : bytes + i, 1);
			i++;
		}
	}
}
