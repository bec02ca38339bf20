/*
 * A matrix as JUnit XML: a testcase per cell (classname SCENARIO.MATRIX, name the cell's). fail and corrupt are failures,
 * stalled is an error, and so is a cell that is not stored: a build must not look whole when it was cut. system-out has every
 * check, and the line that runs the cell again.
 */
#include "host/escape.h"
#include "host/junit.h"
#include "host/matrix_words.h"

enum outcome { PASSED, FAILURE, ERROR, SKIPPED, OUTCOMES };

static enum outcome outcome_of(enum cell_status status)
{
	switch (status) {
	case CELL_PASS: return PASSED;
	case CELL_SKIPPED: return SKIPPED;
	case CELL_FAIL:
	case CELL_CORRUPT: return FAILURE;
	case CELL_STALLED:
	case CELL_MISSING: break;
	}
	return ERROR;
}

static void fact_property(const struct matrix_folder *f, const char *name, const char *key, struct text *out)
{
	struct text t = { 0 };

	matrix_fact(f, key, &t);
	if (t.length)
		junit_property(name, text_get(&t), out);
	text_free(&t);
}

static int properties(const struct matrix_folder *f, const struct matrix_table *t, struct text *out, struct error *e)
{
	json_t *common = matrix_failures_words(t, e), *sentence;
	struct text words = { 0 };
	size_t i;

	if (!common)
		return -1;
	text_add(out, "    <properties>\n");
	junit_property("kickbench", json_string_value(json_object_get(f->run, "kickbench")), out);
	fact_property(f, "emulator", "qemu_version", out);
	fact_property(f, "kernel", "guest_kernel", out);
	fact_property(f, "accelerator", "accel", out);
	matrix_headline(f, t, &words);
	junit_property("matrix", text_get(&words), out);
	text_reset(&words);
	if (json_is_integer(json_object_get(f->run, "seed"))) {
		text_add(&words, "%llu", (unsigned long long)json_integer_value(json_object_get(f->run, "seed")));
		junit_property("seed", text_get(&words), out);
	}
	json_array_foreach(common, i, sentence)
		junit_property("common", json_string_value(sentence), out);
	text_add(out, "    </properties>\n");
	text_free(&words);
	json_decref(common);
	return 0;
}

static void said_line(void *context, const char *line)
{
	text_add(context, "  | %s\n", line);
}

static void check_line(const json_t *check, struct text *out)
{
	const char *message = json_string_value(json_object_get(check, "message"));
	struct text evidence = { 0 };

	text_add(out, "%s: %s", json_string_value(json_object_get(check, "name")), matrix_word(matrix_check_status(check)));
	if (message && *message)
		text_add(out, ": %s", message);
	if (matrix_bad(matrix_check_status(check)))
		matrix_evidence(check, &evidence);
	if (evidence.length)
		text_add(out, " (%s)", text_get(&evidence));
	text_add(out, "\n");
	if (matrix_bad(matrix_check_status(check)))
		matrix_evidence_lines(check, said_line, out);
	text_free(&evidence);
}

/* said: of the checks that failed, and how to run it again: servers show what stands in this element. */
static void result_of(const struct matrix_folder *f, size_t i, enum cell_status status, const char *said, struct text *out)
{
	static const char *const element[OUTCOMES] = { [FAILURE] = "failure", [ERROR] = "error", [SKIPPED] = "skipped" };
	enum outcome outcome = outcome_of(status);

	if (outcome == PASSED)
		return;
	text_add(out, "      <%s", element[outcome]);
	junit_attribute("message", status == CELL_MISSING ? "not run" : matrix_cell_text(f, i, "reason"), out);
	if (outcome == SKIPPED) {
		text_add(out, "/>\n");
		return;
	}
	junit_attribute("type", matrix_word(status), out);
	text_add(out, ">");
	escape_xml(out, said);
	text_add(out, "</%s>\n", element[outcome]);
}

static void testcase(const struct matrix_folder *f, const struct matrix_table *t, const char *class, size_t i, struct text *out)
{
	const json_t *record = matrix_cell_record(f, i), *checks = json_object_get(record, "checks"), *check;
	struct text said = { 0 }, decisive = { 0 };
	size_t k;

	json_array_foreach(checks, k, check) {
		check_line(check, &said);
		if (matrix_bad(matrix_check_status(check)))
			check_line(check, &decisive);
	}
	text_add(&said, "%s", matrix_cell_text(f, i, "reproduce"));
	text_add(&decisive, "%s", matrix_cell_text(f, i, "reproduce"));
	text_add(out, "    <testcase");
	junit_attribute("classname", class, out);
	junit_attribute("name", matrix_cell_name(f, i), out);
	if (record)
		text_add(out, " time=\"%.3f\"", json_number_value(json_object_get(record, "seconds")));
	text_add(out, ">\n");
	result_of(f, i, t->status[i], text_get(&decisive), out);
	text_add(out, "      <system-out>");
	escape_xml(out, text_get(&said));
	text_add(out, "</system-out>\n    </testcase>\n");
	out->failed |= said.failed || decisive.failed;
	text_free(&said);
	text_free(&decisive);
}

static double seconds_of_all(const struct matrix_folder *f, size_t ncells)
{
	double sum = 0;

	for (size_t i = 0; i < ncells; i++)
		sum += json_number_value(json_object_get(matrix_cell_record(f, i), "seconds"));
	return sum;
}

static int write_all(const struct matrix_folder *f, const struct matrix_table *t, struct text *out, struct error *e)
{
	const json_t *scenario = json_object_get(f->run, "scenario");
	const char *name = json_string_value(json_object_get(scenario, "name")), *which = json_string_value(json_object_get(scenario, "matrix"));
	size_t count[OUTCOMES] = { 0 };
	struct text class = { 0 };
	int rc;

	for (size_t i = 0; i < t->ncells; i++)
		count[outcome_of(t->status[i])]++;
	text_add(&class, "%s.%s", name ? name : "regress", which ? which : "matrix");
	junit_begin(text_get(&class), out);
	text_add(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\"", t->ncells, count[FAILURE], count[ERROR],
		 count[SKIPPED], seconds_of_all(f, t->ncells));
	junit_timestamp(json_string_value(json_object_get(f->run, "started")), out);
	text_add(out, ">\n");
	rc = properties(f, t, out, e);
	for (size_t i = 0; rc == 0 && i < t->ncells; i++)
		testcase(f, t, text_get(&class), i, out);
	junit_end(out);
	text_free(&class);
	return rc;
}

int matrix_report_junit(const struct matrix_folder *f, struct text *out, struct error *e)
{
	struct matrix_table t;
	int rc;

	if (matrix_table_make(f, &t, e))
		return -1;
	rc = write_all(f, &t, out, e);
	matrix_table_free(&t);
	return rc || !out->failed ? rc : error_set(e, STATUS_HOST, "out of memory");
}
