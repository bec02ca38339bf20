/* OpenBSD. Manuals: sysctl(2), dkio: <sys/dkio.h>, reboot(2). */
#include "guest/os_bsd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/disk.h>
#include <sys/disklabel.h>
#include <sys/dkio.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/sched.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#include <unistd.h>

/* pthread mutexes and semaphores cannot be shared between processes here. */
const bool os_has_processes = false;
const char *const os_second_serial = "/dev/cua01";
const char *const bsd_raw_prefix = "r";

int bsd_media(int fd, uint64_t *bytes, uint32_t *sector)
{
	struct disklabel label;

	/* The physical label: its size is the medium's, whatever label the user has written. */
	if (ioctl(fd, DIOCGPDINFO, &label) < 0 && ioctl(fd, DIOCGDINFO, &label) < 0)
		return -1;
	*sector = label.d_secsize;
	*bytes = DL_GETDSIZE(&label) * label.d_secsize;
	return 0;
}

void bsd_limits(int fd, struct os_limits *limits)
{
	struct dk_cache cache;

	memset(&cache, 0, sizeof(cache));
	if (ioctl(fd, DIOCGCACHE, &cache) == 0)
		limits->write_cache = cache.wrcache != 0;
}

/* No request of this system's drops data. */
int os_discard(int fd, uint64_t offset, uint64_t length)
{
	(void)fd, (void)offset, (void)length;
	return ENOTSUP;
}

int bsd_flush_disk(int fd)
{
	int force = 0;

	if (ioctl(fd, DIOCCACHESYNC, &force) == 0)
		return 0;
	/* A disk without a cache, or a driver without the request. */
	return errno == ENOTTY || errno == EOPNOTSUPP || errno == ENODEV ? 0 : errno;
}

int bsd_flush_file(int fd)
{
	return fsync(fd) < 0 ? errno : 0;
}

int bsd_flush_file_data(int fd)
{
	return fdatasync(fd) < 0 ? errno : 0;
}

void bsd_serial(int fd, char *serial, size_t size)
{
	struct dk_inquiry inquiry;

	serial[0] = '\0';
	memset(&inquiry, 0, sizeof(inquiry));
	if (ioctl(fd, DIOCINQ, &inquiry) == 0)
		snprintf(serial, size, "%.*s", (int)sizeof(inquiry.serial), inquiry.serial);
}

void bsd_timecounter(char *name, size_t size)
{
	const int mib[] = {CTL_KERN, KERN_TIMECOUNTER, KERN_TIMECOUNTER_HARDWARE};
	size_t length;
	char *value = bsd_sysctl(mib, 3, &length);

	snprintf(name, size, "%s", value ? value : "");
	free(value);
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

char *bsd_disk_names(void)
{
	const int mib[] = {CTL_HW, HW_DISKNAMES};
	size_t length;

	return bsd_sysctl(mib, 2, &length);
}

/* Partition c is the whole disk on every architecture. */
void bsd_disk_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "/dev/r%sc", name);
}

int os_preallocate(int fd, uint64_t length, enum os_reserve how)
{
	(void)fd, (void)length, (void)how;
	return ENOTSUP;
}

static void disk_counters(const char *name, struct os_counters *c)
{
	const int mib[] = {CTL_HW, HW_DISKSTATS};
	size_t length;
	struct diskstats *all = bsd_sysctl(mib, 2, &length), *d;

	for (d = all; d && d < all + length / sizeof(*d); d++) {
		if (strncmp(d->ds_name, name, sizeof(d->ds_name)) != 0)
			continue;
		c->have_disk = true;
		c->reads = d->ds_rxfer;
		c->writes = d->ds_wxfer;
		c->read_bytes = d->ds_rbytes;
		c->write_bytes = d->ds_wbytes;
		c->busy_ms = (uint64_t)d->ds_time.tv_sec * 1000 + (uint64_t)d->ds_time.tv_usec / 1000;
	}
	free(all);
}

static int statistics_rate(void)
{
	const int mib[] = {CTL_KERN, KERN_CLOCKRATE};
	struct clockinfo info;
	size_t length = sizeof(info);

	if (sysctl(mib, 2, &info, &length, NULL, 0) < 0)
		return 0;
	return info.stathz ? info.stathz : info.hz;
}

static void cpu_counters(struct os_counters *c)
{
	uint64_t ticks[CPUSTATES];
	size_t length = sizeof(ticks);
	int rate = statistics_rate();

	for (int cpu = 0;; cpu++, length = sizeof(ticks)) {
		const int mib[] = {CTL_KERN, KERN_CPTIME2, cpu};

		if (sysctl(mib, 3, ticks, &length, NULL, 0) < 0)
			break;
		c->have_cpu = rate > 0;
		c->cpu_user_us += bsd_ticks_us(ticks[CP_USER] + ticks[CP_NICE], rate);
		c->cpu_system_us += bsd_ticks_us(ticks[CP_SYS] + ticks[CP_SPIN] + ticks[CP_INTR], rate);
		c->cpu_idle_us += bsd_ticks_us(ticks[CP_IDLE], rate);
	}
}

/* Interrupts are counted by the name of the virtio bus, which nothing connects with the disk: have_irq stays false. */
void bsd_counters(const char *name, struct os_counters *c)
{
	if (name)
		disk_counters(name, c);
	cpu_counters(c);
}

int os_poweroff(struct error *e)
{
	reboot(RB_HALT | RB_POWERDOWN);
	return error_errno(e, STATUS_FAILED, "power off");
}

/* A thread cannot be bound here. */
int os_bind_cpus(const uint64_t *bits, unsigned count)
{
	(void)bits, (void)count;
	return ENOTSUP;
}
