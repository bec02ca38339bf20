/* [workload NAME]: options whose values may be lists. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "host/scenario_keys.h"

static int no_memory(struct error *e)
{
	return error_set(e, STATUS_HOST, "out of memory");
}

/* The next comma that parts two values; '\\,' is a comma of a value, and loses its backslash here. */
static char *cut_value(char *word)
{
	char *to = word;

	for (; *word && *word != ','; word++) {
		if (word[0] == '\\' && word[1] == ',')
			word++;
		*to++ = *word;
	}
	if (!*word) {
		*to = '\0';
		return NULL;
	}
	*to = '\0';
	return word + 1;
}

int scenario_values(const struct entry *at, char ***value, size_t *nvalues, struct error *e)
{
	char *copy = strdup(at->value), *next = copy;

	if (!copy)
		return no_memory(e);
	while (next) {
		char **grown = realloc(*value, (*nvalues + 1) * sizeof(*grown));
		char *word = next, *end;

		if (!grown)
			break;
		*value = grown;
		next = cut_value(word);
		word += strspn(word, " \t");
		end = word + strlen(word);
		while (end > word && isspace((unsigned char)end[-1]))
			*--end = '\0';
		if (!*word && (next || *nvalues)) {
			free(copy);
			return error_at(e, STATUS_USAGE, at->file, at->line, "%s = %s: the list has an empty place", at->key,
					at->value);
		}
		for (size_t i = 0; i < *nvalues; i++)
			if (!strcmp(grown[i], word)) {
				error_at(e, STATUS_USAGE, at->file, at->line, "%s = %s: %s stands here twice", at->key, at->value, word);
				free(copy);
				return -1;
			}
		grown[*nvalues] = strdup(word);
		if (!grown[*nvalues])
			break;
		++*nvalues;
	}
	free(copy);
	return next || !*nvalues ? no_memory(e) : 0;
}

int scenario_workload_read(struct workload *w, const struct section *from, struct error *e)
{
	w->name = strdup(from->name);
	w->line = from->line;
	w->option = calloc(from->nentries + 1, sizeof(*w->option));
	if (!w->name || !w->option)
		return no_memory(e);
	for (size_t i = 0; i < from->nentries; i++) {
		struct workload_option *o = &w->option[w->noptions++];

		o->file = from->entry[i].file;
		o->line = from->entry[i].line;
		o->name = strdup(from->entry[i].key);
		if (!o->name)
			return no_memory(e);
		if (scenario_values(&from->entry[i], &o->value, &o->nvalues, e))
			return -1;
	}
	return 0;
}

void scenario_workload_free(struct workload *w)
{
	for (size_t k = 0; k < w->noptions; k++) {
		for (size_t v = 0; v < w->option[k].nvalues; v++)
			free(w->option[k].value[v]);
		free(w->option[k].value);
		free(w->option[k].name);
	}
	free(w->option);
	free(w->name);
}
