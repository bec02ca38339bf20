/* The engines that engines.c chooses from, one per file. */
#ifndef KB_ENGINE_LIST_H
#define KB_ENGINE_LIST_H

#include "engines/engine.h"

extern const struct engine engine_io_uring;
extern const struct engine engine_libaio;
extern const struct engine engine_null;
extern const struct engine engine_posixaio;
extern const struct engine engine_psync;
extern const struct engine engine_pvsync2;
extern const struct engine engine_sync;

/* A flush, for engines whose queue() does it at once: fills in the result. Always ENGINE_DONE. */
enum engine_queued engine_flush(struct io *io);

#endif
