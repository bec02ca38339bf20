/* What os_<bsd>.c gives to os_bsd.c, which holds what the four BSDs have in common, and the other way round. */
#ifndef KB_OS_BSD_H
#define KB_OS_BSD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "guest/os.h"

/* ---- given by each system ---- */

/* The character before the name of a raw device: "r" in "/dev/rsd0c", "" where there are no block devices. */
extern const char *const bsd_raw_prefix;

/* Size of the disk that fd is open on, by its ioctls. 0, or -1 when they do not answer. */
int bsd_media(int fd, uint64_t *bytes, uint32_t *sector);

/* Empty the cache of the disk that fd is open on. 0 or errno; 0 when the disk has none. */
int bsd_flush_disk(int fd);

/* What more it says of the disk that fd is open on. What it does not tell stays as it is. */
void bsd_limits(int fd, struct os_limits *limits);

/* fsync() for a regular file, with the disk's cache where the system has a call for both. 0 or errno. */
int bsd_flush_file(int fd);

/* The same for the data alone, where the system can tell it from the rest. */
int bsd_flush_file_data(int fd);

/* Its serial number into serial, "" when the system does not tell. */
void bsd_serial(int fd, char *serial, size_t size);

/* The kernel's timecounter, "" when unknown. */
void bsd_timecounter(char *name, size_t size);

/* How many mounted file systems come from disk? name is as bsd_disk_name() makes it. */
unsigned bsd_mounts(const char *name);

/* The names of all disks, separated by white space or commas: "sd0:duid,cd0:" is fine. Allocated, NULL when unknown. */
char *bsd_disk_names(void);

/* The path of the whole disk of that name that a job opens. */
void bsd_disk_path(char *path, size_t size, const char *name);

/* Fill in have_disk, have_irq (name not NULL) and have_cpu with what belongs to them. */
void bsd_counters(const char *name, struct os_counters *c);

/* ---- given by os_bsd.c ---- */

/* "/dev/rsd0c" and "sd0a" become "sd0": letters and the unit. False when path names no such thing. */
bool bsd_disk_name(const char *path, char *name, size_t size);

/* A whole sysctl value, however large; allocated, NULL and *length 0 on failure. */
void *bsd_sysctl(const int *mib, unsigned depth, size_t *length);

/* Ticks of the statistics clock into microseconds. rate 0 gives 0. */
uint64_t bsd_ticks_us(uint64_t ticks, int rate);

/* Whether path, as mounted, is (part of) the disk. */
bool bsd_is_part_of(const char *path, const char *name);

#endif
