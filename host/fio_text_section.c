#include "host/fio_text_section.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { RULE_LEAST = 3, HEADING_MOST = 200 };

/* Length of a line that is nothing but "=", "-" and "+", else 0. */
static size_t rule(const struct fio_lines *l, size_t index)
{
	const char *line;
	size_t n;

	if (index >= l->count || l->line[index].kind != FIO_PROSE)
		return 0;
	line = fio_lines_text(l, index);
	n = strlen(line);
	return n >= RULE_LEAST && strspn(line, "=-+") == n ? n : 0;
}

static bool adjacent(const struct fio_lines *l, size_t a, size_t b)
{
	return l->line[b].number - l->line[a].number <= 1;
}

static bool trimmed(const char *from, const char *to, const char *ornament, const char **text, size_t *length)
{
	while (from < to && (*from == ' ' || strchr(ornament, *from)))
		from++;
	while (from < to && (to[-1] == ' ' || strchr(ornament, to[-1])))
		to--;
	*text = from;
	*length = (size_t)(to - from);
	return from < to;
}

bool fio_section_at(struct fio_sections *s, const struct fio_lines *l, size_t index, const char **text, size_t *length)
{
	const char *line = fio_lines_text(l, index), *end;
	size_t n = strlen(line), marks = strspn(line, "#"), under;

	if (!strncmp(line, "```", 3))
		s->fenced = !s->fenced;
	if (l->line[index].kind != FIO_PROSE || n > HEADING_MOST || rule(l, index))
		return false;
	end = line + n;
	if (marks >= 1 && marks <= 6 && line[marks] == ' ' && !s->fenced) {
		/* One mark is a prompt or a comment as often as a heading. */
		if (marks == 1 && (l->prompts || strpbrk(line, "=/|\\;$")))
			return false;
		return trimmed(line + marks, end, "#", text, length);
	}
	if (line[0] == '|' && n > 2 && end[-1] == '|' && index && rule(l, index - 1) && rule(l, index + 1))
		return trimmed(line, end, "|", text, length);
	if (n > 6 && !strncmp(line, "==", 2) && !strcmp(end - 2, "=="))
		return trimmed(line, end, "=", text, length);
	under = rule(l, index + 1);
	if (under && fio_lines_text(l, index + 1)[0] == '=' && labs((long)under - (long)n) <= 1 &&
	    adjacent(l, index, index + 1) && isalnum((unsigned char)line[0]))
		return trimmed(line, end, "", text, length);
	return false;
}
