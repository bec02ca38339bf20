#include "host/charts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/charts_private.h"
#include "host/gnuplot.h"

/* Colours tell variants apart, and so do marks, for those who see no difference in colours. */
static const struct { const char *text; int gnuplot; } marks[CHART_COLOURS] = {
	{ "\342\227\217", 7 },  /* filled circle */
	{ "\342\226\262", 9 },  /* triangle */
	{ "\342\226\240", 5 },  /* square */
	{ "\342\227\206", 13 }, /* diamond */
	{ "\342\226\274", 11 }, /* triangle, point down */
	{ "\342\234\225", 2 },  /* cross */
};

/* The baseline is the first, the others follow in their order. */
static unsigned place(const struct dataset *d, unsigned variant)
{
	return variant == d->baseline ? 0 : variant < d->baseline ? variant + 1 : variant;
}

static unsigned mark_of(const struct dataset *d, unsigned variant)
{
	return place(d, variant) % CHART_COLOURS;
}

/* Beyond six variants the same mark comes in another colour. */
unsigned chart_colour(const struct dataset *d, unsigned variant)
{
	return (place(d, variant) + place(d, variant) / CHART_COLOURS) % CHART_COLOURS;
}

const char *chart_mark(const struct dataset *d, unsigned variant)
{
	return marks[mark_of(d, variant)].text;
}

/* ---- for the files that write a kind ---- */

struct drawing *drawing_add(struct drawings *all, enum chart_kind kind, unsigned height)
{
	struct drawing *grown = realloc(all->at, (all->n + 1) * sizeof(*grown)), *d;

	if (!grown) {
		all->failed = true;
		return NULL;
	}
	all->at = grown;
	d = &grown[all->n++];
	*d = (struct drawing){ .chart.kind = kind, .height = height };
	text_add(&d->script,
		 "reset\nset terminal svg size %d,%u font 'sans-serif,%d' noenhanced butt linewidth 1\nset output\n"
		 "unset key\nset border 3\nset tics nomirror scale 0.5\nset pointintervalbox 0\n"
		 "set grid lc rgb '#0000%02x' lt 1\nset lmargin at screen 0.17\nset rmargin at screen 0.97\n",
		 CHART_WIDTH, height, CHART_LETTERS, 0x10);
	return d;
}

void drawing_label(struct drawing *d, const char *fmt, ...)
{
	struct text *grown = realloc(d->label, (d->nlabels + 1) * sizeof(*grown));
	char words[1024];
	va_list ap;

	if (!grown) {
		d->script.failed = true;
		return;
	}
	d->label = grown;
	grown[d->nlabels] = (struct text){ 0 };
	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	text_add(&grown[d->nlabels], "%s", words);
	text_add(&d->script, "'~%zu~'", d->nlabels++);
}

void drawing_mark(struct drawing *d, const struct dataset *data, unsigned variant)
{
	text_add(&d->script, "pt %d ps 0.7 lc rgb '#0000%02x'", marks[mark_of(data, variant)].gnuplot,
		 chart_colour(data, variant) + 1);
}

void drawing_line(struct drawing *d, const struct dataset *data, unsigned variant)
{
	static const char *const dash[] = { "solid", "(12,4)", "(4,3)", "(12,3,3,3)", "(2,3)", "(8,2,2,2,2,2)" };

	text_add(&d->script, "lw 1.8 dt %s lc rgb '#0000%02x'", dash[mark_of(data, variant)], chart_colour(data, variant) + 1);
}

/* ---- all of them ---- */

void drawings_free(struct drawings *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct drawing *d = &all->at[i];

		for (size_t k = 0; k < d->nlabels; k++)
			text_free(&d->label[k]);
		free(d->label);
		text_free(&d->title);
		text_free(&d->desc);
		text_free(&d->script);
		text_free(&d->chart.heading);
		text_free(&d->chart.note);
		text_free(&d->chart.svg);
	}
	free(all->at);
}

/* gnuplot writes one document after the other; what a user named, which could look like a beginning, is not in them. */
static int take_documents(struct drawings *all, const char *svg, struct error *e)
{
	const char *begin = strstr(svg, "<?xml");

	for (size_t i = 0; i < all->n; i++) {
		const char *next = begin ? strstr(begin + 1, "<?xml") : NULL;

		if (!begin || (next && i + 1 == all->n))
			return error_set(e, STATUS_HOST, "gnuplot drew another number of charts than %zu", all->n);
		drawing_finish(&all->at[i], begin, next ? (size_t)(next - begin) : strlen(begin), i == 0);
		all->failed |= all->at[i].chart.svg.failed | all->at[i].chart.note.failed | all->at[i].chart.heading.failed;
		begin = next;
	}
	return 0;
}

static int draw(struct drawings *all, struct error *e)
{
	struct text script = { 0 }, svg = { 0 };
	int rc = -1;

	text_add(&script, "set encoding utf8\n");
	for (size_t i = 0; i < all->n; i++) {
		text_add_bytes(&script, text_get(&all->at[i].script), all->at[i].script.length);
		all->failed |= all->at[i].script.failed;
	}
	if (all->failed || script.failed)
		error_set(e, STATUS_HOST, "out of memory");
	else if (gnuplot_run(text_get(&script), script.length, GNUPLOT_DEADLINE_MS, &svg, e) == 0)
		rc = take_documents(all, text_get(&svg), e);
	if (rc == 0 && (svg.failed || all->failed))
		rc = error_set(e, STATUS_HOST, "out of memory");
	text_free(&script);
	text_free(&svg);
	return rc;
}

int drawings_finish(struct drawings *all, struct charts *out, struct error *e)
{
	int rc = all->failed ? error_set(e, STATUS_HOST, "out of memory") : all->n ? draw(all, e) : 0;

	*out = (struct charts){ .chart = calloc(all->n ? all->n : 1, sizeof(*out->chart)) };
	if (!out->chart)
		rc = error_set(e, STATUS_HOST, "out of memory");
	for (size_t i = 0; i < all->n && out->chart; i++) {
		out->chart[out->n++] = all->at[i].chart;
		all->at[i].chart = (struct chart){ 0 };
	}
	drawings_free(all);
	if (rc)
		charts_free(out);
	return rc;
}

int charts_draw(const struct comparison *c, struct charts *out, struct error *e)
{
	struct drawings all = { 0 };

	charts_ratio(&all, c);
	charts_sweep(&all, c);
	charts_latency(&all, c);
	charts_time(&all, c);
	return drawings_finish(&all, out, e);
}

void charts_free(struct charts *c)
{
	for (size_t i = 0; i < c->n; i++) {
		text_free(&c->chart[i].heading);
		text_free(&c->chart[i].note);
		text_free(&c->chart[i].svg);
	}
	free(c->chart);
	*c = (struct charts){ 0 };
}
