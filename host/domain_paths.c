/* Where a test disk's device stands in the emulator's object tree. */
#include "host/domain.h"

void domain_qom_path(size_t disk, struct text *out)
{
	text_add(out, "/machine/peripheral/" DOMAIN_ALIAS "%zu", disk);
}

void domain_virtio_path(const struct machine *machine, size_t disk, struct text *out)
{
	domain_qom_path(disk, out);
	if (!machine_is_mmio(machine)) /* there the device is no proxy of another */
		text_add(out, "/virtio-backend");
}
