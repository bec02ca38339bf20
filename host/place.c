#include "host/place.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/checksum.h"
#include "host/clock.h"
#include "host/dirs.h"

/* "WHAT-" and the beginning of its SHA-256. */
static int name_by_digest(const char *path, const char *what, char name[64], struct error *e)
{
	unsigned char digest[SHA256_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC), at;
	struct stat st;
	void *map = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		error_errno(e, STATUS_HOST, "%s", path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	sha256(map, (size_t)st.st_size, digest);
	munmap(map, (size_t)st.st_size);
	close(fd);
	at = snprintf(name, 64, "%s-", what);
	for (int i = 0; i < 8; i++)
		at += snprintf(name + at, 64 - (size_t)at, "%02x", digest[i]);
	return 0;
}

static int place_file(const struct hv_ops *ops, struct hv *hv, const char *what, char **path, struct error *e)
{
	char name[64], *there;

	if (!*path)
		return 0;
	if (name_by_digest(*path, what, name, e) || ops->put_file(hv, *path, name, false, &there, e))
		return error_context(e, "%s", what);
	free(*path);
	*path = there;
	return 0;
}

int place_image(const struct hv_ops *ops, struct hv *hv, const struct hv_host *host, struct image *image,
		struct machine *machine, struct error *e)
{
	if (host->here)
		return 0;
	if (place_file(ops, hv, "kernel", &image->kernel, e) || place_file(ops, hv, "initrd", &image->initrd, e) ||
	    place_file(ops, hv, "firmware", &machine->firmware, e))
		return -1;
	if (!machine->initrd)
		return 0;
	free(machine->initrd); /* the image's is this one */
	machine->initrd = strdup(image->initrd);
	return machine->initrd ? 0 : error_set(e, STATUS_HOST, "out of memory");
}

/* ---- test disks ---- */

static void copy_name(const struct disk *d, char name[256])
{
	snprintf(name, 256, "%s", strrchr(d->original, '/') + 1);
}

/* Have the original hold that, and the copy what the original does. */
static int put(const struct hv_ops *ops, struct hv *hv, struct disk *d, enum filesystem wanted, bool anew, struct error *e)
{
	struct settings s;
	struct disk original = { 0 };
	char folder[4096], name[256], *there = NULL;
	double seconds;
	int status = -1;

	settings_default(&s);
	s.size = d->bytes;
	s.filesystem = wanted;
	snprintf(folder, sizeof(folder), "%s", d->original);
	*strrchr(folder, '/') = '\0';
	copy_name(d, name);
	/* looked at each time: another host's copy may have had it changed */
	if (disk_prepare(&s, folder, d->index, &original, e) == 0 &&
	    (original.holds == wanted || disk_restore(&original, wanted, &seconds, e) == 0))
		status = ops->put_file(hv, original.path, name, anew, &there, e);
	disk_free(&original);
	settings_free(&s);
	if (status)
		return -1;
	free(d->path);
	d->path = there;
	d->holds = wanted;
	d->dirty = false;
	return 0;
}

int place_check(const struct hv_host *host, const struct settings *s, struct error *e)
{
	if (host->here || (s->backend != BACKEND_MEMORY && !s->path))
		return 0;
	if (s->backend == BACKEND_NBD)
		return error_set(e, STATUS_USAGE, "backend = nbd is a server on this host, whose socket guests on %s do not see: run them "
				 "here, or use backend = file", *host->name ? host->name : "another host");
	return error_set(e, STATUS_USAGE, "%s is a place on this host: on %s test disks lie in the storage pool kickbench, which can be "
			 "defined there in any folder", s->path ? "disk.path" : "backend = memory",
			 *host->name ? host->name : "another one");
}

int place_disk(const struct hv_ops *ops, struct hv *hv, const struct hv_host *host, struct settings *s,
	       const char *state_dir, unsigned index, struct disk *disk, struct error *e)
{
	struct text original = { 0 };

	*disk = (struct disk){ .bytes = s->size, .index = index };
	if (place_check(host, s, e))
		return -1;
	if (!host->here && s->cache == CACHE_AUTO)
		s->cache = CACHE_NONE;
	if (!host->here && s->backend == BACKEND_NULL)
		return 0;
	if (host->here && s->backend == BACKEND_NBD) /* its path is no folder */
		return disk_prepare(s, "", index, disk, e) || disk_resolve_cache(s, NULL, e) ? -1 : 0;
	text_add(&original, "%s%s", s->path ? s->path : state_dir, s->path ? "" : host->here ? "/disks" : "/originals");
	if (dirs_make(text_get(&original), e))
		goto fail;
	if (host->here) {
		if (disk_prepare(s, text_get(&original), index, disk, e) || disk_resolve_cache(s, disk->path, e))
			goto fail;
		text_free(&original);
		return 0;
	}
	text_add(&original, "/" DISK_PREFIX "%u-%llu.raw", index, (unsigned long long)s->size);
	disk->original = original.failed ? NULL : strdup(text_get(&original));
	if (!disk->original) {
		error_set(e, STATUS_HOST, "out of memory");
		goto fail;
	}
	if (put(ops, hv, disk, s->filesystem, false, e))
		goto fail;
	text_free(&original);
	return 0;
fail:
	text_free(&original);
	disk_free(disk);
	return -1;
}

int place_restore(const struct hv_ops *ops, struct hv *hv, struct disk *disk, enum filesystem filesystem, double *seconds,
		  struct error *e)
{
	double start = clock_s();

	if (!disk->original)
		return disk_restore(disk, filesystem, seconds, e);
	*seconds = 0;
	if (put(ops, hv, disk, filesystem, true, e))
		return error_context(e, "restoring the test disk");
	*seconds = clock_s() - start;
	return 0;
}

int place_soil(const struct hv_ops *ops, struct hv *hv, struct disk *disk, struct error *e)
{
	char name[256];

	if (!disk->original)
		return disk_soil(disk, e);
	if (disk->dirty)
		return 0;
	copy_name(disk, name);
	if (ops->soil_file(hv, name, e))
		return -1;
	disk->dirty = true;
	return 0;
}
