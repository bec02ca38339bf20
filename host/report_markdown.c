#include "host/report_markdown.h"

#include <math.h>
#include <string.h>

#include "host/escape.h"
#include "host/report_sweep.h"
#include "host/report_text.h"
#include "host/report_values.h"

/* A cell of a table. Numbers of ours need no escapes: neither "[1.1, 1.2]" nor "<0.001" means anything to Markdown. */
static void cell(const char *s, struct text *out)
{
	text_add(out, " ");
	escape_markdown(out, s);
	text_add(out, " |");
}

static void ratio_cell(const struct effect *e, struct text *out)
{
	text_add(out, " ");
	report_ratio(e, out);
	text_add(out, " |");
}

static void p_cell(double p, struct text *out)
{
	text_add(out, " ");
	report_p(p, out);
	text_add(out, " |");
}

static void side_cell(const struct effect *e, enum metric metric, unsigned side, struct text *out)
{
	char text[METRIC_TEXT_SIZE];

	effect_side_text(e, metric, side, text);
	cell(text, out);
}

static void headlines(const struct comparison *c, struct text *out)
{
	const struct dataset *d = c->dataset;

	text_add(out, "### kickbench: ");
	escape_markdown(out, d->name);
	text_add(out, "\n\n");
	for (unsigned v = 0; v < d->nvariants; v++) {
		struct text line = { 0 };

		if (v == d->baseline)
			continue;
		report_headline(c, v, &line);
		text_add(out, "**");
		escape_markdown(out, text_get(&line));
		text_add(out, "**\n\n");
		text_free(&line);
	}
	if (d->nvariants < 2)
		text_add(out, "There is no variant beside the baseline: nothing to compare.\n\n");
}

/* A list that begins with a word of ours, so that no name can begin a line. */
static void sentences(const char *label, char *const *s, size_t n, struct text *out)
{
	for (size_t i = 0; i < n; i++) {
		text_add(out, "- %s: ", label);
		escape_markdown(out, s[i]);
		text_add(out, "\n");
	}
	if (n)
		text_add(out, "\n");
}

static void primary_table(const struct comparison *c, unsigned variant, struct text *out)
{
	const struct dataset *d = c->dataset;

	text_add(out, "| %s |", metric_info(d->primary)->title);
	cell(d->variant[d->baseline], out);
	cell(d->variant[variant], out);
	text_add(out, " ratio [95 %% interval] | Holm p | flip p | verdict |\n|---|---:|---:|---|---:|---:|---|\n");
	for (size_t i = 0; i < c->nfindings; i++) {
		const struct finding *f = &c->finding[i];
		const struct effect *e = &f->effect[d->primary];
		struct text words = { 0 };

		if (f->variant != variant)
			continue;
		text_add(out, "|");
		cell(d->cell[f->cell].name, out);
		side_cell(e, d->primary, 0, out);
		side_cell(e, d->primary, 1, out);
		ratio_cell(e, out);
		p_cell(f->holm, out);
		p_cell(f->sign_flip, out);
		finding_words(c, f, &words);
		cell(text_get(&words), out);
		text_free(&words);
		text_add(out, "\n");
	}
	text_add(out, "\n");
}

static void how_to_read(const struct comparison *c, struct text *out)
{
	struct text words = { 0 };

	if (c->nfindings) {
		report_how_to_read(c, &words);
		escape_markdown(out, text_get(&words));
		text_add(out, "\n\n");
	}
	text_free(&words);
}

static void other_rows(const struct comparison *c, const struct finding *f, struct text *out)
{
	const struct dataset *d = c->dataset;

	for (int m = 0; m < METRICS; m++) {
		const struct effect *e = &f->effect[m];
		const char *title = metric_info((enum metric)m)->title;

		if (m == (int)d->primary || (isnan(e->baseline) && isnan(e->candidate)))
			continue;
		text_add(out, "|");
		cell(d->cell[f->cell].name, out);
		cell(title + strspn(title, " "), out);
		side_cell(e, (enum metric)m, 0, out);
		side_cell(e, (enum metric)m, 1, out);
		ratio_cell(e, out);
		text_add(out, " %s |\n", report_note(e, (enum metric)m));
	}
}

static void other_metrics(const struct comparison *c, unsigned variant, struct text *out)
{
	const struct dataset *d = c->dataset;

	text_add(out, "#### Other metrics and cost (intervals, no verdict)\n\n| cell | metric |");
	cell(d->variant[d->baseline], out);
	cell(d->variant[variant], out);
	text_add(out, " ratio [95 %% interval] | |\n|---|---|---:|---:|---|---|\n");
	for (size_t i = 0; i < c->nfindings; i++)
		if (c->finding[i].variant == variant)
			other_rows(c, &c->finding[i], out);
	text_add(out, "\n");
}

/* Longer than any run of backticks in s, so that nothing in s ends it. */
static size_t fence_for(const char *s)
{
	size_t longest = 2;

	while (*s) {
		size_t run = strspn(s, "`");

		longest = run > longest ? run : longest;
		s += run ? run : strcspn(s, "`");
	}
	return longest + 1;
}

static void fence(size_t length, const char *after, struct text *out)
{
	while (length--)
		text_add(out, "`");
	text_add(out, "%s\n", after);
}

/* As the text report has it: columns, and lines to be copied. */
static void how_it_was_run(const struct dataset *d, struct text *out)
{
	struct text plain = { 0 };
	size_t length;

	report_what_ran(d, &plain);
	report_trials(d, &plain);
	report_environment(d, &plain);
	report_reproduce(d, &plain);
	length = fence_for(text_get(&plain));
	text_add(out, "#### How it was run\n\n");
	fence(length, "text", out);
	escape_utf8(out, text_get(&plain));
	fence(length, "", out);
	text_free(&plain);
}

int report_markdown(const struct comparison *c, const struct report_options *o, struct text *out, struct error *e)
{
	const struct dataset *d = c->dataset;

	headlines(c, out);
	sentences("Mind", c->warning, c->nwarnings, out);
	sentences("Next", c->advice, c->nadvice, out);
	if (o->layout == LAYOUT_SWEEP) {
		text_add(out, "Values are geometric means over the runs of each variant.\n\n");
		if (report_sweep_markdown(c, out, e))
			return -1;
	} else {
		for (unsigned v = 0; v < d->nvariants; v++)
			if (v != d->baseline)
				primary_table(c, v, out);
		how_to_read(c, out);
		for (unsigned v = 0; v < d->nvariants; v++)
			if (v != d->baseline)
				other_metrics(c, v, out);
	}
	how_it_was_run(d, out);
	return 0;
}
