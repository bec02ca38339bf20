/* Jobs from words as on the command line; include after cmocka. */
#ifndef KB_TESTS_LINE_H
#define KB_TESTS_LINE_H

#include <stdlib.h>
#include <string.h>

#include "guest/options.h"

/* Parse "--name=x --rw=read …", words separated by one blank. Fails the test when it is wrong. */
static inline void line_parse(const char *line, struct jobs *jobs)
{
	struct text notes = {0};
	struct error e = {0};
	char *copy = strdup(line), *rest = NULL, *argv[64] = { (char *)"kickio" };
	int argc = 1;

	for (char *word = strtok_r(copy, " ", &rest); word && argc < 63; word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	if (options_parse(argc, argv, jobs, &notes, &e) < 0)
		fail_msg("%s: %s", line, e.text);
	text_free(&notes);
	free(copy);
}

#endif
