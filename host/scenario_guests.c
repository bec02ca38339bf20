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

/* Workloads are for all guests: the probe's mean nothing to kickio and fio, which share theirs. */
static int check_tools(const struct scenario *s, struct error *e)
{
	for (size_t g = 1; g < s->nguests; g++)
		if ((s->guest[g].tool == TOOL_PROBE) != (s->guest[0].tool == TOOL_PROBE))
			return error_at(e, STATUS_USAGE, s->file, s->guest[g].line,
					"[guest %s] has another tool than [guest %s], whose workloads it would run", s->guest[g].name,
					s->guest[0].name);
	for (size_t v = 0; s->guest[0].tool == TOOL_PROBE && v < s->nvariants; v++)
		if (s->variant[v].settings.filesystem != FILESYSTEM_NONE)
			return error_at(e, STATUS_USAGE, s->file, s->variant[v].line,
					"[variant %s]: the probe mounts nothing: leave filesystem out", s->variant[v].name);
	return 0;
}

int scenario_check_guests(const struct scenario *s, struct error *e)
{
	if (check_tools(s, e))
		return -1;
	for (size_t i = 1; i < s->nguests; i++)
		if (s->guest[i].driver != s->guest[0].driver)
			return error_at(e, STATUS_USAGE, s->file, s->guest[i].line, "[guest %s]: all guests of a scenario have one driver",
					s->guest[i].name);
	return 0;
}
