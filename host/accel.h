/* accel = auto: KVM when a short trial shows that it runs our guest, else TCG. Cached per host, kernel and emulator. */
#ifndef KB_ACCEL_H
#define KB_ACCEL_H

#include "host/hypervisor.h"
#include "host/plan.h"

struct accel_outcome {
	enum accel used;  /* KVM or TCG */
	char why[256];    /* one sentence for terminal and report */
	struct pace pace; /* of the accelerator that is used */
	bool cached;
};

struct accel_image { const char *kernel, *initrd, *cmdline; const char *id; /* digest of the image */ };

/*
 * Decide. wanted KVM or TCG is taken as it is (KVM still has to boot: else an error that says what happened).
 * Boots a guest with a small null disk under a deadline (KVM: the time that TCG needs, at most 20 s), waits for
 * its hello and runs a half-second job, so that pace is known too. The outcome is kept in cache_dir.
 * say: told a line before something takes long, may be NULL.
 */
int accel_decide(const struct hv_ops *ops, struct hv *hv, enum accel wanted, const struct accel_image *image,
		 const char *cache_dir, void (*say)(const char *line), struct accel_outcome *out, struct error *e);

#endif
