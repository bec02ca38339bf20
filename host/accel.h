/* accel = auto: KVM when a short trial shows that it runs our guest, else TCG. Cached per host, kernel and emulator. */
#ifndef KB_ACCEL_H
#define KB_ACCEL_H

#include <signal.h>

#include "host/hypervisor.h"
#include "host/image.h"
#include "host/plan.h"

struct accel_request {
	const struct machine *machine; /* its accel is what is wanted; paths absolute */
	const struct image *image;
	double boot_timeout;   /* seconds, as the scenario has it; 0: 60 for TCG */
	const char *cache_dir; /* outcomes are kept here */
	const char *disk_dir;  /* for a small disk whose speed tells the pace */
	void (*say)(const char *line); /* told before something takes long, may be NULL */
	const volatile sig_atomic_t *interrupted;
};

struct accel_outcome {
	enum accel used;  /* KVM or TCG */
	char why[512];    /* one sentence for terminal and report */
	struct pace pace; /* of the accelerator that is used */
	char qemu_version[160]; /* what the emulator calls itself, "" unknown */
	bool virtio_status;     /* it survived x-query-virtio-status, which was tried when the trial guest had done its work */
	bool cached;
};

/*
 * Decide. TCG is tried first: it tells how fast a guest has to come up for KVM to be worth anything, and
 * KVM gets that time and a second. A KVM that was asked for by name gets 20 s and has to work: else an
 * error that says what happened. cpu = host is a wish for KVM. The outcome is kept in cache_dir, for this host, kernel,
 * emulator (its file's size and times, too: it may have been built anew), machine and image.
 */
int accel_decide(const struct hv_ops *ops, struct hv *hv, const struct accel_request *request,
		 struct accel_outcome *out, struct error *e);

#endif
