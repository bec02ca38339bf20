/*
 * The HTML report of synthetic runs. With KB_HTML_PAGES=FOLDER in the environment the pages are kept there, for
 * tests/html/check.sh, which looks at them with a browser.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/report_html.h"
#include "host/report_html_parts.h"
#include "host/report_layout.h"
#include "tests/unit/html_runs.h"
#include "tests/unit/scratch.h"

static size_t count(const char *text, const char *piece)
{
	size_t n = 0;

	for (const char *s = text; (s = strstr(s, piece)); s += strlen(piece))
		n++;
	return n;
}

static void lacks(const char *text, const char *piece)
{
	if (strstr(text, piece))
		fail_msg("\"%s\" is in the page", piece);
}

static void keep(const char *name, const struct text *page)
{
	const char *folder = getenv("KB_HTML_PAGES");
	char file[64];

	if (!folder)
		return;
	snprintf(file, sizeof(file), "%s.html", name);
	folder_put(folder, file, text_get(page));
}

/* The page of a run, which holds for every run: whole, nothing active, nothing from outside. path: NULL, or where gnuplot is looked for. */
static struct text page_of(const char *name, struct folder f, bool charts, const char *path)
{
	static const char *const never[] = { "<script", "javascript:", "http:", "https:", "file:", " src=", "url(", "@import", "<link",
					     "<iframe", "onerror=\"" };
	char *usual = strdup(getenv("PATH"));
	struct html_run run;
	struct text page = { 0 };
	struct error e = { 0 };

	html_run_open(&run, f);
	setenv("PATH", path ? path : usual, 1);
	if (report_html(run.c, &(struct report_options){ .charts = charts }, &page, &e))
		fail_msg("%s", e.text);
	setenv("PATH", usual, 1);
	free(usual);
	html_run_close(&run);
	assert_int_equal(strncmp(text_get(&page), "<!DOCTYPE html>", 15), 0);
	holds(text_get(&page), "</main></body></html>\n");
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		lacks(text_get(&page), never[i]);
	keep(name, &page);
	return page;
}

static bool have_gnuplot(void)
{
	return system("command -v gnuplot >/dev/null 2>&1") == 0;
}

static void verdicts_come_first(void **state)
{
	struct text page = page_of("quick", run_quick, true, NULL);
	const char *order[] = { "<h1>", "kickfd against none (IOPS): ", "<ul class=\"verdicts\">", "<h2>Charts", "<h2>Tables</h2>",
				"Other metrics and cost", "<h2>What ran</h2>", "<h2>Settings in force", "<h2>Trials</h2>",
				"<h2>Host</h2>", "<h2>Scenario</h2>", "rw = randread", "<h2>How to run it again</h2>",
				"--set scenario.seed=12345" };
	const char *at = text_get(&page);

	(void)state;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		at = strstr(at, order[i]);
		if (!at)
			fail_msg("\"%s\" is missing or not where it belongs", order[i]);
	}
	/* a verdict is a word and a sign, never a colour alone */
	holds(text_get(&page), "<span class=\"badge better\">\342\226\262 better</span><b><bdi>randread numjobs=1</bdi></b>: ");
	text_free(&page);
}

static void charts_have_words(void **state)
{
	struct text page;

	(void)state;
	if (!have_gnuplot())
		skip();
	page = page_of("quick", run_quick, true, NULL);
	/* 1 of ratios, 2 workloads over numjobs, latency and time for each of 6 cells */
	assert_int_equal(count(text_get(&page), "<svg role=\"img\" viewBox=\"0 0 400 "), 1 + 2 + 6 + 6);
	assert_int_equal(count(text_get(&page), "</title>\n<desc>"), 1 + 2 + 6 + 6);
	assert_int_equal(count(text_get(&page), "id='gpPt7'"), 1);
	holds(text_get(&page), "<title>Latency by percentile, randread numjobs=1</title>");
	holds(text_get(&page), "none: 8 trials from ");
	lacks(text_get(&page), "rgb(");
	lacks(text_get(&page), "~");
	assert_true(page.length < 2000000);
	text_free(&page);
}

static void without_gnuplot(void **state)
{
	struct text page = page_of("no-gnuplot", run_quick, true, "/nowhere");

	(void)state;
	holds(text_get(&page), "There are no charts: gnuplot is missing: install the package gnuplot-nox. The tables");
	lacks(text_get(&page), "<svg");
	holds(text_get(&page), "</table>");
	text_free(&page);
}

static void charts_are_not_wanted(void **state)
{
	struct text page = page_of("no-charts", run_quick, false, NULL);

	(void)state;
	lacks(text_get(&page), "<svg");
	lacks(text_get(&page), "There are no charts");
	text_free(&page);
}

static void hostile_names_stay_text(void **state)
{
	struct text page = page_of("hostile", run_hostile, true, NULL);

	(void)state;
	lacks(text_get(&page), "<img");
	lacks(text_get(&page), "<b onmouseover");
	holds(text_get(&page), "<bdi>&lt;img title=&quot;x&quot; onerror=&#39;alert(1)&#39;&gt;</bdi>");
	holds(text_get(&page), "\357\277\275"); /* a byte that is no UTF-8 */
	text_free(&page);
}

static void other_shapes(void **state)
{
	static const struct { const char *name; const struct folder *run; const char *holds; } shape[] = {
		{ "incomplete", &run_incomplete, "Input/output error" },
		{ "disks", &run_disks, "packed against none" },
		{ "single", &run_single, "There is no variant beside the baseline" },
		{ "wild", &run_wild, "more than 1000 % more IOPS" },
		{ "many", &run_many, "The first 24 cells." },
		{ "failed", &run_failed, "0 of 32 counted" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(shape) / sizeof(shape[0]); i++) {
		struct text page = page_of(shape[i].name, *shape[i].run, true, NULL);

		if (strcmp(shape[i].name, "many") != 0 || have_gnuplot())
			holds(text_get(&page), shape[i].holds);
		if (have_gnuplot())
			lacks(text_get(&page), "There are no charts");
		assert_true(page.length < 2000000);
		text_free(&page);
	}
}

static void paragraphs_become_whole(void **state)
{
	struct text laid_out = { 0 }, out = { 0 };
	char words[400] = "", broken[600] = "";

	(void)state;
	for (int i = 0; i < 40; i++)
		strcat(words, i ? " word<1>" : "word<1>");
	for (int i = 0; i < 250; i++)
		strcat(broken, "x");
	text_add(&laid_out, "HEADING\n");
	layout_wrap(&laid_out, "  accelerator", 14, words);
	layout_wrap(&laid_out, "", 14, "a row without a label");
	layout_wrap(&laid_out, "  path", 14, broken);
	html_rows(&out, text_get(&laid_out), 14, 0);
	assert_int_equal(count(text_get(&out), "word&lt;1&gt;"), 40);
	assert_int_equal(count(text_get(&out), "<dt>"), 3);
	holds(text_get(&out), "<dl>\n<dt>accelerator</dt><dd>word&lt;1&gt; word&lt;1&gt; ");
	holds(text_get(&out), "<dt></dt><dd>a row without a label</dd>\n<dt>path</dt><dd>");
	holds(text_get(&out), broken);
	lacks(text_get(&out), "HEADING");
	text_free(&laid_out);
	text_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts_come_first),
		cmocka_unit_test(charts_have_words),
		cmocka_unit_test(without_gnuplot),
		cmocka_unit_test(charts_are_not_wanted),
		cmocka_unit_test(hostile_names_stay_text),
		cmocka_unit_test(other_shapes),
		cmocka_unit_test(paragraphs_become_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
