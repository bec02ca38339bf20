/* What the BSDs have in common. No system is named in here; the differences are behind os_bsd.h. */
#include "guest/os_bsd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysctl.h>
#include <sys/utsname.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* A driver, the label or GEOM says no, each with its own. */
static const int past_end[] = {EIO, EINVAL, ENXIO, ENOSPC, 0};
static const int unaligned[] = {EINVAL, EIO, EFAULT, 0};
static const int read_only[] = {EROFS, EPERM, EACCES, EIO, 0};

const struct os_refusals os_refusals = {past_end, unaligned, read_only};

/* ---- identity ---- */

void os_identity(struct os_identity *id)
{
	struct utsname u;
	struct timespec t;
	long n;

	memset(id, 0, sizeof(*id));
	if (uname(&u) == 0) {
		snprintf(id->name, sizeof(id->name), "%s", u.sysname);
		snprintf(id->release, sizeof(id->release), "%s", u.release);
		snprintf(id->machine, sizeof(id->machine), "%s", u.machine);
	}
	bsd_timecounter(id->clocksource, sizeof(id->clocksource));
	n = sysconf(_SC_NPROCESSORS_ONLN);
	id->ncpus = n > 0 ? (unsigned)n : 1;
	n = sysconf(_SC_PHYS_PAGES);
	if (n > 0)
		id->memory_bytes = (uint64_t)n * (uint64_t)sysconf(_SC_PAGESIZE);
	/* On all BSDs the monotonic clock counts from the start of the kernel. */
	if (clock_gettime(CLOCK_MONOTONIC, &t) == 0)
		id->uptime_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- names, sysctl ---- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool bsd_disk_name(const char *path, char *name, size_t size)
{
	const char *slash = strrchr(path, '/'), *p = slash ? slash + 1 : path;
	size_t letters = 0, digits = 0, prefix = strlen(bsd_raw_prefix);

	/* Only a path can be that of a raw device; "rd0" alone is a driver's name. */
	if (slash && strncmp(p, bsd_raw_prefix, prefix) == 0 && is_letter(p[prefix]) && is_letter(p[prefix + 1]))
		p += prefix;
	while (is_letter(p[letters]))
		letters++;
	while (is_digit(p[letters + digits]))
		digits++;
	if (letters == 0 || digits == 0 || letters + digits >= size)
		return false;
	memcpy(name, p, letters + digits);
	name[letters + digits] = '\0';
	return true;
}

bool bsd_is_part_of(const char *path, const char *name)
{
	char of[64];

	return strncmp(path, "/dev/", 5) == 0 && bsd_disk_name(path, of, sizeof(of)) && strcmp(of, name) == 0;
}

void *bsd_sysctl(const int *mib, unsigned depth, size_t *length)
{
	void *value;

	*length = 0;
	if (sysctl(mib, depth, NULL, length, NULL, 0) < 0)
		return NULL;
	*length += *length / 4 + 64; /* it may grow until the second call */
	value = calloc(1, *length + 1);
	if (value && sysctl(mib, depth, value, length, NULL, 0) == 0)
		return value;
	free(value);
	*length = 0;
	return NULL;
}

uint64_t bsd_ticks_us(uint64_t ticks, int rate)
{
	return rate > 0 ? ticks / (unsigned)rate * 1000000 + ticks % (unsigned)rate * 1000000 / (unsigned)rate : 0;
}

/* ---- disks and files ---- */

static int inspect_device(const char *path, struct os_target *target, struct error *e)
{
	char name[64];
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return error_errno(e, STATUS_FAILED, "%s", path);
	if (bsd_media(fd, &target->bytes, &target->sector) < 0)
		target->bytes = 0;
	if (target->sector == 0)
		target->sector = 512;
	close(fd);
	target->mounted = bsd_disk_name(path, name, sizeof(name)) && bsd_mounts(name) > 0;
	return 0;
}

int os_inspect(const char *path, struct os_target *target, struct error *e)
{
	struct stat st;

	memset(target, 0, sizeof(*target));
	target->sector = 1;
	if (stat(path, &st) < 0) {
		if (errno == ENOENT)
			return 0;
		return error_errno(e, STATUS_FAILED, "%s", path);
	}
	if (S_ISREG(st.st_mode)) {
		target->kind = OS_REGULAR;
		target->bytes = (uint64_t)st.st_size;
		return 0;
	}
	if (!S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode)) {
		target->kind = OS_OTHER;
		return 0;
	}
	target->kind = S_ISCHR(st.st_mode) ? OS_CHAR : OS_BLOCK;
	target->sector = 0;
	return inspect_device(path, target, e);
}

/*
 * A character device has no cache, so that it needs nothing to be direct. A file needs O_DIRECT, which not every
 * system has; a block device is cached whatever is asked for.
 */
static int direct_flag(const char *path, struct error *e)
{
	struct stat st;
	bool exists = stat(path, &st) == 0;

	if (exists && S_ISCHR(st.st_mode))
		return 0;
#ifdef O_DIRECT
	if (!exists || S_ISREG(st.st_mode))
		return O_DIRECT;
#endif
	errno = EINVAL;
	error_set(e, STATUS_FAILED, "%s: looks like your file system does not support direct=1/buffered=0", path);
	errno = EINVAL;
	return -1;
}

int os_open(const char *path, unsigned flags, struct error *e)
{
	int how = flags & OS_WRITE ? (flags & OS_READ ? O_RDWR : O_WRONLY) : O_RDONLY;
	int direct = 0, fd, saved;

	if (flags & OS_DIRECT)
		direct = direct_flag(path, e);
	if (direct < 0)
		return -1;
	how |= direct | O_CLOEXEC;
	how |= flags & OS_CREATE ? O_CREAT : 0;
	how |= flags & OS_TRUNCATE ? O_TRUNC : 0;
	how |= flags & OS_SYNC ? O_SYNC : 0;
#ifdef O_DSYNC
	how |= flags & OS_DSYNC ? O_DSYNC : 0;
#else
	how |= flags & OS_DSYNC ? O_SYNC : 0; /* more than was asked for, never less */
#endif
	fd = open(path, how, 0644);
	if (fd >= 0)
		return fd;
	saved = errno;
	if (direct && saved == EINVAL)
		error_set(e, STATUS_FAILED, "%s: looks like your file system does not support direct=1/buffered=0",
			  path);
	else
		error_errno(e, STATUS_FAILED, "%s", path);
	errno = saved;
	return -1;
}

int os_drop_cache(int fd, const struct os_target *target, uint64_t offset, uint64_t length)
{
	if (target->kind == OS_CHAR)
		return 0;
#ifdef POSIX_FADV_DONTNEED
	return posix_fadvise(fd, (off_t)offset, (off_t)length, POSIX_FADV_DONTNEED);
#else
	(void)fd, (void)offset, (void)length;
	return ENOTSUP;
#endif
}

int os_advise(int fd, bool random, uint64_t offset, uint64_t length)
{
#ifdef POSIX_FADV_RANDOM
	return posix_fadvise(fd, (off_t)offset, (off_t)length, random ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL);
#else
	(void)fd, (void)random, (void)offset, (void)length;
	return ENOTSUP;
#endif
}

/* Not all of the BSDs have SEEK_DATA. */
uint64_t os_next_data(int fd, uint64_t from)
{
	(void)fd;
	return from;
}

int os_flush(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return errno;
	if (S_ISREG(st.st_mode))
		return bsd_flush_file(fd);
	/* A raw device has nothing that fsync() could write, and not every one has the call. */
	if (fsync(fd) < 0 && errno != EINVAL && errno != ENOTSUP && errno != EOPNOTSUPP && errno != ENODEV)
		return errno;
	return bsd_flush_disk(fd);
}

int os_flush_data(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return errno;
	return S_ISREG(st.st_mode) ? bsd_flush_file_data(fd) : os_flush(fd);
}

/* One disk; one that has no medium, or that we may not open, is not listed. */
static bool look_at_disk(const char *name, struct os_disk *disk)
{
	int fd;

	memset(disk, 0, sizeof(*disk));
	bsd_disk_path(disk->path, sizeof(disk->path), name);
	fd = open(disk->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (bsd_media(fd, &disk->bytes, &disk->sector) < 0)
		disk->bytes = 0;
	bsd_serial(fd, disk->serial, sizeof(disk->serial));
	close(fd);
	return disk->bytes > 0;
}

size_t os_disks(struct os_disk *disks, size_t max)
{
	char *names = bsd_disk_names(), *rest = NULL;
	size_t n = 0;

	for (char *word = names ? strtok_r(names, " \t\n,", &rest) : NULL; word && n < max;
	     word = strtok_r(NULL, " \t\n,", &rest)) {
		word[strcspn(word, ":")] = '\0';
		/* Optical, floppy and memory disks, and NetBSD's wedges, which are parts of others. */
		if (strncmp(word, "cd", 2) != 0 && strncmp(word, "fd", 2) != 0 && strncmp(word, "md", 2) != 0 &&
		    strncmp(word, "dk", 2) != 0 && look_at_disk(word, &disks[n]))
			n++;
	}
	free(names);
	return n;
}

void os_limits(const char *path, struct os_limits *limits)
{
	struct os_target target;
	struct error ignored;
	int fd;

	memset(limits, 0, sizeof(*limits));
	memset(&ignored, 0, sizeof(ignored));
	limits->readonly = limits->write_cache = limits->discard = limits->zeroes = -1;
	if (os_inspect(path, &target, &ignored) < 0 || (target.kind != OS_CHAR && target.kind != OS_BLOCK))
		return;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	bsd_limits(fd, limits);
	close(fd);
}

int os_write_zeroes(int fd, uint64_t offset, uint64_t length)
{
	(void)fd, (void)offset, (void)length;
	return ENOTSUP;
}

int os_device_name(const char *path, char *name, size_t size, struct error *e)
{
	(void)name, (void)size;
	return error_set(e, STATUS_FAILED, "%s: a driver can be taken off its device on Linux only", path);
}

int os_bind_driver(const char *device, bool bound, struct error *e)
{
	return error_set(e, STATUS_FAILED, "%s: a driver can be %s a device on Linux only", device,
			 bound ? "put on" : "taken off");
}

void os_counters(const char *path, struct os_counters *c)
{
	char name[64];

	memset(c, 0, sizeof(*c));
	bsd_counters(path && bsd_disk_name(path, name, sizeof(name)) ? name : NULL, c);
}

/* ---- the agent's serial port ---- */

static int set_raw(int fd)
{
	struct termios t;

	if (tcgetattr(fd, &t) < 0)
		return -1;
	cfmakeraw(&t);
	t.c_iflag &= ~(tcflag_t)(IXON | IXOFF | IXANY);
	t.c_cflag &= ~(tcflag_t)(CRTSCTS | CSIZE | PARENB | CSTOPB | HUPCL);
	t.c_cflag |= CLOCAL | CREAD | CS8;
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	if (cfsetspeed(&t, B115200) < 0)
		return -1;
	return tcsetattr(fd, TCSANOW, &t);
}

int os_open_serial(const char *path, struct error *e)
{
	/* Without O_NONBLOCK the open would wait for a carrier on the dial-in device. */
	int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	int flags;

	if (fd < 0)
		return error_errno(e, STATUS_FAILED, "%s", path);
	flags = fcntl(fd, F_GETFL);
	if (set_raw(fd) < 0 || flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0) {
		error_errno(e, STATUS_FAILED, "%s", path);
		close(fd);
		return -1;
	}
	return fd;
}

/* Their images hold no file system's tools yet, and a disk that the host has formatted would be Linux's. */
int os_mount(const char *device, const char *type, const char *folder, struct error *e)
{
	(void)folder;
	return error_set(e, STATUS_FAILED, "%s: mounting %s for a job is not supported on this system", device, type);
}

int os_unmount(const char *folder, struct error *e)
{
	return error_set(e, STATUS_FAILED, "%s: mounting for a job is not supported on this system", folder);
}
