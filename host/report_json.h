/*
 * The report for programs, schema kickbench-report/1: the content of the text report, every number unrounded.
 *
 * {"schema","name","primary","paired":bool,"headlines":["…"],"warnings":["…"],"advice":["…"],
 *  "run":{kickbench, started, scenario, seed, accel, versions, guests, variants, environment: as in run.json},
 *  "sources":[{"label","path","run":{as above}}],          ([] when one folder is all there is)
 *  "findings":[{"variant","baseline","cell","guest","verdict","words","blocks":{"complete","planned"},
 *               "holm_p","sign_flip_p","sign_flip_sampled":bool,"blocks_needed","trial",
 *               "metrics":{"iops":{"state":"interval"|"no data"|"single"|"zero"|"constant","unit","higher_is_better",
 *                                  "blocks","runs":[of the baseline, of the candidate],"baseline","candidate",
 *                                  "ratio","interval95":[low,high]|null,
 *                                  "interval90":…,"p","log_sd"}}}],
 *  "sign_flip_hopeless":bool,"effective":{VARIANT:{…as in host/dataset.h}},"seen":{…},
 *  "trials":{"planned","counted","cut","stray"},
 *  "problems":[{"trial","block","cell","variant","status","message"}]}
 * A number that does not exist is null. "sign_flip_sampled": that p is an estimate from random flips, there being more
 * blocks than the exact walk takes. Since its first form /1 has got: paired, warnings, advice, sources, runs,
 * sign_flip_sampled; a reader ignores what it does not know.
 */
#ifndef KB_REPORT_JSON_H
#define KB_REPORT_JSON_H

#include <jansson.h>

#include "host/compare.h"

/* NULL when memory runs out. The caller owns what is returned. */
json_t *report_json(const struct comparison *c);

#endif
