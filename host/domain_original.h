/*
 * The definition of a user's own domain, as libvirt keeps it or as a file has it: what of it matters before a copy
 * (domain_copy.h) is made, and whether there can be one. Pure: text in, facts out.
 */
#ifndef KB_DOMAIN_ORIGINAL_H
#define KB_DOMAIN_ORIGINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/error.h"

enum domain_file_kind {
	DOMAIN_FILE_DISK,     /* a disk that the guest may write to: the copy gets an overlay over it */
	DOMAIN_FILE_FIRMWARE, /* the variables of its firmware: the copy gets a copy of the file */
};

/* What the original writes to, and the copy must not. */
struct domain_file {
	enum domain_file_kind kind;
	char *path;   /* absolute; NULL for FIRMWARE where libvirt would make it from a template */
	char *format; /* of a disk: "raw", "qcow2", … */
	char *target; /* its name in the domain: "vda"; "nvram" */
};

struct domain_original {
	char *name;
	char *cpu;      /* in words, for who compares hosts: a model or a mode */
	char *emulator; /* NULL: libvirt's choice */
	char *kernel, *initrd, *cmdline; /* NULL: it boots from a disk */
	bool emulated;  /* of type qemu: the user has chosen TCG */
	unsigned vcpus;
	uint64_t memory; /* bytes */
	struct domain_file *file; /* in the order of the definition, firmware last */
	size_t nfiles;
};

/* What a scenario says about devices that a copy cannot, or need not, share with the original. */
struct domain_wishes {
	bool keep_network;      /* else the copy has no network interface */
	bool drop_host_devices; /* else a domain that has one is refused */
};

/*
 * Look at a definition. Refused, each with one message: what is no XML, or no domain; another type than qemu and
 * kvm; another architecture than the PC's; devices of the host; a disk that is neither file nor block device, or is
 * encrypted. Read-only disks and CD-ROMs may be anything. On error *out is empty.
 */
int domain_original_read(const char *xml, const struct domain_wishes *wishes, struct domain_original *out, struct error *e);
void domain_original_free(struct domain_original *o);

#endif
