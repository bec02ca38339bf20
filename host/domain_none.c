/* Domains in a kickbench that was built without libvirt: there are none, neither ours nor users'. */
#include "host/domain.h"
#include "host/domain_original.h"

static int no_domains(struct error *e)
{
	return error_set(e, STATUS_HOST, "this kickbench was built without libvirt (make LIBVIRT=no): it knows no domains");
}

int domain_xml(const struct domain_spec *spec, struct text *xml, struct error *e)
{
	(void)spec;
	(void)xml;
	return no_domains(e);
}

int domain_original_read(const char *xml, const struct domain_wishes *wishes, struct domain_original *out, struct error *e)
{
	(void)xml;
	(void)wishes;
	*out = (struct domain_original){ 0 };
	return no_domains(e);
}

void domain_original_free(struct domain_original *o)
{
	*o = (struct domain_original){ 0 };
}
