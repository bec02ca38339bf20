/*
 * The transient copy of a user's own domain, with the test disks of a spec in it. A pure function: the original's XML in,
 * the copy's XML out. Kept is what the guest sees of its machine: firmware, chipset, CPU, devices and their places. Changed:
 * - name and owner are the spec's, the UUID is a new one (also in <sysinfo>); a reboot or a crash ends it;
 * - every disk that it may write to lies in another file (a throw-away overlay, made by whoever calls), as the firmware's
 *   variables do; cache, io and iothread of those disks are libvirt's usual ones: what is measured is the test disk;
 * - iothreads and their pins are those of the spec's disks; vCPUs, memory, CPU, emulator, machine type, firmware, kernel
 *   and its arguments stay as they are unless the spec's machine sets them;
 * - the first two serial ports are ptys (console and link), and are added where they are missing; what else leads to
 *   the host (further ports, graphics, sound, USB redirection, sockets of an agent) leads nowhere;
 * - no network interface, unless it is wished;
 * - labels, ids, aliases, sources and all else that only a running domain has are left out;
 * - under TCG the host's CPU (host-passthrough) becomes the emulator's maximum.
 */
#ifndef KB_DOMAIN_COPY_H
#define KB_DOMAIN_COPY_H

#include "host/domain.h"
#include "host/domain_original.h"

struct domain_copy {
	const char *xml;                      /* the original's */
	const struct domain_original *original; /* what domain_original_read() made of it with the same wishes */
	struct domain_wishes wishes;
	char *const *instead;                 /* of original->file[i]: the file that the copy gets */
};

/*
 * Append the XML. spec: as for domain_xml(), its kernel, initrd and cmdline are those of the original where the machine
 * sets none; targets of its disks are chosen here. Refused: a device that already has an alias of ours.
 */
int domain_copy_xml(const struct domain_copy *copy, const struct domain_spec *spec, struct text *xml, struct error *e);

#endif
