/* Users' domains in a kickbench that was built without libvirt: there are none. */
#include "host/domain_original.h"

int domain_original_read(const char *xml, const struct domain_wishes *wishes, struct domain_original *out, struct error *e)
{
	(void)xml;
	(void)wishes;
	*out = (struct domain_original){ 0 };
	return error_set(e, STATUS_HOST, "this kickbench was built without libvirt (make LIBVIRT=no): it knows no domains");
}

void domain_original_free(struct domain_original *o)
{
	*o = (struct domain_original){ 0 };
}
