/* What the forms of a history have in common. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/history_print.h"
#include "host/report.h"
#include "host/stats_change.h"

const char *const history_notes[] = {
	"A run is one point: the geometric mean of its complete blocks with a 95 % t interval (on logarithms), or candidate / "
	"baseline as in the run's own report. A ratio is the safer one: what the host does to both sides is not in it.",
	"A change point is where the largest standardised difference of the runs' means is larger than it is in 95 % of random "
	"orders of these runs (binary segmentation, permutation test, 3 runs or more on either side). A series without any change "
	"has a chance of 5 % to get one all the same; the p over all series covers their number.",
	"The interval of a change is Welch's with the run as the unit. Its place was chosen where the difference is largest, so that "
	"it is a little too narrow. A slow drift shows as one or several steps.",
	NULL,
};

const char *history_folder(const struct history_run *r)
{
	const char *slash = strrchr(r->folder, '/');

	return slash ? slash + 1 : r->folder;
}

void history_headline(const struct history *h, struct text *out)
{
	char first[HISTORY_DATE_SIZE], last[HISTORY_DATE_SIZE];

	history_date(h->run[0].started, first);
	history_date(h->run[h->nruns - 1].started, last);
	if (h->nruns == 1)
		text_add(out, "1 run of %s", first);
	else
		text_add(out, "%zu runs from %s to %s", h->nruns, first, last);
}

void history_apart(const struct history *h, struct text *out)
{
	if (h->accels || h->hosts)
		text_add(out, "The runs are of several %s: these are never put into one series.", h->accels && h->hosts ?
			 "hosts and accelerators" : h->hosts ? "hosts" : "accelerators");
}

static void add_name(const char *name, struct text *out)
{
	text_add(out, ", %s", *name ? name : "not told");
}

void history_title(const struct history *h, const struct history_series *s, bool with_variant, struct text *out)
{
	text_add(out, "%s", s->cell);
	if (h->guests)
		add_name(s->guest, out);
	if (h->accels)
		add_name(s->accel, out);
	if (h->hosts)
		add_name(s->host, out);
	text_add(out, ": %s", metric_info(s->metric)->title);
	if (with_variant)
		text_add(out, ", %s", s->variant);
	if (with_variant && s->baseline)
		text_add(out, " / %s", s->baseline);
	else if (s->baseline)
		text_add(out, ", candidate / %s", s->baseline);
}

void history_value(const struct history_series *s, double value, char out[METRIC_TEXT_SIZE])
{
	if (s->baseline && isfinite(value))
		snprintf(out, METRIC_TEXT_SIZE, "%.3f", value);
	else
		metric_text(metric_info(s->metric)->unit, value, out);
}

void history_interval(const struct history_series *s, const struct history_point *p, struct text *out)
{
	char low[METRIC_TEXT_SIZE], high[METRIC_TEXT_SIZE];

	if (isfinite(p->low) && isfinite(p->high)) {
		history_value(s, p->low, low);
		history_value(s, p->high, high);
		text_add(out, "[%s, %s]", low, high);
	} else {
		text_add(out, "%s", p->planned ? report_state(p->kind) : "not in this run");
	}
	if (p->mismatch)
		text_add(out, ", not effective");
}

bool history_change_small(const struct history *h, const struct history_series *s, const struct history_change *c)
{
	double margin = h->run[s->point[c->after].run].margin;

	return c->low > 1 - margin && c->high < 1 + margin;
}

void history_change_words(const struct history *h, const struct history_series *s, const struct history_change *c,
			  struct text *out)
{
	const struct metric_info *info = metric_info(s->metric);
	int digits = fabs(c->ratio - 1) < 0.0005 ? 5 : 3;
	char from[METRIC_TEXT_SIZE], to[METRIC_TEXT_SIZE];

	history_value(s, c->from, from);
	history_value(s, c->to, to);
	text_add(out, "from %s to %s, ratio %.*f", from, to, digits, c->ratio);
	if (isfinite(c->low))
		text_add(out, " [%.*f, %.*f]", digits, c->low, digits, c->high);
	text_add(out, ": %s", (c->ratio > 1) == info->higher_is_better ? "better" : "worse");
	if (history_change_small(h, s, c))
		text_add(out, ", within the margin of %.3g %%", 100 * h->run[s->point[c->after].run].margin);
}

void history_change_sure(const struct history *h, const struct history_change *c, struct text *out)
{
	text_add(out, "p %.4f", c->p);
	if (h->nsearched > 1)
		text_add(out, "; over all %zu series %.2g%s", h->nsearched, c->p_all, c->p_all > HISTORY_ALPHA ?
			 ": among so many it can be chance" : "");
}

void history_change_place(const struct history *h, const struct history_view *v, const struct history_mark *m,
			  struct text *out)
{
	history_label(h, m->series, m->before, v->by, out);
	text_add(out, " (%s) to ", history_folder(&h->run[m->before]));
	history_label(h, m->series, m->after, v->by, out);
	text_add(out, " (%s)", history_folder(&h->run[m->after]));
}

void history_change_differ(const struct history *h, const struct history_mark *m, struct text *out)
{
	json_t *lines = json_array(), *line;
	size_t i;

	history_differ(h, m->before, m->after, lines);
	json_array_foreach(lines, i, line)
		text_add(out, "%s%s", i ? "; " : "", json_string_value(line));
	if (json_array_size(lines) == 0)
		text_add(out, "nothing that run.json tells differs between these two");
	json_decref(lines);
}

void history_search_words(const struct history_series *s, struct text *out)
{
	switch (s->search) {
	case HISTORY_SEARCHED:
		break;
	case HISTORY_TOO_FEW:
		text_add(out, "too few runs to look for change points (%zu, %d needed)", s->nvalues, STATS_CHANGE_MIN);
		break;
	case HISTORY_ZERO:
		text_add(out, "a value is zero or below: no logarithm, so that change points were not looked for");
		break;
	case HISTORY_CONSTANT:
		text_add(out, "constant: no change points");
		break;
	}
}
