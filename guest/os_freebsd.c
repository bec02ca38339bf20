/* FreeBSD. Manuals: sysctl(3), <sys/disk.h>, devstat(9), vmstat(8) for interrupts, reboot(2). */
#include "guest/os_bsd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/cpuset.h>
#include <sys/devicestat.h>
#include <sys/disk.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#include <unistd.h>

const bool os_has_processes = true;
const char *const os_second_serial = "/dev/cuau1";
const char *const bsd_raw_prefix = "";

int bsd_media(int fd, uint64_t *bytes, uint32_t *sector)
{
	u_int size;
	off_t media;

	if (ioctl(fd, DIOCGMEDIASIZE, &media) < 0 || ioctl(fd, DIOCGSECTORSIZE, &size) < 0)
		return -1;
	*bytes = (uint64_t)media;
	*sector = size;
	return 0;
}

void bsd_limits(int fd, struct os_limits *limits)
{
	struct diocgattr_arg attribute;
	off_t stripe;

	memset(&attribute, 0, sizeof(attribute));
	snprintf(attribute.name, sizeof(attribute.name), "GEOM::candelete");
	attribute.len = sizeof(attribute.value.i);
	if (ioctl(fd, DIOCGATTR, &attribute) == 0)
		limits->discard = attribute.value.i != 0;
	if (ioctl(fd, DIOCGSTRIPESIZE, &stripe) == 0 && stripe > 0)
		limits->discard_bytes = (uint64_t)stripe;
}

int os_discard(int fd, uint64_t offset, uint64_t length)
{
	off_t range[2] = {(off_t)offset, (off_t)length};

	if (ioctl(fd, DIOCGDELETE, range) == 0)
		return 0;
	return errno == ENOTTY || errno == EOPNOTSUPP || errno == ENODEV ? ENOTSUP : errno;
}

int bsd_flush_disk(int fd)
{
	if (ioctl(fd, DIOCGFLUSH) == 0)
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
	char ident[DISK_IDENT_SIZE] = "";

	if (ioctl(fd, DIOCGIDENT, ident) < 0)
		ident[0] = '\0';
	snprintf(serial, size, "%.*s", (int)sizeof(ident) - 1, ident);
}

void bsd_timecounter(char *name, size_t size)
{
	if (sysctlbyname("kern.timecounter.hardware", name, &size, NULL, 0) < 0)
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
	int ret = how == OS_RESERVE_KEEP ? ENOTSUP : posix_fallocate(fd, 0, (off_t)length);

	/* ZFS says EINVAL: it would not keep the promise. */
	return ret == EINVAL || ret == EOPNOTSUPP || ret == ENODEV ? ENOTSUP : ret;
}

static uint64_t bintime_ms(const struct bintime *t)
{
	return (uint64_t)t->sec * 1000 + ((uint64_t)(uint32_t)(t->frac >> 32) * 1000 >> 32);
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
		c->reads = d.operations[DEVSTAT_READ];
		c->writes = d.operations[DEVSTAT_WRITE];
		c->flushes = d.operations[DEVSTAT_NO_DATA];
		c->read_bytes = d.bytes[DEVSTAT_READ];
		c->write_bytes = d.bytes[DEVSTAT_WRITE];
		c->read_ms = bintime_ms(&d.duration[DEVSTAT_READ]);
		c->write_ms = bintime_ms(&d.duration[DEVSTAT_WRITE]);
		c->busy_ms = bintime_ms(&d.busy_time);
	}
	free(all);
}

static bool has_word(const char *line, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = line; (p = strstr(p, word)); p += n) {
		if ((p == line || p[-1] == ' ' || p[-1] == ':') && (p[n] == '\0' || p[n] == ' ' || p[n] == ':'))
			return true;
	}
	return false;
}

/* Disk vtbd0 is driven by vtblk0, and the interrupts bear the name of the bus that this hangs on: "irq24: virtio_pci0". */
static void interrupt_counters(const char *name, struct os_counters *c)
{
	char key[64], parent[64];
	size_t size = sizeof(parent) - 1, names_length, counts_length, i = 0;
	u_long *counts;
	char *names, *p;

	if (strncmp(name, "vtbd", 4) != 0)
		return;
	snprintf(key, sizeof(key), "dev.vtblk.%s.%%parent", name + 4);
	if (sysctlbyname(key, parent, &size, NULL, 0) < 0)
		return;
	parent[size] = '\0';
	names = sysctl_all("hw.intrnames", &names_length);
	counts = sysctl_all("hw.intrcnt", &counts_length);
	for (p = names; p && counts && p < names + names_length && i < counts_length / sizeof(*counts);
	     p += strlen(p) + 1, i++) {
		if (has_word(p, parent)) {
			c->have_irq = true;
			c->interrupts += counts[i];
		}
	}
	free(names);
	free(counts);
}

static void cpu_counters(struct os_counters *c)
{
	struct clockinfo info;
	u_long ticks[CPUSTATES];
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

void bsd_counters(const char *name, struct os_counters *c)
{
	if (name) {
		disk_counters(name, c);
		interrupt_counters(name, c);
	}
	cpu_counters(c);
}

int os_poweroff(struct error *e)
{
	reboot(RB_POWEROFF);
	return error_errno(e, STATUS_FAILED, "power off");
}

int os_bind_cpus(const uint64_t *bits, unsigned count)
{
	cpuset_t set;

	CPU_ZERO(&set);
	for (unsigned cpu = 0; cpu < count && cpu < CPU_SETSIZE; cpu++)
		if (bits[cpu / 64] >> cpu % 64 & 1)
			CPU_SET(cpu, &set);
	return cpuset_setaffinity(CPU_LEVEL_WHICH, CPU_WHICH_TID, -1, sizeof(set), &set) < 0 ? errno : 0;
}
