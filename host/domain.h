/* A guest as libvirt's domain XML: a pure function. The only place, with settings.c, that knows attribute names. */
#ifndef KB_DOMAIN_H
#define KB_DOMAIN_H

#include "guest/text.h"
#include "host/scenario.h"

#define DOMAIN_PREFIX "kickbench-"

struct domain_disk {
	const struct settings *settings; /* cache resolved */
	const char *source;              /* image file; NULL for BACKEND_NULL */
	const char *serial;              /* what the guest finds it by, at most 20 characters */
};

struct domain_spec {
	const char *name; /* begins with DOMAIN_PREFIX */
	const struct guest *guest;
	enum accel accel; /* KVM or TCG, decided */
	const char *emulator; /* path, NULL: libvirt's choice */
	const char *kernel, *initrd, *cmdline;
	long owner_pid;          /* kept in <metadata>: leftovers are those whose owner is gone */
	uint64_t owner_started;  /* its start time in clock ticks (/proc/PID/stat), against reused pids */
	const struct domain_disk *disk;
	size_t ndisks;
};

/* Append the XML, indented. disk k is target vd<a+k>, alias ua-disk<k>, in PCI slot order. */
int domain_xml(const struct domain_spec *spec, struct text *xml, struct error *e);

/* The owner that an XML names; -1 when it is not one of ours. */
int domain_owner(const char *xml, long *pid, uint64_t *started);

/*
 * Compare what is in force with what was asked: settings against live XML, qom properties and
 * virtio features (JSON texts of the QMP replies, NULL when a query was not possible).
 * Appends a JSON object: {"verified":{key:value…},"unverified":[key…],"mismatch":[{"key","want","have"}…],
 * "features":[…]}. Returns the number of mismatches.
 */
struct domain_evidence {
	const char *live_xml;
	const char *qom;          /* {"ioeventfd":true,"num-queues":1,…}: collected qom-get values */
	const char *virtio_status; /* reply of x-query-virtio-status */
	const char *iothread;     /* {"poll-max-ns":…} */
};
int domain_verify(const struct settings *asked, size_t disk, const struct domain_evidence *have, struct text *out);

#endif
