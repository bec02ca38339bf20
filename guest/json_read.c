#include "guest/json_read.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "guest/text.h"

/* Nobody sends deeper ones, and skipping them is recursive. */
#define MAX_DEPTH 32

struct reader {
	const char *start, *at;
	unsigned depth;
	struct error *e;
};

static int fail(struct reader *r, const char *what)
{
	return error_set(r->e, STATUS_FAILED, "JSON at byte %zu: %s", (size_t)(r->at - r->start), what);
}

static void skip_space(struct reader *r)
{
	while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')
		r->at++;
}

/* Is c next? Then step over it and the space behind it. */
static bool take(struct reader *r, char c)
{
	if (*r->at != c)
		return false;
	r->at++;
	skip_space(r);
	return true;
}

static void add_utf8(struct text *out, uint32_t c)
{
	char b[4];
	size_t n = 0;

	if (c < 0x80) {
		b[n++] = (char)c;
	} else if (c < 0x800) {
		b[n++] = (char)(0xc0 | c >> 6);
		b[n++] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		b[n++] = (char)(0xe0 | c >> 12);
		b[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		b[n++] = (char)(0x80 | (c & 0x3f));
	} else {
		b[n++] = (char)(0xf0 | c >> 18);
		b[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		b[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		b[n++] = (char)(0x80 | (c & 0x3f));
	}
	text_add_bytes(out, b, n);
}

static int read_hex4(struct reader *r, uint32_t *value)
{
	*value = 0;
	for (int i = 0; i < 4; i++) {
		char c = *r->at;

		if (c >= '0' && c <= '9')
			*value = *value << 4 | (uint32_t)(c - '0');
		else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
			*value = *value << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
		else
			return fail(r, "four hexadecimal digits expected behind \\u");
		r->at++;
	}
	return 0;
}

/* Behind "\u". The strings end up in argument vectors and messages, which a NUL would cut. */
static int read_unicode(struct reader *r, struct text *out)
{
	uint32_t c, low;

	if (read_hex4(r, &c) < 0)
		return -1;
	if (c == 0)
		return fail(r, "\\u0000 in a string");
	if (c >= 0xdc00 && c <= 0xdfff)
		return fail(r, "second half of a surrogate pair without the first");
	if (c >= 0xd800 && c <= 0xdbff) {
		if (r->at[0] != '\\' || r->at[1] != 'u')
			return fail(r, "first half of a surrogate pair without the second");
		r->at += 2;
		if (read_hex4(r, &low) < 0)
			return -1;
		if (low < 0xdc00 || low > 0xdfff)
			return fail(r, "first half of a surrogate pair without the second");
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	add_utf8(out, c);
	return 0;
}

static int read_escape(struct reader *r, struct text *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *found;
	char c = *r->at;

	if (c == 'u') {
		r->at++;
		return read_unicode(r, out);
	}
	found = c ? strchr(from, c) : NULL;
	if (!found)
		return fail(r, "unknown escape");
	text_add_bytes(out, &to[found - from], 1);
	r->at++;
	return 0;
}

static int read_string(struct reader *r, struct text *out)
{
	if (*r->at != '"')
		return fail(r, "string expected");
	r->at++;
	while (*r->at != '"') {
		if ((unsigned char)*r->at < 0x20)
			return fail(r, *r->at ? "control character in a string" : "string without an end");
		if (*r->at == '\\') {
			r->at++;
			if (read_escape(r, out) < 0)
				return -1;
		} else {
			text_add_bytes(out, r->at++, 1);
		}
	}
	r->at++;
	skip_space(r);
	return out->failed ? fail(r, "out of memory") : 0;
}

static bool digit(const struct reader *r)
{
	return *r->at >= '0' && *r->at <= '9';
}

static int skip_digits(struct reader *r)
{
	if (!digit(r))
		return fail(r, "digit expected");
	while (digit(r))
		r->at++;
	return 0;
}

static int skip_number(struct reader *r)
{
	if (*r->at == '-')
		r->at++;
	if (*r->at == '0')
		r->at++;
	else if (skip_digits(r) < 0)
		return -1;
	if (*r->at == '.') {
		r->at++;
		if (skip_digits(r) < 0)
			return -1;
	}
	if (*r->at == 'e' || *r->at == 'E') {
		r->at++;
		if (*r->at == '+' || *r->at == '-')
			r->at++;
		if (skip_digits(r) < 0)
			return -1;
	}
	skip_space(r);
	return 0;
}

static int skip_string(struct reader *r)
{
	struct text ignored = {0};
	int ret = read_string(r, &ignored);

	text_free(&ignored);
	return ret;
}

static int skip_value(struct reader *r);

static int skip_members(struct reader *r, char close, bool keys)
{
	if (++r->depth > MAX_DEPTH)
		return fail(r, "nested too deeply");
	r->at++;
	skip_space(r);
	if (!take(r, close)) {
		do {
			if (keys && (skip_string(r) < 0 || (!take(r, ':') && fail(r, "':' expected"))))
				return -1;
			if (skip_value(r) < 0)
				return -1;
		} while (take(r, ','));
		if (!take(r, close))
			return fail(r, "',' or the end of an array or object expected");
	}
	r->depth--;
	return 0;
}

static int skip_value(struct reader *r)
{
	static const char *const words[] = {"true", "false", "null"};

	if (*r->at == '"')
		return skip_string(r);
	if (*r->at == '{')
		return skip_members(r, '}', true);
	if (*r->at == '[')
		return skip_members(r, ']', false);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strncmp(r->at, words[i], strlen(words[i])) == 0) {
			r->at += strlen(words[i]);
			skip_space(r);
			return 0;
		}
	}
	return skip_number(r);
}

/* One member of the outermost object; *value becomes its value's place when it is the key's. */
static int member(struct reader *r, const char *key, const char **value)
{
	struct text name = {0};
	int ret = read_string(r, &name);

	if (ret == 0 && !take(r, ':'))
		ret = fail(r, "':' expected");
	if (ret == 0 && strcmp(text_get(&name), key) == 0) {
		if (*value)
			ret = error_set(r->e, STATUS_FAILED, "JSON: \"%s\" twice", key);
		*value = r->at;
	}
	text_free(&name);
	return ret < 0 ? -1 : skip_value(r);
}

/* Check the whole document and put *r where the key's value begins; *found tells whether there is one. */
static int find(struct reader *r, const char *json, const char *key, bool *found, struct error *e)
{
	const char *value = NULL;

	*r = (struct reader){.start = json, .at = json, .e = e};
	skip_space(r);
	if (!take(r, '{'))
		return fail(r, "object expected");
	if (!take(r, '}')) {
		do {
			if (member(r, key, &value) < 0)
				return -1;
		} while (take(r, ','));
		if (!take(r, '}'))
			return fail(r, "',' or '}' expected");
	}
	if (*r->at)
		return fail(r, "something stands behind the object");
	*found = value != NULL;
	r->at = value;
	return 0;
}

static int find_needed(struct reader *r, const char *json, const char *key, struct error *e)
{
	bool found;

	if (find(r, json, key, &found, e) < 0)
		return -1;
	return found ? 0 : error_set(e, STATUS_FAILED, "JSON: \"%s\" is missing", key);
}

static int copy_string(struct reader *r, char **value)
{
	struct text out = {0};

	if (read_string(r, &out) < 0) {
		text_free(&out);
		return -1;
	}
	*value = strdup(text_get(&out));
	text_free(&out);
	return *value ? 0 : fail(r, "out of memory");
}

int json_read_string(const char *json, const char *key, char **value, struct error *e)
{
	struct reader r;
	bool found;

	*value = NULL;
	if (find(&r, json, key, &found, e) < 0)
		return -1;
	if (!found || strncmp(r.at, "null", 4) == 0)
		return 0;
	return copy_string(&r, value);
}

static int read_number(struct reader *r, uint64_t *value)
{
	uint64_t v = 0;

	if (!digit(r))
		return fail(r, "whole number expected");
	for (; digit(r); r->at++) {
		unsigned d = (unsigned)(*r->at - '0');

		if (v > (UINT64_MAX - d) / 10)
			return fail(r, "number too large");
		v = v * 10 + d;
	}
	if (*r->at == '.' || *r->at == 'e' || *r->at == 'E')
		return fail(r, "whole number expected");
	*value = v;
	return 0;
}

int json_read_number(const char *json, const char *key, uint64_t *value, struct error *e)
{
	struct reader r;

	return find_needed(&r, json, key, e) < 0 ? -1 : read_number(&r, value);
}

int json_read_number_if(const char *json, const char *key, uint64_t *value, bool *found, struct error *e)
{
	struct reader r;

	if (find(&r, json, key, found, e) < 0)
		return -1;
	*found = *found && strncmp(r.at, "null", 4) != 0;
	return *found ? read_number(&r, value) : 0;
}

int json_read_strings(const char *json, const char *key, char ***values, size_t *count, struct error *e)
{
	char **list = NULL, **longer;
	struct reader r;
	size_t n = 0;

	*values = NULL;
	*count = 0;
	if (find_needed(&r, json, key, e) < 0)
		return -1;
	if (!take(&r, '['))
		return fail(&r, "array expected");
	list = calloc(1, sizeof(*list));
	if (!list)
		return fail(&r, "out of memory");
	if (*r.at != ']') {
		do {
			longer = realloc(list, (n + 2) * sizeof(*list));
			if (!longer) {
				fail(&r, "out of memory");
				goto free_list;
			}
			list = longer;
			list[n] = list[n + 1] = NULL;
			if (copy_string(&r, &list[n]) < 0)
				goto free_list;
			n++;
		} while (take(&r, ','));
	}
	*values = list;
	*count = n;
	return 0;

free_list:
	json_free_strings(list);
	return -1;
}

void json_free_strings(char **values)
{
	for (size_t i = 0; values && values[i]; i++)
		free(values[i]);
	free(values);
}
