/* The options of a regression matrix: one table, and what each value sets of the disk and the machine. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/matrix_private.h"
#include "host/parse.h"

#define MOST_EFFECTS 4 /* one less, and the end */

struct effect {
	const char *key, *value; /* of settings_set() or machine_set() */
};

struct choice {
	const char *value;
	struct effect effect[MOST_EFFECTS];
};

struct place {
	const char *name, *file;
	int line;
};

/* One row is the whole option. */
struct row {
	const char *name;
	const char *values; /* for messages; where there are choices: these, in their order */
	const char *help;
	const struct choice *choice; /* up to a value NULL; NULL: only set() knows */
	/* After the choice's effects; NULL: they are all. */
	int (*set)(struct matrix_cell *cell, const char *value, const struct place *at, struct error *e);
	const char *key; /* of the disk, that set() sets; NULL: none */
};

/* QEMU 7.2's virtio-blk-pci-transitional has no property disable-modern: a legacy device is the plain one, with both said. */
static const struct choice transports[] = {
	{ "modern", { { "model", "virtio-non-transitional" } } },
	{ "transitional", { { "model", "virtio-transitional" } } },
	{ "legacy", { { "model", "virtio" }, { "qemu.disable-modern", "on" }, { "qemu.disable-legacy", "\"off\"" } } },
	{ "mmio", { { "model", "virtio" }, { "machine", "microvm" } } },
	{ NULL, { { NULL, NULL } } },
};

static const struct choice rings[] = {
	{ "split", { { "packed", "off" } } },
	{ "packed", { { "packed", "on" } } },
	{ NULL, { { NULL, NULL } } },
};

/* QEMU refuses an iothread without ioeventfd ("ioeventfd is required for iothread"): as one option they cannot meet. */
static const struct choice notifications[] = {
	{ "off", { { "ioeventfd", "off" }, { "iothread", "off" } } },
	{ "on", { { "ioeventfd", "on" }, { "iothread", "off" } } },
	{ "iothread", { { "ioeventfd", "on" }, { "iothread", "on" } } },
	{ NULL, { { NULL, NULL } } },
};

static const struct choice block_sizes[] = {
	{ "512", { { "qemu.logical_block_size", "512" }, { "qemu.physical_block_size", "512" } } },
	{ "4096", { { "qemu.logical_block_size", "4096" }, { "qemu.physical_block_size", "4096" } } },
	{ NULL, { { NULL, NULL } } },
};

static const struct choice seg_maxes[] = {
	{ "adjusted", { { "qemu.seg-max-adjust", "on" } } },
	{ "126", { { "qemu.seg-max-adjust", "off" } } },
	{ NULL, { { NULL, NULL } } },
};

/* Those that are a property of QEMU's device, on or off. */
#define SWITCH(identifier, property) \
	static const struct choice identifier[] = { \
		{ "on", { { property, "on" } } }, \
		{ "off", { { property, "off" } } }, \
		{ NULL, { { NULL, NULL } } }, \
	}

SWITCH(indirect_descs, "qemu.indirect_desc");
SWITCH(config_wces, "qemu.config-wce");
SWITCH(request_mergings, "qemu.request-merging");

static const struct choice discards[] = {
	{ "on", { { "qemu.discard", "on" }, { "qemu.write-zeroes", "on" } } },
	{ "off", { { "qemu.discard", "off" }, { "qemu.write-zeroes", "off" } } },
	{ NULL, { { NULL, NULL } } },
};

static const struct choice plain[] = {
	{ "on", { { NULL, NULL } } },
	{ "off", { { NULL, NULL } } },
	{ NULL, { { NULL, NULL } } },
};

/*
 * cache= of QEMU decides what the guest is offered: with writethrough and directsync Linux finds "write through" in
 * queue/write_cache, whatever config_wce is. Whether the host's page cache is passed by stays as the base has it.
 */
static int set_write_cache(struct matrix_cell *cell, const char *value, const struct place *at, struct error *e)
{
	bool direct = cell->settings.cache == CACHE_NONE || cell->settings.cache == CACHE_DIRECTSYNC, on = !strcmp(value, "on");

	return settings_set(&cell->settings, "cache", direct ? on ? "none" : "directsync" : on ? "writeback" : "writethrough",
			    at->file, at->line, e);
}

static int set_discard(struct matrix_cell *cell, const char *value, const struct place *at, struct error *e)
{
	(void)at;
	(void)e;
	cell->discard = !strcmp(value, "on");
	return 0;
}

static int set_readonly(struct matrix_cell *cell, const char *value, const struct place *at, struct error *e)
{
	(void)at;
	(void)e;
	cell->readonly = !strcmp(value, "on");
	return 0;
}

/* A sum of sizes: "4G-512", "2T+1M". False: it is none. */
static bool parse_sum(const char *text, uint64_t *bytes)
{
	bool minus = false;

	*bytes = 0;
	for (;;) {
		size_t length = strcspn(text, "+-");
		char term[32];
		uint64_t v;

		if (length >= sizeof(term))
			return false;
		memcpy(term, text, length);
		term[length] = '\0';
		if (parse_size(term, &v) || (minus ? v > *bytes : v > UINT64_MAX - *bytes))
			return false;
		*bytes = minus ? *bytes - v : *bytes + v;
		if (!text[length])
			return true;
		minus = text[length] == '-';
		text += length + 1;
	}
}

static int set_size(struct matrix_cell *cell, const char *value, const struct place *at, struct error *e)
{
	struct text number = { 0 };
	uint64_t bytes;
	int status;

	if (!parse_sum(value, &bytes) || bytes % 512)
		return error_at(e, STATUS_USAGE, at->file, at->line,
				"%s = %s: expected a size such as 64M, 64M+512 or 4G-512, a multiple of 512", at->name, value);
	text_add(&number, "%" PRIu64, bytes);
	status = settings_set(&cell->settings, "size", text_get(&number), at->file, at->line, e);
	text_free(&number);
	return status;
}

static int set_event(struct matrix_cell *cell, const char *value, const struct place *at, struct error *e)
{
	struct text names = { 0 };

	if (strcmp(value, MATRIX_EVENT_NONE) && !matrix_event_is(value)) {
		matrix_event_names(&names);
		error_at(e, STATUS_USAGE, at->file, at->line, "%s = %s: expected " MATRIX_EVENT_NONE "%s%s", at->name, value,
			 names.length ? ", " : "", text_get(&names));
		text_free(&names);
		return -1;
	}
	cell->event = value;
	return 0;
}

static const struct row rows[] = {
	{ "transport", "modern, transitional, legacy, mmio",
	  "virtio over PCI, as the device offers itself, or over memory-mapped registers on machine microvm", transports, NULL, NULL },
	{ "ring", "split, packed", "the virtqueues' layout", rings, NULL, NULL },
	{ "indirect_desc", "on, off", "descriptors in tables of their own", indirect_descs, NULL, NULL },
	{ "notify", "off, on, iothread", "kicks by an exit, by an eventfd, or by one that wakes a thread of the disk's own", notifications,
	  NULL, NULL },
	{ "block_size", "512, 4096", "of the disk, logical and physical", block_sizes, NULL, NULL },
	{ "write_cache", "on, off", "whether the guest has to flush: QEMU's cache=writeback (none) or writethrough (directsync)", plain,
	  set_write_cache, "cache" },
	{ "config_wce", "on, off", "whether the guest may switch the write cache", config_wces, NULL, NULL },
	{ "discard", "on, off", "discard and write-zeroes, passed on to the disk's file", discards, set_discard, NULL },
	{ "readonly", "on, off", "a disk that cannot be written to", plain, set_readonly, NULL },
	{ "seg_max", "adjusted, 126", "segments of one request: as the queue holds them, or 126 always", seg_maxes, NULL, NULL },
	{ "request_merging", "on, off", "whether QEMU merges requests that follow each other on the disk", request_mergings, NULL, NULL },
	{ "size", "sizes such as 512, 64M+512, 4G-512", "of the disk", NULL, set_size, "size" },
	{ "event", "none, or an event", "what happens to the disk or the guest in the middle of a job", NULL,
	  set_event, NULL },
};

#define NROWS (sizeof(rows) / sizeof(rows[0]))

static const struct row *find_row(const char *name)
{
	for (size_t i = 0; i < NROWS; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

const char *matrix_option_row(size_t index, const char **values, const char **help)
{
	if (index >= NROWS)
		return NULL;
	if (values)
		*values = rows[index].values;
	if (help)
		*help = rows[index].help;
	return rows[index].name;
}

/* A key of the disk or the machine. 1: it is neither. */
static int set_key(struct matrix_cell *cell, const char *key, const char *value, const char *file, int line, struct error *e)
{
	int status = settings_set(&cell->settings, key, value, file, line, e);

	return status > 0 ? machine_set(&cell->machine, key, value, file, line, e) : status;
}

int matrix_option_set(struct matrix_cell *cell, const char *name, const char *value, const char *file, int line, struct error *e)
{
	const struct place at = { name, file, line };
	const struct row *row = find_row(name);
	const struct choice *choice = row ? row->choice : NULL;
	struct text names = { 0 };
	int status;

	if (!*value)
		return error_at(e, STATUS_USAGE, file, line, "%s has no value", name);
	if (row) {
		while (choice && choice->value && strcmp(choice->value, value))
			choice++;
		if (choice && !choice->value)
			return error_at(e, STATUS_USAGE, file, line, "%s = %s: expected %s", name, value, row->values);
		for (size_t i = 0; choice && choice->effect[i].key; i++)
			if (set_key(cell, choice->effect[i].key, choice->effect[i].value, file, line, e))
				return -1;
		return row->set ? row->set(cell, value, &at, e) : 0;
	}
	status = set_key(cell, name, value, file, line, e);
	if (status <= 0)
		return status;
	matrix_option_names(&names);
	error_at(e, STATUS_USAGE, file, line, "there is no option %s; there are %s", name, text_get(&names));
	text_free(&names);
	return -1;
}

bool matrix_option_is(const char *name)
{
	if (find_row(name) || !strncmp(name, "qemu.", 5))
		return true;
	for (size_t i = 0; settings_key(i, NULL); i++)
		if (!strcmp(settings_key(i, NULL), name))
			return true;
	for (size_t i = 0; machine_key(i, NULL); i++)
		if (!strcmp(machine_key(i, NULL), name))
			return true;
	return false;
}

void matrix_option_names(struct text *out)
{
	for (size_t i = 0; i < NROWS; i++)
		text_add(out, "%s, ", rows[i].name);
	for (size_t i = 0; settings_key(i, NULL); i++)
		if (!find_row(settings_key(i, NULL)))
			text_add(out, "%s, ", settings_key(i, NULL));
	for (size_t i = 0; machine_key(i, NULL); i++)
		text_add(out, "%s%s", i ? ", " : "", machine_key(i, NULL));
}

const char *matrix_option_key(const char *name, size_t index)
{
	const struct row *row = find_row(name);

	if (!row)
		return index ? NULL : name;
	for (const struct choice *c = row->choice; c && c->value; c++)
		for (size_t i = 0; c->effect[i].key; i++)
			if (index-- == 0)
				return c->effect[i].key;
	return index == 0 ? row->key : NULL;
}
