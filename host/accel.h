/* accel = auto: KVM when a short trial shows that it runs our guest, else TCG. Cached per host, kernel and emulator. */
#ifndef KB_ACCEL_H
#define KB_ACCEL_H

#include <math.h>
#include <signal.h>

#include "host/accel_health.h"
#include "host/dirs.h"
#include "host/hypervisor.h"
#include "host/image.h"
#include "host/plan.h"

struct accel_request {
	enum tool tool;               /* of the guest that is to be run */
	const struct machine *machine; /* its accel is what is wanted; paths absolute */
	const struct image *image;
	const struct hv_host *host; /* whose guests they are */
	double boot_timeout;   /* seconds, as the scenario has it; 0: 60 for TCG */
	const struct dirs *dirs; /* outcomes are kept in the cache; the probe's image comes from data and build */
	const char *overlay_dir; /* for the throw-away files of a copy of a user's domain */
	const char *disk_dir;  /* for a small disk whose speed tells the pace */
	void (*say)(const char *line); /* told before something takes long, may be NULL */
	const volatile sig_atomic_t *interrupted;
};

struct accel_outcome {
	enum accel used;  /* KVM or TCG */
	char why[512];    /* one sentence for terminal and report */
	struct accel_health kvm, tcg; /* what the probe found where the choice was open; else NAN */
	struct pace pace; /* of the accelerator that is used */
	char qemu_version[160]; /* what the emulator calls itself, "" unknown */
	bool virtio_status;     /* it survived x-query-virtio-status, which was tried when the trial guest had done its work */
	bool cached;
	bool guest_failed; /* accel_decide() has failed, and not for the host: under TCG the guest started, and did not boot or did no I/O */
};

/*
 * Decide. Where the choice is open and KVM is offered, the probe runs under both: its loop and port write tell in seconds
 * a KVM that emulates instruction by instruction from a usable one. Then the guest itself is tried once, under what will be
 * used, which also tells its pace; where KVM runs the probe and not the guest, TCG is used. A KVM that was asked for by name
 * has to work: else an error that says what happened. cpu = host is a wish for KVM.
 * The outcome is kept in cache_dir, for this host, kernel,
 * emulator (its file's size and times, too: it may have been built anew), machine and image.
 */
int accel_decide(const struct hv_ops *ops, struct hv *hv, const struct accel_request *request,
		 struct accel_outcome *out, struct error *e);

#endif
