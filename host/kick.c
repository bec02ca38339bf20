#include "host/kick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/report_layout.h"
#include "host/report_values.h"

enum { CELL = 28, NAME = 38, SIDE = 10, RATIO = 23 };

const char *kick_option(const struct dataset *d, size_t cell, const char *name)
{
	const json_t *argv = json_object_get(json_array_get(json_object_get(d->run, "cells"), cell), "argv"), *word;
	size_t i, n = strlen(name);

	json_array_foreach(argv, i, word) {
		const char *s = json_string_value(word);

		if (s && strncmp(s, "--", 2) == 0 && strncmp(s + 2, name, n) == 0 && s[2 + n] == '=')
			return s + 3 + n;
	}
	return NULL;
}

void kick_cell_words(const struct dataset *d, size_t cell, struct text *out)
{
	const char *requests = kick_option(d, cell, "requests"), *op = kick_option(d, cell, "op"), *bs = kick_option(d, cell, "bs");
	unsigned long n = requests ? strtoul(requests, NULL, 10) : 1;
	const char *many = n == 1 ? "" : "s";

	if (d->cell[cell].guest && d->cell[cell].guest[0] && strchr(d->cell[cell].name, ':'))
		text_add(out, "%s: ", d->cell[cell].guest);
	if (n == 0)
		text_add(out, "empty queue");
	else if (op && strcmp(op, "flush") == 0)
		text_add(out, "%lu flush%s", n, n == 1 ? "" : "es");
	else if (!op && !bs)
		text_add(out, "%lu request%s", n, many);
	else
		text_add(out, "%lu %s%s of %s", n, op ? op : "read", many, bs ? bs : "4k");
}

/* "ioeventfd off", where it is that in which the two differ; else the variant's name. */
static void variant_words(const struct dataset *d, unsigned variant, struct text *out)
{
	const json_t *all = json_object_get(d->run, "variants");
	const json_t *mine = json_object_get(json_array_get(all, variant), "settings");
	const char *name = d->variant[variant], *value = json_string_value(json_object_get(mine, "ioeventfd"));

	if (value && strcmp(name, value) == 0)
		text_add(out, "ioeventfd ");
	text_add(out, "%s", name);
}

/* ---- the tables ---- */

static void line(const char *name, int width, const struct effect *e, enum metric metric, struct text *out)
{
	char side[METRIC_TEXT_SIZE];
	struct text ratio = { 0 };

	layout_pad(out, name, width);
	for (unsigned k = 0; k < 2; k++) {
		effect_side_text(e, metric, k, side);
		layout_pad(out, side, -SIDE);
	}
	report_ratio(e, &ratio);
	text_add(out, "  ");
	layout_pad(out, text_get(&ratio), RATIO);
	text_free(&ratio);
}

static void head(const struct dataset *d, const char *what, int width, unsigned variant, struct text *out)
{
	layout_pad(out, what, width);
	layout_pad(out, d->variant[d->baseline], -SIDE);
	layout_pad(out, d->variant[variant], -SIDE);
	text_add(out, "  ");
	layout_pad(out, "ratio [95 % interval]", RATIO);
}

static void primary_table(const struct comparison *c, unsigned variant, struct text *out)
{
	const struct dataset *d = c->dataset;

	head(d, "the vCPU is away", CELL, variant, out);
	text_add(out, "  Holm p  verdict\n");
	for (size_t i = 0; i < c->nfindings; i++) {
		const struct finding *f = &c->finding[i];
		struct text name = { 0 }, p = { 0 };

		if (f->variant != variant)
			continue;
		text_add(&name, "%s, ", metric_info(d->primary)->title);
		kick_cell_words(d, f->cell, &name);
		line(text_get(&name), CELL, &f->effect[d->primary], d->primary, out);
		report_p(f->holm, &p);
		layout_pad(out, text_get(&p), -8);
		text_add(out, "  %s\n", verdict_name(f->verdict));
		text_free(&name);
		text_free(&p);
	}
	text_add(out, "\n");
}

/* Of a metric that is about the accelerator and no cell, the first cell's. */
static void other_lines(const struct comparison *c, unsigned variant, enum metric metric, bool once, struct text *out)
{
	for (size_t i = 0; i < c->nfindings; i++) {
		const struct finding *f = &c->finding[i];
		const struct effect *e = &f->effect[metric];
		struct text name = { 0 };

		if (f->variant != variant || e->kind == EFFECT_NO_DATA)
			continue;
		text_add(&name, "%s", metric_info(metric)->title);
		if (!once) {
			text_add(&name, ", ");
			kick_cell_words(c->dataset, f->cell, &name);
		}
		if (layout_width(text_get(&name)) >= NAME) {
			text_add(out, "%s\n", text_get(&name));
			text_reset(&name);
		}
		line(text_get(&name), NAME, e, metric, out);
		text_add(out, "  %s\n", e->kind == EFFECT_INTERVAL ? effect_direction(e, metric) : "");
		text_free(&name);
		if (once)
			return;
	}
}

static void other_table(const struct comparison *c, unsigned variant, struct text *out)
{
	static const struct { enum metric metric; bool once; } shown[] = {
		{ METRIC_DONE_POLL, false }, { METRIC_DONE_IRQ, false }, { METRIC_PER_REQUEST, false }, { METRIC_KICKS, false },
		{ METRIC_PROBE_INTERRUPTS, false }, { METRIC_CPU_LEFT, false }, { METRIC_EXITS, false },
		{ METRIC_INSN_EMULATION, false }, { METRIC_IRQ_INJECTIONS, false }, { METRIC_LOOP, true },
		{ METRIC_PORT_WRITE, true },
	};

	head(c->dataset, "beside it (no verdict)", NAME, variant, out);
	text_add(out, "\n");
	for (size_t m = 0; m < sizeof(shown) / sizeof(shown[0]); m++)
		other_lines(c, variant, shown[m].metric, shown[m].once, out);
	text_add(out, "\n");
}

/* ---- the sentence ---- */

/* The cell that says most: 16 requests where there are, else the one with the most. NULL: none has any. */
static const struct finding *telling(const struct comparison *c, unsigned variant)
{
	const struct finding *best = NULL;
	unsigned long most = 0;

	for (size_t i = 0; i < c->nfindings; i++) {
		const struct finding *f = &c->finding[i];
		const char *requests = kick_option(c->dataset, f->cell, "requests");
		unsigned long n = requests ? strtoul(requests, NULL, 10) : 1;

		if (f->variant != variant || f->effect[METRIC_DONE_IRQ].kind == EFFECT_NO_DATA || n <= most || most == 16)
			continue;
		best = f;
		most = n;
	}
	return best;
}

static void both(const struct finding *f, enum metric metric, const struct text names[2], const char *joined, struct text *out)
{
	char side[2][METRIC_TEXT_SIZE];

	for (unsigned k = 0; k < 2; k++)
		effect_side_text(&f->effect[metric], metric, k, side[k]);
	text_add(out, joined, side[0], names[0].data, side[1], names[1].data);
}

static void mail(const struct comparison *c, unsigned variant, struct text *out)
{
	const struct dataset *d = c->dataset;
	const struct finding *f = telling(c, variant);
	struct text names[2] = { { 0 } }, cell = { 0 }, words = { 0 };

	if (!f)
		return;
	variant_words(d, d->baseline, &names[0]);
	variant_words(d, variant, &names[1]);
	kick_cell_words(d, f->cell, &cell);
	if (!names[0].failed && !names[1].failed) {
		text_add(&words, "A kick with %s takes the vCPU ", text_get(&cell));
		both(f, METRIC_KICK, names, "%s with %s and %s with %s; ", &words);
		both(f, METRIC_DONE_IRQ, names, "the interrupt that tells of the end comes %s after it with %s and %s with %s", &words);
		if (f->effect[METRIC_CPU_LEFT].kind != EFFECT_NO_DATA)
			both(f, METRIC_CPU_LEFT, names, "; of the CPU %s stays with the guest meanwhile with %s and %s with %s", &words);
		text_add(&words, " (medians of a boot's kicks, in the mean of %u boots each in turn; %s).", f->effect[d->primary].complete,
			 json_string_value(json_object_get(json_object_get(d->run, "accel"), "used")) ?: "accelerator not told");
		layout_wrap(out, "", 0, text_get(&words));
	}
	text_free(&names[0]);
	text_free(&names[1]);
	text_free(&cell);
	text_free(&words);
}

static void pins_words(const struct dataset *d, struct text *out)
{
	const json_t *settings = json_object_get(json_array_get(json_object_get(d->run, "variants"), d->baseline), "settings");
	const char *vcpu = json_string_value(json_object_get(settings, "vcpupin"));
	const char *rest = json_string_value(json_object_get(settings, "emulatorpin"));

	if (vcpu && *vcpu && rest && *rest)
		text_add(out, "; the vCPU on CPU %s, the device on CPU %s", vcpu, rest);
	else
		text_add(out, "; the host's scheduler decides whether vCPU and device share a CPU");
}

int kick_text(const struct comparison *c, struct text *out)
{
	const struct dataset *d = c->dataset;
	const json_t *accel = json_object_get(d->run, "accel");
	struct text head = { 0 };

	text_add(&head, "%s, %u blocks; accelerator %s: %s", d->name, d->nblocks,
		 json_string_value(json_object_get(accel, "used")) ?: "unknown", json_string_value(json_object_get(accel, "why")) ?: "");
	pins_words(d, &head);
	layout_wrap(out, "", 0, text_get(&head));
	text_free(&head);
	text_add(out, "\n");
	for (unsigned v = 0; v < d->nvariants; v++) {
		if (v == d->baseline)
			continue;
		primary_table(c, v, out);
		other_table(c, v, out);
		mail(c, v, out);
	}
	for (size_t i = 0; i < c->nwarnings; i++) {
		text_add(out, i ? "" : "\n");
		layout_wrap(out, "Mind: ", 6, c->warning[i]);
	}
	return out->failed ? -1 : 0;
}
