/*
 * A matrix for programs, schema kickbench-regress-report/1:
 * {"schema","status":exit status,"counts":{"pass":N,…,"missing":N},"pairs":{"possible","covered","tried"},
 *  "common":["sentence",…],"run":{…as in run.json, without its cells},
 *  "cells":[{…as in cells/N.json; of one that is not stored: "cell","name","options","status":"missing"}]}
 */
#include <stdlib.h>

#include "host/matrix_words.h"

static json_t *counts(const struct matrix_folder *f)
{
	json_t *count = json_object();

	for (int s = 0; s < CELL_STATUSES; s++)
		json_object_set_new(count, cell_status_name((enum cell_status)s), json_integer(f->count[s]));
	json_object_set_new(count, matrix_word(CELL_MISSING), json_integer(f->missing));
	return count;
}

static json_t *cells(const struct matrix_folder *f, size_t ncells)
{
	const json_t *planned = json_object_get(f->run, "cells");
	json_t *list = json_array();

	for (size_t i = 0; i < ncells; i++) {
		json_t *cell = json_copy((json_t *)(matrix_cell_record(f, i) ? matrix_cell_record(f, i) : json_array_get(planned, i)));

		json_object_del(cell, "schema");
		if (!matrix_cell_record(f, i))
			json_object_set_new(cell, "status", json_string(matrix_word(CELL_MISSING)));
		json_array_append_new(list, cell);
	}
	return list;
}

static json_t *document(const struct matrix_folder *f, const struct matrix_table *t, struct error *e)
{
	struct matrix_coverage c = matrix_coverage_of(f, t);
	json_t *common = matrix_failures_words(t, e), *run = json_copy(f->run);

	json_object_del(run, "cells");
	return json_pack("{s:s, s:i, s:o, s:{s:I, s:I, s:I}, s:o, s:o, s:o}", "schema", "kickbench-regress-report/1", "status",
			 matrix_status(f, false), "counts", counts(f), "pairs", "possible", (json_int_t)c.possible, "covered",
			 (json_int_t)c.covered, "tried", (json_int_t)c.tried, "common", common, "run", run, "cells", cells(f, t->ncells));
}

int matrix_report_json(const struct matrix_folder *f, struct text *out, struct error *e)
{
	struct matrix_table t;
	json_t *report;
	char *text;

	if (matrix_table_make(f, &t, e))
		return -1;
	report = document(f, &t, e);
	matrix_table_free(&t);
	text = report ? json_dumps(report, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) : NULL;
	json_decref(report);
	if (text)
		text_add(out, "%s\n", text);
	free(text);
	return !text || out->failed ? error_set(e, STATUS_HOST, "out of memory") : 0;
}
