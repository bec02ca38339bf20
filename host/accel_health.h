/* Whether an accelerator is worth anything: the probe times a loop and a port write under it. */
#ifndef KB_ACCEL_HEALTH_H
#define KB_ACCEL_HEALTH_H

#include "host/boot.h"
#include "host/hypervisor.h"

struct accel_health {
	double boot_s;        /* start to hello; NAN: it was not tried, or did not come so far */
	double loop_ns;       /* a turn of a loop that only computes; NAN: not measured */
	double port_write_ns; /* a write to a port that nobody listens to: an exit to the emulator */
};

#define ACCEL_HEALTH_NONE { NAN, NAN, NAN }

/*
 * What a KVM may need that runs the guest's code itself: a turn is 0.3 to 2 ns then. One that emulates instruction by
 * instruction was seen to need 3000 ns, TCG needs about 8. A port write costs 1 to 20 us, in nested guests some more.
 */
#define ACCEL_LOOP_MOST_NS 50
#define ACCEL_PORT_WRITE_MOST_NS 1000000

bool accel_healthy(const struct accel_health *h);

/* "a loop's turn takes 3012 ns and a port write 8.1 us": appended. */
void accel_health_words(const struct accel_health *h, struct text *out);

/*
 * Boot the probe and measure. r: its name, accel, image (the probe's), machine and interrupted are used; the machine's
 * kernel, initrd, arguments and a cpu = host are left out. timeout: seconds for the boot, and once more for the measurement.
 */
int accel_health_measure(const struct hv_ops *ops, struct hv *hv, const struct boot_request *r, double timeout,
			 struct accel_health *out, struct error *e);

/* One job of the probe in a guest that is up; its "probe" member, the caller's, or NULL. seconds may be NULL. */
json_t *accel_probe_job(struct boot *b, char *const *argv, size_t argc, double timeout, double *seconds, struct error *e);

#endif
