/* NetBSD. Manuals: sysctl(3), <sys/dkio.h>, <sys/iostat.h>, fsync_range(2), reboot(2). */
#include "guest/os_bsd.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/disk.h>
#include <sys/disklabel.h>
#include <sys/dkio.h>
#include <sys/ioctl.h>
#include <sys/iostat.h>
#include <sys/reboot.h>
#include <sys/sched.h>
#include <sys/statvfs.h>
#include <sys/sysctl.h>
#include <unistd.h>

/* pthread_mutexattr_setpshared() is not there. */
const bool os_has_processes = false;
const char *const os_second_serial = "/dev/tty01";
const char *const bsd_raw_prefix = "r";

int bsd_media(int fd, uint64_t *bytes, uint32_t *sector)
{
	struct disklabel label;
	u_int size;
	off_t media;

	if (ioctl(fd, DIOCGMEDIASIZE, &media) == 0 && ioctl(fd, DIOCGSECTORSIZE, &size) == 0) {
		*bytes = (uint64_t)media;
		*sector = size;
		return 0;
	}
	/* Older releases; a label counts 32 bits of sectors. */
	if (ioctl(fd, DIOCGDINFO, &label) < 0)
		return -1;
	*sector = label.d_secsize;
	*bytes = (uint64_t)label.d_secperunit * label.d_secsize;
	return 0;
}

void bsd_limits(int fd, struct os_limits *limits)
{
	int bits;

	if (ioctl(fd, DIOCGCACHE, &bits) == 0)
		limits->write_cache = (bits & DKCACHE_WRITE) != 0;
}

int os_discard(int fd, uint64_t offset, uint64_t length)
{
	if (fdiscard(fd, (off_t)offset, (off_t)length) == 0)
		return 0;
	return errno == ENODEV || errno == ENOTTY || errno == EOPNOTSUPP ? ENOTSUP : errno;
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
	if (fsync_range(fd, FFILESYNC | FDISKSYNC, 0, 0) == 0)
		return 0;
	/* It wants a descriptor that is open for writing. */
	return fsync(fd) < 0 ? errno : 0;
}

int bsd_flush_file_data(int fd)
{
	if (fsync_range(fd, FDATASYNC | FDISKSYNC, 0, 0) == 0)
		return 0;
	return fdatasync(fd) < 0 ? errno : 0;
}

/* No ioctl tells it. */
void bsd_serial(int fd, char *serial, size_t size)
{
	(void)fd, (void)size;
	serial[0] = '\0';
}

void bsd_timecounter(char *name, size_t size)
{
	if (sysctlbyname("kern.timecounter.hardware", name, &size, NULL, 0) < 0)
		name[0] = '\0';
}

unsigned bsd_mounts(const char *name)
{
	struct statvfs *list;
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

/* Which partition is the whole disk depends on the architecture: d on x86, c elsewhere. */
void bsd_disk_path(char *path, size_t size, const char *name)
{
	size_t length = sizeof(int);
	int raw;

	if (sysctlbyname("kern.rawpartition", &raw, &length, NULL, 0) < 0)
		raw = 3;
	snprintf(path, size, "/dev/r%s%c", name, 'a' + raw);
}

int os_preallocate(int fd, uint64_t length, enum os_reserve how)
{
	/* The call is there, but no file system of NetBSD answers to it yet. */
	return how == OS_RESERVE_POSIX ? posix_fallocate(fd, 0, (off_t)length) : ENOTSUP;
}

static uint64_t ms(int64_t seconds, int64_t us)
{
	return (uint64_t)(seconds * 1000 + us / 1000);
}

static void disk_counters(const char *name, struct os_counters *c)
{
	const int mib[] = {CTL_HW, HW_IOSTATS, (int)sizeof(struct io_sysctl)};
	size_t length;
	struct io_sysctl *all = bsd_sysctl(mib, 3, &length), *d;

	for (d = all; d && d < all + length / sizeof(*d); d++) {
		if (strncmp(d->name, name, sizeof(d->name)) != 0)
			continue;
		c->have_disk = true;
		c->reads = d->rxfer;
		c->writes = d->wxfer;
		c->read_bytes = d->rbytes;
		c->write_bytes = d->wbytes;
		c->busy_ms = ms(d->time_sec, d->time_usec);
		c->in_queue_ms = ms((int64_t)d->waitsum_sec + d->busysum_sec,
				    (int64_t)d->waitsum_usec + d->busysum_usec);
	}
	free(all);
}

static void cpu_counters(struct os_counters *c)
{
	struct clockinfo info;
	uint64_t ticks[CPUSTATES];
	size_t length = sizeof(info);
	int rate;

	if (sysctlbyname("kern.clockrate", &info, &length, NULL, 0) < 0)
		return;
	rate = info.stathz ? info.stathz : info.hz;
	length = sizeof(ticks);
	if (sysctlbyname("kern.cp_time", ticks, &length, NULL, 0) < 0) /* the sum of all CPUs */
		return;
	c->have_cpu = rate > 0;
	c->cpu_user_us = bsd_ticks_us(ticks[CP_USER] + ticks[CP_NICE], rate);
	c->cpu_system_us = bsd_ticks_us(ticks[CP_SYS] + ticks[CP_INTR], rate);
	c->cpu_idle_us = bsd_ticks_us(ticks[CP_IDLE], rate);
}

/* Interrupts are counted by vector, which nothing connects with the disk: have_irq stays false. */
void bsd_counters(const char *name, struct os_counters *c)
{
	if (name)
		disk_counters(name, c);
	cpu_counters(c);
}

int os_poweroff(struct error *e)
{
	reboot(RB_HALT | RB_POWERDOWN, NULL);
	return error_errno(e, STATUS_FAILED, "power off");
}

/* Only root may, unless sysctl security.models.extensions.user_set_cpu_affinity allows it. */
int os_bind_cpus(const uint64_t *bits, unsigned count)
{
	cpuset_t *set = cpuset_create();
	int error;

	if (!set)
		return ENOMEM;
	for (unsigned cpu = 0; cpu < count; cpu++)
		if (bits[cpu / 64] >> cpu % 64 & 1)
			cpuset_set((cpuid_t)cpu, set);
	error = pthread_setaffinity_np(pthread_self(), cpuset_size(set), set);
	cpuset_destroy(set);
	return error;
}
