/*
 * Options that are parsed and checked, but whose behaviour does not exist yet: any value but the default is
 * refused, so that none is ever ignored. Who makes one work removes its name here.
 */
#include "guest/option_table.h"

#include <string.h>

static const char *const pending[] = {
	"openfiles",
};

static bool is_pending(const char *name)
{
	for (size_t i = 0; i < sizeof(pending) / sizeof(pending[0]); i++)
		if (strcmp(pending[i], name) == 0)
			return true;
	return false;
}

int option_refuse_pending(const struct option *o, const void *base, const void *initial, struct error *e)
{
	if (!is_pending(o->name) || option_same(o, base, initial))
		return 0;
	return error_set(e, STATUS_FAILED, "%s is not supported yet", o->name);
}
