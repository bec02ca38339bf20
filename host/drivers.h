/* The ways to start guests: one row each, in one visible table. */
#ifndef KB_DRIVERS_H
#define KB_DRIVERS_H

#include "host/accel.h"
#include "host/boot.h"

struct driver {
	enum guest_driver kind;
	const char *name; /* as scenarios have it */
	const struct hv_ops *ops;
	const char *suffix; /* of the file that keeps what describe() wrote */

	/* What ops->start takes for this boot; appended to out. */
	int (*describe)(const struct boot_request *r, struct text *out, struct error *e);
	/* Between start and hello: settings that only a running guest takes. NULL: none. */
	int (*settle)(struct boot *b, struct error *e);
	/* What is in force for a disk: an object as domain_verify()'s. */
	json_t *(*verify)(struct boot *b, size_t disk);
	/* Which accelerator, by a trial guest. NULL: the commands decide, and nothing is tried. */
	int (*decide)(const struct hv_ops *ops, struct hv *hv, const struct accel_request *request,
		      struct accel_outcome *out, struct error *e);
};

/* The k-th driver of this build, NULL at the end. */
const struct driver *driver_at(size_t k);

/* NULL: this build has none, and e says so. */
const struct driver *driver_get(enum guest_driver kind, struct error *e);

#endif
