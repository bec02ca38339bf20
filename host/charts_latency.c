/*
 * Latency by percentile, the tail spread out: x = -log10(1 - percentile/100). The histograms come from the trial files,
 * read again here, added up over the trials of a variant. Where a file has percentiles and no histogram (text of fio),
 * they are drawn as marks.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/charts_private.h"

#define HEIGHT 270
#define MOST_READ 1000 /* trial files for all charts together */
#define LEAST_READ 4   /* for a curve */
#define STEPS 120      /* points of a curve */
#define MOST_NINES 5.0 /* 99.999 % */
#define PERCENTILES 24

struct percentile {
	double percent, log_sum;
	size_t n;
};

struct curve {
	struct measured sum; /* its clat */
	uint64_t total;
	struct percentile at[PERCENTILES]; /* of files without a histogram */
	size_t npercentiles, trials, read;
};

/* ---- reading ---- */

static const char *folder_of(const struct dataset *d, const struct point *p)
{
	return d->nsources > p->source ? d->source[p->source].path : d->path;
}

static json_t *read_trial(const struct dataset *d, const struct point *p)
{
	struct text name = { 0 };
	json_t *trial = NULL;

	text_add(&name, "%s/trials/%06u.json", folder_of(d, p), p->trial);
	if (!name.failed)
		trial = json_load_file(text_get(&name), 0, NULL);
	text_free(&name);
	return trial;
}

/* The direction that did more. */
static const json_t *busiest(const json_t *trial)
{
	const json_t *job = json_array_get(json_object_get(json_object_get(trial, "fio"), "jobs"), 0);
	const json_t *read = json_object_get(job, "read"), *write = json_object_get(job, "write");

	if (!read && !write)
		return json_object_get(job, "mixed") ?: json_object_get(job, "trim");
	return json_integer_value(json_object_get(write, "total_ios")) > json_integer_value(json_object_get(read, "total_ios")) ?
	       write : read;
}

static void take_percentiles(struct curve *c, const json_t *trial)
{
	const json_t *direction = busiest(trial), *clat = json_object_get(direction, "clat_ns");
	const char *key;
	json_t *value;

	if (!json_object_get(clat, "percentile"))
		clat = json_object_get(direction, "lat_ns");
	json_object_foreach(json_object_get(clat, "percentile"), key, value) {
		double percent = strtod(key, NULL), ns = json_number_value(value);
		size_t i = 0;

		if (!(percent > 0 && percent < 100) || !(ns > 0))
			continue;
		while (i < c->npercentiles && c->at[i].percent != percent)
			i++;
		if (i == PERCENTILES)
			continue;
		if (i == c->npercentiles)
			c->at[c->npercentiles++] = (struct percentile){ .percent = percent };
		c->at[i].log_sum += log(ns);
		c->at[i].n++;
	}
}

static int by_percent(const void *a, const void *b)
{
	const struct percentile *x = a, *y = b;

	return (x->percent > y->percent) - (x->percent < y->percent);
}

/* The trials of a cell and variant, at most `most` of them, evenly spread. */
static void read_curve(const struct dataset *d, size_t cell, unsigned variant, size_t most, struct curve *c)
{
	size_t step, seen = 0;

	*c = (struct curve){ 0 };
	for (size_t i = 0; i < d->npoints; i++)
		c->trials += d->point[i].cell == cell && d->point[i].variant == variant;
	step = c->trials ? (c->trials + most - 1) / most : 1;
	for (size_t i = 0; i < d->npoints; i++) {
		const struct point *p = &d->point[i];
		struct error e = { 0 };
		json_t *trial;

		if (p->cell != cell || p->variant != variant || seen++ % step)
			continue;
		trial = read_trial(d, p);
		if (!trial)
			continue;
		if (measured_add(&c->sum, trial, &e) == 0) {
			c->read++;
			take_percentiles(c, trial);
		}
		json_decref(trial);
	}
	c->total = histogram_total(&c->sum.clat);
	qsort(c->at, c->npercentiles, sizeof(c->at[0]), by_percent);
}

/* ---- drawing ---- */

static double nines(double percent)
{
	return -log10(1 - percent / 100);
}

/* As far as the data go: beyond the last but ten I/Os a curve is a matter of luck. */
static double end_of(const struct curve *c)
{
	if (c->total && histogram_percentile(&c->sum.clat, 100) == 0)
		return 0; /* a logarithm has no place for it */
	if (c->total)
		return fmin(MOST_NINES, fmax(1, log10((double)c->total / 10)));
	return c->npercentiles ? fmin(MOST_NINES, nines(c->at[c->npercentiles - 1].percent)) : 0;
}

static void add_data(struct drawing *g, const struct curve *c, unsigned variant, struct range *y)
{
	double end = end_of(c);

	text_add(&g->script, "$d%u <<EOD\n", variant);
	for (int i = 0; c->total && i <= STEPS; i++) {
		double x = end * i / STEPS, ns = (double)histogram_percentile(&c->sum.clat, 100 * (1 - pow(10, -x)));

		if (!(ns > 0))
			continue;
		range_take(y, ns);
		text_add(&g->script, "%.4f %.9g\n", x, ns);
	}
	for (size_t i = 0; !c->total && i < c->npercentiles; i++) {
		double x = nines(c->at[i].percent), ns = exp(c->at[i].log_sum / (double)c->at[i].n);

		if (x > end + 1e-9)
			continue;
		range_take(y, ns);
		text_add(&g->script, "%.4f %.9g\n", x, ns);
	}
	text_add(&g->script, "NaN NaN\nEOD\n");
}

static void describe(struct drawing *g, const struct dataset *d, const struct curve *c, unsigned variant)
{
	static const double percent[] = { 50, 99, 99.9 };
	bool first = true;

	for (size_t i = 0; i < 3; i++) {
		char value[METRIC_TEXT_SIZE];
		double ns = c->total ? (double)histogram_percentile(&c->sum.clat, percent[i]) : NAN;

		for (size_t k = 0; !c->total && k < c->npercentiles; k++)
			if (fabs(c->at[k].percent - percent[i]) < 1e-6)
				ns = exp(c->at[k].log_sum / (double)c->at[k].n);
		if (isnan(ns))
			continue;
		metric_text(UNIT_NS, ns, value);
		text_add(&g->desc, "%s%s %s at %g %%", first ? d->variant[variant] : ",", first ? ":" : "", value, percent[i]);
		first = false;
	}
	if (!first)
		text_add(&g->desc, ". ");
}

static void frame(struct drawing *g, double end, struct range *y)
{
	static const char *const tick[] = { "50", "90", "99", "99.9", "99.99", "99.999" };

	range_pad(y, true);
	axis_set(g, 'y', y, true, UNIT_NS);
	text_add(&g->script, "set xrange [0:%.9g]\nset xtics ('0' 0", end);
	for (size_t i = 0; i < sizeof(tick) / sizeof(tick[0]); i++)
		text_add(&g->script, ", '%s' %.9g", tick[i], nines(strtod(tick[i], NULL)));
	text_add(&g->script, ")\nset bmargin at screen %.9g\nset tmargin at screen %.9g\nset rmargin at screen 0.95\n"
		 "set xlabel 'per cent of I/Os that are at least as fast' offset 0,0.3\n"
		 "set label 'completion latency' at screen 0.02, screen %.9g left\n", 46.0 / HEIGHT, 1 - 26.0 / HEIGHT,
		 1 - 10.0 / HEIGHT);
}

static void tell(struct drawing *g, const struct dataset *d, size_t cell, const struct curve *curve)
{
	size_t trials = 0, read = 0;
	bool marks = false, several = false;

	for (size_t v = 0; v < d->nvariants; v++) {
		trials += curve[v].trials;
		read += curve[v].read;
		if (!curve[v].total && curve[v].npercentiles) {
			marks = true;
			several |= curve[v].read > 1;
		}
	}
	text_add(&g->title, "Latency by percentile, %s", d->cell[cell].name);
	text_add(&g->chart.heading, "%s", d->cell[cell].name);
	if (marks)
		text_add(&g->chart.note, "Marks: percentiles that fio printed, of the direction with more I/Os%s. ",
			 several ? "; geometric means over the runs" : "");
	if (read < trials)
		text_add(&g->chart.note, "From %zu of %zu trials, evenly spread.", read, trials);
}

static void draw(struct drawings *all, const struct dataset *d, size_t cell, const struct curve *curve)
{
	struct range y = RANGE_NONE;
	struct drawing *g;
	double end = 0;

	for (size_t v = 0; v < d->nvariants; v++)
		end = fmax(end, end_of(&curve[v]));
	if (!(end > 0))
		return;
	g = drawing_add(all, CHART_LATENCY, HEIGHT);
	if (!g)
		return;
	for (unsigned v = 0; v < d->nvariants; v++) {
		add_data(g, &curve[v], v, &y);
		describe(g, d, &curve[v], v);
	}
	frame(g, end, &y);
	text_add(&g->script, "plot ");
	for (unsigned v = 0; v < d->nvariants; v++) {
		text_add(&g->script, "%s$d%u using 1:2 with lines ", v ? ", " : "", v);
		drawing_line(g, d, v);
		/* a few marks on a curve tell it by more than colour */
		text_add(&g->script, ", $d%u using 1:2 every %d::%u with points ", v, curve[v].total ? STEPS / 6 : 1,
			 curve[v].total ? v * 7 % (STEPS / 6) : 0);
		drawing_mark(g, d, v);
	}
	text_add(&g->script, "\n");
	tell(g, d, cell, curve);
}

void charts_latency(struct drawings *all, const struct comparison *c)
{
	const struct dataset *d = c->dataset;
	size_t cells = d->ncells < CHARTS_CELLS ? d->ncells : CHARTS_CELLS, most = MOST_READ / (cells * d->nvariants);
	struct curve *curve = calloc(d->nvariants, sizeof(*curve));

	all->failed |= !curve;
	most = most > LEAST_READ ? most : LEAST_READ;
	for (size_t cell = 0; curve && cell < cells; cell++) {
		for (unsigned v = 0; v < d->nvariants; v++)
			read_curve(d, cell, v, most, &curve[v]);
		draw(all, d, cell, curve);
	}
	free(curve);
}
