/*
 * Throw-away qcow2 overlays over a user's disk image, which is never written to; made by qemu-img, a subprocess. The
 * name of an overlay says whose it is, so that what a killed kickbench left behind is found.
 */
#ifndef KB_OVERLAY_H
#define KB_OVERLAY_H

#include "guest/error.h"

/* What a disk image is, by its first bytes: "qcow2" or "raw". NULL with e: it cannot be read. */
const char *overlay_format(const char *image, struct error *e);

/* Make path, a qcow2 file over backing (an absolute path), which has that format. */
int overlay_make(const char *backing, const char *backing_format, const char *path, struct error *e);

/* Whether the image can be read and no emulator has it open for writing. */
int overlay_check_unused(const char *image, const char *format, struct error *e);

/* FOLDER/PID-STARTED-NAME.qcow2 of this process, FOLDER made if need be; the caller frees it. NULL: e. */
char *overlay_path(const char *folder, const char *name, struct error *e);

/* Remove the overlays in folder whose process is gone. Returns how many. */
unsigned overlay_sweep(const char *folder);

/*
 * Whether the folder's file system has so many bytes free; else a message that names it. An overlay grows with what its
 * guest writes, and a guest whose overlay cannot grow is stopped.
 */
int overlay_check_space(const char *folder, unsigned long long bytes, struct error *e);

int overlay_free_bytes(const char *folder, unsigned long long *bytes);

/*
 * SHA-256 of an image in lower-case hexadecimal digits (65 bytes), kept in cache_dir for this path, size, inode and
 * modification time: reading gigabytes takes long.
 */
int overlay_digest(const char *image, const char *cache_dir, char digest[65], struct error *e);

#endif
