/*
 * The report as a table for spreadsheets and scripts: RFC 4180 (comma, line ends CR LF, a header row), UTF-8.
 *
 * One row per candidate, cell and metric:
 *	candidate, baseline, cell, guest, metric, verdict, words, state, unit, direction, blocks, runs_baseline, runs_candidate,
 *	baseline_value, candidate_value, ratio, low95, high95, low90, high90, p, holm_p, flip_p
 * verdict, holm_p and flip_p are of the primary metric alone and empty in other rows: there is no verdict from them.
 * direction: "higher" or "lower" is better. A number that does not exist is an empty field, never 0.
 * A name that begins with = + - @ has a ' in front, see host/escape.h.
 */
#ifndef KB_REPORT_CSV_H
#define KB_REPORT_CSV_H

#include "host/report.h"

int report_csv(const struct comparison *c, const struct report_options *o, struct text *out, struct error *e);

/* A field with a number of twelve digits, empty for NAN; no comma. */
void report_csv_number(struct text *out, double value);

#endif
