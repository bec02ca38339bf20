/* The engines that engines.c chooses from, one per file. */
#ifndef KB_ENGINE_LIST_H
#define KB_ENGINE_LIST_H

#include "engines/engine.h"

extern const struct engine engine_psync;
extern const struct engine engine_sync;

#endif
