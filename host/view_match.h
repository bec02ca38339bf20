/* Which cell of one folder is which of another. */
#ifndef KB_VIEW_MATCH_H
#define KB_VIEW_MATCH_H

#include "guest/text.h"
#include "host/dataset.h"

/*
 * match[a's cell] = 1 + b's cell, 0 none; room for a->ncells. By name (and guest, where names are not enough), then
 * by what the cells did: rw, bs, iodepth, numjobs and ioengine from "options" or "argv", with fio's defaults. What
 * fits several cells is not guessed.
 */
int view_match(const struct dataset *a, const struct dataset *b, size_t *match, struct error *e);

/* "rw=randread bs=4096 iodepth=1 numjobs=1 ioengine=psync"; nothing when the cell does not tell. */
void view_identity(const json_t *cell, struct text *out);

#endif
