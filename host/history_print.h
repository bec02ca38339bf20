/* The forms of a history. All append to out; names are escaped as each form needs it. */
#ifndef KB_HISTORY_PRINT_H
#define KB_HISTORY_PRINT_H

#include "guest/text.h"
#include "host/history.h"

struct history_view {
	const char *folder; /* as it was given */
	enum history_by by;
};

void history_text(const struct history *h, const struct history_view *v, struct text *out);

/* RFC 4180, a row per point; a gap has an empty value. */
void history_csv(const struct history *h, const struct history_view *v, struct text *out);

/* A drawing of its own; an error where gnuplot is missing or fails, or where there is nothing to draw. */
int history_svg(const struct history *h, const struct history_view *v, struct text *out, struct error *e);

/* A page without outside references; without charts, and saying why, where gnuplot is missing or fails. */
int history_html(const struct history *h, const struct history_view *v, struct text *out, struct error *e);

/* ---- words that several forms have ---- */

/* "12 runs from 2026-01-31 12:00 to 2026-03-01 12:00": plain text, as are all of these. */
void history_headline(const struct history *h, struct text *out);

/* That there are several hosts or accelerators; nothing when there are not. */
void history_apart(const struct history *h, struct text *out);

/* "randread, linux, tcg, Example CPU: IOPS, kickfd / none"; what all series have in common is left out. */
void history_title(const struct history *h, const struct history_series *s, bool with_variant, struct text *out);

/* "from 6012 to 5400, ratio 0.898 [0.881, 0.916]: worse"; "better, within the margin of 3 %" when the interval is in it. */
void history_change_words(const struct history *h, const struct history_series *s, const struct history_change *c,
			  struct text *out);
bool history_change_small(const struct history *h, const struct history_series *s, const struct history_change *c);

/* "p 0.0004; over all 6 series 0.0024" */
void history_change_sure(const struct history *h, const struct history_change *c, struct text *out);

/* "2026-01-31 12:00 (run-06) to 2026-02-01 12:00 (run-07)" */
void history_change_place(const struct history *h, const struct history_view *v, const struct history_mark *m,
			  struct text *out);

/* "hypervisor: before QEMU 7.2.22, after QEMU 8.2.0; …" */
void history_change_differ(const struct history *h, const struct history_mark *m, struct text *out);

/* Why a series was not searched: "too few runs to look for change points (5, 8 needed)"; nothing when it was. */
void history_search_words(const struct history_series *s, struct text *out);

/* Of the value or of the change beside it: "6012", "0.898". */
void history_value(const struct history_series *s, double value, char out[METRIC_TEXT_SIZE]);

/* "[5950, 6080]", "single", "zero", "no data", "no such cell": what stands beside a value. */
void history_interval(const struct history_series *s, const struct history_point *p, struct text *out);

/* The name of a run's folder within the folder of all. */
const char *history_folder(const struct history_run *r);

/* How to read it: sentences. */
extern const char *const history_notes[];

#endif
