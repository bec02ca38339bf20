/* A history as text and as CSV. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/escape.h"
#include "host/history_print.h"
#include "host/report.h"
#include "host/report_csv.h"
#include "host/report_layout.h"

#define VALUE 13 /* columns */
#define BLOCKS 6

/* ---- text ---- */

static void between(const struct history *h, const struct history_view *v, const struct history_mark *m, struct text *out)
{
	struct text t = { 0 };

	text_add(out, "\n");
	history_change_place(h, v, m, &t);
	layout_wrap(out, "  ", 2, text_get(&t));
	text_reset(&t);
	history_change_differ(h, m, &t);
	layout_wrap(out, "  ", 2, text_get(&t));
	text_free(&t);
}

static void all_changes(const struct history *h, const struct history_view *v, struct text *out)
{
	struct history_mark *mark;
	struct text t = { 0 };
	size_t n;

	out->failed |= history_marks(h, &mark, &n) != 0;
	if (n == 0)
		text_add(out, h->nsearched ? "No change point in any of %zu series that could be searched.\n" :
			 "No series could be searched for change points.\n", h->nsearched);
	else
		text_add(out, "CHANGE POINTS (%zu series searched)\n", h->nsearched);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || mark[i].before != mark[i - 1].before || mark[i].after != mark[i - 1].after)
			between(h, v, &mark[i], out);
		text_reset(&t);
		history_title(h, mark[i].series, true, &t);
		text_add(&t, ": ");
		history_change_words(h, mark[i].series, mark[i].change, &t);
		text_add(&t, " (");
		history_change_sure(h, mark[i].change, &t);
		text_add(&t, ")");
		layout_wrap(out, "  - ", 4, text_get(&t));
	}
	text_free(&t);
	free(mark);
}

static void label_of(const struct history *h, const struct history_series *s, size_t run, const struct history_view *v,
		     struct text *label)
{
	char date[HISTORY_DATE_SIZE];

	text_reset(label);
	history_date(h->run[run].started, date);
	text_add(label, "%s", date);
	if (v->by != HISTORY_DATE) {
		text_add(label, "  ");
		history_label(h, s, run, v->by, label);
	}
}

static void row(const struct history *h, const struct history_series *s, const struct history_point *p, const struct text *label,
		int width, struct text *out)
{
	char value[METRIC_TEXT_SIZE], blocks[16];
	struct text interval = { 0 };

	history_value(s, p->value, value);
	snprintf(blocks, sizeof(blocks), "%u", p->blocks);
	history_interval(s, p, &interval);
	text_add(out, "  ");
	layout_pad(out, text_get(label), width);
	layout_pad(out, p->planned ? blocks : "", -BLOCKS - 2);
	layout_pad(out, value, -VALUE);
	text_add(out, "  ");
	layout_pad(out, text_get(&interval), 24);
	text_add(out, "  ");
	layout_pad(out, history_folder(&h->run[p->run]), 0);
	text_add(out, "\n");
	text_free(&interval);
}

static void table(const struct history *h, const struct history_view *v, const struct history_series *s, struct text *out)
{
	struct text t = { 0 };
	size_t change = 0;
	int width = 0;

	text_add(out, "\n");
	history_title(h, s, true, &t);
	layout_wrap(out, "", 0, text_get(&t));
	text_reset(&t);
	history_search_words(s, &t);
	if (t.length)
		layout_wrap(out, "  ", 2, text_get(&t));
	for (size_t i = 0; i < s->npoints; i++) {
		label_of(h, s, s->point[i].run, v, &t);
		if ((int)layout_width(text_get(&t)) > width)
			width = (int)layout_width(text_get(&t));
	}
	text_add(out, "  ");
	layout_pad(out, "run", width);
	layout_pad(out, "blocks", -BLOCKS - 2);
	layout_pad(out, s->baseline ? "ratio" : "value", -VALUE);
	text_add(out, "  [95 %% interval]           folder\n");
	for (size_t i = 0; i < s->npoints; i++) {
		if (change < s->nchanges && s->change[change].after == i) {
			text_reset(&t);
			history_change_words(h, s, &s->change[change++], &t);
			text_add(out, "  ---- change: %s\n", text_get(&t));
		}
		label_of(h, s, s->point[i].run, v, &t);
		row(h, s, &s->point[i], &t, width, out);
	}
	text_free(&t);
}

void history_text(const struct history *h, const struct history_view *v, struct text *out)
{
	struct text t = { 0 };

	text_add(&t, "%s: ", v->folder);
	history_headline(h, &t);
	layout_wrap(out, "", 0, text_get(&t));
	text_reset(&t);
	history_apart(h, &t);
	if (t.length)
		layout_wrap(out, "", 0, text_get(&t));
	text_add(out, "\n");
	all_changes(h, v, out);
	for (size_t i = 0; i < h->nseries; i++)
		table(h, v, &h->series[i], out);
	text_add(out, "\n");
	for (size_t i = 0; history_notes[i]; i++)
		layout_wrap(out, "  ", 2, history_notes[i]);
	text_free(&t);
}

/* ---- CSV ---- */

static void field(struct text *out, const char *s)
{
	escape_csv(out, s);
	text_add(out, ",");
}

static void number(struct text *out, double value)
{
	report_csv_number(out, value);
	text_add(out, ",");
}

static void csv_row(const struct history *h, const struct history_series *s, size_t i, const struct history_change *c,
		    struct text *out)
{
	const struct history_point *p = &s->point[i];
	const struct history_run *r = &h->run[p->run];
	char date[HISTORY_DATE_SIZE];
	struct text kernel = { 0 };

	history_date(r->started, date);
	history_label(h, s, p->run, HISTORY_KERNEL, &kernel);
	field(out, s->cell);
	field(out, s->guest);
	field(out, s->variant);
	field(out, s->baseline);
	field(out, metric_info(s->metric)->name);
	field(out, s->baseline ? "ratio" : "value");
	field(out, s->baseline ? "1" : unit_name(metric_info(s->metric)->unit));
	field(out, s->accel);
	field(out, s->host);
	field(out, date);
	field(out, r->emulator);
	field(out, text_get(&kernel));
	field(out, history_folder(r));
	field(out, p->planned ? report_state(p->kind) : "not in this run");
	text_add(out, "%s,%u,", p->mismatch ? "no" : p->planned ? "yes" : "", p->blocks);
	number(out, p->value);
	number(out, p->low);
	number(out, p->high);
	text_add(out, "%s,", c ? "yes" : "");
	number(out, c ? c->from : NAN);
	number(out, c ? c->to : NAN);
	number(out, c ? c->ratio : NAN);
	number(out, c ? c->low : NAN);
	number(out, c ? c->high : NAN);
	number(out, c ? c->p : NAN);
	report_csv_number(out, c ? c->p_all : NAN);
	text_add(out, "\r\n");
	text_free(&kernel);
}

void history_csv(const struct history *h, const struct history_view *v, struct text *out)
{
	(void)v;
	text_add(out, "cell,guest,variant,baseline,metric,kind,unit,accelerator,host,started,emulator,guest_kernel,folder,state,"
		      "effective,blocks,value,low95,high95,change,change_from,change_to,change_ratio,change_low95,change_high95,"
		      "change_p,change_p_all\r\n");
	for (size_t i = 0; i < h->nseries; i++) {
		const struct history_series *s = &h->series[i];
		size_t change = 0;

		for (size_t k = 0; k < s->npoints; k++) {
			bool changed = change < s->nchanges && s->change[change].after == k;

			csv_row(h, s, k, changed ? &s->change[change] : NULL, out);
			change += changed;
		}
	}
}
