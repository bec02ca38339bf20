/* Shared by the files that write the HTML report. All of them append to out. */
#ifndef KB_REPORT_HTML_PARTS_H
#define KB_REPORT_HTML_PARTS_H

#include "guest/text.h"
#include "host/compare.h"

void html_style(struct text *out); /* the style sheet, without its element */

/* From the document's type to the heading, which is the name; title goes behind it. style: what a page has of its own, or NULL. */
void html_head(struct text *out, const char *name, const char *title, void (*style)(struct text *out));
void html_end(struct text *out);

/* A name of the user's: it keeps to itself a change of writing direction that it may hold. */
void html_name(struct text *out, const char *name);

/*
 * Take apart what the text report laid out for a terminal (report_run.c; its first line, a heading, is passed over):
 * paragraphs become whole again, and lists of label and words where words begin in the column `words` (0: there are no
 * labels) or, in lines that are indented by four, in the column `deeper`.
 */
void html_rows(struct text *out, const char *laid_out, size_t words, size_t deeper);

/* All tables: of the primary metric by candidate, how to read it, the other metrics by cell. */
void html_tables(const struct comparison *c, struct text *out);

/* The charts, or why there are none. */
void html_charts(const struct comparison *c, struct text *out);

#endif
