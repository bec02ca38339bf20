/* Change points of the series of a history. */
#ifndef KB_HISTORY_CHANGE_H
#define KB_HISTORY_CHANGE_H

#include "host/history.h"

/* Look into every series whose points are in order. -1: out of memory. */
int history_changes(struct history *h);

#endif
