/* A virtio disk taken from its driver and given back, through sysfs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/os.h"
#include "guest/os_linux_sysfs.h"

#define DRIVER "/sys/bus/virtio/drivers/virtio_blk/"

int os_device_name(const char *path, char *name, size_t size, struct error *e)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return error_errno(e, STATUS_FAILED, "cannot look at %s", path);
	if (!S_ISBLK(st.st_mode) || !sysfs_virtio_name(st.st_rdev, name, size))
		return error_set(e, STATUS_FAILED, "%s is no virtio disk", path);
	return 0;
}

/* The write returns when the driver has let go of the device, or has taken it. */
int os_bind_driver(const char *name, bool bound, struct error *e)
{
	const char *path = bound ? DRIVER "bind" : DRIVER "unbind";
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t length = strlen(name);
	ssize_t n;

	if (fd < 0)
		return error_errno(e, STATUS_FAILED, "cannot open %s", path);
	n = write(fd, name, length);
	if (n != (ssize_t)length)
		error_errno(e, STATUS_FAILED, "writing %s to %s", name, path);
	close(fd);
	return n == (ssize_t)length ? 0 : -1;
}
