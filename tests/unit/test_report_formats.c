/* The forms of a report beside text: what each makes of verdicts, missing data, hostile names and bytes; and the sweep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/file_write.h"
#include "host/report.h"
#include "host/report_json.h"
#include "host/scenario.h"
#include "host/sweep.h"
#include "tests/unit/run_folder.h"
#include "tests/unit/xpath.h"

struct loaded {
	struct folder folder;
	struct dataset *d;
	struct comparison *c;
};

static void load(struct loaded *l, struct folder f)
{
	struct error e = { 0 };

	f.blocks = f.blocks ? f.blocks : 8;
	f.repeats = f.repeats ? f.repeats : 1;
	f.pairing = f.pairing ? f.pairing : "boots";
	f.primary = f.primary ? f.primary : "iops";
	l->folder = f;
	folder_make(&l->folder);
	if (dataset_load(l->folder.path, &l->d, &e) || compare(l->d, &l->c, &e))
		fail_msg("%s", e.text);
}

static void unload(struct loaded *l)
{
	comparison_free(l->c);
	dataset_free(l->d);
	folder_remove(&l->folder);
}

/* The caller frees it. */
static char *written(const struct loaded *l, const char *format, enum report_layout layout)
{
	struct error e = { 0 };
	struct text t = { 0 };
	struct report_options o = { .layout = layout };
	const struct report_format *f = report_format_find(format, &e);

	if (!f || f->write(l->c, &o, &t, &e))
		fail_msg("%s", e.text);
	assert_false(t.failed);
	return t.data;
}

/* ---- JUnit ---- */

static xmlDoc *junit(const struct loaded *l)
{
	char *xml = written(l, "junit", LAYOUT_CELLS);
	xmlDoc *doc = xmlReadMemory(xml, (int)strlen(xml), NULL, NULL, 0);

	assert_non_null(doc);
	free(xml);
	return doc;
}

/* better, worse, same, unclear, stalled, incomplete: a cell of each */
static void six_verdicts(const struct folder_place *at, struct folder_trial *t)
{
	static const double factor[] = { 1.2, 0.8, 1.0, 1.005, 1, 1 };

	t->iops = 6000 * (1 + 0.002 * folder_noise(at->block, at->cell, at->variant));
	if (at->cell == 3) /* a noisy one */
		t->iops *= 1 + 0.2 * folder_noise(at->block, 9, at->variant);
	if (at->variant == 1) {
		t->iops *= factor[at->cell];
		if (at->cell == 4 && at->block == 3)
			t->status = "stalled";
		if (at->cell == 5 && at->block == 3)
			t->status = "failed";
	}
}

static void junit_counts_what_fail_on_names(void **state)
{
	static const struct { unsigned fail_on; double failures, skipped; } want[] = {
		{ FAIL_STALLED | FAIL_CORRUPT, 1, 2 }, /* skipped: unclear, incomplete */
		{ FAIL_WORSE, 1, 3 },
		{ FAIL_WORSE | FAIL_BETTER | FAIL_UNCLEAR | FAIL_STALLED, 4, 1 },
		{ 0, 0, 3 },
	};
	struct loaded l;

	(void)state;
	load(&l, (struct folder){ .cell = { "a", "b", "c", "d", "e", "f" }, .variant = { "none", "kickfd" }, .shape = six_verdicts });
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		xmlDoc *doc;

		l.d->fail_on = want[i].fail_on;
		doc = junit(&l);
		assert_float_equal(xpath_number(doc, "count(//testcase)"), 6, 0);
		assert_float_equal(xpath_number(doc, "number(//testsuite/@tests)"), 6, 0);
		assert_float_equal(xpath_number(doc, "count(//testcase/failure)"), want[i].failures, 0);
		assert_float_equal(xpath_number(doc, "number(//testsuite/@failures)"), want[i].failures, 0);
		assert_float_equal(xpath_number(doc, "count(//testcase/skipped[@message])"), want[i].skipped, 0);
		assert_float_equal(xpath_number(doc, "number(//testsuite/@skipped)"), want[i].skipped, 0);
		assert_float_equal(xpath_number(doc, "count(//testcase[@classname='quick.kickfd'])"), 6, 0);
		assert_float_equal(xpath_number(doc, "count(//testcase[@name='c']/*[not(self::system-out)])"), 0, 0);
		xmlFreeDoc(doc);
	}
	unload(&l);
}

/* ---- bytes that are no UTF-8, in what may hold them ---- */

static void every_form_is_utf8(void **state)
{
	static const char *const format[] = { "markdown", "json", "csv", "junit" };
	char *warning[] = { (char *)"cut within \346\274", (char *)"<b>|`\001" };
	struct comparison own;
	struct loaded l;

	(void)state;
	load(&l, (struct folder){ .cell = { "a", "b", "c", "d", "e", "f" }, .variant = { "none", "kickfd" }, .shape = six_verdicts });
	free(l.d->problem[0].message);
	l.d->problem[0].message = strdup("cut here \302");
	own = *l.c; /* what it had to say itself */
	l.c->warning = warning;
	l.c->nwarnings = 2;
	for (size_t i = 0; i < sizeof(format) / sizeof(format[0]); i++) {
		char *text = written(&l, format[i], LAYOUT_CELLS);
		json_t *value = json_string(text);

		if (!value)
			fail_msg("%s is no UTF-8", format[i]);
		json_decref(value);
		free(text);
	}
	*l.c = own;
	unload(&l);
}

static void json_has_warnings_and_messages(void **state)
{
	char *warning[] = { (char *)"first", (char *)"cut \302" }, *advice[] = { (char *)"more boots" };
	struct comparison own;
	struct loaded l;
	json_t *report;

	(void)state;
	load(&l, (struct folder){ .cell = { "a", "b", "c", "d", "e", "f" }, .variant = { "none", "kickfd" }, .shape = six_verdicts });
	free(l.d->problem[0].message);
	l.d->problem[0].message = strdup("cut \302");
	own = *l.c;
	l.c->warning = warning;
	l.c->nwarnings = 2;
	l.c->advice = advice;
	l.c->nadvice = 1;
	report = report_json(l.c);
	assert_non_null(report);
	assert_string_equal(json_string_value(json_array_get(json_object_get(report, "warnings"), 1)), "cut \357\277\275");
	assert_string_equal(json_string_value(json_array_get(json_object_get(report, "advice"), 0)), "more boots");
	assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(report, "problems"), 0), "message")),
			    "cut \357\277\275");
	assert_int_equal(json_array_size(json_object_get(report, "sources")), 0);
	json_decref(report);
	*l.c = own;
	unload(&l);
}

static void several_sources_are_told(void **state)
{
	struct loaded l;
	json_t *report, *source;

	(void)state;
	load(&l, (struct folder){ .cell = { "a" }, .variant = { "none", "kickfd" }, .blocks = 2 });
	{
		struct dataset_source both[] = { { "A", "one", l.d->run }, { "B", "two \377", l.d->run } };
		struct dataset_source *before = l.d->source;
		size_t n = l.d->nsources;

		l.d->source = both;
		l.d->nsources = 2;
		report = report_json(l.c);
		l.d->source = before;
		l.d->nsources = n;
	}
	source = json_array_get(json_object_get(report, "sources"), 1);
	assert_string_equal(json_string_value(json_object_get(source, "label")), "B");
	assert_string_equal(json_string_value(json_object_get(source, "path")), "two \357\277\275");
	assert_string_equal(json_string_value(json_object_get(json_object_get(source, "run"), "kickbench")), "0.1.0");
	json_decref(report);
	unload(&l);
}

/* ---- the sweep ---- */

/* IOPS 1000 x (cell + 1) in one block and four times that in the other: the geometric mean is twice. */
static void quadruple(const struct folder_place *at, struct folder_trial *t)
{
	t->iops = 1000 * (at->cell + 1) * (at->variant ? 10 : 1) * (at->block == 1 ? 1 : 4);
	t->clat_ns = 100000;
}

static size_t row_named(const struct sweep *s, const char *label)
{
	for (size_t i = 0; i < s->nrows; i++)
		if (strcmp(s->row[i].label, label) == 0)
			return i;
	fail_msg("there is no row %s", label);
	return 0;
}

static void names_alone_make_a_sweep(void **state)
{
	struct error e = { 0 };
	struct loaded l;
	struct sweep *s;

	(void)state;
	load(&l, (struct folder){ .cell = { "r bs=8k numjobs=10", "r bs=8k numjobs=9", "r bs=4k numjobs=9", "w bs=4096 numjobs=10" },
				  .variant = { "none", "kickfd" }, .blocks = 2, .shape = quadruple });
	json_t *cell;
	size_t i;
	json_array_foreach(json_object_get(l.d->run, "cells"), i, cell) /* as imports may leave it */
		json_object_del(cell, "point");
	assert_int_equal(sweep_make(l.d, &s, &e), 0);
	assert_string_equal(s->key, "numjobs");
	assert_int_equal(s->ncolumns, 2);
	assert_string_equal(s->column[0], "9"); /* by size, not by spelling */
	assert_string_equal(s->column[1], "10");
	assert_int_equal(s->nrows, 6);
	assert_string_equal(s->row[0].label, "r bs=4k, none"); /* the smaller block size first */
	assert_string_equal(s->row[2].label, "w bs=4096, none");
	assert_false(s->row[2].new_group); /* 4k and 4096 are one size */
	assert_true(s->row[4].new_group);
	assert_float_equal(sweep_value(s, SWEEP_IOPS, row_named(s, "r bs=8k, none"), 1), 2000, 1e-6);
	assert_float_equal(sweep_value(s, SWEEP_IOPS, row_named(s, "r bs=8k, kickfd"), 0), 40000, 1e-6);
	assert_float_equal(sweep_value(s, SWEEP_RUNS, row_named(s, "r bs=8k, kickfd"), 0), 2, 0);
	assert_float_equal(sweep_value(s, SWEEP_RESPONSE, 0, 0), 126, 1e-6); /* run_folder's mean is 1.26 x clat */
	assert_true(isnan(sweep_value(s, SWEEP_IOPS, row_named(s, "r bs=4k, none"), 1))); /* never run */
	assert_false(sweep_has(s, SWEEP_SIZE));
	sweep_free(s);
	unload(&l);
}

static void columns(const char *const *cell, const char *key, size_t n)
{
	struct folder f = { .variant = { "none" }, .blocks = 2 };
	struct error e = { 0 };
	struct loaded l;
	struct sweep *s;

	for (size_t i = 0; cell[i]; i++)
		f.cell[i] = cell[i];
	load(&l, f);
	json_t *json;
	size_t i;
	json_array_foreach(json_object_get(l.d->run, "cells"), i, json)
		json_object_del(json, "point");
	assert_int_equal(sweep_make(l.d, &s, &e), 0);
	assert_string_equal(s->key, key);
	assert_int_equal(s->ncolumns, n);
	sweep_free(s);
	unload(&l);
}

static void which_option_is_the_columns(void **state)
{
	(void)state;
	columns((const char *const[]){ "r iodepth=1 bs=4k", "r iodepth=2 bs=8k", "r iodepth=2 bs=16k", NULL }, "iodepth", 2);
	columns((const char *const[]){ "r bs=4k", "r bs=8k", NULL }, "bs", 2);
	columns((const char *const[]){ "r bs=4k", "w bs=4k", NULL }, "", 1);
	columns((const char *const[]){ "r", "w", NULL }, "", 1);
	columns((const char *const[]){ "r numjobs=1", "r numjobs=2", "w", NULL }, "numjobs", 3); /* w: in the column ? */
	columns((const char *const[]){ "r numjobs=1", "r numjobs=1", "w numjobs=1", NULL }, "", 1);
}

/* With pairing = disks the baseline has a disk in each candidate's boots: the row has all of them. */
static void disks_give_the_baseline_every_boot(void **state)
{
	struct error e = { 0 };
	struct loaded l;
	struct sweep *s;

	(void)state;
	load(&l, (struct folder){ .cell = { "r" }, .variant = { "none", "a", "b" }, .blocks = 2, .pairing = "disks", .shape = quadruple });
	assert_int_equal(sweep_make(l.d, &s, &e), 0);
	assert_int_equal(s->nrows, 3);
	assert_float_equal(sweep_value(s, SWEEP_RUNS, 0, 0), 4, 0);
	assert_float_equal(sweep_value(s, SWEEP_IOPS, 0, 0), 2000, 1e-6);
	assert_float_equal(sweep_value(s, SWEEP_RUNS, 1, 0), 2, 0);
	sweep_free(s);
	unload(&l);
}

static void values_for_people(void **state)
{
	static const struct { double value; enum sweep_table table; const char *want; } cases[] = {
		{ 97254.6, SWEEP_IOPS, "97255" }, { 47.94, SWEEP_RESPONSE, "47.9" }, { 0.4, SWEEP_IOPS, "0.400" },
		{ 9.9961, SWEEP_CPU, "10.0" },    { 127.04, SWEEP_RESPONSE, "127.0" }, { NAN, SWEEP_SIZE, "-" },
		{ 0, SWEEP_BUSY, "0.0" },         { 2, SWEEP_RUNS, "2" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[METRIC_TEXT_SIZE];

		sweep_text(cases[i].value, cases[i].table, text);
		assert_string_equal(text, cases[i].want);
	}
}

/* ---- files that a user named ---- */

static void a_file_that_cannot_be_written_stays(void **state)
{
	struct loaded l;
	struct error e = { 0 };
	char path[320];
	struct stat st;

	(void)state;
	load(&l, (struct folder){ .cell = { "r" }, .variant = { "none" }, .blocks = 2 });
	snprintf(path, sizeof(path), "%s/no-folder/x", l.folder.path);
	assert_int_equal(file_write(path, "x", 1, &e), -1);
	assert_int_equal(e.status, STATUS_USAGE);
	assert_non_null(strstr(e.text, path));
	snprintf(path, sizeof(path), "%s/x", l.folder.path);
	error_clear(&e);
	assert_int_equal(file_write(path, "first", 5, &e), 0);
	assert_int_equal(file_write(path, "2nd", 3, &e), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 3);
	unload(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(junit_counts_what_fail_on_names),
		cmocka_unit_test(every_form_is_utf8),
		cmocka_unit_test(json_has_warnings_and_messages),
		cmocka_unit_test(several_sources_are_told),
		cmocka_unit_test(names_alone_make_a_sweep),
		cmocka_unit_test(which_option_is_the_columns),
		cmocka_unit_test(disks_give_the_baseline_every_boot),
		cmocka_unit_test(values_for_people),
		cmocka_unit_test(a_file_that_cannot_be_written_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
