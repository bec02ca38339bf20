/*
 * What differs between operating systems, one contract. Each os_<name>.c implements all of it;
 * the build chooses the file. Nothing here pretends: what a system cannot do is an error or a
 * documented "not available" return.
 */
#ifndef KB_OS_H
#define KB_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/error.h"

/* ---- identity ---- */

struct os_identity {
	char name[64];        /* "Linux", "OpenBSD" */
	char release[128];    /* "6.1.0-32-cloud-amd64" */
	char machine[64];     /* "x86_64" */
	char clocksource[64]; /* the kernel's timecounter, "" when unknown */
	unsigned ncpus;
	uint64_t memory_bytes;
	uint64_t uptime_ns; /* since the kernel started, 0 when unknown */
};

void os_identity(struct os_identity *id);

/* False where fork with shared memory and process-shared state cannot be relied on: jobs are then threads. */
extern const bool os_has_processes;

/* Bind the calling thread to the processors whose bits are set, of at most so many. 0 or errno (ENOTSUP: cannot). */
int os_bind_cpus(const uint64_t *bits, unsigned count);

/* ---- disks and files ---- */

enum os_kind { OS_MISSING, OS_REGULAR, OS_BLOCK, OS_CHAR, OS_OTHER };

struct os_target {
	enum os_kind kind;
	uint64_t bytes;  /* size; for devices from the system's ioctl, never from a read */
	uint32_t sector; /* logical sector size, 1 for regular files */
	bool mounted;    /* block device that is mounted (or part of which is) */
};

/*
 * Look at a path without changing it. A missing file is no error: kind OS_MISSING.
 * A device whose size no ioctl tells has bytes 0.
 */
int os_inspect(const char *path, struct os_target *target, struct error *e);

enum { OS_READ = 1, OS_WRITE = 2, OS_CREATE = 4, OS_DIRECT = 8, OS_TRUNCATE = 16, OS_SYNC = 32, OS_DSYNC = 64 };

/*
 * Open for I/O. OS_DIRECT where the system has no direct I/O for this kind of target fails with
 * errno EINVAL or EOPNOTSUPP and a message as fio's; a raw character device is direct by nature.
 * Returns the descriptor or -1 with errno kept.
 */
int os_open(const char *path, unsigned flags, struct error *e);

/* Drop what the system has cached of the range. 0 done, else errno (ENOTSUP where it cannot). */
int os_drop_cache(int fd, const struct os_target *target, uint64_t offset, uint64_t length);

/* Tell the system how the range will be read. 0 done, else errno (ENOTSUP where it cannot). */
int os_advise(int fd, bool random, uint64_t offset, uint64_t length);

enum os_reserve {
	OS_RESERVE_NATIVE, /* the system's own call, if it never falls back to writing */
	OS_RESERVE_POSIX,  /* posix_fallocate() */
	OS_RESERVE_KEEP,   /* native, and the file keeps its size */
};

/* Reserve space from the start on. 0 done, else errno (ENOTSUP where it cannot). */
int os_preallocate(int fd, uint64_t length, enum os_reserve how);

/* Where the first data of a file at or behind a place begins; UINT64_MAX: only a hole follows. That place where nobody can tell. */
uint64_t os_next_data(int fd, uint64_t from);

/* Put written data on the medium: fsync, and the disk's own cache where fsync leaves it alone. 0 or errno. */
int os_flush(int fd);

/* The same as fdatasync does it: data and what is needed to read it. os_flush() where the system has no such call. */
int os_flush_data(int fd);

struct os_disk {
	char path[128];  /* what a job opens: the raw device */
	char serial[64]; /* "" when the system does not tell */
	uint64_t bytes;
	uint32_t sector;
};

/* The whole disks that the system sees, at most max. Returns how many. */
size_t os_disks(struct os_disk *disks, size_t max);

/* What the system says of a disk beyond its size; -1 and 0: it does not tell. */
struct os_limits {
	int readonly, write_cache, discard, zeroes; /* 1 or 0: cache to be flushed; requests that the disk offers itself */
	uint32_t queues, segments;                  /* in use; most pieces of one request */
	uint64_t request_bytes;                     /* largest request that is not split */
	uint64_t discard_bytes;                     /* in pieces of which it discards */
};

void os_limits(const char *path, struct os_limits *limits);

/* Drop the data of a range of a device, or make it zeroes. 0, errno, or ENOTSUP where the system has no such request. */
int os_discard(int fd, uint64_t offset, uint64_t length);
int os_write_zeroes(int fd, uint64_t offset, uint64_t length);

/* With what errno the system refuses what a disk does not allow; lists that end with 0. */
struct os_refusals {
	const int *past_end, *unaligned, *read_only;
};

extern const struct os_refusals os_refusals;

/*
 * Mount the file system of a disk on a folder, which is made when it is missing; type as "ext4". Where the kernel
 * has it as modules that the image carries, they are loaded first. Systems that cannot say so.
 */
int os_mount(const char *device, const char *type, const char *folder, struct error *e);

/* Write back what is left and take it off again. */
int os_unmount(const char *folder, struct error *e);

/* ---- drivers ---- */

/*
 * What the system calls the device that a disk hangs on: "virtio3" of /dev/vda. It outlives the disk, whose path goes with
 * the driver. Linux's, of virtio disks; an error elsewhere.
 */
int os_device_name(const char *path, char *name, size_t size, struct error *e);

/* Take its driver off a device, or put it on. May wait for I/O that is in flight. */
int os_bind_driver(const char *device, bool bound, struct error *e);

/* ---- counters, all monotonic; differences are taken by the caller ---- */

struct os_counters {
	bool have_disk, have_irq, have_cpu;
	uint64_t reads, writes, flushes; /* requests completed */
	uint64_t read_merges, write_merges;
	uint64_t read_bytes, write_bytes;
	uint64_t read_ms, write_ms; /* time spent, as iostat's await counts it */
	uint64_t in_queue_ms, busy_ms;
	uint64_t interrupts;    /* of this disk's virtqueues */
	uint64_t cpu_user_us;   /* of all CPUs, nice included */
	uint64_t cpu_system_us; /* of all CPUs, interrupts included */
	uint64_t cpu_idle_us;   /* of all CPUs, waiting for I/O included */
};

/* path may be NULL: CPU only. Fields without a source stay 0 and their have_ flag false. */
void os_counters(const char *path, struct os_counters *c);

/* Two looks at the same device. One that was taken off in between and put on again begins at 0. */
static inline bool os_counters_same_disk(const struct os_counters *before, const struct os_counters *after)
{
	return before->have_disk && after->have_disk && after->reads >= before->reads && after->writes >= before->writes;
}

/* One that is just being taken off has lost some of its interrupts' lines. */
static inline bool os_counters_same_irq(const struct os_counters *before, const struct os_counters *after)
{
	return before->have_irq && after->have_irq && after->interrupts >= before->interrupts;
}

/* ---- the agent's serial port ---- */

/* Open raw: 8 bits, no echo, no flow control, 115200 baud, not the controlling terminal. -1 and e. */
int os_open_serial(const char *path, struct error *e);

/* The usual path of the second serial port. */
extern const char *const os_second_serial;

/* Turn the machine off; returns only on failure. */
int os_poweroff(struct error *e);

#endif
