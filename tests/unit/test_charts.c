/* gnuplot as a subprocess, axes, and what becomes of its SVG. Charts of whole runs are in test_report_html.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/charts_private.h"
#include "host/gnuplot.h"
#include "tests/unit/html_runs.h"
#include "tests/unit/scratch.h"

/* ---- gnuplot ---- */

/* Run a script by a program of that name and text. Returns what gnuplot_run() does. */
static int with_program(struct scratch *s, const char *program, unsigned deadline_ms, struct text *out, struct error *e)
{
	char *usual = strdup(getenv("PATH"));
	struct text path = { 0 };
	int rc;

	assert_int_equal(chmod(scratch_text(s, "bin/gnuplot", program), 0755), 0);
	text_add(&path, "%s/bin:%s", s->folder, usual);
	setenv("PATH", text_get(&path), 1);
	rc = gnuplot_run("plot 1\n", 7, deadline_ms, out, e);
	setenv("PATH", usual, 1);
	text_free(&path);
	free(usual);
	return rc;
}

static void output_comes_back(void **state)
{
	struct text out = { 0 };
	struct error e = { 0 };

	text_add(&out, "before ");
	/* more than a pipe holds, and the script as it came */
	assert_int_equal(with_program(*state, "#!/bin/sh\ncat\nhead -c 200000 /dev/zero | tr '\\0' x\n", 10000, &out, &e), 0);
	assert_int_equal(out.length, 7 + 7 + 200000);
	assert_int_equal(strncmp(text_get(&out), "before plot 1\nxxx", 17), 0);
	text_free(&out);
}

static void failures_are_told(void **state)
{
	struct text out = { 0 };
	struct error e = { 0 };

	text_add(&out, "kept");
	assert_int_equal(with_program(*state, "#!/bin/sh\necho half; printf 'line 1: undefined variable: x\\n\\n' >&2; exit 1\n", 10000, &out,
				      &e), -1);
	assert_string_equal(e.text, "gnuplot failed (status 1): line 1: undefined variable: x");
	assert_string_equal(text_get(&out), "kept");
	error_clear(&e);
	assert_int_equal(with_program(*state, "#!/bin/sh\nkill -SEGV $$\n", 10000, &out, &e), -1);
	assert_string_equal(e.text, "gnuplot failed (status 139)");
	text_free(&out);
}

/* It, and what it has started: nobody is left who holds the pipe. */
static void a_hanging_one_is_ended(void **state)
{
	static const char *const hangs[] = { "#!/bin/sh\nsleep 60\n", "#!/bin/sh\nsleep 60 &\necho $! >\"${0%/*}/child\"\nwait\n",
					     "#!/bin/sh\nexec >&-\nsleep 60\n", "#!/bin/sh\nexec cat /dev/zero\n" };
	struct scratch *s = *state;

	for (size_t i = 0; i < sizeof(hangs) / sizeof(hangs[0]); i++) {
		struct text out = { 0 };
		struct error e = { 0 };
		time_t begun = time(NULL);

		assert_int_equal(with_program(s, hangs[i], 400, &out, &e), -1);
		assert_string_equal(e.text, "gnuplot was ended: it did not finish within 1 s");
		assert_true(time(NULL) - begun < 20);
		assert_int_equal(out.length, 0);
		text_free(&out);
	}
}

static void a_missing_one_is_named(void **state)
{
	char *usual = strdup(getenv("PATH"));
	struct text out = { 0 };
	struct error e = { 0 };

	(void)state;
	setenv("PATH", "/nowhere", 1);
	assert_int_equal(gnuplot_run("", 0, 1000, &out, &e), -1);
	setenv("PATH", usual, 1);
	free(usual);
	assert_string_equal(e.text, "gnuplot is missing: install the package gnuplot-nox");
}

/* ---- axes ---- */

static void ticks_are(double low, double high, bool logarithmic, double base, unsigned wanted, const char *expected)
{
	struct range r = { low, high };
	double tick[AXIS_TICKS];
	struct text all = { 0 };
	size_t n = axis_ticks(&r, logarithmic, base, wanted, tick);

	assert_true(n <= AXIS_TICKS);
	for (size_t i = 0; i < n; i++)
		text_add(&all, "%s%g", i ? " " : "", tick[i]);
	assert_string_equal(text_get(&all), expected);
	text_free(&all);
}

static void ticks_are_round(void **state)
{
	(void)state;
	ticks_are(0, 10, false, 1, 5, "0 2 4 6 8 10");
	ticks_are(5411, 6120, false, 1, 6, "5600 5800 6000");
	ticks_are(-0.3, 0.3, false, 1, 7, "-0.3 -0.2 -0.1 0 0.1 0.2 0.3");
	ticks_are(0, 3 * 1048576., false, 1048576, 4, "0 1.04858e+06 2.09715e+06 3.14573e+06");
	ticks_are(0.93, 1.17, true, 1, 6, "0.95 1 1.05 1.1 1.15");
	ticks_are(0.5, 12, true, 1, 7, "0.5 1 2 5 10");
	ticks_are(0.001, 900, true, 1, 6, "0.001 0.01 0.1 1 10 100");
	ticks_are(1e-9, 1e9, true, 1, 6, "1e-08 0.0001 1 10000 1e+08");
}

static void tick_texts_are_short(void **state)
{
	static const struct { enum unit unit; double value; const char *text; } want[] = {
		{ UNIT_RATE, 6120, "6120" }, { UNIT_RATE, 12000, "12k" }, { UNIT_RATE, 12500, "12.5k" }, { UNIT_NS, 5500000, "5.5 ms" },
		{ UNIT_NS, 100000, "100 \302\265s" }, { UNIT_BYTES_PER_S, 2.5 * 1048576, "2.5 MiB/s" }, { UNIT_COUNT, 0, "0" },
		{ UNIT_COUNT, 0.95, "0.95" }, { UNIT_PERCENT, 10, "10 %" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		char text[METRIC_TEXT_SIZE];

		axis_text(want[i].unit, want[i].value, text);
		assert_string_equal(text, want[i].text);
	}
}

static void ranges_have_room(void **state)
{
	struct range r = RANGE_NONE;

	(void)state;
	assert_false(range_has(&r));
	range_take(&r, NAN);
	range_take(&r, INFINITY);
	assert_false(range_has(&r));
	range_take(&r, 100);
	range_pad(&r, false);
	assert_true(r.low < 100 && r.high > 100);
	r = (struct range){ 1, 100 };
	range_pad(&r, false);
	assert_true(r.low == 0); /* not below: what is counted has no negative values */
	r = (struct range){ 0.9, 1.1 };
	range_pad(&r, true);
	assert_true(r.low > 0 && r.low < 0.9 && r.high > 1.1);
}

/* ---- SVG ---- */

static void svg_follows_the_page(void **state)
{
	static const char document[] =
		"<?xml version=\"1.0\"?>\n<svg width=\"400\" xmlns=\"http://www.w3.org/2000/svg\">\n<title>Gnuplot</title>\n"
		"<g id=\"gnuplot_canvas\">\n<defs>\n\t<circle id='gpDot'/>\n\t<filter id='textbox'></filter>\n</defs>\n"
		"<g fill=\"none\" color=\"black\" stroke=\"currentColor\" stroke-width=\"1.00\">\n</g>\n"
		"<g id=\"gnuplot_plot_1\" ><title>gnuplot_plot_1</title>\n"
		"<path stroke='rgb(  0,   0,   2)' d='M1,2 L3,4'/><text fill=\"black\">~0~</text><text>~7~</text>\n</g>\n</g>\n</svg>\n";
	struct drawing d = { .height = 100 };
	struct text *out = &d.chart.svg;

	(void)state;
	drawing_label(&d, "%s", "a <b> & ~0~");
	text_add(&d.title, "T < 1");
	text_add(&d.desc, "D");
	assert_string_equal(text_get(&d.script), "'~0~'"); /* gnuplot does not see the name */
	drawing_finish(&d, document, sizeof(document) - 1, false);
	assert_string_equal(text_get(out), "<svg role=\"img\" viewBox=\"0 0 400 100\">\n<title>T &lt; 1</title>\n<desc>D</desc>\n<g>\n"
			    "\n<g>\n<path stroke='var(--v1)' d='M1,2 L3,4'/><text fill=\"currentColor\">a &lt;b&gt; &amp; ~0~</text>"
			    "<text>~7~</text>\n</g>\n</g>\n</svg>\n");
	text_reset(out);
	drawing_finish(&d, document, sizeof(document) - 1, true);
	holds(text_get(out), "</desc>\n<defs>\n\t<circle id='gpDot'/>\n\t</defs><g>");
	text_free(out);
	text_free(&d.title);
	text_free(&d.desc);
	text_free(&d.script);
	text_free(&d.label[0]);
	free(d.label);
}

/* ---- very many trials ---- */

static size_t lines_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void many_trials_are_thinned(void **state)
{
	static const char *const variant[] = { "a", "b" };
	struct dataset_cell cell = { .name = "randread", .guest = "linux" };
	struct dataset d = { .variant = (const char **)variant, .nvariants = 2, .cell = &cell, .ncells = 1, .npoints = 100000,
			     .point = calloc(100000, sizeof(struct point)) };
	struct comparison c = { .dataset = &d };
	struct drawings all = { 0 };

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		d.point[i] = (struct point){ .trial = i + 1, .variant = i % 2, .started = 1e9 + i };
		d.point[i].value[METRIC_IOPS] = 6000 + i % 100;
	}
	charts_time(&all, &c);
	assert_int_equal(all.n, 1);
	assert_int_equal(all.at[0].chart.kind, CHART_TIME);
	assert_string_equal(text_get(&all.at[0].chart.note), "One in 50 of 100000 trials is drawn.");
	assert_true(lines_of(text_get(&all.at[0].script)) < CHART_POINTS + 50);
	holds(text_get(&all.at[0].desc), "a: 50000 trials from 6000 to 6098. b: 50000 trials from 6001 to 6099. ");
	drawings_free(&all);
	free(d.point);
}

/* ---- a whole run ---- */

static void a_single_run_has_no_interval(void **state)
{
	struct folder f = run_quick;
	struct html_run run;
	struct drawings all = { 0 };
	double x, y;
	const char *data;

	(void)state;
	f.blocks = 1;
	html_run_open(&run, f);
	charts_ratio(&all, run.c);
	assert_int_equal(all.n, 1);
	data = strstr(text_get(&all.at[0].script), "$d1 <<EOD\n");
	assert_non_null(data);
	assert_int_equal(sscanf(data, "$d1 <<EOD\n%lf %lf", &x, &y), 2);
	assert_true(x > 1 && y == 1);
	holds(data, " 1 0 0\n");
	html_run_close(&run);
	drawings_free(&all);
}

#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_open, scratch_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH(output_comes_back),
		SCRATCH(failures_are_told),
		SCRATCH(a_hanging_one_is_ended),
		cmocka_unit_test(a_missing_one_is_named),
		cmocka_unit_test(ticks_are_round),
		cmocka_unit_test(tick_texts_are_short),
		cmocka_unit_test(ranges_have_room),
		cmocka_unit_test(svg_follows_the_page),
		cmocka_unit_test(many_trials_are_thinned),
		cmocka_unit_test(a_single_run_has_no_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
