#include <errno.h>
#include <string.h>

#include "engines/engine.h"
#include "engines/list.h"
#include "guest/os.h"

/* The first is the default, as in fio. What a build has: see engines/find.sh. */
const struct engine *const engines[] = {
	&engine_psync,
	&engine_sync,
#ifdef HAVE_ENGINE_PVSYNC2
	&engine_pvsync2,
#endif
#ifdef HAVE_ENGINE_LIBAIO
	&engine_libaio,
#endif
#ifdef HAVE_ENGINE_IO_URING
	&engine_io_uring,
#endif
#ifdef HAVE_ENGINE_POSIXAIO
	&engine_posixaio,
#endif
	&engine_null,
	NULL,
};

const struct engine *engine_find(const char *name)
{
	for (const struct engine *const *e = engines; *e; e++)
		if (strcmp((*e)->name, name) == 0)
			return *e;
	return NULL;
}

enum engine_queued engine_flush(struct io *io)
{
	io->moved = 0;
	if (io->ddir == DDIR_SYNC)
		io->error = os_flush(io->fd);
	else
		io->error = io->ddir == DDIR_DATASYNC ? os_flush_data(io->fd) : EINVAL;
	return ENGINE_DONE;
}
