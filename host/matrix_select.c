/* The cells of a matrix: the rows of its covering, or those that --only names. */
#include <stdlib.h>
#include <string.h>

#include "host/matrix_private.h"

static int no_memory(struct error *e)
{
	return error_set(e, STATUS_HOST, "out of memory");
}

static int add_cell(struct matrix *m, const unsigned *value, unsigned number, struct error *e)
{
	struct matrix_cell *grown = realloc(m->cell, (m->ncells + 1) * sizeof(*grown)), *cell;
	struct text name = { 0 };
	const char *why;

	if (!grown)
		return no_memory(e);
	m->cell = grown;
	cell = &grown[m->ncells++];
	if (matrix_cell_make(m, value, cell, e))
		return -1;
	for (unsigned o = 0; o < m->noptions; o++) {
		if (o)
			text_add(&name, ",");
		matrix_value_text(m, o, value[o], &name);
	}
	cell->number = number;
	cell->name = name.failed ? NULL : strdup(text_get(&name));
	text_free(&name);
	cell->value = malloc(m->noptions * sizeof(*cell->value));
	if (!cell->name || !cell->value)
		return no_memory(e);
	memcpy(cell->value, value, m->noptions * sizeof(*value));
	/* An event may want three things at once: whoever runs the cell asks it again, and skips it. */
	why = matrix_event_refused(cell) ? NULL : matrix_conflict(cell);
	return why ? error_at(e, STATUS_USAGE, m->scenario->file, 0, "[matrix %s]: the cell %s cannot be: %s", m->name, cell->name,
			      why) : 0;
}

/* Cut off the first "NAME=VALUE" of *rest, up to a comma that no backslash stands before; NULL: nothing is left. */
static char *next_part(char **rest)
{
	char *part = *rest, *from = part, *to = part;

	if (!part)
		return NULL;
	for (; *from && *from != ','; from++) {
		if (from[0] == '\\' && from[1] == ',')
			from++;
		*to++ = *from;
	}
	*rest = *from ? from + 1 : NULL;
	*to = '\0';
	return part;
}

static int take_part(const struct matrix *m, const char *only, char *part, unsigned *wanted, struct error *e)
{
	char *equals = strchr(part, '=');
	struct text there = { 0 };
	unsigned o = 0, v = 0;

	if (!equals)
		return error_set(e, STATUS_USAGE, "--only %s: expected OPTION=VALUE,OPTION=VALUE,…", only);
	*equals = '\0';
	while (o < m->noptions && strcmp(m->option[o].name, part))
		o++;
	if (o == m->noptions) {
		for (o = 0; o < m->noptions; o++)
			text_add(&there, "%s%s", o ? ", " : "", m->option[o].name);
		error_set(e, STATUS_USAGE, "--only %s: [matrix %s] has no option %s; there are %s", only, m->name, part, text_get(&there));
		text_free(&there);
		return -1;
	}
	if (wanted[o] != MATRIX_OPEN)
		return error_set(e, STATUS_USAGE, "--only %s: %s stands here twice", only, part);
	while (v < m->option[o].nvalues && strcmp(m->option[o].value[v], equals + 1))
		v++;
	if (v == m->option[o].nvalues) {
		for (v = 0; v < m->option[o].nvalues; v++)
			text_add(&there, "%s%s", v ? ", " : "", m->option[o].value[v]);
		error_set(e, STATUS_USAGE, "--only %s: [matrix %s] has no %s=%s; there are %s", only, m->name, part, equals + 1,
			  text_get(&there));
		text_free(&there);
		return -1;
	}
	wanted[o] = v;
	return 0;
}

/* What one --only wants: a value, or MATRIX_OPEN, by option. */
static int parse_only(const struct matrix *m, const char *only, unsigned *wanted, struct error *e)
{
	char *copy = strdup(only), *rest = copy, *part;
	int bad = 0;

	if (!copy)
		return no_memory(e);
	for (size_t o = 0; o < m->noptions; o++)
		wanted[o] = MATRIX_OPEN;
	while (!bad && (part = next_part(&rest)))
		bad = take_part(m, only, part, wanted, e);
	free(copy);
	return bad;
}

static bool matches(const struct matrix *m, const unsigned *value, const unsigned *wanted)
{
	for (size_t o = 0; o < m->noptions; o++)
		if (wanted[o] != MATRIX_OPEN && wanted[o] != value[o])
			return false;
	return true;
}

static bool is_whole(const struct matrix *m, const unsigned *wanted)
{
	for (size_t o = 0; o < m->noptions; o++)
		if (wanted[o] == MATRIX_OPEN)
			return false;
	return true;
}

/* No cell is like that: because two of the values exclude each other, or as three may fail to meet. */
static int nothing(const struct matrix *m, const char *only, const unsigned *wanted, struct error *e)
{
	for (unsigned a = 0; a < m->noptions; a++)
		for (unsigned b = a + 1; b < m->noptions; b++) {
			const struct covering_pair pair = { a, wanted[a], b, wanted[b] };
			struct text t = { 0 };
			const char *why;

			if (wanted[a] == MATRIX_OPEN || wanted[b] == MATRIX_OPEN)
				continue;
			why = matrix_forbids(m, a, wanted[a], b, wanted[b]);
			if (!why)
				continue;
			matrix_pair_text(m, &pair, &t);
			error_set(e, STATUS_USAGE, "--only %s: %s cannot be: %s", only, text_get(&t), why);
			text_free(&t);
			return -1;
		}
	return error_set(e, STATUS_USAGE, "--only %s: no cell of [matrix %s] has all of these values (any two meet in some cell, more need "
			 "not: name a value of every option, and the cell is made)", only, m->name);
}

/* All rows that one --only names are marked; a whole cell that is none of them is added to extra. */
static int mark(const struct matrix *m, const char *only, bool *chosen, unsigned *extra, size_t *nextra, struct error *e)
{
	unsigned *wanted = extra + *nextra * m->noptions;
	bool found = false;

	if (parse_only(m, only, wanted, e))
		return -1;
	for (size_t r = 0; r < m->covering.nrows; r++)
		if (matches(m, m->covering.value + r * m->noptions, wanted))
			found = chosen[r] = true;
	for (size_t i = 0; i < *nextra && !found; i++)
		found = matches(m, extra + i * m->noptions, wanted);
	if (found)
		return 0;
	if (!is_whole(m, wanted))
		return nothing(m, only, wanted, e);
	for (unsigned a = 0; a < m->noptions; a++)
		for (unsigned b = a + 1; b < m->noptions; b++)
			if (matrix_forbids(m, a, wanted[a], b, wanted[b]))
				return nothing(m, only, wanted, e);
	++*nextra;
	return 0;
}

int matrix_select(struct matrix *m, const struct matrix_request *request, struct error *e)
{
	bool *chosen = calloc(m->covering.nrows + 1, sizeof(*chosen));
	unsigned *extra = calloc((request->nonly + 1) * (m->noptions + 1), sizeof(*extra));
	size_t nextra = 0;
	int bad = 0;

	if (!chosen || !extra)
		bad = no_memory(e);
	for (size_t r = 0; r < m->covering.nrows && !bad && !request->nonly; r++)
		chosen[r] = true;
	for (size_t i = 0; i < request->nonly && !bad; i++)
		bad = mark(m, request->only[i], chosen, extra, &nextra, e);
	for (size_t r = 0; r < m->covering.nrows && !bad; r++)
		if (chosen[r])
			bad = add_cell(m, m->covering.value + r * m->noptions, (unsigned)r + 1, e);
	for (size_t i = 0; i < nextra && !bad; i++)
		bad = add_cell(m, extra + i * m->noptions, (unsigned)(m->covering.nrows + i + 1), e);
	free(chosen);
	free(extra);
	return bad ? -1 : 0;
}
