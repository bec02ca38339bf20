#include "host/scenario_guests.h"

#include <stdlib.h>
#include <string.h>

void guest_free(struct guest *g)
{
	free(g->name);
	free(g->image);
	free(g->profile);
	free(g->user);
	free(g->password_file);
	free(g->password_env);
	free(g->exec.start);
	free(g->exec.stop);
	free(g->exec.kill);
	free(g->exec.verify);
	free(g->exec.link);
	free(g->exec.console);
	free(g->domain);
	free(g->domain_xml);
	machine_free(&g->machine);
}

const struct entry *section_entry(const struct section *section, const char *key)
{
	for (size_t i = 0; section && i < section->nentries; i++)
		if (!strcmp(section->entry[i].key, key))
			return &section->entry[i];
	return NULL;
}

/* The guest of that name goes to place k, those before it being chosen already. */
static int choose_guest(struct scenario *s, const char *name, size_t k, const struct entry *at, struct error *e)
{
	size_t i = 0;

	while (i < s->nguests && strcmp(s->guest[i].name, name))
		i++;
	if (i == s->nguests)
		return error_at(e, STATUS_USAGE, at->file, at->line, "guests = %s: there is no section [guest %s]", at->value,
				name);
	if (i < k)
		return error_at(e, STATUS_USAGE, at->file, at->line, "guests = %s: %s stands here twice", at->value, name);
	for (; i > k; i--) {
		struct guest moved = s->guest[i];

		s->guest[i] = s->guest[i - 1];
		s->guest[i - 1] = moved;
	}
	return 0;
}

int scenario_choose_guests(struct scenario *s, const struct section *scenario, struct error *e)
{
	const struct entry *at = section_entry(scenario, "guests");
	char *copy = at ? strdup(at->value) : NULL, *save = NULL;
	size_t n = 0;
	int bad = 0;

	if (!at)
		return 0;
	if (!copy)
		return error_set(e, STATUS_HOST, "out of memory");
	for (char *word = strtok_r(copy, ", \t", &save); word && !bad; word = strtok_r(NULL, ", \t", &save))
		bad = choose_guest(s, word, n++, at, e);
	free(copy);
	if (!bad && n == 0)
		bad = error_at(e, STATUS_USAGE, at->file, at->line, "guests = %s: names no guest", at->value);
	while (!bad && s->nguests > n)
		guest_free(&s->guest[--s->nguests]);
	return bad;
}
