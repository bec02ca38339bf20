#include "guest/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "guest/os_linux_sysfs.h"

const bool os_has_processes = true;
const char *const os_second_serial = "/dev/ttyS1";

/* ---- identity ---- */

static uint64_t uptime_ns(void)
{
	struct timespec t;

	/* Counts suspended time as well, as an uptime does. */
	if (clock_gettime(CLOCK_BOOTTIME, &t) < 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void os_identity(struct os_identity *id)
{
	long ncpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct utsname u;
	struct sysinfo s;

	*id = (struct os_identity){0};
	if (uname(&u) == 0) {
		snprintf(id->name, sizeof(id->name), "%.63s", u.sysname);
		snprintf(id->release, sizeof(id->release), "%.127s", u.release);
		snprintf(id->machine, sizeof(id->machine), "%.63s", u.machine);
	}
	sysfs_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", id->clocksource,
		   sizeof(id->clocksource));
	id->ncpus = ncpus > 0 ? (unsigned)ncpus : 1;
	if (sysinfo(&s) == 0)
		id->memory_bytes = (uint64_t)s.totalram * s.mem_unit;
	id->uptime_ns = uptime_ns();
}

/* ---- disks and files ---- */

static int inspect_block(const char *path, struct os_target *target, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), sector = 0, error, claim;
	uint64_t bytes;

	if (fd < 0) {
		error = errno;
		error_errno(e, STATUS_FAILED, "cannot open %s", path);
		errno = error;
		return -1;
	}
	if (ioctl(fd, BLKGETSIZE64, &bytes) == 0)
		target->bytes = bytes;
	target->sector = ioctl(fd, BLKSSZGET, &sector) == 0 && sector > 0 ? (uint32_t)sector : 512;
	/* The kernel refuses exclusive use of what it has mounted itself, whole or in part, or swaps to. */
	claim = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
	target->mounted = claim < 0 && errno == EBUSY;
	if (claim >= 0)
		close(claim);
	close(fd);
	return 0;
}

int os_inspect(const char *path, struct os_target *target, struct error *e)
{
	struct stat st;
	int error;

	*target = (struct os_target){ .kind = OS_MISSING, .sector = 1 };
	if (stat(path, &st) < 0) {
		error = errno;
		if (error == ENOENT)
			return 0;
		error_errno(e, STATUS_FAILED, "cannot look at %s", path);
		errno = error;
		return -1;
	}
	if (S_ISREG(st.st_mode)) {
		target->kind = OS_REGULAR;
		target->bytes = (uint64_t)st.st_size;
	} else if (S_ISBLK(st.st_mode)) {
		target->kind = OS_BLOCK;
		return inspect_block(path, target, e);
	} else {
		target->kind = S_ISCHR(st.st_mode) ? OS_CHAR : OS_OTHER;
	}
	return 0;
}

static int access_flags(unsigned flags)
{
	if (!(flags & OS_WRITE))
		return O_RDONLY;
	return flags & OS_READ ? O_RDWR : O_WRONLY;
}

int os_open(const char *path, unsigned flags, struct error *e)
{
	static const struct {
		unsigned ours;
		int theirs;
	} map[] = {
		{ OS_CREATE, O_CREAT }, { OS_TRUNCATE, O_TRUNC }, { OS_DIRECT, O_DIRECT },
		{ OS_SYNC, O_SYNC },	{ OS_DSYNC, O_DSYNC },
	};
	int how = access_flags(flags) | O_CLOEXEC, fd, error;

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		if (flags & map[i].ours)
			how |= map[i].theirs;
	fd = open(path, how, 0644);
	if (fd >= 0)
		return fd;
	error = errno;
	if (error == EINVAL && flags & OS_DIRECT)
		error_set(e, STATUS_FAILED, "looks like the file system of %s does not support direct=1/buffered=0",
			  path);
	else
		error_errno(e, STATUS_FAILED, "cannot open %s", path);
	errno = error;
	return -1;
}

int os_drop_cache(int fd, const struct os_target *target, uint64_t offset, uint64_t length)
{
	if (target->kind == OS_REGULAR)
		return posix_fadvise(fd, (off_t)offset, (off_t)length, POSIX_FADV_DONTNEED);
	if (target->kind == OS_BLOCK)
		return ioctl(fd, BLKFLSBUF, 0) < 0 ? errno : 0;
	return ENOTSUP;
}

int os_advise(int fd, bool random, uint64_t offset, uint64_t length)
{
	return posix_fadvise(fd, (off_t)offset, (off_t)length,
			     random ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL);
}

int os_preallocate(int fd, uint64_t length, enum os_reserve how)
{
	int r;

	/* Where the file system cannot, this one writes the whole file. */
	if (how == OS_RESERVE_POSIX)
		return posix_fallocate(fd, 0, (off_t)length);
	do
		r = fallocate(fd, how == OS_RESERVE_KEEP ? FALLOC_FL_KEEP_SIZE : 0, 0, (off_t)length);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return 0;
	return errno == EOPNOTSUPP || errno == ENOSYS ? ENOTSUP : errno;
}

int os_bind_cpus(const uint64_t *bits, unsigned count)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned cpu = 0; cpu < count && cpu < CPU_SETSIZE; cpu++)
		if (bits[cpu / 64] >> cpu % 64 & 1)
			CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) < 0 ? errno : 0;
}

uint64_t os_next_data(int fd, uint64_t from)
{
	off_t at = lseek(fd, (off_t)from, SEEK_DATA);

	if (at >= 0)
		return (uint64_t)at;
	return errno == ENXIO ? UINT64_MAX : from;
}

int os_flush(int fd)
{
	int r;

	/* On Linux it reaches the disk's own cache as well. */
	do
		r = fsync(fd);
	while (r < 0 && errno == EINTR);
	return r < 0 ? errno : 0;
}

int os_flush_data(int fd)
{
	int r;

	do
		r = fdatasync(fd);
	while (r < 0 && errno == EINTR);
	return r < 0 ? errno : 0;
}

/* ---- the agent's serial port ---- */

int os_open_serial(const char *path, struct error *e)
{
	struct termios t;
	/* Without O_NONBLOCK the open would wait for a carrier. */
	int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC), flags;

	if (fd < 0)
		return error_errno(e, STATUS_FAILED, "cannot open %s", path);
	if (tcgetattr(fd, &t) < 0)
		goto fail;
	cfmakeraw(&t);
	t.c_cflag |= CLOCAL | CREAD;
	t.c_cflag &= ~(tcflag_t)(CRTSCTS | CSTOPB);
	t.c_iflag &= ~(tcflag_t)(IXON | IXOFF | IXANY);
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	if (cfsetispeed(&t, B115200) < 0 || cfsetospeed(&t, B115200) < 0 || tcsetattr(fd, TCSANOW, &t) < 0)
		goto fail;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
		goto fail;
	return fd;
fail:
	error_errno(e, STATUS_FAILED, "%s is no serial port", path);
	close(fd);
	return -1;
}

int os_poweroff(struct error *e)
{
	sync();
	if (reboot(RB_POWER_OFF) < 0)
		return error_errno(e, STATUS_FAILED, "cannot power off");
	return error_set(e, STATUS_FAILED, "the system did not power off");
}
