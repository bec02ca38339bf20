/* File systems of a guest's disks, and the kernel's modules for them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/modules_linux.h"
#include "guest/os.h"

static void complain(const char *what)
{
	fprintf(stderr, "kickio: %s: %s\n", what, strerror(errno));
}

static void load_module(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		complain(path);
		return;
	}
	if (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST)
		complain(path);
	close(fd);
}

bool modules_load(const char *list)
{
	FILE *f = fopen(list, "re");
	char *line = NULL;
	size_t size = 0;

	if (!f) {
		if (errno != ENOENT)
			complain(list);
		return false;
	}
	while (getline(&line, &size, f) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0] && line[0] != '#')
			load_module(line);
	}
	free(line);
	fclose(f);
	return true;
}

/* noatime: reading shall not write. No other option: what is measured is the file system as it comes. */
static int try(const char *device, const char *type, const char *folder)
{
	return mount(device, folder, type, MS_NOSUID | MS_NODEV | MS_NOATIME, "") < 0 ? errno : 0;
}

int os_mount(const char *device, const char *type, const char *folder, struct error *e)
{
	char part[64], list[64];
	int error;

	/* Folders on the way, as /mnt of /mnt/kb. */
	for (size_t i = 1; folder[i] && i < sizeof(part); i++)
		if (folder[i] == '/') {
			snprintf(part, sizeof(part), "%.*s", (int)i, folder);
			mkdir(part, 0755);
		}
	if (mkdir(folder, 0755) < 0 && errno != EEXIST)
		return error_errno(e, STATUS_FAILED, "cannot make %s", folder);
	error = try(device, type, folder);
	snprintf(list, sizeof(list), "/modules.%.40s", type);
	if (error == ENODEV && modules_load(list))
		error = try(device, type, folder);
	if (!error)
		return 0;
	if (error == ENODEV)
		return error_set(e, STATUS_FAILED, "this kernel has no %s, and its image no modules for it", type);
	errno = error;
	return error_errno(e, STATUS_FAILED, "cannot mount the %s of %s on %s", type, device, folder);
}

int os_unmount(const char *folder, struct error *e)
{
	return umount2(folder, 0) < 0 ? error_errno(e, STATUS_FAILED, "cannot unmount %s", folder) : 0;
}
