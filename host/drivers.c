#include "host/drivers.h"

#include "host/boot_libvirt.h"
#include "host/hypervisor_exec.h"

static const struct driver drivers[] = {
#ifndef KB_NO_LIBVIRT
	{ DRIVER_LIBVIRT, "libvirt", &hypervisor_libvirt, "xml", boot_libvirt_describe, boot_libvirt_settle, boot_libvirt_verify,
	  accel_decide },
#endif
	{ DRIVER_EXEC, "exec", &hypervisor_exec, "json", exec_describe, NULL, exec_boot_verify, NULL },
};

const struct driver *driver_at(size_t k)
{
	return k < sizeof(drivers) / sizeof(drivers[0]) ? &drivers[k] : NULL;
}

const struct driver *driver_get(enum guest_driver kind, struct error *e)
{
	for (size_t k = 0; k < sizeof(drivers) / sizeof(drivers[0]); k++)
		if (drivers[k].kind == kind)
			return &drivers[k];
	error_set(e, STATUS_HOST, "this kickbench was built without libvirt (make LIBVIRT=no): it runs guests of driver = exec only");
	return NULL;
}
