#include "host/settings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/filesystem.h"
#include "host/parse.h"

enum kind { KIND_SIZE, KIND_U64, KIND_UNSIGNED, KIND_SIGNED, KIND_TOGGLE, KIND_WORD, KIND_PATH, KIND_CPUS, KIND_INJECT };

/* One row is the whole key: how it is read, where it is kept, what it may be, what it means. */
struct key {
	const char *name;
	enum kind kind;
	size_t offset;
	uint64_t min, max;
	const char *const *words;
	const char *help;
};

static const char *const backends[] = { "file", "memory", "null", "nbd", NULL };
static const char *const caches[] = { "auto", "none", "writeback", "writethrough", "directsync", "unsafe", NULL };
static const char *const ios[] = { "threads", "native", "io_uring", NULL };
static const char *const models[] = { "virtio", "virtio-transitional", "virtio-non-transitional", NULL };
static const char *const filesystems[] = { "none", "ext4", "xfs", NULL };
static const char *const injects[] = { "none", "read-error@", "write-error@", NULL };

#define AT(field) offsetof(struct settings, field)

static const struct key keys[] = {
	{ "size", KIND_SIZE, AT(size), 512, (uint64_t)1 << 50, NULL, "size of the test disk, a multiple of 512 (256M)" },
	{ "backend", KIND_WORD, AT(backend), 0, 0, backends,
	  "file: a raw file full of data; memory: the same on tmpfs; null: QEMU's null-co; nbd: a server that you run" },
	{ "path", KIND_PATH, AT(path), 0, 0, NULL,
	  "folder that holds the test disk's file (the state folder); backend=nbd: the server's unix socket" },
	{ "latency_ns", KIND_U64, AT(latency_ns), 0, 10000000000, NULL,
	  "backend=null: each request takes this long; needs an iothread" },
	{ "filesystem", KIND_WORD, AT(filesystem), 0, 0, filesystems,
	  "what is on the test disk; with ext4 or xfs workloads may name files below " FILESYSTEM_PATH },
	{ "cache", KIND_WORD, AT(cache), 0, 0, caches,
	  "QEMU's cache mode; auto: none where the file system has direct I/O, else writeback" },
	{ "io", KIND_WORD, AT(io), 0, 0, ios, "QEMU's aio (threads)" },
	{ "ioeventfd", KIND_TOGGLE, AT(ioeventfd), 0, 0, NULL, "kicks through an eventfd (on: kickfd) or a synchronous exit" },
	{ "event_idx", KIND_TOGGLE, AT(event_idx), 0, 0, NULL, "VIRTIO_RING_F_EVENT_IDX" },
	{ "packed", KIND_TOGGLE, AT(packed), 0, 0, NULL, "packed virtqueues" },
	{ "iothread", KIND_TOGGLE, AT(iothread), 0, 0, NULL, "serve the disk in a thread of its own" },
	{ "poll_max_ns", KIND_SIGNED, AT(poll_max_ns), 0, 1000000000, NULL, "longest polling of the iothread, 0 none (32768)" },
	{ "queues", KIND_UNSIGNED, AT(queues), 1, 64, NULL, "number of virtqueues (1)" },
	{ "queue_size", KIND_UNSIGNED, AT(queue_size), 2, 1024, NULL, "entries of a virtqueue, a power of two (QEMU's default)" },
	{ "model", KIND_WORD, AT(model), 0, 0, models, "virtio-blk-pci as such, transitional or not" },
	{ "vcpupin", KIND_CPUS, AT(vcpupin), 0, 0, NULL, "host CPUs of the vCPUs, as 0,2-3" },
	{ "iothreadpin", KIND_CPUS, AT(iothreadpin), 0, 0, NULL, "host CPUs of the iothread" },
	{ "emulatorpin", KIND_CPUS, AT(emulatorpin), 0, 0, NULL, "host CPUs of QEMU's other threads" },
	{ "inject_error", KIND_INJECT, AT(inject), 0, 0, injects,
	  "read-error@SECTOR or write-error@SECTOR: the device fails there with EIO (blkdebug)" },
};

#define NKEYS (sizeof(keys) / sizeof(keys[0]))

static void *field(struct settings *s, const struct key *k)
{
	return (char *)s + k->offset;
}

static const void *const_field(const struct settings *s, const struct key *k)
{
	return (const char *)s + k->offset;
}

static const struct key *find(const char *name)
{
	for (size_t i = 0; i < NKEYS; i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

void settings_default(struct settings *s)
{
	*s = (struct settings){ .size = 256u << 20, .cache = CACHE_AUTO, .poll_max_ns = -1, .queues = 1 };
}

static char **strings_of(struct settings *s, size_t i)
{
	char **all[] = { &s->path, &s->vcpupin, &s->iothreadpin, &s->emulatorpin };

	return i < sizeof(all) / sizeof(all[0]) ? all[i] : NULL;
}

int settings_copy(struct settings *to, const struct settings *from)
{
	bool fine = true;

	*to = *from;
	for (size_t i = 0; strings_of(to, i); i++) {
		char **s = strings_of(to, i);

		if (!*s)
			continue;
		*s = strdup(*s);
		fine = fine && *s;
	}
	if (!fine)
		settings_free(to);
	return fine ? 0 : -1;
}

void settings_free(struct settings *s)
{
	for (size_t i = 0; strings_of(s, i); i++) {
		free(*strings_of(s, i));
		*strings_of(s, i) = NULL;
	}
}

static void add_words(struct text *t, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		text_add(t, "%s%s", i ? ", " : "", words[i]);
}

static void allowed(const struct key *k, struct text *t)
{
	switch (k->kind) {
	case KIND_SIZE:
		text_add(t, "a size such as 256M or 1G, from ");
		parse_size_back(k->min, t);
		text_add(t, " to ");
		parse_size_back(k->max, t);
		break;
	case KIND_U64:
	case KIND_UNSIGNED:
	case KIND_SIGNED:
		text_add(t, "a number from %" PRIu64 " to %" PRIu64, k->min, k->max);
		break;
	case KIND_TOGGLE:
		text_add(t, "on or off");
		break;
	case KIND_WORD:
		add_words(t, k->words);
		break;
	case KIND_PATH:
		text_add(t, "a folder, or with backend = nbd a socket");
		break;
	case KIND_CPUS:
		text_add(t, "host CPUs such as 0,2-3");
		break;
	case KIND_INJECT:
		text_add(t, "none, read-error@SECTOR or write-error@SECTOR");
		break;
	}
}

static int set_string(char **where, const char *value)
{
	free(*where);
	*where = *value ? strdup(value) : NULL;
	return *value && !*where ? -1 : 0;
}

static int set_inject(struct settings *s, const char *value)
{
	if (!strcmp(value, injects[INJECT_NONE])) {
		s->inject = INJECT_NONE;
		return 0;
	}
	for (int i = INJECT_READ; i <= INJECT_WRITE; i++) {
		size_t n = strlen(injects[i]);

		if (!strncmp(value, injects[i], n)) {
			s->inject = (enum inject)i;
			return parse_u64(value + n, &s->inject_sector);
		}
	}
	return -1;
}

static int set_number(void *where, const struct key *k, uint64_t v)
{
	if (v < k->min || v > k->max)
		return -1;
	if (k->kind == KIND_SIGNED)
		*(int64_t *)where = (int64_t)v;
	else if (k->kind == KIND_UNSIGNED)
		*(unsigned *)where = (unsigned)v;
	else
		*(uint64_t *)where = v;
	return 0;
}

static int set(struct settings *s, const struct key *k, const char *value)
{
	void *where = field(s, k);
	uint64_t v;
	bool on;
	int i;

	switch (k->kind) {
	case KIND_SIZE:
		return parse_size(value, &v) ? -1 : set_number(where, k, v);
	case KIND_U64:
	case KIND_UNSIGNED:
	case KIND_SIGNED:
		return parse_u64(value, &v) ? -1 : set_number(where, k, v);
	case KIND_TOGGLE:
		if (parse_bool(value, &on))
			return -1;
		*(enum toggle *)where = on ? TOGGLE_ON : TOGGLE_OFF;
		return 0;
	case KIND_WORD:
		i = parse_word(value, k->words);
		if (i < 0)
			return -1;
		*(int *)where = i;
		return 0;
	case KIND_PATH:
		return set_string(where, value);
	case KIND_CPUS:
		return parse_cpulist(value) ? set_string(where, value) : -1;
	case KIND_INJECT:
		return set_inject(s, value);
	}
	return -1;
}

_Static_assert(sizeof(enum backend) == sizeof(int), "KIND_WORD writes enums as int");

int settings_set(struct settings *s, const char *key, const char *value, const char *file, int line,
		 struct error *e)
{
	const struct key *k = find(key);
	struct text t = { 0 };

	if (!k)
		return 1;
	if (set(s, k, value) == 0)
		return 0;
	allowed(k, &t);
	error_at(e, STATUS_USAGE, file, line, "%s = %s: expected %s", key, value, text_get(&t));
	text_free(&t);
	return -1;
}

const char *settings_conflict(const struct settings *s)
{
	bool direct = s->cache == CACHE_NONE || s->cache == CACHE_DIRECTSYNC;

	if (s->ioeventfd == TOGGLE_OFF && s->iothread == TOGGLE_ON)
		return "ioeventfd = off cannot be combined with an iothread: QEMU refuses it, the iothread is woken by the eventfd";
	if (s->latency_ns && s->backend != BACKEND_NULL)
		return "latency_ns needs backend = null";
	if (s->latency_ns && s->iothread != TOGGLE_ON)
		return "latency_ns needs iothread = on: QEMU's main loop rounds it up to whole milliseconds";
	if (s->backend == BACKEND_NBD && (!s->path || *s->path != '/'))
		return "backend = nbd needs path = /SOCKET, the unix socket that the server listens on, from the root on";
	if (s->backend == BACKEND_NBD && s->filesystem != FILESYSTEM_NONE)
		return "backend = nbd is the server's disk, which kickbench fills with nothing: filesystem needs backend = file or memory";
	if (s->backend == BACKEND_NBD && s->io != IO_THREADS)
		return "io is how a file is read and written: backend = nbd has a socket";
	if (s->io == IO_NATIVE && !direct && s->backend != BACKEND_NULL)
		return "io = native needs cache = none or directsync: QEMU's native aio works on O_DIRECT only";
	if (s->backend == BACKEND_MEMORY && direct)
		return "backend = memory lies on tmpfs: cache = none and directsync need direct I/O, use writeback or auto";
	if (s->backend == BACKEND_NULL && s->inject != INJECT_NONE)
		return "inject_error needs another backend than null";
	if (s->backend == BACKEND_NULL && s->path)
		return "backend = null has no file: path means nothing";
	if (s->backend == BACKEND_NULL && s->filesystem != FILESYSTEM_NONE)
		return "backend = null keeps nothing that is written: filesystem needs backend = file or memory";
	if (s->filesystem == FILESYSTEM_EXT4 && s->size < filesystem_least(FILESYSTEM_EXT4))
		return "filesystem = ext4 needs a disk of 8M at least";
	if (s->filesystem == FILESYSTEM_XFS && s->size < filesystem_least(FILESYSTEM_XFS))
		return "filesystem = xfs needs a disk of 300M at least: mkfs.xfs makes no smaller one";
	if (s->queue_size & (s->queue_size - 1))
		return "queue_size must be a power of two";
	if (s->poll_max_ns >= 0 && s->iothread != TOGGLE_ON)
		return "poll_max_ns is a property of an iothread: set iothread = on";
	if (s->iothreadpin && s->iothread != TOGGLE_ON)
		return "iothreadpin needs iothread = on";
	if (s->size % 512)
		return "size must be a multiple of 512";
	if (s->inject != INJECT_NONE && s->inject_sector >= s->size / 512)
		return "inject_error names a sector beyond the disk's end";
	return NULL;
}

static void get(const struct settings *s, const struct key *k, struct text *out)
{
	const void *where = const_field(s, k);
	const char *string;

	switch (k->kind) {
	case KIND_SIZE:
		parse_size_back(*(const uint64_t *)where, out);
		break;
	case KIND_U64:
		text_add(out, "%" PRIu64, *(const uint64_t *)where);
		break;
	case KIND_SIGNED:
		if (*(const int64_t *)where >= 0)
			text_add(out, "%" PRId64, *(const int64_t *)where);
		break;
	case KIND_UNSIGNED:
		if (*(const unsigned *)where)
			text_add(out, "%u", *(const unsigned *)where);
		break;
	case KIND_TOGGLE:
		if (*(const enum toggle *)where != TOGGLE_UNSET)
			text_add(out, "%s", *(const enum toggle *)where == TOGGLE_ON ? "on" : "off");
		break;
	case KIND_WORD:
		text_add(out, "%s", k->words[*(const int *)where]);
		break;
	case KIND_PATH:
	case KIND_CPUS:
		string = *(char *const *)where;
		text_add(out, "%s", string ? string : "");
		break;
	case KIND_INJECT:
		text_add(out, "%s", injects[s->inject]);
		if (s->inject != INJECT_NONE)
			text_add(out, "%" PRIu64, s->inject_sector);
		break;
	}
}

void settings_get(const struct settings *s, const char *key, struct text *out)
{
	const struct key *k = find(key);

	if (k)
		get(s, k, out);
}

void settings_json(const struct settings *s, struct text *out)
{
	struct text value = { 0 };

	text_add(out, "{");
	for (size_t i = 0; i < NKEYS; i++) {
		text_reset(&value);
		get(s, &keys[i], &value);
		text_add(out, "%s\"%s\":", i ? "," : "", keys[i].name);
		text_add_json_string(out, text_get(&value));
	}
	text_add(out, "}");
	text_free(&value);
}

const char *settings_key(size_t index, const char **help)
{
	if (index >= NKEYS)
		return NULL;
	if (help)
		*help = keys[index].help;
	return keys[index].name;
}

const char *cache_name(enum cache cache)
{
	return caches[cache];
}

const char *filesystem_name(enum filesystem filesystem)
{
	return filesystems[filesystem];
}

const char *disk_io_name(enum disk_io io)
{
	return ios[io];
}

const char *model_name(enum model model)
{
	return models[model];
}
