/* Reading one line from sysfs or proc. Linux only. */
#ifndef KB_OS_LINUX_SYSFS_H
#define KB_OS_LINUX_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The first line without its end; "" and false when there is none. */
bool sysfs_line(const char *path, char *line, size_t size);

/* "virtio3" for a disk on that virtio device (or a partition of it): a component of its place in sysfs. */
bool sysfs_virtio_name(dev_t device, char *name, size_t size);

#endif
