/* Where a test disk's device stands in the emulator's object tree, and what is asked of it there. */
#include "host/domain.h"

#include <string.h>

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

const char *const domain_qom_properties[] = {
	"ioeventfd", "num-queues", "queue-size", "iothread", "drive", "type", "write-cache", NULL,
};

const char *const domain_transport_properties[] = { "ioeventfd", "force-legacy", NULL };

void domain_transport_path(const char *parent_bus, struct text *out)
{
	const char *end = strrchr(parent_bus, '/');

	text_add(out, "%.*s", (int)(end ? end - parent_bus : 0), parent_bus);
}
