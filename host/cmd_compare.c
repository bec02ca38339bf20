#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/command.h"
#include "host/compare.h"
#include "host/compare_input.h"
#include "host/kick.h"
#include "host/matrix_print.h"
#include "host/parse.h"
#include "host/report.h"
#include "host/scenario.h"
#include "host/view.h"

struct options {
	const char *metric, *margin, *fail_margin, *alpha, *fail_on, *group_by, *baseline;
	const char *input[2];
	size_t ninputs;
	bool explain;
	struct report_request report;
};

static int parse(int argc, char **argv, struct options *o, struct error *e)
{
	static const struct option longs[] = {
		{ "metric", required_argument, NULL, 'm' }, { "margin", required_argument, NULL, 'n' },
		{ "fail-margin", required_argument, NULL, 'g' }, { "alpha", required_argument, NULL, 'a' },
		{ "fail-on", required_argument, NULL, 'f' }, { "group-by", required_argument, NULL, 'b' },
		{ "baseline", required_argument, NULL, 'l' },
		{ "explain", no_argument, NULL, 'x' }, REPORT_LONG_OPTIONS, { NULL, 0, NULL, 0 },
	};
	const char **const value[] = { ['m'] = &o->metric, ['n'] = &o->margin, ['g'] = &o->fail_margin, ['a'] = &o->alpha,
				       ['f'] = &o->fail_on, ['b'] = &o->group_by, ['l'] = &o->baseline };
	int c = 0, more, taken;

	while ((more = command_option("compare", argc, argv, longs, &c, e)) > 0) {
		taken = report_option(c, optarg, &o->report, e);
		if (taken < 0)
			return -1;
		if (c == 'x')
			o->explain = true;
		else if (!taken)
			*value[c] = optarg;
	}
	if (more || report_check(&o->report, e))
		return -1;
	o->ninputs = (size_t)(argc - optind);
	if (o->ninputs < 1 || o->ninputs > 2)
		return error_set(e, STATUS_USAGE, "compare takes one run folder or two (FOLDER, FOLDER:VARIANT or a file of fio's output): "
				 "here are %zu", o->ninputs);
	for (size_t i = 0; i < o->ninputs; i++)
		o->input[i] = argv[optind + (int)i];
	return 0;
}

/* ---- what is compared ---- */

static int group_of(const char *word, enum view_group *by, struct error *e)
{
	static const char *const words[] = { "variant", "guest", "workload", NULL };
	int i = word ? parse_word(word, words) : 0;

	if (i < 0)
		return error_set(e, STATUS_USAGE, "--group-by %s: expected guest, workload or variant", word);
	*by = i == 1 ? VIEW_GUEST : i == 2 ? VIEW_WORKLOAD : VIEW_VARIANT;
	return 0;
}

/* *view stays NULL where the folder is compared as it is. */
static int look_at_one(const struct compare_input *in, enum view_group by, struct dataset **view, struct error *e)
{
	const struct dataset *d = in->d;

	if (by != VIEW_VARIANT) {
		if (in->variant)
			return error_set(e, STATUS_USAGE, "--group-by %s compares within every variant: leave out \":%s\"",
					 by == VIEW_GUEST ? "guest" : "workload", in->variant);
		return view_group(d, by, view, e);
	}
	if (in->variant)
		return view_variants(d, d->variant[d->baseline], in->variant, view, e);
	if (d->nvariants < 2)
		return error_set(e, STATUS_USAGE, "%s has one variant, %s: there is nothing to compare. Name a second folder, or --group-by",
				 in->path, d->variant[0]);
	return 0;
}

static int look_at_two(const struct compare_input in[2], enum view_group by, struct dataset **view, struct error *e)
{
	struct view_side side[2] = { { in[0].d, in[0].variant }, { in[1].d, in[1].variant } };

	if (by != VIEW_VARIANT)
		return error_set(e, STATUS_USAGE, "--group-by looks into one folder: here are two");
	if (!compare_input_same(&in[0], &in[1]))
		return view_folders(side, view, e);
	if (!in[0].variant || !in[1].variant)
		return error_set(e, STATUS_USAGE, "%s twice: name a variant of either, as FOLDER:VARIANT", in[0].path);
	return view_variants(in[0].d, in[0].variant, in[1].variant, view, e);
}

/* ---- how it is judged ---- */

static int take_fraction(const char *option, const char *text, const char *key, bool zero, double *value, json_t *scenario,
			 struct error *e)
{
	if (!text)
		return 0;
	if (parse_fraction(text, value) || (*value <= 0 && !zero))
		return error_set(e, STATUS_USAGE, "%s %s: expected a part of 1 like 3%% or 0.03", option, text);
	json_object_set_new(scenario, key, json_real(*value));
	return 0;
}

static int take_metric(const char *name, struct dataset *d, json_t *scenario, struct error *e)
{
	enum metric metric = metric_find(name);
	struct text t = { 0 };

	if (metric == METRICS) {
		for (int m = 0; m < METRICS; m++)
			text_add(&t, "%s%s", m ? ", " : "", metric_info((enum metric)m)->name);
		error_set(e, STATUS_USAGE, "--metric %s: expected one of %s", name, text_get(&t));
		text_free(&t);
		return -1;
	}
	if (metric != d->primary) {
		json_t *notes = json_object_get(d->run, "notes");

		if (!notes)
			json_object_set_new(d->run, "notes", notes = json_array());
		text_add(&t, "%s was chosen now, the runs were made for %s: Holm's correction covers the cells, not a choice among metrics",
			 metric_info(metric)->title, metric_info(d->primary)->title);
		json_array_append_new(notes, json_string(text_get(&t)));
		text_free(&t);
	}
	d->primary = metric;
	d->primary_name = metric_info(metric)->name;
	json_object_set_new(scenario, "primary", json_string(d->primary_name));
	return 0;
}

static int take_baseline(const char *name, struct dataset *d, json_t *scenario, struct error *e)
{
	struct text names = { 0 };
	unsigned v = 0;

	while (v < d->nvariants && strcmp(d->variant[v], name) != 0)
		v++;
	if (v < d->nvariants && d->disks && v != d->baseline)
		return error_set(e, STATUS_USAGE, "--baseline %s: with pairing = disks every boot holds a disk of %s, which is the baseline",
				 name, d->variant[d->baseline]);
	if (v < d->nvariants) {
		d->baseline = v;
		json_object_set_new(scenario, "baseline", json_string(name));
		return 0;
	}
	for (v = 0; v < d->nvariants; v++)
		text_add(&names, "%s%s", v ? ", " : "", d->variant[v]);
	error_set(e, STATUS_USAGE, "--baseline %s: expected one of %s", name, text_get(&names));
	text_free(&names);
	return -1;
}

static int take_options(const struct options *o, struct dataset *d, struct error *e)
{
	json_t *scenario = json_object_get(d->run, "scenario");

	if (take_fraction("--margin", o->margin, "margin", false, &d->margin, scenario, e) ||
	    take_fraction("--fail-margin", o->fail_margin, "fail_margin", true, &d->fail_margin, scenario, e) ||
	    take_fraction("--alpha", o->alpha, "alpha", false, &d->alpha, scenario, e))
		return -1;
	if (o->fail_on && fail_on_parse(o->fail_on, &d->fail_on, e))
		return error_context(e, "--fail-on");
	if (o->baseline && take_baseline(o->baseline, d, scenario, e))
		return -1;
	return o->metric ? take_metric(o->metric, d, scenario, e) : 0;
}

/* ---- what comes of it ---- */

/* 1 when a verdict of fail_on occurred, else 3 when something that was to be compared is not there. */
static int outcome(const struct comparison *c, struct error *e)
{
	const struct dataset *d = c->dataset;

	if (compare_fail(c, d->fail_on))
		return STATUS_FAILED;
	if (d->nok == 0)
		error_set(e, STATUS_INCOMPLETE, "no trial of %s counts: there is nothing to compare", d->path);
	else if (d->nok < d->ntrials)
		error_set(e, STATUS_INCOMPLETE, "%zu of %zu trials do not count: the comparison is incomplete", d->ntrials - d->nok,
			  d->ntrials);
	else if (c->count[VERDICT_INCOMPLETE])
		error_set(e, STATUS_INCOMPLETE, "%u of %zu comparisons lack a side's data", c->count[VERDICT_INCOMPLETE], c->nfindings);
	return e->status;
}

static int report(const struct options *o, const struct dataset *d, struct error *e)
{
	struct comparison *c;
	int status;

	if (compare(d, &c, e))
		return e->status;
	status = report_send(c, &o->report, e) ? e->status : outcome(c, e);
	comparison_free(c);
	return status;
}

/* Two runs beside each other: only told, nothing is judged. */
static int explain(const struct options *o, const struct compare_input in[2], struct error *e)
{
	struct dataset *view[2] = { NULL, NULL };
	struct text text = { 0 };
	int status = 0;

	if (o->ninputs != 2)
		return error_set(e, STATUS_USAGE, "--explain takes two runs, the guest's and the probe's: here is one");
	for (int i = 0; i < 2 && status == 0; i++)
		if (in[i].variant)
			status = view_variants(in[i].d, in[i].d->variant[in[i].d->baseline], in[i].variant, &view[i], e);
	if (status == 0)
		status = kick_explain(view[0] ? view[0] : in[0].d, view[1] ? view[1] : in[1].d, &text, e);
	if (status == 0)
		fputs(text_get(&text), stdout);
	text_free(&text);
	dataset_free(view[0]);
	dataset_free(view[1]);
	return status;
}

/* ---- regression matrices ---- */

/* 1: the inputs are two of them; 0: none is. */
static int matrices(const struct options *o, struct error *e)
{
	const char *option = o->metric ? "--metric" : o->margin ? "--margin" : o->fail_margin ? "--fail-margin" : o->alpha ? "--alpha" :
			     o->fail_on ? "--fail-on" : o->group_by ? "--group-by" : o->baseline ? "--baseline" : o->explain ? "--explain" : NULL;
	bool is[2] = { false, false };

	for (size_t i = 0; i < o->ninputs; i++)
		is[i] = matrix_folder_is(o->input[i]);
	if (!is[0] && !is[1])
		return 0;
	if (o->ninputs == 1)
		return error_set(e, STATUS_USAGE, "%s is a regression matrix, which is compared with another: name a second one", o->input[0]);
	if (is[0] != is[1]) {
		const char *matrix = o->input[is[1]], *other = o->input[!is[1]];

		if (!strchr(other, ':') && access(other, F_OK))
			return error_errno(e, STATUS_USAGE, "%s", other);
		return error_set(e, STATUS_USAGE, "%s is a regression matrix and %s is not: nothing of them can be compared", matrix, other);
	}
	if (option)
		return error_set(e, STATUS_USAGE, "%s is for runs that were measured: here are two regression matrices", option);
	return 1;
}

static int compare_runs(const struct options *o, enum view_group by, struct error *e)
{
	struct compare_input in[2] = { { 0 } };
	struct dataset *view = NULL, *d;
	int status = -1;

	for (size_t i = 0; i < o->ninputs; i++)
		if (compare_input_load(o->input[i], &in[i], e))
			goto out;
	if (o->explain) {
		status = explain(o, in, e);
		goto out;
	}
	if (o->ninputs == 1 ? look_at_one(&in[0], by, &view, e) : look_at_two(in, by, &view, e))
		goto out;
	d = view ? view : in[0].d;
	if (take_options(o, d, e) == 0)
		status = report(o, d, e);
out:
	dataset_free(view);
	compare_input_free(&in[0]);
	compare_input_free(&in[1]);
	return status;
}

static int run(int argc, char **argv, struct error *e)
{
	struct options o = { .report = REPORT_REQUEST_NONE };
	enum view_group by = VIEW_VARIANT;
	int status;

	if (parse(argc, argv, &o, e) || group_of(o.group_by, &by, e))
		return e->status;
	status = matrices(&o, e);
	if (status == 1)
		status = matrix_print_compare(o.input[0], o.input[1], &o.report, e);
	else if (status == 0)
		status = compare_runs(&o, by, e);
	return status < 0 ? e->status : status;
}

const struct command cmd_compare = {
	"compare", "compare A [B] [--metric NAME] [--margin P] [--fail-margin P] [--alpha P] [--fail-on VERDICTS]\n"
	"       [--group-by guest|workload|variant] [--baseline NAME]\n"
	"       " REPORT_USAGE "\n"
	"       kickbench compare GUEST_RUN PROBE_RUN --explain\n"
	"       kickbench compare MATRIX_A MATRIX_B [-o FILE]",
	"judge variants of a run folder, or two folders (FOLDER, FOLDER:VARIANT) against each other; or two matrices of regress:\n"
	"    status 1 when a cell fails newly", run,
};
