#include <string.h>

#include "engines/engine.h"
#include "engines/list.h"

/* The first is the default, as in fio. */
const struct engine *const engines[] = {
	&engine_psync,
	&engine_sync,
	NULL,
};

const struct engine *engine_find(const char *name)
{
	for (const struct engine *const *e = engines; *e; e++)
		if (strcmp((*e)->name, name) == 0)
			return *e;
	return NULL;
}
