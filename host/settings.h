/*
 * The settings of one disk as the guest is to see it: [disk] gives the base, [variant NAME] changes it.
 * Which keys exist, what they may hold and which pairs are impossible is one table in settings.c;
 * how they are written for libvirt is domain.c's business alone.
 */
#ifndef KB_SETTINGS_H
#define KB_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/error.h"
#include "guest/text.h"

enum backend { BACKEND_FILE, BACKEND_MEMORY, BACKEND_NULL, BACKEND_NBD };
enum cache { CACHE_AUTO, CACHE_NONE, CACHE_WRITEBACK, CACHE_WRITETHROUGH, CACHE_DIRECTSYNC, CACHE_UNSAFE };
enum disk_io { IO_THREADS, IO_NATIVE, IO_URING };
enum model { MODEL_VIRTIO, MODEL_TRANSITIONAL, MODEL_NON_TRANSITIONAL };
enum toggle { TOGGLE_UNSET, TOGGLE_OFF, TOGGLE_ON };
enum filesystem { FILESYSTEM_NONE, FILESYSTEM_EXT4, FILESYSTEM_XFS };
enum inject { INJECT_NONE, INJECT_READ, INJECT_WRITE };

struct settings {
	uint64_t size; /* bytes */
	enum backend backend;
	char *path;          /* folder of the test disk's file; NULL: the state folder; BACKEND_NBD: the server's unix socket */
	uint64_t latency_ns; /* BACKEND_NULL only; 0 none */
	enum filesystem filesystem; /* on the test disk */
	enum cache cache;    /* CACHE_AUTO is resolved against the file system before a boot */
	enum disk_io io;
	enum toggle ioeventfd, event_idx, packed;
	enum toggle iothread;  /* a thread of its own for this disk */
	int64_t poll_max_ns;   /* of the iothread; -1: QEMU's default */
	unsigned queues;       /* always set explicitly */
	unsigned queue_size;   /* 0: QEMU's default */
	enum model model;
	char *vcpupin, *iothreadpin, *emulatorpin; /* host CPU lists as "0,2-3", NULL: free */
	enum inject inject;       /* the device returns EIO … */
	uint64_t inject_sector;   /* … at this 512-byte sector (QEMU blkdebug) */
};

void settings_default(struct settings *s);
int settings_copy(struct settings *to, const struct settings *from); /* -1: out of memory */
void settings_free(struct settings *s);

/*
 * Set one key from its text. Unknown keys and bad values are refused with what is allowed, as
 * "FILE:LINE: …". Returns 1 when the key is no setting at all (e is then untouched).
 */
int settings_set(struct settings *s, const char *key, const char *value, const char *file, int line,
		 struct error *e);

/* Why these settings cannot work together; NULL: they can. */
const char *settings_conflict(const struct settings *s);

/* Append every key as a JSON object of strings, in table order. */
void settings_json(const struct settings *s, struct text *out);

/* The keys in order: 0.. until NULL. help may be NULL. */
const char *settings_key(size_t index, const char **help);

/* The text of one key's value (as the scenario would write it), "" when unset. */
void settings_get(const struct settings *s, const char *key, struct text *out);

const char *cache_name(enum cache cache);
const char *filesystem_name(enum filesystem filesystem);
const char *disk_io_name(enum disk_io io);
const char *model_name(enum model model); /* libvirt's: virtio, virtio-transitional, virtio-non-transitional */

#endif
