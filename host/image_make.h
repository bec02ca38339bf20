/*
 * An unattended disk image from an operating system's official media, as images/OS/install.ini says it:
 *
 *	[guest] media = installer   the media is started read-only and installs on an empty disk of `size`, its second one
 *	        media = disk        the media is the disk: of a copy of it, which has grown to `size` if that is set
 *	        seed = FILE         a NoCloud seed of this script (beside install.ini, $PASSWORD replaced) is the second disk
 *	[install NAME]              steps of the console; the system powers off after the last
 *
 * root's password is made up here, once per image.
 */
#ifndef KB_IMAGE_MAKE_H
#define KB_IMAGE_MAKE_H

#include "host/download.h"
#include "host/hypervisor.h"
#include "host/machine.h"
#include "host/profile.h"

struct image_make {
	const char *recipe;   /* images/OS */
	const char *media;    /* a file that was checked */
	const char *output;   /* the qcow2 file, made whole or not at all */
	const char *password; /* file of root's password: read when it is there, else made */
	const char *work;     /* folder for what is half-made: the overlays', whose leftovers are swept */
	const char *log;      /* of the console */
	enum accel accel;     /* KVM or TCG */
	const struct hv_ops *ops;
	struct hv *hv;
	void (*say)(const char *line);
	const volatile sig_atomic_t *interrupted;
};

/* Read and check RECIPE/install.ini. */
int image_make_recipe(const char *recipe, struct profile *p, struct error *e);

int image_make(const struct image_make *m, struct error *e);

#endif
