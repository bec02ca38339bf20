#include "host/matrix_private.h"

#include <stdlib.h>
#include <string.h>

#include "host/entries.h"
#include "host/scenario_guests.h"
#include "host/scenario_keys.h"

#define MOST_OPTIONS 40
#define MOST_VALUES 64 /* of one option */

static int no_memory(struct error *e)
{
	return error_set(e, STATUS_HOST, "out of memory");
}

static const struct section *find_matrix(const struct scenario *s, const char *which, struct error *e)
{
	struct text names = { 0 };

	for (size_t i = 0; i < s->entries->nsections; i++) {
		const struct section *at = &s->entries->section[i];

		if (strcmp(at->kind, "matrix"))
			continue;
		if (!strcmp(at->name, which)) {
			text_free(&names);
			return at;
		}
		text_add(&names, "%s[matrix %s]", names.length ? ", " : "", at->name);
	}
	error_at(e, STATUS_USAGE, s->file, 0, "there is no section [matrix %s]%s%s", which, names.length ? "; there are " : "",
		 text_get(&names));
	text_free(&names);
	return NULL;
}

int matrix_cell_make(const struct matrix *m, const unsigned *value, struct matrix_cell *cell, struct error *e)
{
	*cell = (struct matrix_cell){ .event = MATRIX_EVENT_NONE };
	if (settings_copy(&cell->settings, &m->scenario->variant[0].settings) ||
	    machine_copy(&cell->machine, scenario_machine(m->scenario, 0, 0)))
		return no_memory(e);
	for (size_t o = 0; o < m->noptions; o++)
		if (value[o] != MATRIX_OPEN && matrix_option_set(cell, m->option[o].name, m->option[o].value[value[o]],
								 m->scenario->file, m->option[o].line, e))
			return -1;
	matrix_cell_derive(cell);
	return 0;
}

void matrix_cell_free(struct matrix_cell *cell)
{
	free(cell->name);
	free(cell->value);
	settings_free(&cell->settings);
	machine_free(&cell->machine);
}

/* Two options that set the same of the disk: the later one would undo the earlier one. */
static int check_keys(const struct matrix *m, const struct entry *at, struct error *e)
{
	const struct matrix_option *last = &m->option[m->noptions - 1];
	const char *key, *other;

	for (size_t o = 0; o + 1 < m->noptions; o++)
		for (size_t i = 0; (key = matrix_option_key(last->name, i)); i++)
			for (size_t k = 0; (other = matrix_option_key(m->option[o].name, k)); k++)
				if (!strcmp(key, other))
					return error_at(e, STATUS_USAGE, at->file, at->line, "%s and %s both set %s: leave one of them out",
							m->option[o].name, last->name, key);
	return 0;
}

static int add_option(struct matrix *m, const struct entry *at, struct error *e)
{
	struct matrix_option *o = &m->option[m->noptions++];
	struct text names = { 0 };
	size_t n = 0;

	o->line = at->line;
	o->name = strdup(at->key);
	if (!o->name)
		return no_memory(e);
	if (!matrix_option_is(at->key)) {
		matrix_option_names(&names);
		error_at(e, STATUS_USAGE, at->file, at->line, "there is no option %s; there are %s", at->key, text_get(&names));
		text_free(&names);
		return -1;
	}
	if (check_keys(m, at, e))
		return -1;
	if (scenario_values(at, &o->value, &n, e)) {
		o->nvalues = (unsigned)n;
		return -1;
	}
	o->nvalues = (unsigned)n;
	if (n > MOST_VALUES)
		return error_at(e, STATUS_USAGE, at->file, at->line, "%s has more than %d values", at->key, MOST_VALUES);
	for (unsigned v = 0; v < o->nvalues; v++) {
		unsigned value[MOST_OPTIONS];
		struct matrix_cell tried;
		int bad;

		for (size_t i = 0; i < m->noptions; i++)
			value[i] = MATRIX_OPEN;
		bad = matrix_cell_make(m, value, &tried, e) ||
		      matrix_option_set(&tried, o->name, o->value[v], at->file, at->line, e);
		matrix_cell_free(&tried);
		if (bad)
			return -1;
	}
	return 0;
}

static int read_options(struct matrix *m, const struct section *from, struct error *e)
{
	m->option = calloc(from->nentries + 1, sizeof(*m->option));
	if (!m->option)
		return no_memory(e);
	if (!from->nentries || from->nentries > MOST_OPTIONS)
		return error_at(e, STATUS_USAGE, from->file, from->line, "[matrix %s] has %s options", from->name,
				from->nentries ? "too many" : "no");
	for (size_t i = 0; i < from->nentries; i++)
		if (add_option(m, &from->entry[i], e))
			return -1;
	return 0;
}

/* The option's number, noptions when this matrix has it not. */
static unsigned find_option(const struct matrix *m, const char *name)
{
	unsigned o = 0;

	while (o < m->noptions && strcmp(m->option[o].name, name))
		o++;
	return o;
}

/* Which of an option's values an [except] means. Those that the matrix does not have have to be possible all the same. */
static int mark_values(const struct matrix *m, unsigned option, const struct entry *at, bool **mark, struct error *e)
{
	unsigned value[MOST_OPTIONS];
	char **list = NULL;
	size_t n = 0;
	int bad = scenario_values(at, &list, &n, e);

	for (size_t i = 0; i < m->noptions; i++)
		value[i] = MATRIX_OPEN;
	*mark = option < m->noptions ? calloc(m->option[option].nvalues + 1, sizeof(**mark)) : NULL;
	if (!bad && option < m->noptions && !*mark)
		bad = no_memory(e);
	for (size_t i = 0; i < n && !bad; i++) {
		struct matrix_cell tried;

		bad = matrix_cell_make(m, value, &tried, e) || matrix_option_set(&tried, at->key, list[i], at->file, at->line, e);
		matrix_cell_free(&tried);
		for (unsigned v = 0; *mark && v < m->option[option].nvalues; v++)
			if (!strcmp(m->option[option].value[v], list[i]))
				(*mark)[v] = true;
	}
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
	return bad ? -1 : 0;
}

static int add_except(struct matrix *m, const struct section *from, struct error *e)
{
	struct matrix_except *x = &m->except[m->nexcepts++];
	const struct entry *reason = section_entry(from, "reason");
	unsigned n = 0;

	if (!reason || !*reason->value)
		return error_at(e, STATUS_USAGE, from->file, from->line, "[except %s] needs reason = TEXT", from->name);
	if (from->nentries != 3)
		return error_at(e, STATUS_USAGE, from->file, from->line, "[except %s]: expected two options with values, and reason",
				from->name);
	x->reason = strdup(reason->value);
	if (!x->reason)
		return no_memory(e);
	for (size_t i = 0; i < from->nentries; i++) {
		const struct entry *at = &from->entry[i];

		if (at == reason)
			continue;
		x->option[n] = find_option(m, at->key);
		if (mark_values(m, x->option[n], at, &x->value[n], e))
			return -1;
		n++;
	}
	return 0;
}

static int read_excepts(struct matrix *m, struct error *e)
{
	const struct entries *all = m->scenario->entries;

	m->except = calloc(all->nsections + 1, sizeof(*m->except));
	if (!m->except)
		return no_memory(e);
	for (size_t i = 0; i < all->nsections; i++)
		if (!strcmp(all->section[i].kind, "except") && add_except(m, &all->section[i], e))
			return -1;
	return 0;
}

static bool excludes(const struct matrix *m, const struct matrix_except *x, unsigned a, unsigned value_a, unsigned b,
		     unsigned value_b)
{
	if (x->option[0] >= m->noptions || x->option[1] >= m->noptions)
		return false;
	if (x->option[0] == a && x->option[1] == b)
		return x->value[0][value_a] && x->value[1][value_b];
	return x->option[0] == b && x->option[1] == a && x->value[0][value_b] && x->value[1][value_a];
}

/* Why a cell of these values cannot be; NULL also when memory ran out, which the making of the cells will find. */
static const char *conflict_of(const struct matrix *m, const unsigned *value)
{
	struct matrix_cell tried;
	struct error ignored = { 0 };
	const char *why = matrix_cell_make(m, value, &tried, &ignored) ? NULL : matrix_conflict(&tried);

	matrix_cell_free(&tried);
	return why;
}

/*
 * A conflict that a value of a third option resolves is not of this pair: poll_max_ns wants an iothread, which
 * another option can give.
 */
const char *matrix_forbids(const struct matrix *m, unsigned a, unsigned value_a, unsigned b, unsigned value_b)
{
	unsigned value[MOST_OPTIONS];
	const char *why;

	for (size_t i = 0; i < m->nexcepts; i++)
		if (excludes(m, &m->except[i], a, value_a, b, value_b))
			return m->except[i].reason;
	for (size_t o = 0; o < m->noptions; o++)
		value[o] = MATRIX_OPEN;
	value[a] = value_a;
	value[b] = value_b;
	why = conflict_of(m, value);
	for (unsigned o = 0; why && o < m->noptions; o++) {
		if (o == a || o == b)
			continue;
		for (unsigned v = 0; v < m->option[o].nvalues; v++) {
			value[o] = v;
			if (!conflict_of(m, value))
				return NULL;
		}
		value[o] = MATRIX_OPEN;
	}
	return why;
}

static int forbids(void *context, unsigned a, unsigned value_a, unsigned b, unsigned value_b)
{
	return matrix_forbids(context, a, value_a, b, value_b) != NULL;
}

void matrix_value_text(const struct matrix *m, unsigned option, unsigned value, struct text *out)
{
	text_add(out, "%s=", m->option[option].name);
	for (const char *p = m->option[option].value[value]; *p; p++)
		text_add(out, "%s%c", *p == ',' ? "\\" : "", *p);
}

void matrix_pair_text(const struct matrix *m, const struct covering_pair *p, struct text *out)
{
	matrix_value_text(m, p->a, p->value_a, out);
	text_add(out, " with ");
	matrix_value_text(m, p->b, p->value_b, out);
}

static int make_covering(struct matrix *m, const struct section *from, struct error *e)
{
	unsigned nvalues[MOST_OPTIONS];
	const char *why = NULL;

	for (size_t o = 0; o < m->noptions; o++)
		nvalues[o] = m->option[o].nvalues;
	if (covering_make(nvalues, m->noptions, forbids, m, m->seed, &m->covering, e) == 0)
		return 0;
	if (e->status != STATUS_USAGE)
		return -1;
	for (unsigned b = 1; b < m->noptions && !why; b++)
		why = matrix_forbids(m, 0, 0, b, 0);
	error_clear(e);
	return error_at(e, STATUS_USAGE, from->file, from->line,
			"[matrix %s]: the values exclude each other, not a single cell is possible%s%s", from->name, why ? ": " : "",
			why ? why : "");
}

static int check_guest(const struct scenario *s, struct error *e)
{
	const struct guest *g = &s->guest[0];

	if (g->tool != TOOL_KICKIO)
		return error_at(e, STATUS_USAGE, s->file, g->line, "[guest %s]: the cells of a matrix need tool = kickio", g->name);
	return 0;
}

int matrix_read(const struct matrix_request *request, struct matrix **out, struct error *e)
{
	struct matrix *m = calloc(1, sizeof(*m));
	const struct section *from;

	*out = NULL;
	if (!m)
		return no_memory(e);
	m->seed = request->seed;
	m->name = strdup(request->which);
	if (!m->name) {
		no_memory(e);
		goto fail;
	}
	if (scenario_read_matrix(request->file, request->set, request->nset, &m->scenario, e) || check_guest(m->scenario, e))
		goto fail;
	from = find_matrix(m->scenario, request->which, e);
	if (!from || read_options(m, from, e) || read_excepts(m, e) || make_covering(m, from, e) || matrix_select(m, request, e))
		goto fail;
	*out = m;
	return 0;
fail:
	matrix_free(m);
	return -1;
}

void matrix_free(struct matrix *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->ncells; i++)
		matrix_cell_free(&m->cell[i]);
	for (size_t i = 0; i < m->nexcepts; i++) {
		free(m->except[i].value[0]);
		free(m->except[i].value[1]);
		free(m->except[i].reason);
	}
	for (size_t o = 0; o < m->noptions; o++) {
		for (unsigned v = 0; v < m->option[o].nvalues; v++)
			free(m->option[o].value[v]);
		free(m->option[o].value);
		free(m->option[o].name);
	}
	covering_free(&m->covering);
	scenario_free(m->scenario);
	free(m->option);
	free(m->except);
	free(m->cell);
	free(m->name);
	free(m);
}
