/*
 * Where guests find the files that they are booted from and measured on: on this host as they are, on another one as
 * copies of them (hv_ops put_file). A test disk's original stays here, untouched, and is what the copy is restored from.
 */
#ifndef KB_PLACE_H
#define KB_PLACE_H

#include "host/disk.h"
#include "host/hypervisor.h"
#include "host/image.h"

/*
 * Kernel and initramfs of the image and firmware of the machine: on another host their paths become those of copies, which
 * are named by what they hold and so never written over. Nothing to do on this host.
 */
int place_image(const struct hv_ops *ops, struct hv *hv, const struct hv_host *host, struct image *image,
		struct machine *machine, struct error *e);

/* What can be known to be impossible there before anything is booted: backend = memory and path = are for this host only. */
int place_check(const struct hv_host *host, const struct settings *s, struct error *e);

/*
 * disk_prepare() and disk_resolve_cache() for guests of that host. On another one the original is made in a folder of its
 * own below state_dir (disks of this host get written to), and disk->path is the path of its copy there. cache = auto is
 * then none: what its file system takes cannot be seen from here.
 */
int place_disk(const struct hv_ops *ops, struct hv *hv, const struct hv_host *host, struct settings *s,
	       const char *state_dir, unsigned index, struct disk *disk, struct error *e);

/* disk_restore() and disk_soil() of a disk that place_disk() has prepared. */
int place_restore(const struct hv_ops *ops, struct hv *hv, struct disk *disk, enum filesystem filesystem, double *seconds,
		  struct error *e);
int place_soil(const struct hv_ops *ops, struct hv *hv, struct disk *disk, struct error *e);

#endif
