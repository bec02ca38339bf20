/* What an imported job is a run of: its cell in a run folder, and the name that it has there. */
#ifndef KB_IMPORT_CELL_H
#define KB_IMPORT_CELL_H

#include <jansson.h>

#include "guest/text.h"

/*
 * jobs: what one output holds of one job, several where its clones were not reported as a group. The cell:
 * {"guest","workload":jobname,"argv":[…],"options":{"rw","bs","iodepth","numjobs","ioengine"}}, options as text and
 * only those that are known: bs and iodepth as fio's users write them ("4k"), numjobs the sum over jobs. NULL: no memory.
 */
json_t *import_cell(const json_t *jobs, const char *guest);

/*
 * Jobs of one output that are clones of each other have the same text: name, group, and options but for numjobs. A run
 * of the same cell has the same guest, workload and options.
 */
void import_clone_key(const json_t *job, struct text *key);
void import_cell_key(const json_t *cell, struct text *key);

/*
 * Set "name" and "point" of a cell: job, rw unless the job is named so, numjobs, bs unless 4k, iodepth unless 1; and
 * what it takes (engine, guest, a number) to differ from names, whose keys are names in use. Adds the name to names.
 */
int import_cell_name(json_t *cell, json_t *names, struct error *e);

/* Every option that the print told, as "--key=value". New. */
json_t *import_argv(const json_t *job, const json_t *options);

#endif
