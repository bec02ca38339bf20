/* The forms of a report: one table, and what the commands that print one have in common. */
#ifndef KB_REPORT_H
#define KB_REPORT_H

#include <stdbool.h>

#include "guest/text.h"
#include "host/compare.h"

enum report_layout {
	LAYOUT_CELLS, /* verdicts: a line per cell and variant */
	LAYOUT_SWEEP, /* values: a column per point of the swept option, a row per workload and variant (host/sweep.h) */
};

struct report_options {
	enum report_layout layout;
	bool charts;
};

/* Whether a run folder keeps a form of its report. */
enum report_keep {
	KEEP_NOT,
	KEEP,
	KEEP_IF_POSSIBLE, /* it needs what a host may lack: a run must not fail for it */
};

struct report_format {
	const char *name, *file; /* "html"; its name in a run folder: "report.html" */
	enum report_keep keep;
	bool sweep;              /* has LAYOUT_SWEEP */
	/* Append the whole report. An error other than of memory does not occur in the forms without charts. */
	int (*write)(const struct comparison *c, const struct report_options *o, struct text *out, struct error *e);
};

/* In the table's order, NULL after the last; the first is text, which is what one gets without asking. */
const struct report_format *report_format_at(size_t i);

/* The error lists the names there are; so does that of report_layout_find(). */
const struct report_format *report_format_find(const char *name, struct error *e);
int report_layout_find(const char *name, enum report_layout *out, struct error *e);

/* What a command line asks for. */
struct report_request {
	const struct report_format *format; /* NULL: not said, text */
	struct report_options options;
	const char *file; /* argv's; NULL or "-": standard output */
};

#define REPORT_REQUEST_NONE { .options = { .charts = true } }

/* For a command's table of getopt_long (short options "o:"), and for what it returned: 1 taken, 0 not one of these, -1. */
#define REPORT_LONG_OPTIONS \
	{ "format", required_argument, NULL, 'F' }, { "layout", required_argument, NULL, 'L' }, \
	{ "no-charts", no_argument, NULL, 'N' }, { "output", required_argument, NULL, 'o' }
#define REPORT_USAGE "[--format text|markdown|html|json|csv|junit] [--layout cells|sweep] [-o FILE] [--no-charts]"
int report_option(int c, const char *value, struct report_request *r, struct error *e);

/* After the last option: does the format have the layout? */
int report_check(const struct report_request *r, struct error *e);

/* Write it to where it was asked for; a file is whole or as it was before. */
int report_send(const struct comparison *c, const struct report_request *r, struct error *e);

/* The same with a text that is there already; file: as in a request. */
int report_put(const struct text *text, const char *file, struct error *e);

/* "interval", "single", "no data", ...: the kind of an effect, for programs. */
const char *report_state(enum effect_kind kind);

#endif
