#include "host/report_csv.h"

#include <math.h>
#include <string.h>

#include "host/escape.h"
#include "host/report_sweep.h"

void report_csv_number(struct text *out, double value)
{
	if (isfinite(value))
		text_add(out, "%.12g", value);
}

static void text_field(struct text *out, const char *s)
{
	escape_csv(out, s);
	text_add(out, ",");
}

static void number_field(struct text *out, double value)
{
	report_csv_number(out, value);
	text_add(out, ",");
}

/* A title may be indented for a table. */
static void words_field(const struct comparison *c, const struct finding *f, enum metric metric, struct text *out)
{
	struct text words = { 0 };

	if (metric == c->dataset->primary)
		finding_words(c, f, &words);
	else
		effect_words(&f->effect[metric], metric, &words);
	text_field(out, text_get(&words) + strspn(text_get(&words), " "));
	text_free(&words);
}

static void row(const struct comparison *c, const struct finding *f, enum metric metric, struct text *out)
{
	const struct dataset *d = c->dataset;
	const struct metric_info *info = metric_info(metric);
	const struct effect *e = &f->effect[metric];
	const struct stats_paired *s = &e->estimate;
	bool primary = metric == d->primary;

	text_field(out, d->variant[f->variant]);
	text_field(out, d->variant[d->baseline]);
	text_field(out, d->cell[f->cell].name);
	text_field(out, d->cell[f->cell].guest);
	text_field(out, info->name);
	text_field(out, primary ? verdict_name(f->verdict) : "");
	words_field(c, f, metric, out);
	text_field(out, report_state(e->kind));
	text_field(out, unit_name(info->unit));
	text_add(out, "%s,%u,%u,%u,", info->higher_is_better ? "higher" : "lower", e->complete, e->runs[0], e->runs[1]);
	number_field(out, e->baseline);
	number_field(out, e->candidate);
	number_field(out, s->ratio);
	number_field(out, s->low95);
	number_field(out, s->high95);
	number_field(out, s->low90);
	number_field(out, s->high90);
	number_field(out, s->p);
	number_field(out, primary ? f->holm : NAN);
	report_csv_number(out, primary ? f->sign_flip : NAN);
	text_add(out, "\r\n");
}

int report_csv(const struct comparison *c, const struct report_options *o, struct text *out, struct error *e)
{
	if (o->layout == LAYOUT_SWEEP)
		return report_sweep_csv(c, out, e);
	text_add(out, "candidate,baseline,cell,guest,metric,verdict,words,state,unit,direction,blocks,runs_baseline,"
		      "runs_candidate,baseline_value,candidate_value,ratio,low95,high95,low90,high90,p,holm_p,flip_p\r\n");
	for (size_t i = 0; i < c->nfindings; i++)
		for (int m = 0; m < METRICS; m++)
			row(c, &c->finding[i], (enum metric)m, out);
	return 0;
}
