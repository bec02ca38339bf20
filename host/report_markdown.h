/* The report as GitHub-flavoured Markdown, to be pasted into a mail or a pull request. */
#ifndef KB_REPORT_MARKDOWN_H
#define KB_REPORT_MARKDOWN_H

#include "host/report.h"

int report_markdown(const struct comparison *c, const struct report_options *o, struct text *out, struct error *e);

#endif
