/* Systems where kickio is started by the system's own init. */
#include "guest/init.h"

bool init_wanted(void)
{
	return false;
}

int init_run(struct error *e)
{
	return error_set(e, STATUS_FAILED, "kickio cannot be the first process of this system");
}
