/* Reading one line from sysfs or proc. Linux only. */
#ifndef KB_OS_LINUX_SYSFS_H
#define KB_OS_LINUX_SYSFS_H

#include <stdbool.h>
#include <stddef.h>

/* The first line without its end; "" and false when there is none. */
bool sysfs_line(const char *path, char *line, size_t size);

#endif
