/* What the commands share with main.c; apart from it, so that tests link without a main. */
#include "host/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/escape.h"

volatile sig_atomic_t command_signal;

void command_print(FILE *out, const char *before, const char *lines)
{
	struct text plain = { 0 };

	text_add(&plain, "%s", before);
	while (*lines) {
		size_t n = strcspn(lines, "\n");

		escape_terminal(&plain, lines, n);
		text_add(&plain, "\n");
		lines += n + (lines[n] == '\n');
	}
	fputs(text_get(&plain), out);
	text_free(&plain);
}

int command_option(const char *command, int argc, char **argv, const struct option *longs, int *c, struct error *e)
{
	if (!*c) {
		optind = 0; /* glibc: forget an earlier scan */
		opterr = 0;
	}
	*c = getopt_long(argc, argv, ":o:", longs, NULL);
	if (*c == ':')
		return error_set(e, STATUS_USAGE, "%s: option %s needs a value", command, argv[optind - 1]);
	if (*c == '?')
		return error_set(e, STATUS_USAGE, "%s: unknown option %s (see kickbench help %s)", command, argv[optind - 1], command);
	return *c != -1;
}

int command_keep(const char ***list, size_t *count, const char *text, struct error *e)
{
	const char **grown = realloc(*list, (*count + 1) * sizeof(*grown));

	if (!grown)
		return error_set(e, STATUS_HOST, "out of memory");
	*list = grown;
	(*list)[(*count)++] = text;
	return 0;
}

int command_bisect(bool bisect, int status)
{
	return !bisect || status == STATUS_OK || status == STATUS_FAILED ? status : STATUS_CANNOT_TELL;
}

void command_say(const char *line)
{
	command_print(stderr, "", line);
}
