/* The report as plain text: the verdict first, then everything that one needs to believe it. */
#ifndef KB_REPORT_TEXT_H
#define KB_REPORT_TEXT_H

#include "guest/text.h"
#include "host/compare.h"

void report_text(const struct comparison *c, struct text *out);

/*
 * One sentence per candidate: "kickfd against none (IOPS): better in 2 of 4 cells, unclear in 2."
 * variant: its index, not the baseline's.
 */
void report_headline(const struct comparison *c, unsigned variant, struct text *out);

/* What the columns mean and what this design can find: a paragraph, not broken into lines. */
void report_how_to_read(const struct comparison *c, struct text *out);

/* Its parts that tell what ran and what became of it (report_run.c). */
void report_what_ran(const struct dataset *d, struct text *out);
void report_in_force(const struct dataset *d, struct text *out);
void report_trials(const struct dataset *d, struct text *out);
void report_environment(const struct dataset *d, struct text *out);
void report_reproduce(const struct dataset *d, struct text *out);

#endif
