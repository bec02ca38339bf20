#include "guest/jobfile.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Where the lines come from. */
struct source {
	const char *path; /* "-": stdin */
	unsigned depth;   /* 0: the job file itself, else included, and without sections */
	bool in_section;
};

#define MAX_DEPTH 8

static int read_lines(struct build *b, struct source *from, struct error *e);

/* A name that is not there is taken from the folder of the file that includes it. */
static int include(struct build *b, const struct source *from, const char *name, struct error *e)
{
	const char *slash = strrchr(from->path, '/');
	struct source file = { .depth = from->depth + 1, .in_section = true };
	struct text path = {0};
	int rc;

	if (*name == '\0')
		return error_set(e, STATUS_FAILED, "include needs the name of a file");
	if (file.depth > MAX_DEPTH)
		return error_set(e, STATUS_FAILED, "files include each other more than %d deep", MAX_DEPTH);
	if (slash && name[0] != '/' && access(name, F_OK) < 0)
		text_add_bytes(&path, from->path, (size_t)(slash - from->path) + 1);
	text_add(&path, "%s", name);
	file.path = text_get(&path);
	rc = path.failed ? error_set(e, STATUS_HOST, "out of memory") : read_lines(b, &file, e);
	text_free(&path);
	return rc;
}

static int option(struct build *b, const struct source *from, char *line, struct error *e)
{
	struct text expanded = {0};
	char *name, *value;
	int rc = -1;

	if (strncmp(line, "include", 7) == 0 && (line[7] == '\0' || isspace((unsigned char)line[7])))
		return b->skip ? 0 : include(b, from, trim(line + 7), e);
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

static int line_of_file(struct build *b, struct source *from, char *line, struct error *e)
{
	/* a comment begins anywhere, not only at the start of a line: fio's rule */
	line[strcspn(line, ";#")] = '\0';
	line = trim(line);
	if (*line == '\0')
		return 0;
	if (*line == '[') {
		if (from->depth)
			return error_set(e, STATUS_FAILED, "no sections in an included file");
		from->in_section = true;
		return section(b, line, e);
	}
	if (!from->in_section)
		return error_set(e, STATUS_FAILED, "option <%s> outside of [] job section", line);
	return option(b, from, line, e);
}

static int read_lines(struct build *b, struct source *from, struct error *e)
{
	bool from_stdin = from->depth == 0 && strcmp(from->path, "-") == 0;
	FILE *f = from_stdin ? stdin : fopen(from->path, "r");
	size_t capacity = 0;
	char *line = NULL;
	int number = 0, rc = 0;

	if (!f)
		return error_errno(e, STATUS_FAILED, "unable to open '%s' job file", from->path);
	while (rc == 0 && getline(&line, &capacity, f) >= 0) {
		number++;
		rc = line_of_file(b, from, line, e);
	}
	if (rc)
		error_context(e, "%s:%d", from_stdin ? "stdin" : from->path, number);
	else if (ferror(f))
		rc = error_errno(e, STATUS_FAILED, "cannot read '%s'", from->path);
	free(line);
	if (!from_stdin)
		fclose(f);
	return rc;
}

int jobfile_parse(struct build *b, const char *path, struct error *e)
{
	struct source from = { .path = path };
	int rc;

	b->from_file = true;
	rc = read_lines(b, &from, e);
	b->skip = false;
	return rc;
}
