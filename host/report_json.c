#include "host/report_json.h"

#include <math.h>

#include "host/escape.h"
#include "host/report.h"
#include "host/report_text.h"

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* Takes the text. Messages that were cut may end within a character. */
static json_t *string_of(struct text *text)
{
	struct text valid = { 0 };
	json_t *s;

	escape_utf8(&valid, text_get(text));
	s = json_string(text_get(&valid));
	text_free(&valid);
	text_free(text);
	return s;
}

static json_t *string(const char *s)
{
	struct text copy = { 0 };

	text_add(&copy, "%s", s);
	return string_of(&copy);
}

static json_t *strings(char *const *s, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, string(s[i]));
	return list;
}

static json_t *interval(double low, double high)
{
	return isnan(low) ? json_null() : json_pack("[o,o]", number(low), number(high)); /* hostile values make it infinite */
}

static json_t *effect_json(const struct effect *e, enum metric metric)
{
	const struct metric_info *info = metric_info(metric);
	const struct stats_paired *s = &e->estimate;

	return json_pack("{s:s, s:s, s:b, s:i, s:[i, i], s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "state",
			 report_state(e->kind), "unit", unit_name(info->unit), "higher_is_better",
			 info->higher_is_better, "blocks", (int)e->complete, "runs", (int)e->runs[0], (int)e->runs[1],
			 "baseline", number(e->baseline), "candidate", number(e->candidate), "ratio",
			 number(s->ratio), "interval95", interval(s->low95, s->high95), "interval90",
			 interval(s->low90, s->high90), "p", number(s->p), "log_sd", number(s->sd));
}

static json_t *finding_json(const struct comparison *c, const struct finding *f)
{
	const struct dataset *d = c->dataset;
	json_t *metrics = json_object();
	unsigned complete = f->effect[d->primary].complete, planned = d->nblocks;
	struct text words = { 0 };

	for (int m = 0; m < METRICS; m++)
		json_object_set_new(metrics, metric_info((enum metric)m)->name,
				    effect_json(&f->effect[m], (enum metric)m));
	if (!d->paired) /* as complete: of the side that has fewer */
		planned = f->planned[0] < f->planned[1] ? f->planned[0] : f->planned[1];
	finding_words(c, f, &words);
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:{s:i, s:i}, s:o, s:o, s:b, s:o, s:o, s:o}", "variant",
			 d->variant[f->variant], "baseline", d->variant[d->baseline], "cell", d->cell[f->cell].name,
			 "guest", d->cell[f->cell].guest, "verdict", verdict_name(f->verdict), "words",
			 string_of(&words), "blocks", "complete", (int)complete, "planned",
			 (int)planned, "holm_p", number(f->holm), "sign_flip_p", number(f->sign_flip), "sign_flip_sampled",
			 f->draws > 0,
			 "blocks_needed", f->blocks_needed ? json_integer((json_int_t)f->blocks_needed) : json_null(),
			 "trial", f->culprit ? json_integer(f->culprit) : json_null(), "metrics", metrics);
}

static json_t *run_json(const json_t *from)
{
	static const char *const key[] = { "kickbench", "started", "scenario", "seed", "accel", "machines", "versions", "guests",
					   "variants", "environment", "sessions" };
	json_t *run = json_object();

	for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
		json_t *value = json_object_get(from, key[i]);

		json_object_set(run, key[i], value ? value : json_null());
	}
	return run;
}

/* Only where there are several: of one folder "run" tells all, and its path is of no use to a reader elsewhere. */
static json_t *sources_json(const struct dataset *d)
{
	json_t *sources = json_array();

	for (size_t i = 0; d->nsources > 1 && i < d->nsources; i++)
		json_array_append_new(sources, json_pack("{s:o, s:o, s:o}", "label", string(d->source[i].label), "path",
							 string(d->source[i].path), "run", run_json(d->source[i].run)));
	return sources;
}

static json_t *effective_json(const struct dataset *d)
{
	json_t *effective = json_object();

	for (size_t v = 0; v < d->nvariants; v++)
		json_object_set(effective, d->variant[v], json_array_get(d->effective, v));
	return effective;
}

static json_t *problems_json(const struct dataset *d)
{
	json_t *problems = json_array();

	for (size_t i = 0; i < d->nproblems; i++) {
		const struct problem *p = &d->problem[i];

		json_array_append_new(problems, json_pack("{s:i, s:i, s:s, s:s, s:s, s:o}", "trial", (int)p->trial,
							  "block", (int)p->block, "cell", d->cell[p->cell].name, "variant",
							  d->variant[p->variant], "status", observed_name(p->status),
							  "message", p->message ? string(p->message) : json_null()));
	}
	return problems;
}

json_t *report_json(const struct comparison *c)
{
	const struct dataset *d = c->dataset;
	json_t *headlines = json_array(), *findings = json_array();

	for (unsigned v = 0; v < d->nvariants; v++) {
		struct text line = { 0 };

		if (v == d->baseline)
			continue;
		report_headline(c, v, &line);
		json_array_append_new(headlines, string_of(&line));
	}
	for (size_t i = 0; i < c->nfindings; i++)
		json_array_append_new(findings, finding_json(c, &c->finding[i]));
	return json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:O, s:{s:I, s:I, s:I, s:I}, s:o}", "schema",
			 "kickbench-report/1", "name", d->name, "primary", d->primary_name, "paired", d->paired, "headlines",
			 headlines, "warnings", strings(c->warning, c->nwarnings), "advice", strings(c->advice, c->nadvice),
			 "run", run_json(d->run), "sources", sources_json(d), "findings", findings,
			 "sign_flip_hopeless", compare_sign_flip_hopeless(c),
			 "effective", effective_json(d), "seen", d->seen, "trials", "planned", (json_int_t)d->ntrials,
			 "counted", (json_int_t)d->nok, "cut", (json_int_t)d->ncut, "stray", (json_int_t)d->nstray,
			 "problems", problems_json(d));
}
