/* What `kickbench kick` prints: a comparison of two ways to notify, measured by the probe. Pure functions of comparisons. */
#ifndef KB_KICK_H
#define KB_KICK_H

#include "host/compare.h"

/* What a cell of the probe measures, in words: "16 requests", "1 request", "empty queue", "16 writes of 64k". */
void kick_cell_words(const struct dataset *d, size_t cell, struct text *out);

/*
 * The table: a line per cell and candidate that begins with "kick, " and the cell's words and ends with the verdict; the
 * other metrics, with intervals; then the sentence for a mail. -1: out of memory.
 */
int kick_text(const struct comparison *c, struct text *out);

/*
 * What explains a guest's result: for each of its cells with one request under way (iodepth 1, one job), the difference in
 * mean latency between its candidate and its baseline, the difference in the mean of done (interrupt) that the probe saw
 * for one request of that kind and size, with 95 % intervals of the mean over blocks (Student's t), and what remains (Welch's
 * interval). No model beyond the subtraction. An error when the two runs cannot stand beside each other.
 */
int kick_explain(const struct dataset *guest, const struct dataset *probe, struct text *out, struct error *e);

/* The value of --NAME=VALUE among a cell's options, NULL without. */
const char *kick_option(const struct dataset *d, size_t cell, const char *name);

#endif
