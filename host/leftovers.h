/* Guests that a killed kickbench left running. */
#ifndef KB_LEFTOVERS_H
#define KB_LEFTOVERS_H

#include "host/hypervisor.h"

/*
 * Destroy every guest of ours whose owner is dead; those of a living run, or of another host, are left alone.
 * say is told each name. Returns how many were destroyed, -1 with e.
 */
int leftovers_destroy(const struct hv_ops *ops, struct hv *hv, void (*say)(const char *line), struct error *e);

#endif
