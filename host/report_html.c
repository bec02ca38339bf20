#include "host/report_html.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/dirs.h"
#include "host/escape.h"
#include "host/report_html_parts.h"
#include "host/report_text.h"

#define MOST_SCENARIO (256u << 10) /* bytes of a scenario that are shown */

void html_name(struct text *out, const char *name)
{
	text_add(out, "<bdi>");
	escape_xml(out, name);
	text_add(out, "</bdi>");
}

/* A verdict has a word and a sign: it is not told by colour alone. */
static void badge(enum verdict verdict, struct text *out)
{
	static const struct { const char *class, *sign; } look[VERDICTS] = {
		[VERDICT_WORSE] = { "worse", "\342\226\274 " }, [VERDICT_BETTER] = { "better", "\342\226\262 " },
		[VERDICT_SAME] = { "same", "= " }, [VERDICT_UNCLEAR] = { "unclear", "? " },
	};

	text_add(out, "<span class=\"badge %s\">%s%s</span>", look[verdict].class ? look[verdict].class : "other",
		 look[verdict].sign ? look[verdict].sign : "! ", verdict_name(verdict));
}

static void verdicts(const struct comparison *c, unsigned variant, struct text *out)
{
	const struct dataset *d = c->dataset;
	struct text words = { 0 };

	report_headline(c, variant, &words);
	text_add(out, "<p class=\"headline\">");
	escape_xml(out, text_get(&words));
	text_add(out, "</p>\n<ul class=\"verdicts\">\n");
	for (size_t i = 0; i < c->nfindings; i++) {
		const struct finding *f = &c->finding[i];

		if (f->variant != variant)
			continue;
		text_reset(&words);
		finding_words(c, f, &words);
		text_add(out, "<li>");
		badge(f->verdict, out);
		text_add(out, "<b>");
		html_name(out, d->cell[f->cell].name);
		text_add(out, "</b>: ");
		escape_xml(out, text_get(&words) + strlen(verdict_name(f->verdict)) + strlen(": "));
		text_add(out, "</li>\n");
	}
	text_add(out, "</ul>\n");
	text_free(&words);
}

static void notes(char *const *sentence, size_t n, const char *word, struct text *out)
{
	for (size_t i = 0; i < n; i++) {
		text_add(out, "<p class=\"note\"><b>%s:</b> ", word);
		escape_xml(out, sentence[i]);
		text_add(out, "</p>\n");
	}
}

/* A part of the text report under a heading of its own; nothing when it is empty (imports have no settings). */
static void part(const struct dataset *d, const char *title, void (*write)(const struct dataset *, struct text *),
		 size_t words, size_t deeper, struct text *out)
{
	struct text laid_out = { 0 }, rows = { 0 };

	write(d, &laid_out);
	html_rows(&rows, text_get(&laid_out), words, deeper);
	if (rows.length)
		text_add(out, "<h2>%s</h2>\n%s", title, text_get(&rows));
	out->failed |= laid_out.failed | rows.failed;
	text_free(&laid_out);
	text_free(&rows);
}

/* "HOST of A" and what is below it: values in a paragraph, then warnings with a label each. */
static void one_host(char *laid_out, bool several, struct text *out)
{
	size_t heading = strcspn(laid_out, "\n"), word = strlen("HOST");
	char *warnings = strstr(laid_out, "\n  WARNING");

	if (several && heading > word)
		text_add(out, "<h3>Host%.*s</h3>\n", (int)(heading - word), laid_out + word);
	if (warnings)
		*warnings = '\0';
	html_rows(out, laid_out, 0, 0);
	if (warnings) {
		*warnings = '\n'; /* an empty line in place of the heading */
		html_rows(out, warnings, 14, 0);
	}
}

static void hosts(const struct dataset *d, struct text *out)
{
	struct text laid_out = { 0 };
	char *next;

	report_environment(d, &laid_out);
	text_add(out, "<h2>Host</h2>\n");
	for (char *at = laid_out.data; at; at = next) {
		next = strstr(at, "\nHOST");
		if (next)
			*next++ = '\0';
		one_host(at, d->nsources > 1, out);
	}
	out->failed |= laid_out.failed;
	text_free(&laid_out);
}

/* ---- the scenario's text ---- */

static void scenario_of(const char *folder, const char *label, struct text *out)
{
	char *path = dirs_join(folder, "scenario.ini"), *bytes = malloc(MOST_SCENARIO + 1);
	FILE *in = path ? fopen(path, "r") : NULL;
	size_t n = 0;

	if (in && bytes) {
		n = fread(bytes, 1, MOST_SCENARIO, in);
		bytes[n] = '\0';
		text_add(out, "<details><summary>scenario.ini%s%s</summary>\n<pre>", *label ? " of " : "", label);
		escape_xml(out, bytes);
		text_add(out, "%s</pre></details>\n", n == MOST_SCENARIO ? "\n(cut here)" : "");
	} else {
		text_add(out, "<p>The folder%s%s holds no scenario.ini.</p>\n", *label ? " " : "", label);
	}
	if (in)
		fclose(in);
	free(bytes);
	free(path);
}

static void scenarios(const struct dataset *d, struct text *out)
{
	text_add(out, "<h2>Scenario</h2>\n");
	if (d->nsources == 0)
		scenario_of(d->path, "", out);
	for (size_t i = 0; i < d->nsources; i++)
		scenario_of(d->source[i].path, d->source[i].label, out);
}

/* Commands stay as they are, in lines that can be copied. There are none for imports. */
static void reproduce(const struct dataset *d, struct text *out)
{
	struct text commands = { 0 };
	const char *lines;

	report_reproduce(d, &commands);
	lines = strchr(text_get(&commands), '\n'); /* behind the heading */
	if (lines) {
		text_add(out, "<h2>How to run it again</h2>\n<p>%s</p>\n<pre>", d->nsources > 1 ?
			 "scenario.ini of a folder is the file that was run." :
			 "In the folder of this run; scenario.ini there is the file that was run.");
		escape_xml(out, lines + 1);
		text_add(out, "</pre>\n");
	}
	text_free(&commands);
}

/* ---- the page ---- */

void html_head(struct text *out, const char *name, const char *title, void (*style)(struct text *out))
{
	/* Names are escaped; the policy is for the mistake that nobody has found yet. */
	text_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	escape_xml(out, name);
	text_add(out, ": %s</title>\n<style>\n", title);
	html_style(out);
	if (style)
		style(out);
	text_add(out, "</style></head>\n<body><main>\n<h1>");
	html_name(out, name);
	text_add(out, "</h1>\n");
}

void html_end(struct text *out)
{
	text_add(out, "</main></body></html>\n");
}

int report_html(const struct comparison *c, const struct report_options *o, struct text *out, struct error *e)
{
	const struct dataset *d = c->dataset;

	html_head(out, d->name, "kickbench report", NULL);
	for (unsigned v = 0; v < d->nvariants; v++)
		if (v != d->baseline)
			verdicts(c, v, out);
	if (c->nfindings == 0)
		text_add(out, "<p class=\"headline\">There is no variant beside the baseline: nothing to compare.</p>\n");
	notes(c->warning, c->nwarnings, "Mind", out);
	notes(c->advice, c->nadvice, "Next", out);
	if (o->charts)
		html_charts(c, out);
	html_tables(c, out);
	part(d, "What ran", report_what_ran, 14, 0, out);
	part(d, "Settings in force, as seen in the running guests", report_in_force, 0, 20, out);
	part(d, "Trials", report_trials, 0, 0, out);
	hosts(d, out);
	scenarios(d, out);
	reproduce(d, out);
	html_end(out);
	return out->failed ? error_set(e, STATUS_HOST, "out of memory") : 0;
}
