/* A part of plan_cells(): cells of a guest whose tool is the probe. */
#ifndef KB_CELLS_PROBE_H
#define KB_CELLS_PROBE_H

#include "host/plan.h"

/* The probe's own reading of the cell's options: what it would refuse in the guest is refused here. Fills what the length follows from. */
int cells_probe_read(const struct scenario *s, const struct workload *w, struct cell *c, struct error *e);

#endif
