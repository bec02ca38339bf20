/* What to run next: more boots or more repeats, and how many blocks the unclear cells need. */
#include <math.h>
#include <stdlib.h>

#include "host/compare_private.h"
#include "host/stats_checks.h"

static int advise(struct comparison *c, struct text *sentence)
{
	return compare_say(&c->advice, &c->nadvice, sentence);
}

/* ---- between boots and within ---- */

static int by_place(const void *a, const void *b)
{
	const struct point *x = *(const struct point *const *)a, *y = *(const struct point *const *)b;

	if (x->cell != y->cell)
		return x->cell < y->cell ? -1 : 1;
	if (x->variant != y->variant)
		return x->variant < y->variant ? -1 : 1;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return (x->trial > y->trial) - (x->trial < y->trial);
}

/* The points of all cells, sorted: those of one cell, variant and block follow each other. */
struct places {
	const struct point **point;
	size_t n;
	double *value; /* of one finding */
	unsigned *group;
};

static size_t first_of(const struct places *p, unsigned cell, unsigned variant, unsigned block)
{
	struct point key = { .cell = cell, .variant = variant, .block = block };
	const struct point *at = &key;
	size_t low = 0, high = p->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_place(&p->point[middle], &at) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct places *p, size_t i, unsigned cell, unsigned variant, unsigned block)
{
	return i < p->n && p->point[i]->cell == cell && p->point[i]->variant == variant && p->point[i]->block == block;
}

/*
 * Paired data: the k-th repeat of the candidate against the k-th of the baseline in the same block, grouped by
 * block. What a block shares cancels, as it does in the effect.
 */
static size_t paired_values(const struct dataset *d, const struct finding *f, struct places *p)
{
	size_t n = 0;

	for (unsigned block = 0; block < d->nblocks; block++) {
		size_t i = first_of(p, f->cell, f->variant, block), k = first_of(p, f->cell, d->baseline, block);

		while (is_at(p, i, f->cell, f->variant, block) && is_at(p, k, f->cell, d->baseline, block)) {
			double candidate = p->point[i]->value[d->primary], baseline = p->point[k]->value[d->primary];

			if (d->disks && p->point[k]->boot != p->point[i]->boot) { /* another candidate's baseline */
				k++;
				continue;
			}
			if (candidate > 0 && baseline > 0) {
				p->value[n] = log(candidate / baseline);
				p->group[n++] = block;
			}
			i++;
			k++;
		}
	}
	return n;
}

/* Each side around its own mean, grouped by boot. */
static size_t unpaired_values(const struct dataset *d, const struct finding *f, struct places *p)
{
	unsigned side[2] = { d->baseline, f->variant };
	size_t n = 0;

	for (unsigned s = 0; s < 2; s++) {
		size_t from = n;
		double sum = 0;

		for (size_t i = first_of(p, f->cell, side[s], 0); i < p->n && p->point[i]->cell == f->cell &&
		     p->point[i]->variant == side[s]; i++) {
			double value = p->point[i]->value[d->primary];

			if (!(value > 0))
				continue;
			p->value[n] = log(value);
			p->group[n] = 2 * p->point[i]->block + s;
			sum += p->value[n++];
		}
		for (size_t i = from; i < n; i++)
			p->value[i] -= sum / (double)(n - from);
	}
	return n;
}

static int add_up(const struct comparison *c, struct places *p, struct stats_variance *sum, size_t *cells)
{
	const struct dataset *d = c->dataset;

	for (size_t i = 0; i < c->nfindings; i++) {
		const struct finding *f = &c->finding[i];
		struct stats_variance v;
		size_t n;

		if (f->effect[d->primary].kind != EFFECT_INTERVAL)
			continue;
		n = d->paired ? paired_values(d, f, p) : unpaired_values(d, f, p);
		if (stats_variance(p->value, p->group, n, &v))
			return -1;
		if (!isfinite(v.between_var) || !isfinite(v.within_var))
			continue;
		sum->between_var += v.between_var;
		sum->within_var += v.within_var;
		++*cells;
	}
	return 0;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * What a boot and one repeat of all its cells cost, from when trials began: the mean step within a boot, the
 * median step between boots (a pause is no boot). NAN: not told.
 */
static int costs(const struct dataset *d, double *boot_s, double *repeat_s)
{
	double *gap = calloc(d->npoints, sizeof(*gap)), steps = 0;
	size_t ngaps = 0, nsteps = 0;

	*boot_s = *repeat_s = NAN;
	if (!gap)
		return -1;
	for (size_t i = 1; i < d->npoints; i++) {
		double step = d->point[i].started - d->point[i - 1].started;

		if (!(step >= 0))
			continue;
		if (d->point[i].boot != d->point[i - 1].boot) {
			gap[ngaps++] = step;
		} else {
			steps += step;
			nsteps++;
		}
	}
	if (ngaps && nsteps && steps > 0) {
		double trial = steps / (double)nsteps;

		qsort(gap, ngaps, sizeof(*gap), by_size);
		*boot_s = fmax(0, gap[ngaps / 2] - trial);
		*repeat_s = trial * (double)(nsteps + ngaps + 1) / (double)(ngaps + 1) / d->repeats;
	}
	free(gap);
	return 0;
}

static void variance_words(const struct comparison *c, const struct stats_variance *v, double boot_s, double repeat_s,
			   struct text *out)
{
	const struct dataset *d = c->dataset;
	double all = v->between_var + v->within_var, best = stats_best_repeats(v, boot_s, repeat_s);

	text_add(out, "%.0f %% of the variance of %s is between boots, %.0f %% between the repeats of a boot",
		 100 * v->between_var / all, metric_info(d->primary)->title, 100 * v->within_var / all);
	if (isnan(best))
		text_add(out, v->between_var > v->within_var / d->repeats ? ": more blocks help, more repeats hardly do"
									   : ": more repeats per boot help as well as more blocks");
	else if (best > 1.5 * d->repeats && isfinite(best))
		text_add(out, ": repeats are cheaper than boots here (a boot costs %.2g s, a repeat of its cells %.2g s), about %.0f per "
			      "boot would be best", boot_s, repeat_s, best);
	else if (best > 1.5 * d->repeats)
		text_add(out, ": boots do not differ more than their repeats do, and more repeats per boot help as more blocks would");
	else if (best < d->repeats / 1.5)
		text_add(out, ": more blocks help, repeats hardly do; with %.0f repeat%s per boot the same time gives a narrower "
			      "interval", best, best < 1.5 ? "" : "s");
	else
		text_add(out, ": %u repeats per boot are about right, more blocks help", d->repeats);
}

static int variance(struct comparison *c)
{
	const struct dataset *d = c->dataset;
	struct places p = { .n = d->npoints };
	struct stats_variance sum = { 0 };
	struct text t = { 0 };
	double boot_s, repeat_s;
	size_t cells = 0;
	int rc = -1;

	if (d->repeats < 2 || d->npoints == 0 || c->nfindings == 0)
		return 0;
	p.point = calloc(p.n, sizeof(*p.point));
	p.value = calloc(p.n, sizeof(*p.value));
	p.group = calloc(p.n, sizeof(*p.group));
	if (!p.point || !p.value || !p.group)
		goto out;
	for (size_t i = 0; i < p.n; i++)
		p.point[i] = &d->point[i];
	qsort(p.point, p.n, sizeof(*p.point), by_place);
	if (add_up(c, &p, &sum, &cells) || costs(d, &boot_s, &repeat_s))
		goto out;
	rc = 0;
	if (cells && sum.between_var + sum.within_var > 0) {
		variance_words(c, &sum, boot_s, repeat_s, &t);
		rc = advise(c, &t);
	}
out:
	free(p.point);
	free(p.value);
	free(p.group);
	return rc;
}

/* ---- how many ---- */

static int unclear_cells(struct comparison *c)
{
	const struct dataset *d = c->dataset;
	const struct finding *most = NULL;
	unsigned open = 0;
	struct text t = { 0 };

	for (size_t i = 0; i < c->nfindings; i++) {
		const struct finding *f = &c->finding[i];

		if (f->verdict != VERDICT_UNCLEAR || f->blocks_needed == 0)
			continue;
		open++;
		if (!most || f->blocks_needed > most->blocks_needed)
			most = f;
	}
	if (!most)
		return 0;
	text_add(&t, "a new run of about %zu %s settles ", most->blocks_needed, d->paired ? "blocks" : "runs per side");
	if (open == 1)
		text_add(&t, "what is unclear in %s", d->cell[most->cell].name);
	else
		text_add(&t, "the %u unclear comparisons (%s needs most)", open, d->cell[most->cell].name);
	text_add(&t, ", if the sizes seen here are the true ones; adding to this run until it looks right would not be a test");
	return advise(c, &t);
}

static int single_runs(struct comparison *c)
{
	struct text t = { 0 };

	if (c->count[VERDICT_SINGLE] == 0)
		return 0;
	text_add(&t, c->dataset->paired ? "run more than one block: two give an interval, if a wide one, eight are the default"
					 : "run either side several times, in turns: two runs each give an interval, if a wide one");
	return advise(c, &t);
}

int compare_advise(struct comparison *c)
{
	return single_runs(c) || variance(c) || unclear_cells(c) ? -1 : 0;
}
