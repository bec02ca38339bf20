/* The scanner of values.h for bytes to repeat. What fio 3.33 makes of each form was tried out with it. */
#include "guest/values.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int add(struct pattern *p, const void *bytes, size_t length, struct error *e)
{
	if (length > sizeof(p->bytes) - p->length)
		return error_set(e, STATUS_FAILED, "the pattern is longer than %d bytes", JOB_MAX_PATTERN);
	memcpy(p->bytes + p->length, bytes, length);
	p->length += (unsigned)length;
	return 0;
}

static unsigned digit(char c)
{
	return isdigit((unsigned char)c) ? (unsigned)(c - '0') : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
}

/* Digits in pairs, in the order in which they are written; of an odd number the first stands alone. */
static const char *hexadecimal(struct pattern *p, const char *s, struct error *e)
{
	size_t n = strspn(s, "0123456789abcdefABCDEF");
	/* the 0x of a next number gives its zero to that one */
	bool next = n > 0 && s[n - 1] == '0' && (s[n] == 'x' || s[n] == 'X');

	n -= next;
	if (n == 0) {
		error_set(e, STATUS_FAILED, "0x without digits");
		return NULL;
	}
	while (n) {
		size_t digits = n % 2 ? 1 : 2;
		unsigned char byte = (unsigned char)(digits == 1 ? digit(s[0]) : digit(s[0]) << 4 | digit(s[1]));

		if (add(p, &byte, 1, e))
			return NULL;
		s += digits;
		n -= digits;
	}
	return s;
}

/* As few bytes as the number needs, the lowest first. */
static const char *number(struct pattern *p, const char *s, struct error *e)
{
	uint64_t v = 0;

	for (; isdigit((unsigned char)*s); s++) {
		v = v * 10 + (uint64_t)(*s - '0');
		if (v > UINT32_MAX) {
			error_set(e, STATUS_FAILED, "a decimal number is at most %u; write the bytes as 0x...", UINT32_MAX);
			return NULL;
		}
	}
	do {
		unsigned char byte = (unsigned char)v;

		if (add(p, &byte, 1, e))
			return NULL;
		v >>= 8;
	} while (v);
	return s;
}

static int contents(struct pattern *p, const char *path, struct error *e)
{
	unsigned char bytes[JOB_MAX_PATTERN + 1];
	FILE *f = fopen(path, "rb");
	size_t n;
	int rc = 0;

	if (!f)
		return error_errno(e, STATUS_FAILED, "cannot open %s", path);
	n = fread(bytes, 1, sizeof(bytes), f);
	if (ferror(f))
		rc = error_errno(e, STATUS_FAILED, "cannot read %s", path);
	fclose(f);
	return rc ? rc : add(p, bytes, n, e);
}

/* Between two quotes nothing is special. */
static const char *quoted(struct pattern *p, const char *s, struct error *e)
{
	const char *end = strchr(s + 1, *s);
	size_t length = end ? (size_t)(end - s) - 1 : 0;
	char path[1024];

	if (!end || length == 0) {
		error_set(e, STATUS_FAILED, end ? "nothing between the quotes" : "the second %c is missing", *s);
		return NULL;
	}
	if (*s == '"')
		return add(p, s + 1, length, e) ? NULL : end + 1;
	if (length >= sizeof(path)) {
		error_set(e, STATUS_FAILED, "the name of a file is too long");
		return NULL;
	}
	memcpy(path, s + 1, length);
	path[length] = '\0';
	return contents(p, path, e) ? NULL : end + 1;
}

int value_pattern(const char *s, struct pattern *pattern, struct error *e)
{
	struct pattern v = { .length = 0 };

	for (;;) {
		while (*s == ' ' || *s == '\t')
			s++;
		if (*s == '\0')
			break;
		if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
			s = hexadecimal(&v, s + 2, e);
		else if (isdigit((unsigned char)*s))
			s = number(&v, s, e);
		else if (*s == '"' || *s == '\'')
			s = quoted(&v, s, e);
		else if (strncmp(s, "%o", 2) == 0)
			return error_set(e, STATUS_FAILED, "%%o is known to fio but not supported by kickio");
		else
			return error_set(e, STATUS_FAILED,
					 "a pattern is 0x..., a decimal number, \"text\", 'file', or several of them");
		if (!s)
			return -1;
	}
	if (v.length == 0)
		return error_set(e, STATUS_FAILED, "the pattern is empty");
	*pattern = v;
	return 0;
}
