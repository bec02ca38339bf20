/* The key = value lines of a scenario file with their places, before anybody asks what they mean. */
#ifndef KB_ENTRIES_H
#define KB_ENTRIES_H

#include <stddef.h>

#include "guest/error.h"

struct entry {
	char *key;
	char *value;
	const char *file; /* the scenario's file name, or "--set KEY=VALUE" */
	int line;         /* 0 for --set */
};

struct section {
	char *kind; /* "variant" */
	char *name; /* "kickfd", "" where the section has none */
	const char *file; /* as in entry: a section can come from --set, too */
	int line;
	struct entry *entry;
	size_t nentries;
};

struct entries {
	char *file;
	char *source; /* the whole text */
	struct section *section;
	size_t nsections;
	char **set; /* "--set …" as messages name them */
	size_t nset;
};

/* Read with inih. Duplicate sections and keys, lines that are neither, overlong lines are errors. */
int entries_read(const char *file, struct entries *out, struct error *e);

/*
 * Apply "KIND.KEY=VALUE" (all sections of the kind; made when there is none) or "KIND.NAME.KEY=VALUE".
 */
int entries_set(struct entries *out, const char *text, struct error *e);

void entries_free(struct entries *out);

#endif
