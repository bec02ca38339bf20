/* What a guest gets where the scenario leaves it open. Apart from domain.c: no XML is needed for it. */
#include "host/domain.h"

const char *domain_machine_type(const struct machine *machine)
{
	return machine->type ? machine->type : "pc";
}

/*
 * qemu64, not max: five-level page tables and the rest of "max" cost the emulation 0.1 s of boot. Its TSC is the
 * host's; libvirt refuses to say so (invtsc) on many hosts, the guest's kernel has to be told (tsc=reliable).
 */
const char *domain_cpu_model(const struct machine *machine, enum accel accel)
{
	return machine->cpu ? machine->cpu : accel == ACCEL_KVM ? "host" : "qemu64";
}
