/* The part of os.h that lives on sysfs and proc: the disks of the system, and the counters. */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "guest/os.h"
#include "guest/os_linux_sysfs.h"

bool sysfs_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	bool good = f && fgets(line, (int)size, f);

	if (f)
		fclose(f);
	if (!good)
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	/* Serial numbers come padded. */
	for (size_t n = strlen(line); n && isspace((unsigned char)line[n - 1]); n--)
		line[n - 1] = '\0';
	return good;
}

/* ---- disks ---- */

static uint64_t sysfs_number(const char *name, const char *attribute)
{
	char path[PATH_MAX], line[64];

	snprintf(path, sizeof(path), "/sys/block/%s/%s", name, attribute);
	return sysfs_line(path, line, sizeof(line)) ? strtoull(line, NULL, 10) : 0;
}

/* A disk has a device behind it (loop, ram and device-mapper have none) and is no optical or floppy drive. */
static bool is_disk(const char *name)
{
	char path[PATH_MAX];

	if (name[0] == '.' || strncmp(name, "sr", 2) == 0 || strncmp(name, "fd", 2) == 0)
		return false;
	snprintf(path, sizeof(path), "/sys/block/%s/device", name);
	return access(path, F_OK) == 0 && sysfs_number(name, "size") > 0;
}

static void fill_disk(struct os_disk *disk, const char *name)
{
	char path[PATH_MAX];

	*disk = (struct os_disk){0};
	snprintf(disk->path, sizeof(disk->path), "/dev/%.120s", name);
	snprintf(path, sizeof(path), "/sys/block/%s/serial", name);
	if (!sysfs_line(path, disk->serial, sizeof(disk->serial))) {
		snprintf(path, sizeof(path), "/sys/block/%s/device/serial", name);
		sysfs_line(path, disk->serial, sizeof(disk->serial));
	}
	disk->bytes = sysfs_number(name, "size") * 512; /* always in units of 512, whatever the sector */
	disk->sector = (uint32_t)sysfs_number(name, "queue/logical_block_size");
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct os_disk *)a)->path, ((const struct os_disk *)b)->path);
}

size_t os_disks(struct os_disk *disks, size_t max)
{
	DIR *dir = opendir("/sys/block");
	struct dirent *entry;
	size_t n = 0;

	if (!dir)
		return 0;
	while (n < max && (entry = readdir(dir)))
		if (is_disk(entry->d_name))
			fill_disk(&disks[n++], entry->d_name);
	closedir(dir);
	qsort(disks, n, sizeof(*disks), by_path);
	return n;
}

/* ---- counters ---- */

/* Documentation/block/stat.rst: sectors are of 512 bytes; flushes since 5.5. */
static void disk_counters(dev_t device, struct os_counters *c)
{
	unsigned long long v[17] = {0};
	char path[64], line[512];
	int n = 0;
	char *s = line, *end;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/stat", major(device), minor(device));
	if (!sysfs_line(path, line, sizeof(line)))
		return;
	for (; n < 17; n++, s = end) {
		v[n] = strtoull(s, &end, 10);
		if (end == s)
			break;
	}
	if (n < 11)
		return;
	c->have_disk = true;
	c->reads = v[0];
	c->read_merges = v[1];
	c->read_bytes = v[2] * 512;
	c->read_ms = v[3];
	c->writes = v[4];
	c->write_merges = v[5];
	c->write_bytes = v[6] * 512;
	c->write_ms = v[7];
	c->busy_ms = v[9];
	c->in_queue_ms = v[10];
	c->flushes = v[15];
}

bool sysfs_virtio_name(dev_t device, char *name, size_t size)
{
	char link[64], real[PATH_MAX];
	char *s;

	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(device), minor(device));
	if (!realpath(link, real))
		return false;
	for (s = strstr(real, "/virtio"); s; s = strstr(s + 1, "/virtio")) {
		size_t digits = strspn(s + 7, "0123456789");

		if (digits && s[7 + digits] == '/' && 7 + digits <= size) {
			snprintf(name, size, "%.*s", (int)(6 + digits), s + 1);
			return true;
		}
	}
	return false;
}

/*
 * Whether an interrupt's description ends in an action of the device: "virtio3-req.0" with MSI-X,
 * "virtio3" on a shared line, where others may follow after ", ". "virtio3-config" is not I/O.
 */
static bool names_device(const char *description, const char *name)
{
	size_t length = strlen(name);

	for (const char *s = strstr(description, name); s; s = strstr(s + 1, name)) {
		bool starts = s == description || isspace((unsigned char)s[-1]) || s[-1] == ',';
		char after = s[length];

		if (starts && (after == '\0' || after == ',' || isspace((unsigned char)after) ||
			       strncmp(s + length, "-req", 4) == 0))
			return true;
	}
	return false;
}

/* One column per CPU after "NN:"; the heading line says how many. */
static void irq_counters(const char *name, struct os_counters *c)
{
	FILE *f = fopen("/proc/interrupts", "re");
	char *line = NULL;
	size_t size = 0;
	unsigned cpus = 0;

	if (!f)
		return;
	if (getline(&line, &size, f) > 0)
		for (char *s = line; (s = strstr(s, "CPU")); s += 3)
			cpus++;
	while (getline(&line, &size, f) > 0) {
		char *s = strchr(line, ':'), *end;
		uint64_t sum = 0;

		if (!s)
			continue;
		s++;
		for (unsigned i = 0; i < cpus; i++, s = end) {
			unsigned long long v = strtoull(s, &end, 10);

			if (end == s)
				break;
			sum += v;
		}
		if (names_device(s, name)) {
			c->have_irq = true;
			c->interrupts += sum;
		}
	}
	free(line);
	fclose(f);
}

static void cpu_counters(struct os_counters *c)
{
	unsigned long long v[8] = {0}; /* user nice system idle iowait irq softirq steal */
	char line[512];
	uint64_t us;
	long ticks = sysconf(_SC_CLK_TCK);

	if (ticks <= 0 || !sysfs_line("/proc/stat", line, sizeof(line)))
		return;
	if (sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5],
		   &v[6], &v[7]) < 4)
		return;
	us = 1000000 / (uint64_t)ticks;
	c->have_cpu = true;
	c->cpu_user_us = (v[0] + v[1]) * us;
	c->cpu_system_us = (v[2] + v[5] + v[6]) * us;
	c->cpu_idle_us = (v[3] + v[4]) * us;
}

void os_counters(const char *path, struct os_counters *c)
{
	char name[32];
	struct stat st;

	*c = (struct os_counters){0};
	cpu_counters(c);
	if (!path || stat(path, &st) < 0 || !S_ISBLK(st.st_mode))
		return;
	disk_counters(st.st_rdev, c);
	if (sysfs_virtio_name(st.st_rdev, name, sizeof(name)))
		irq_counters(name, c);
}
