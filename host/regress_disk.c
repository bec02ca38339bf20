#include "host/regress_disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/dirs.h"
#include "host/disk.h"
#include "host/overlay.h"
#include "host/regress_jobs.h"

#define PREFIX "cell-"
#define ROOM_BESIDE (32ull << 20) /* random jobs, and the records of the cell */
#define FULL (1ull << 20)

/* What the jobs write at most, in the disk, in the log, and in the disk that is replayed from the log. */
static unsigned long long room_needed(const struct matrix_cell *cell, bool log)
{
	struct regress_area area[REGRESS_AREAS];
	size_t n = regress_areas(cell->bytes, area);
	unsigned long long bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += area[i].bytes;
	return (log ? 3 * bytes : bytes) + ROOM_BESIDE;
}

/* A folder of its own: disks of cells are no test disks of runs. */
static void find_folder(const struct matrix_cell *cell, const char *state_dir, char *folder, size_t room)
{
	if (cell->settings.backend == BACKEND_MEMORY)
		disk_memory_folder(folder, room);
	else
		snprintf(folder, room, "%s/regress", cell->settings.backend == BACKEND_FILE && cell->settings.path ? cell->settings.path : state_dir);
}

static int make_empty(struct regress_disk *disk, const char *path, uint64_t bytes, struct error *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
		return fd;
	disk->error = errno;
	error_errno(e, STATUS_HOST, "%s of %llu bytes", path, (unsigned long long)bytes);
	if (fd >= 0)
		close(fd);
	return -1;
}

static int check_room(const struct regress_disk *disk, unsigned long long needed, struct error *e)
{
	unsigned long long have;

	if (overlay_free_bytes(disk->folder, &have))
		return error_errno(e, STATUS_HOST, "%s", disk->folder);
	return have >= needed ? 0 : error_set(e, STATUS_HOST, "%s has %llu MiB free, and a cell's disk may need %llu MiB there",
					      disk->folder, have >> 20, needed >> 20);
}

int regress_disk_make(const struct matrix_cell *cell, const char *state_dir, bool log, struct regress_disk *disk,
		      struct error *e)
{
	char name[64];
	int fd, status;

	*disk = (struct regress_disk){ .error = 0 };
	find_folder(cell, state_dir, disk->folder, sizeof(disk->folder) - 64);
	if (dirs_make(disk->folder, e) || check_room(disk, room_needed(cell, log), e))
		return -1;
	snprintf(name, sizeof(name), PREFIX "%ld-%u", (long)getpid(), cell->number);
	snprintf(disk->scratch, sizeof(disk->scratch), "%.1100s/%s.scratch", disk->folder, name);
	if (cell->settings.backend != BACKEND_FILE && cell->settings.backend != BACKEND_MEMORY)
		return 0;
	snprintf(disk->path, sizeof(disk->path), "%.1100s/%s.raw", disk->folder, name);
	fd = make_empty(disk, disk->path, cell->bytes, e);
	status = fd < 0 ? -1 : close(fd);
	if (status == 0 && log) {
		snprintf(disk->log, sizeof(disk->log), "%.1100s/%s.log", disk->folder, name);
		fd = make_empty(disk, disk->log, 0, e);
		status = fd < 0 ? -1 : close(fd);
	}
	if (status)
		regress_disk_remove(disk);
	return status;
}

void regress_disk_remove(struct regress_disk *disk)
{
	char *const paths[] = { disk->path, disk->log, disk->scratch };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (*paths[i])
			unlink(paths[i]);
		*paths[i] = '\0';
	}
}

static bool is_ours(const char *name)
{
	unsigned long pid, cell;
	int length = 0;

	return sscanf(name, PREFIX "%lu-%lu.%n", &pid, &cell, &length) == 2 && length > 0;
}

static void sweep(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[2 * REGRESS_DISK_PATH];

		if (!is_ours(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		unlink(path);
	}
	if (dir)
		closedir(dir);
}

void regress_disk_sweep(const struct matrix *m, const char *state_dir)
{
	char folder[REGRESS_DISK_PATH], before[REGRESS_DISK_PATH] = "";

	snprintf(folder, sizeof(folder), "%.1100s/regress", state_dir);
	sweep(folder);
	for (size_t i = 0; i < m->ncells; i++) {
		find_folder(&m->cell[i], state_dir, folder, sizeof(folder) - 64);
		if (strcmp(folder, before))
			sweep(folder);
		memcpy(before, folder, sizeof(before));
	}
	disk_memory_folder(folder, sizeof(folder));
	sweep(folder);
}

bool regress_disk_full(const struct regress_disk *disk, unsigned long long *free_bytes)
{
	return overlay_free_bytes(disk->folder, free_bytes) == 0 && *free_bytes < FULL;
}
