/* DragonFly BSD. Manuals: sysctl(3), <sys/diskslice.h>, <sys/kinfo.h>, devstat(9), reboot(2). */
#include "guest/os_bsd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/devicestat.h>
#include <sys/diskslice.h>
#include <sys/ioctl.h>
#include <sys/kinfo.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/sysctl.h>
#include <unistd.h>

/* The thread library refuses process-shared objects. */
const bool os_has_processes = false;
const char *const os_second_serial = "/dev/cuaa1";
const char *const bsd_raw_prefix = "";

int bsd_media(int fd, uint64_t *bytes, uint32_t *sector)
{
	struct partinfo info;

	memset(&info, 0, sizeof(info));
	if (ioctl(fd, DIOCGPART, &info) < 0)
		return -1;
	*bytes = info.media_size;
	*sector = (uint32_t)info.media_blksize;
	return 0;
}

/* No request tells. */
void bsd_limits(int fd, struct os_limits *limits)
{
	(void)fd, (void)limits;
}

/* Its IOCTLTRIM is for disks that other drivers than virtio's serve. */
int os_discard(int fd, uint64_t offset, uint64_t length)
{
	(void)fd, (void)offset, (void)length;
	return ENOTSUP;
}

/* No request of this system's empties a disk's cache. */
int bsd_flush_disk(int fd)
{
	(void)fd;
	return 0;
}

int bsd_flush_file(int fd)
{
	return fsync(fd) < 0 ? errno : 0;
}

/* There is no call for data alone. */
int bsd_flush_file_data(int fd)
{
	return bsd_flush_file(fd);
}

/* Only in the names below /dev/serno. */
void bsd_serial(int fd, char *serial, size_t size)
{
	(void)fd, (void)size;
	serial[0] = '\0';
}

void bsd_timecounter(char *name, size_t size)
{
	if (sysctlbyname("kern.cputimer.name", name, &size, NULL, 0) < 0)
		name[0] = '\0';
}

unsigned bsd_mounts(const char *name)
{
	struct statfs *list;
	int n = getmntinfo(&list, MNT_NOWAIT);
	unsigned found = 0;

	for (int i = 0; i < n; i++)
		found += bsd_is_part_of(list[i].f_mntfromname, name);
	return found;
}

/* A sysctl by name, however large. */
static void *sysctl_all(const char *name, size_t *length)
{
	int mib[CTL_MAXNAME];
	size_t depth = CTL_MAXNAME;

	*length = 0;
	if (sysctlnametomib(name, mib, &depth) < 0)
		return NULL;
	return bsd_sysctl(mib, (unsigned)depth, length);
}

char *bsd_disk_names(void)
{
	size_t length;

	return sysctl_all("kern.disks", &length);
}

void bsd_disk_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "/dev/%s", name);
}

int os_preallocate(int fd, uint64_t length, enum os_reserve how)
{
	(void)fd, (void)length, (void)how;
	return ENOTSUP;
}

/* Behind a generation number stand the records of all devices, in the form that DEVSTAT_VERSION names. */
static void disk_counters(const char *name, struct os_counters *c)
{
	int version = 0;
	size_t length = sizeof(version);
	char *all, device[DEVSTAT_NAME_LEN + 16];
	struct devstat d;

	if (sysctlbyname("kern.devstat.version", &version, &length, NULL, 0) < 0 || version != DEVSTAT_VERSION)
		return;
	all = sysctl_all("kern.devstat.all", &length);
	for (size_t at = sizeof(long); all && at + sizeof(d) <= length; at += sizeof(d)) {
		memcpy(&d, all + at, sizeof(d));
		snprintf(device, sizeof(device), "%.*s%d", DEVSTAT_NAME_LEN, d.device_name, d.unit_number);
		if (strcmp(device, name) != 0)
			continue;
		c->have_disk = true;
		c->reads = d.num_reads;
		c->writes = d.num_writes;
		c->read_bytes = d.bytes_read;
		c->write_bytes = d.bytes_written;
		c->busy_ms = (uint64_t)d.busy_time.tv_sec * 1000 + (uint64_t)d.busy_time.tv_usec / 1000;
	}
	free(all);
}

/* One record per CPU, in microseconds. */
static void cpu_counters(struct os_counters *c)
{
	size_t length;
	struct kinfo_cputime *all = sysctl_all("kern.cputime", &length), *t;

	for (t = all; t && t < all + length / sizeof(*t); t++) {
		c->have_cpu = true;
		c->cpu_user_us += t->cp_user + t->cp_nice;
		c->cpu_system_us += t->cp_sys + t->cp_intr;
		c->cpu_idle_us += t->cp_idle;
	}
	free(all);
}

/* The names of interrupt sources do not tell the disk: have_irq stays false. */
void bsd_counters(const char *name, struct os_counters *c)
{
	if (name)
		disk_counters(name, c);
	cpu_counters(c);
}

int os_poweroff(struct error *e)
{
	reboot(RB_POWEROFF);
	return error_errno(e, STATUS_FAILED, "power off");
}

/* A thread cannot be bound here. */
int os_bind_cpus(const uint64_t *bits, unsigned count)
{
	(void)bits, (void)count;
	return ENOTSUP;
}
