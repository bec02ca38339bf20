/*
 * faultdisk.so, an nbdkit plugin: a disk in memory that does the N-th write wrongly and says that all went well.
 *
 *	size=SIZE         of the disk
 *	fault=KIND:N      drop      the N-th write (from 1) is not done
 *	                  misdirect it goes shift bytes further
 *	                  tear      only its first half is done, in whole sectors
 *	                  replay    what the place held before its present content comes back, not the new data
 *	                  corrupt   one bit is turned
 *	                  delay     it is answered delay seconds late, and done
 *	                  flush     the disk has a volatile cache: what was not flushed is lost when its user goes; the N-th flush
 *	                            and all behind it do nothing
 *	                  none      (default) all goes well
 *	shift=BYTES       for misdirect (65536; may be negative)
 *	delay=SECONDS     for delay (2)
 */
#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes are counted: one after the other. */
#define THREAD_MODEL NBDKIT_THREAD_MODEL_SERIALIZE_ALL_REQUESTS
#define SECTOR 512

enum fault { FAULT_NONE, FAULT_DROP, FAULT_MISDIRECT, FAULT_TEAR, FAULT_REPLAY, FAULT_CORRUPT, FAULT_DELAY, FAULT_FLUSH };

static const char *const names[] = { "none", "drop", "misdirect", "tear", "replay", "corrupt", "delay", "flush" };

/* nbdkit gives a plugin's calls no pointer of its own before a connection is open. */
static int64_t size = 1 << 20, shift = 65536;
static enum fault fault;
static unsigned long due, writes, flushes;
static unsigned delay = 2;
static char *now, *before; /* what the disk holds; what each sector held before that */
static char *kept;         /* FAULT_FLUSH: what it holds for good */

static int set_fault(const char *value)
{
	size_t length = strcspn(value, ":");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length && strncmp(names[i], value, length) == 0) {
			fault = (enum fault)i;
			due = value[length] == ':' ? strtoul(value + length + 1, NULL, 10) : 0;
			if (fault == FAULT_NONE || due > 0)
				return 0;
		}
	nbdkit_error("fault=%s: not KIND:N", value);
	return -1;
}

static int disk_config(const char *key, const char *value)
{
	if (strcmp(key, "fault") == 0)
		return set_fault(value);
	if (strcmp(key, "shift") == 0)
		return nbdkit_parse_int64_t("shift", value, &shift);
	if (strcmp(key, "delay") == 0)
		return nbdkit_parse_unsigned("delay", value, &delay);
	if (strcmp(key, "size") == 0) {
		size = nbdkit_parse_size(value);
		return size < 0 ? -1 : 0;
	}
	nbdkit_error("%s: no such parameter", key);
	return -1;
}

static int disk_get_ready(void)
{
	now = calloc(1, (size_t)size);
	before = calloc(1, (size_t)size);
	kept = calloc(1, (size_t)size);
	if (!now || !before || !kept) {
		nbdkit_error("no memory for a disk of %lld bytes", (long long)size);
		return -1;
	}
	return 0;
}

static void disk_unload(void)
{
	free(now);
	free(before);
	free(kept);
}

static void *disk_open(int readonly)
{
	(void)readonly;
	return NBDKIT_HANDLE_NOT_NEEDED;
}

/* The power is off. */
static void disk_close(void *handle)
{
	(void)handle;
	if (fault == FAULT_FLUSH)
		memcpy(now, kept, (size_t)size);
}

static int64_t disk_get_size(void *handle)
{
	(void)handle;
	return size;
}

/* Requests end on whole sectors. */
static int disk_block_size(void *handle, uint32_t *minimum, uint32_t *preferred, uint32_t *maximum)
{
	(void)handle;
	*minimum = SECTOR;
	*preferred = 4096;
	*maximum = 32 << 20;
	return 0;
}

static int disk_pread(void *handle, void *bytes, uint32_t count, uint64_t offset, uint32_t flags)
{
	(void)handle;
	(void)flags;
	memcpy(bytes, now + offset, count);
	return 0;
}

static void put(const char *bytes, uint32_t count, uint64_t offset)
{
	memcpy(before + offset, now + offset, count);
	memcpy(now + offset, bytes, count);
}

static int disk_pwrite(void *handle, const void *bytes, uint32_t count, uint64_t offset, uint32_t flags)
{
	bool wrongly = ++writes == due;
	int64_t elsewhere = (int64_t)offset + shift;

	(void)handle;
	(void)flags;
	if (!wrongly || fault == FAULT_NONE || fault == FAULT_FLUSH) {
		put(bytes, count, offset);
		return 0;
	}
	nbdkit_debug("%s: write %lu, %u bytes at %llu", names[fault], writes, count, (unsigned long long)offset);
	if (fault == FAULT_MISDIRECT) {
		if (elsewhere < 0 || elsewhere + count > size) {
			nbdkit_error("shift=%lld leads out of the disk", (long long)shift);
			return -1;
		}
		put(bytes, count, (uint64_t)elsewhere);
	} else if (fault == FAULT_TEAR) {
		put(bytes, count / 2 / SECTOR * SECTOR, offset);
	} else if (fault == FAULT_REPLAY) {
		memcpy(now + offset, before + offset, count);
	} else if (fault == FAULT_DELAY) {
		if (nbdkit_nanosleep(delay, 0))
			return -1;
		put(bytes, count, offset);
	} else if (fault == FAULT_CORRUPT) {
		put(bytes, count, offset);
		now[offset + count / 2 + 300] ^= 0x04;
	}
	return 0;
}

static int disk_flush(void *handle, uint32_t flags)
{
	(void)handle;
	(void)flags;
	if (fault == FAULT_FLUSH && ++flushes < due)
		memcpy(kept, now, (size_t)size);
	return 0;
}

static struct nbdkit_plugin plugin = {
	.name = "faultdisk",
	.longname = "a disk that does one write wrongly",
	.config = disk_config,
	.config_help = "size=SIZE fault=KIND:N shift=BYTES delay=SECONDS",
	.get_ready = disk_get_ready,
	.unload = disk_unload,
	.open = disk_open,
	.close = disk_close,
	.get_size = disk_get_size,
	.block_size = disk_block_size,
	.pread = disk_pread,
	.pwrite = disk_pwrite,
	.flush = disk_flush,
};

NBDKIT_REGISTER_PLUGIN(plugin)
