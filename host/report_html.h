/* The report as one HTML file: no script, no reference to anything outside; readable on a phone, in print, light and dark. */
#ifndef KB_REPORT_HTML_H
#define KB_REPORT_HTML_H

#include "host/report.h"

/*
 * Append the page. Where gnuplot is missing or fails the page says so and is whole without charts: that is no error.
 * scenario.ini of each folder is shown when it is there.
 */
int report_html(const struct comparison *c, const struct report_options *o, struct text *out, struct error *e);

#endif
