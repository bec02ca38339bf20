/* A guest as libvirt's domain XML: a pure function. The only place, with settings.c, that knows attribute names. */
#ifndef KB_DOMAIN_H
#define KB_DOMAIN_H

#include "guest/text.h"
#include "host/scenario.h"

#define DOMAIN_PREFIX "kickbench-"
#define DOMAIN_ALIAS "ua-disk" /* of test disk k, with k behind it; libvirt keeps a user's alias only when it begins with ua- */
#define DOMAIN_MAX_DISKS 8

/* What lies under a test disk, and how it is offered, beyond its settings: for tests of drivers and devices. */
struct domain_under {
	const char *log;      /* file for the log of QEMU's blklogwrites, made anew by the caller; NULL: none */
	unsigned log_sector;  /* 512 or 4096; the log has a head after the first write only, and no write that a rule let fail */
	const char *rule;     /* one "inject-error" rule of blkdebug as JSON; NULL: none */
	const char *policy;   /* for errors of reads and writes: "report", "stop", "enospace"; NULL: libvirt's */
	bool readonly, discard; /* discard: passed on to the file */
};

struct domain_disk {
	const struct settings *settings; /* cache resolved */
	const char *source;              /* image file; NULL for BACKEND_NULL and BACKEND_NBD */
	const char *serial;              /* what the guest finds it by, at most 20 characters */
	const struct domain_under *under; /* NULL: nothing */
	const char *target;              /* its name in a copy of a user's domain; NULL: vd<a+k>, at a place of its own */
};

/* A disk of the guest's own: its system, an archive. In PCI order before the test disks; it is started from the first. */
struct domain_extra {
	const char *path, *format, *serial;
	bool readonly;
};

struct domain_spec {
	const char *name; /* begins with DOMAIN_PREFIX */
	const struct machine *machine; /* its kernel, initrd, kernel_args and accel are not looked at: they are in these */
	enum accel accel; /* KVM or TCG, decided */
	const char *kernel, *initrd, *cmdline;
	const char *owner_host;  /* where owner_pid is one; NULL: not said */
	long owner_pid;          /* kept in <metadata>: leftovers are those whose owner is gone */
	uint64_t owner_started;  /* its start time in clock ticks (/proc/PID/stat), against reused pids */
	const struct domain_disk *disk;
	size_t ndisks;
	const struct domain_extra *extra; /* without any, there must be a kernel */
	size_t nextra;
	const char *stand_in; /* without a kernel: some file that can be read, for disks that libvirt cannot describe */
};

/*
 * Append the XML, indented. disk k is target vd<a+k>, alias ua-disk<k>, in PCI slot order, behind the extra ones. The disks that ask
 * for an iothread get iothread1, iothread2, … in their order. Pins of vCPUs and emulator belong to the guest:
 * disks that ask for different ones are refused.
 */
int domain_xml(const struct domain_spec *spec, struct text *xml, struct error *e);

/* The name of test disk k in an XML of ours ("vda"), "" when it has none. */
#define DOMAIN_TARGET_SIZE 16
void domain_target(const char *xml, size_t disk, char target[DOMAIN_TARGET_SIZE]);

/* The owner that an XML names; -1 when it is not one of ours. host: "" when it does not say. */
#define DOMAIN_HOST_SIZE 128
int domain_owner(const char *xml, char host[DOMAIN_HOST_SIZE], long *pid, uint64_t *started);

/*
 * poll_max_ns is no part of the XML: libvirt learnt it in 9.4 and cannot say what is in force. Append the QMP
 * command that sets it for disk k of the spec, to be sent after the start. Returns 1, or 0 when there is
 * nothing to set.
 */
int domain_poll_command(const struct domain_spec *spec, size_t disk, struct text *qmp);

/* The number of disk k's iothread (its QOM path is /objects/iothread<n>), 0 when it has none. */
unsigned domain_iothread(const struct domain_spec *spec, size_t disk);

/* The machine type that is asked for, as the emulator's own name may be longer: "pc" or the scenario's. */
const char *domain_machine_type(const struct machine *machine);

/* The CPU model that the emulator gets. */
const char *domain_cpu_model(const struct machine *machine, enum accel accel);

/*
 * Where domain_verify()'s evidence comes from: the properties to qom-get, NULL at the end, and the paths of
 * disk k in the emulator's object tree (the second is x-query-virtio-status's). Properties that a build
 * does not know may be left out of the evidence.
 */
extern const char *const domain_qom_properties[];
void domain_qom_path(size_t disk, struct text *out);
void domain_virtio_path(const struct machine *machine, size_t disk, struct text *out);

/*
 * On virtio-mmio some properties are the transport's: those to qom-get from where the device's property parent_bus (a path of
 * QOM's) is at, NULL at the end.
 */
extern const char *const domain_transport_properties[];
void domain_transport_path(const char *parent_bus, struct text *out);

/*
 * Compare what is in force with what was asked: settings against live XML, qom properties and
 * virtio features (JSON texts of the QMP replies, NULL when a query was not possible).
 * Appends a JSON object: {"verified":{key:value…},"unverified":[key…],"mismatch":[{"key","want","have"}…],
 * "features":[…]}. Returns the number of mismatches.
 * Keys that were left unset are reported as they are found and cannot mismatch. A feature counts only as it was
 * negotiated; what device and libvirt offer proves nothing: event_idx, packed and more queues than one that the guest's
 * driver did not negotiate are mismatches, whose "have" names the feature. size and path are not looked at: the guest
 * and the file's maker know them. A setting that is only known from the live XML (cache, io, pins) is what
 * libvirt passed on to the emulator.
 */
struct domain_evidence {
	const char *live_xml;
	const char *qom;          /* {"ioeventfd":true,"num-queues":1,…}: collected qom-get values, by domain_qom_properties */
	const char *virtio_status; /* reply of x-query-virtio-status */
	const char *iothread;     /* {"poll-max-ns":…} */
	int filesystem;           /* what the disk's superblock tells (enum filesystem), -1: unknown */
	const struct domain_machine_evidence *machine; /* NULL: not looked at */
};

/* The same for the guest as a whole. Texts may be NULL: unknown. */
struct domain_machine_evidence {
	const struct machine *asked;
	enum accel accel;         /* decided */
	const char *kernel;       /* the version that the image's kernel has */
	const char *qemu_version; /* "10.0.13" */
	const char *type;         /* of QOM's /machine: "pc-i440fx-7.2-machine" */
	const char *cpu;          /* QOM type of the first vCPU: "qemu64-x86_64-cpu" */
	const char *boot;         /* {"kernel":"…","initrd":"…","append":"…","firmware":"…"}: properties of /machine */
	const char *guest_kernel; /* as the guest tells it */
	int kvm;                  /* query-kvm: 0, 1, -1 unknown */
	unsigned vcpus;           /* query-cpus-fast, 0 unknown */
	uint64_t memory;          /* bytes, query-memory-size-summary, 0 unknown */
};
int domain_verify(const struct settings *asked, size_t disk, const struct domain_evidence *have, struct text *out);

#endif
