/* A plan as a shell script, for whoever has to boot the guests by hand. */
#ifndef KB_PLAN_SHELL_H
#define KB_PLAN_SHELL_H

#include "guest/text.h"
#include "host/plan.h"

/*
 * Append the script: POSIX sh, which asks for every boot, runs every trial in the order of the plan, leaves each output as
 * OUT/VARIANT.bBLOCK.bootBOOT.tTRIAL.CELL.txt and writes OUT/import.sh, whose `kickbench import` lines keep blocks and
 * boots. tool: "kickio" or "fio". Pure. -1: the design cannot be run by hand.
 */
int plan_shell(const struct scenario *s, const struct plan *p, const char *tool, struct text *out, struct error *e);

/* Append text as one word of a POSIX shell. */
void plan_shell_quote(const char *text, struct text *out);

#endif
