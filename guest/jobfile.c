#include "guest/jobfile.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/text.h"

/* Cut blanks off both ends, in place. */
static char *trim(char *s)
{
	size_t length;

	while (isspace((unsigned char)*s))
		s++;
	length = strlen(s);
	while (length && isspace((unsigned char)s[length - 1]))
		s[--length] = '\0';
	return s;
}

/* Append the line with ${VAR} replaced from the environment, by nothing where it is not set. */
static int expand(struct text *out, const char *s, struct error *e)
{
	while (*s) {
		size_t plain = strcspn(s, "$");
		const char *end;

		text_add_bytes(out, s, plain);
		s += plain;
		if (*s == '\0')
			break;
		end = s[1] == '{' ? strchr(s, '}') : NULL;
		if (end) {
			char name[128];
			size_t length = (size_t)(end - s) - 2;
			const char *value;

			if (length >= sizeof(name))
				return error_set(e, STATUS_FAILED, "the name of a variable is too long");
			memcpy(name, s + 2, length);
			name[length] = '\0';
			value = getenv(name);
			text_add(out, "%s", value ? value : "");
			s = end + 1;
		} else {
			text_add_bytes(out, s++, 1);
		}
	}
	return 0;
}

static int refuse_keywords(const char *s, struct error *e)
{
	static const char *const keywords[] = { "$pagesize", "$ncpus", "$mb_memory" };

	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (strstr(s, keywords[i]))
			return error_set(e, STATUS_FAILED,
					 "%s is known to fio but not supported by kickio", keywords[i]);
	return 0;
}

static int section(struct build *b, char *line, struct error *e)
{
	char *end = strrchr(line, ']');

	if (!end)
		return error_set(e, STATUS_FAILED, "a section needs a closing ]");
	if (end[1])
		return error_set(e, STATUS_FAILED, "junk after the section: %s", end + 1);
	*end = '\0';
	return build_section(b, line + 1, e);
}

static int option(struct build *b, char *line, struct error *e)
{
	struct text expanded = {0};
	char *name, *value;
	int rc = -1;

	if (strncmp(line, "include", 7) == 0 && (line[7] == '\0' || isspace((unsigned char)line[7])))
		return error_set(e, STATUS_FAILED, "include is known to fio but not supported by kickio");
	if (expand(&expanded, line, e) || refuse_keywords(text_get(&expanded), e))
		goto out;
	if (expanded.failed || !expanded.data) {
		error_set(e, STATUS_HOST, "out of memory");
		goto out;
	}
	name = expanded.data;
	value = strchr(name, '=');
	if (value)
		*value++ = '\0';
	/* blanks before the = are nothing; those after it belong to the value, as in fio */
	name = trim(name);
	rc = build_option(b, name, value, e);
out:
	text_free(&expanded);
	return rc;
}

static int line_of_file(struct build *b, char *line, bool *in_section, struct error *e)
{
	/* a comment begins anywhere, not only at the start of a line: fio's rule */
	line[strcspn(line, ";#")] = '\0';
	line = trim(line);
	if (*line == '\0')
		return 0;
	if (*line == '[') {
		*in_section = true;
		return section(b, line, e);
	}
	if (!*in_section)
		return error_set(e, STATUS_FAILED, "option <%s> outside of [] job section", line);
	return option(b, line, e);
}

int jobfile_parse(struct build *b, const char *path, struct error *e)
{
	bool from_stdin = strcmp(path, "-") == 0, in_section = false;
	FILE *f = from_stdin ? stdin : fopen(path, "r");
	size_t capacity = 0;
	char *line = NULL;
	int number = 0, rc = 0;

	if (!f)
		return error_errno(e, STATUS_FAILED, "unable to open '%s' job file", path);
	b->from_file = true;
	while (rc == 0 && getline(&line, &capacity, f) >= 0) {
		number++;
		rc = line_of_file(b, line, &in_section, e);
	}
	if (rc)
		error_context(e, "%s:%d", from_stdin ? "stdin" : path, number);
	else if (ferror(f))
		rc = error_errno(e, STATUS_FAILED, "cannot read '%s'", path);
	free(line);
	if (!from_stdin)
		fclose(f);
	return rc;
}
