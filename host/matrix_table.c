#include "host/matrix_table.h"

#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

const char *matrix_word(enum cell_status status)
{
	return status == CELL_MISSING ? "missing" : cell_status_name(status);
}

bool matrix_bad(enum cell_status status)
{
	return status == CELL_FAIL || status == CELL_STALLED || status == CELL_CORRUPT;
}

enum matrix_outcome matrix_outcome_of(enum cell_status status)
{
	return status == CELL_PASS ? MATRIX_PASSED : matrix_bad(status) ? MATRIX_FAILED : MATRIX_UNTRIED;
}

static const json_t *planned(const struct matrix_folder *f, size_t i)
{
	return json_array_get(json_object_get(f->run, "cells"), i);
}

unsigned matrix_cell_number(const struct matrix_folder *f, size_t i)
{
	return (unsigned)json_integer_value(json_object_get(planned(f, i), "cell"));
}

const char *matrix_cell_name(const struct matrix_folder *f, size_t i)
{
	const char *name = json_string_value(json_object_get(planned(f, i), "name"));

	return name ? name : "";
}

const json_t *matrix_cell_record(const struct matrix_folder *f, size_t i)
{
	const json_t *record = json_array_get(f->cells, i);

	return json_is_object(record) ? record : NULL;
}

const char *matrix_cell_text(const struct matrix_folder *f, size_t i, const char *key)
{
	const char *s = json_string_value(json_object_get(matrix_cell_record(f, i), key));

	return s ? s : "";
}

static enum cell_status status_in(const json_t *object)
{
	const char *word = json_string_value(json_object_get(object, "status"));
	enum cell_status status;

	return word && cell_status_parse(word, &status) == 0 ? status : CELL_MISSING;
}

enum cell_status matrix_check_status(const json_t *check)
{
	return status_in(check);
}

void matrix_counts(const struct matrix_folder *f, struct text *out)
{
	text_add(out, "%u passed, %u failed, %u stalled, %u corrupt, %u skipped, %u missing", f->count[CELL_PASS], f->count[CELL_FAIL],
		 f->count[CELL_STALLED], f->count[CELL_CORRUPT], f->count[CELL_SKIPPED], f->missing);
}

/* ---- the table ---- */

/* The index of a value; one that is new is put behind the others, for which there is room. */
static unsigned index_of(struct matrix_column *c, const char *value)
{
	unsigned i = 0;

	while (i < c->nvalues && strcmp(c->value[i], value) != 0)
		i++;
	if (i == c->nvalues)
		c->value[c->nvalues++] = value;
	return i;
}

static int make_column(const json_t *option, size_t ncells, struct matrix_column *c)
{
	const json_t *values = json_object_get(option, "values"), *value;
	size_t i;

	c->name = json_string_value(json_object_get(option, "name"));
	c->value = calloc(json_array_size(values) + ncells, sizeof(*c->value)); /* each cell may have one of its own */
	if (!c->value)
		return -1;
	json_array_foreach(values, i, value)
		index_of(c, json_string_value(value));
	c->nlisted = c->nvalues;
	return 0;
}

static void fill_cell(const struct matrix_folder *f, struct matrix_table *t, size_t i)
{
	const json_t *options = json_object_get(planned(f, i), "options"), *record = matrix_cell_record(f, i);

	t->status[i] = record ? status_in(record) : CELL_MISSING;
	for (size_t k = 0; k < t->ncolumns; k++) {
		unsigned *value = &t->value[i * t->ncolumns + k];

		*value = index_of(&t->column[k], json_string_value(json_object_get(options, t->column[k].name)));
		t->column[k].varies |= *value != t->value[k];
	}
}

int matrix_table_make(const struct matrix_folder *f, struct matrix_table *out, struct error *e)
{
	const json_t *options = json_object_get(f->run, "options"), *option;
	size_t i, n = json_array_size(options), ncells = json_array_size(json_object_get(f->run, "cells"));

	*out = (struct matrix_table){ .column = calloc(n + 1, sizeof(*out->column)), .value = calloc(n * ncells + 1, sizeof(*out->value)),
				      .status = calloc(ncells + 1, sizeof(*out->status)), .ncells = ncells };
	if (!out->column || !out->value || !out->status)
		goto fail;
	json_array_foreach(options, i, option) {
		out->ncolumns++;
		if (make_column(option, ncells, &out->column[i]))
			goto fail;
	}
	for (i = 0; i < ncells; i++)
		fill_cell(f, out, i);
	return 0;
fail:
	matrix_table_free(out);
	return error_set(e, STATUS_HOST, "out of memory");
}

void matrix_table_free(struct matrix_table *t)
{
	for (size_t i = 0; t->column && i < t->ncolumns; i++)
		free(t->column[i].value);
	free(t->column);
	free(t->value);
	free(t->status);
	*t = (struct matrix_table){ 0 };
}

const char *matrix_table_value(const struct matrix_table *t, size_t cell, size_t column)
{
	return t->column[column].value[t->value[cell * t->ncolumns + column]];
}

/* ---- pairs ---- */

struct matrix_pair matrix_pair_of(const struct matrix_table *t, size_t a, unsigned value_a, size_t b, unsigned value_b)
{
	struct matrix_pair p = { 0 };

	for (size_t i = 0; i < t->ncells; i++) {
		const unsigned *value = t->value + i * t->ncolumns;
		enum matrix_outcome outcome = matrix_outcome_of(t->status[i]);

		if (value[a] != value_a || value[b] != value_b)
			continue;
		p.passed += outcome == MATRIX_PASSED;
		p.failed += outcome == MATRIX_FAILED;
		p.untried += outcome == MATRIX_UNTRIED;
	}
	return p;
}

/* As run.json has it in pairs: a comma of the value is '\,'. */
static void add_value(const struct matrix_column *c, unsigned value, struct text *out)
{
	text_add(out, "%s=", c->name);
	for (const char *p = c->value[value]; *p; p++)
		text_add(out, "%s%c", *p == ',' ? "\\" : "", *p);
}

static bool names(const char *pair, const struct matrix_column *a, unsigned value_a, const struct matrix_column *b, unsigned value_b)
{
	struct text t = { 0 };
	bool same;

	add_value(a, value_a, &t);
	text_add(&t, " with ");
	add_value(b, value_b, &t);
	same = !t.failed && strcmp(text_get(&t), pair) == 0;
	text_free(&t);
	return same;
}

const char *matrix_pair_impossible(const struct matrix_folder *f, const struct matrix_table *t, size_t a, unsigned value_a, size_t b,
				   unsigned value_b)
{
	const json_t *impossible = json_object_get(f->run, "impossible"), *row;
	size_t i;

	json_array_foreach(impossible, i, row) {
		const char *pair = json_string_value(json_object_get(row, "pair")), *why = json_string_value(json_object_get(row, "reason"));

		if (pair && (names(pair, &t->column[a], value_a, &t->column[b], value_b) ||
			     names(pair, &t->column[b], value_b, &t->column[a], value_a)))
			return why ? why : "";
	}
	return NULL;
}

static void count_pair(const struct matrix_table *t, size_t a, unsigned value_a, size_t b, unsigned value_b, struct matrix_coverage *c)
{
	struct matrix_pair p = matrix_pair_of(t, a, value_a, b, value_b);

	c->possible++;
	c->covered += p.passed + p.failed + p.untried > 0;
	c->tried += p.passed + p.failed > 0;
}

struct matrix_coverage matrix_coverage_of(const struct matrix_folder *f, const struct matrix_table *t)
{
	size_t impossible = json_array_size(json_object_get(f->run, "impossible"));
	struct matrix_coverage c = { 0 };

	for (size_t a = 0; a < t->ncolumns; a++)
		for (size_t b = a + 1; b < t->ncolumns; b++)
			for (unsigned i = 0; i < t->column[a].nlisted; i++)
				for (unsigned k = 0; k < t->column[b].nlisted; k++)
					count_pair(t, a, i, b, k, &c);
	c.possible -= impossible < c.possible ? impossible : c.possible;
	return c;
}
