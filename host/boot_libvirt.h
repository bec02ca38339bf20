/* The driver libvirt's part of a boot: host/drivers.h says what each does. */
#ifndef KB_BOOT_LIBVIRT_H
#define KB_BOOT_LIBVIRT_H

#include "host/boot.h"

int boot_libvirt_describe(const struct boot_request *r, struct text *xml, struct error *e);
int boot_libvirt_settle(struct boot *b, struct error *e);
json_t *boot_libvirt_verify(struct boot *b, size_t disk);

/* Fill qemu_version; settling does. */
void boot_ask_version(struct boot *b);

/*
 * Ask x-query-virtio-status of a guest that may be lost: QEMU 11.1.3 aborts on it. Whether the emulator is still there.
 */
bool boot_survives_virtio_status(struct boot *b);

#endif
