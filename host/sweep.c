#include "host/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guest/text.h"
#include "host/sweep_cell.h"

static const struct {
	const char *title, *name, *unit;
	enum metric metric;
	double scale; /* from the metric's unit to this one's */
} tables[SWEEP_TABLES] = {
	[SWEEP_IOPS] = { "IOPS", "iops", "1/s", METRIC_IOPS, 1 },
	[SWEEP_RESPONSE] = { "response time (mean), \302\265s", "response_time", "us", METRIC_CLAT_MEAN, 1e-3 },
	[SWEEP_BUSY] = { "guest us+sy, %", "guest_busy", "%", METRIC_GUEST_BUSY, 1 },
	[SWEEP_CPU] = { "guest CPU per operation, \302\265s", "guest_cpu_per_io", "us", METRIC_GUEST_CPU, 1 },
	[SWEEP_AWAIT] = { "device await (guest's view), \302\265s", "await", "us", METRIC_AWAIT, 1 },
	[SWEEP_REQUESTS] = { "requests per operation", "requests_per_io", "1", METRIC_REQUESTS, 1 },
	[SWEEP_SIZE] = { "request size, KiB", "request_size", "KiB", METRIC_REQUEST_SIZE, 1.0 / 1024 },
	[SWEEP_RUNS] = { "runs that a value comes from", "runs", "1", METRICS, 1 },
};

static char *copy(const char *s)
{
	return strdup(s ? s : "");
}

/* ---- values ---- */

struct mean {
	double sum, logs;
	unsigned n, planned;
	bool zero;
};

static void take(struct mean *m, const struct observation *o, enum metric metric)
{
	double value;

	m->planned += o->planned > 0;
	if (o->planned == 0 || o->status != OBSERVED_OK)
		return;
	value = metric == METRICS ? 1 : o->value[metric];
	if (!isfinite(value))
		return;
	m->n++;
	m->sum += value;
	if (value > 0)
		m->logs += log(value);
	else
		m->zero = true;
}

static void collect(const struct dataset *d, size_t cell, unsigned variant, enum metric metric, struct mean *m)
{
	for (size_t block = 0; block < d->nblocks; block++) {
		if (!d->disks || variant != d->baseline) {
			take(m, dataset_candidate(d, cell, variant, block), metric);
			continue;
		}
		for (unsigned v = 0; v < d->nvariants; v++) /* the baseline's disk beside every candidate's */
			if (v != d->baseline)
				take(m, dataset_baseline(d, cell, v, block), metric);
	}
}

static double mean_of(const struct sweep *s, size_t row, size_t column, enum metric metric)
{
	struct mean m = { 0 };

	if (s->row[row].cell[column] == SWEEP_NO_CELL)
		return NAN;
	collect(s->dataset, s->row[row].cell[column], s->row[row].variant_index, metric, &m);
	if (metric == METRICS)
		return m.planned ? m.n : NAN;
	return m.n == 0 ? NAN : m.zero ? m.sum / m.n : exp(m.logs / m.n);
}

static bool has_metric(const struct sweep *s, enum metric metric)
{
	for (size_t row = 0; row < s->nrows; row++)
		for (size_t column = 0; column < s->ncolumns; column++)
			if (!isnan(mean_of(s, row, column, metric)))
				return true;
	return false;
}

/* Of all guest CPUs where that was counted, else of the jobs alone; one table never mixes them. */
static enum metric metric_of(const struct sweep *s, enum sweep_table table)
{
	return s->only_jobs && table == SWEEP_CPU ? METRIC_JOB_CPU : tables[table].metric;
}

double sweep_value(const struct sweep *s, enum sweep_table table, size_t row, size_t column)
{
	return tables[table].scale * mean_of(s, row, column, metric_of(s, table));
}

bool sweep_has(const struct sweep *s, enum sweep_table table)
{
	return has_metric(s, metric_of(s, table));
}

const char *sweep_title(const struct sweep *s, enum sweep_table table)
{
	return s->only_jobs && table == SWEEP_CPU ? "CPU of the jobs per operation, \302\265s" : tables[table].title;
}

const char *sweep_name(const struct sweep *s, enum sweep_table table)
{
	return s->only_jobs && table == SWEEP_CPU ? "job_cpu_per_io" : tables[table].name;
}

const char *sweep_unit(enum sweep_table table)
{
	return tables[table].unit;
}

void sweep_text(double value, enum sweep_table table, char out[METRIC_TEXT_SIZE])
{
	int decimals = table == SWEEP_IOPS || table == SWEEP_RUNS ? 0 : 1;

	if (!isfinite(value)) {
		snprintf(out, METRIC_TEXT_SIZE, "-");
		return;
	}
	if (table != SWEEP_RUNS && value != 0)
		while (decimals < 6 && fabs(value) * pow(10, decimals) < 99.95)
			decimals++;
	snprintf(out, METRIC_TEXT_SIZE, "%.*f", decimals, value);
}

/* ---- columns ---- */

static size_t find_value(char *const *list, size_t n, const char *value)
{
	for (size_t i = 0; i < n; i++)
		if (sweep_same_value(list[i], value))
			return i;
	return n;
}

/* The different values of an option over the cells, in order of appearance; "?" where one does not tell. */
static int values_of(const struct sweep_cell *cell, size_t n, const char *key, char ***out, size_t *count)
{
	*out = calloc(n, sizeof(**out));
	*count = 0;
	if (!*out)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const char *value = sweep_cell_option(&cell[i], key);

		if (!value)
			value = "?";
		if (find_value(*out, *count, value) < *count)
			continue;
		(*out)[*count] = strdup(value);
		if (!(*out)[*count])
			return -1;
		++*count;
	}
	return 0;
}

static void free_list(char **list, size_t n)
{
	for (size_t i = 0; list && i < n; i++)
		free(list[i]);
	free(list);
}

/* Take key for the columns when it has more values than what was found before. */
static int try_key(struct sweep *s, const struct sweep_cell *cell, const char *key, size_t *most)
{
	size_t n = 0, told;
	char **values;

	if (values_of(cell, s->dataset->ncells, key, &values, &n)) {
		free_list(values, n);
		return -1;
	}
	told = n - (find_value(values, n, "?") < n);
	if (told <= *most) {
		free_list(values, n);
		return 0;
	}
	*most = told;
	free_list(s->column, s->ncolumns);
	free(s->key);
	s->column = values;
	s->ncolumns = n;
	s->key = copy(key);
	return s->key ? 0 : -1;
}

/* numjobs; else iodepth; else the option of the points that has most values. */
static int choose_columns(struct sweep *s, const struct sweep_cell *cell)
{
	size_t most = 1;

	s->ncolumns = 1;
	s->column = calloc(1, sizeof(*s->column));
	s->key = copy("");
	if (!s->column || !s->key || !(s->column[0] = copy("value")) || try_key(s, cell, "numjobs", &most))
		return -1;
	if (most == 1 && try_key(s, cell, "iodepth", &most))
		return -1;
	if (most > 1)
		return 0;
	for (size_t i = 0; i < s->dataset->ncells; i++)
		for (size_t k = 0; k < cell[i].npairs; k++)
			if (strcmp(cell[i].pair[k].key, s->key) != 0 && try_key(s, cell, cell[i].pair[k].key, &most))
				return -1;
	return 0;
}

static void sort_columns(struct sweep *s)
{
	for (size_t i = 1; i < s->ncolumns; i++) /* few; stable */
		for (size_t k = i; k > 0 && sweep_compare_values(s->column[k - 1], s->column[k]) > 0; k--) {
			char *swap = s->column[k];

			s->column[k] = s->column[k - 1];
			s->column[k - 1] = swap;
		}
}

static size_t column_of(const struct sweep *s, const struct sweep_cell *cell)
{
	const char *value = *s->key ? sweep_cell_option(cell, s->key) : s->column[0];

	return find_value(s->column, s->ncolumns, value ? value : "?");
}

/* ---- rows ---- */

static char *workload_words(const struct sweep *s, const struct sweep_cell *cell)
{
	struct text t = { 0 };
	char *words;

	text_add(&t, "%s", cell->workload);
	for (size_t i = 0; i < cell->npairs; i++)
		if (strcmp(cell->pair[i].key, s->key) != 0)
			text_add(&t, "%s%s=%s", t.length ? " " : "", cell->pair[i].key, cell->pair[i].value);
	words = t.failed ? NULL : strdup(text_get(&t));
	text_free(&t);
	return words;
}

/* The rows of one cell's workload, a variant each; a new set when the place is taken. */
static struct sweep_row *rows_of(struct sweep *s, const struct sweep_cell *cell, size_t index, size_t column)
{
	const struct dataset *d = s->dataset;
	const char *size = sweep_cell_option(cell, "bs");
	char *workload = workload_words(s, cell);
	struct sweep_row *row;

	if (!workload)
		return NULL;
	for (size_t i = s->nrows; i > 0; i -= d->nvariants) { /* most likely the last one */
		row = &s->row[i - d->nvariants];
		if (row->cell[column] == SWEEP_NO_CELL && strcmp(row->workload, workload) == 0 &&
		    strcmp(row->guest, d->cell[index].guest) == 0) {
			free(workload);
			return row;
		}
	}
	row = &s->row[s->nrows];
	for (unsigned v = 0; v < d->nvariants; v++, s->nrows++) {
		row[v] = (struct sweep_row){ .workload = copy(workload), .guest = d->cell[index].guest, .block_size = copy(size),
					     .variant = d->variant[v], .variant_index = v,
					     .cell = malloc(s->ncolumns * sizeof(size_t)) };
		if (!row[v].workload || !row[v].block_size || !row[v].cell) {
			s->nrows++;
			free(workload);
			return NULL;
		}
		for (size_t c = 0; c < s->ncolumns; c++)
			row[v].cell[c] = SWEEP_NO_CELL;
	}
	free(workload);
	return row;
}

static int fill_rows(struct sweep *s, const struct sweep_cell *cell)
{
	const struct dataset *d = s->dataset;

	s->row = calloc(d->ncells * d->nvariants, sizeof(*s->row));
	if (!s->row)
		return -1;
	for (size_t i = 0; i < d->ncells; i++) {
		size_t column = column_of(s, &cell[i]);
		struct sweep_row *row = rows_of(s, &cell[i], i, column);

		if (!row)
			return -1;
		for (unsigned v = 0; v < d->nvariants; v++)
			row[v].cell[column] = i;
	}
	return 0;
}

/* The first cell of a row: rows were made in the order of the cells. */
static size_t first_cell(const struct sweep_row *row)
{
	size_t i = 0;

	while (row->cell[i] == SWEEP_NO_CELL)
		i++;
	return row->cell[i];
}

static int by_block_size(const void *a, const void *b)
{
	const struct sweep_row *x = a, *y = b;
	int size = sweep_compare_values(x->block_size, y->block_size);
	size_t cx = first_cell(x), cy = first_cell(y);

	if (size)
		return size;
	if (cx != cy)
		return cx < cy ? -1 : 1;
	return (x->variant_index > y->variant_index) - (x->variant_index < y->variant_index);
}

static int finish_rows(struct sweep *s)
{
	const struct dataset *d = s->dataset;
	bool guests = false;

	for (size_t i = 1; i < d->ncells; i++)
		guests |= strcmp(d->cell[i].guest, d->cell[0].guest) != 0;
	qsort(s->row, s->nrows, sizeof(*s->row), by_block_size);
	for (size_t i = 0; i < s->nrows; i++) {
		struct sweep_row *row = &s->row[i];
		struct text label = { 0 };

		text_add(&label, "%s%s%s, %s", guests ? row->guest : "", guests ? ": " : "", row->workload, row->variant);
		row->label = label.failed ? NULL : strdup(text_get(&label));
		text_free(&label);
		if (!row->label)
			return -1;
		row->new_group = i > 0 && !sweep_same_value(row[-1].block_size, row->block_size);
		for (size_t c = 0; c < s->ncolumns; c++) {
			struct mean m = { 0 };

			if (row->cell[c] != SWEEP_NO_CELL)
				collect(d, row->cell[c], row->variant_index, METRICS, &m);
			s->short_of_runs |= m.n < m.planned;
		}
	}
	return 0;
}

int sweep_make(const struct dataset *d, struct sweep **out, struct error *e)
{
	struct sweep *s = calloc(1, sizeof(*s));
	struct sweep_cell *cell = calloc(d->ncells, sizeof(*cell));
	int status = -1;

	*out = NULL;
	if (!s || !cell)
		goto memory;
	s->dataset = d;
	for (size_t i = 0; i < d->ncells; i++)
		if (sweep_cell_read(d, i, &cell[i], e))
			goto out;
	if (choose_columns(s, cell))
		goto memory;
	sort_columns(s);
	if (fill_rows(s, cell) || finish_rows(s))
		goto memory;
	s->only_jobs = !has_metric(s, METRIC_GUEST_CPU) && has_metric(s, METRIC_JOB_CPU);
	*out = s;
	s = NULL;
	status = 0;
	goto out;
memory:
	error_set(e, STATUS_HOST, "out of memory");
out:
	for (size_t i = 0; cell && i < d->ncells; i++)
		sweep_cell_free(&cell[i]);
	free(cell);
	sweep_free(s);
	return status;
}

void sweep_free(struct sweep *s)
{
	if (!s)
		return;
	for (size_t i = 0; s->row && i < s->nrows; i++) {
		free(s->row[i].label);
		free(s->row[i].workload);
		free(s->row[i].block_size);
		free(s->row[i].cell);
	}
	free(s->row);
	free_list(s->column, s->ncolumns);
	free(s->key);
	free(s);
}
