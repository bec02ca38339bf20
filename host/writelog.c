#include "host/writelog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x6a736677736872u
#define VERSION 1u
#define HEAD_BYTES 32u /* of the super block, and of an entry */
#define SECTOR_LEAST 512u
#define SECTOR_MOST 65536u

enum flag { FLAG_FLUSH = 1, FLAG_FUA = 2, FLAG_DISCARD = 4, FLAG_MARK = 8, FLAG_METADATA = 16, FLAGS = 31 };

struct writelog {
	char *path;
	int fd;
	uint64_t bytes;   /* of the file */
	uint64_t counted; /* by the super block */
	unsigned sector;
	uint64_t *place;  /* of each entry in the file */
	uint64_t entries, room;
};

static uint64_t number64(const unsigned char *b)
{
	uint64_t n = 0;

	for (unsigned i = 8; i-- > 0;)
		n = n << 8 | b[i];
	return n;
}

static bool all_zeros(const unsigned char *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (b[i])
			return false;
	return true;
}

/* All of it, or an error. */
static int read_at(const struct writelog *log, uint64_t at, void *to, size_t bytes, struct error *e)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t n = pread(log->fd, (char *)to + done, bytes - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(e, STATUS_FAILED, "write log %s", log->path);
		if (n == 0)
			return error_set(e, STATUS_FAILED, "write log %s became shorter", log->path);
		done += (size_t)n;
	}
	return 0;
}

/* ---- entries ---- */

enum found { FOUND_ENTRY, FOUND_END, FOUND_NONSENSE };

/* What is there at a place; *next is behind it. END: nothing, or an entry that is not whole. */
static enum found look(const struct writelog *log, const unsigned char head[HEAD_BYTES], uint64_t at,
		       struct writelog_entry *entry, uint64_t *next)
{
	uint64_t sector = number64(head), count = number64(head + 8), flags = number64(head + 16);
	uint64_t room = log->bytes - at - log->sector, most = INT64_MAX / log->sector;

	if (all_zeros(head, HEAD_BYTES))
		return FOUND_END;
	if (flags & ~(uint64_t)FLAGS || (count == 0 && !(flags & (FLAG_FLUSH | FLAG_MARK))) || sector > most ||
	    count > most - sector)
		return FOUND_NONSENSE;
	*entry = (struct writelog_entry){
		.offset = sector * log->sector, .bytes = count * log->sector, .flush = flags & FLAG_FLUSH, .fua = flags & FLAG_FUA,
		.discard = flags & FLAG_DISCARD, .mark = flags & FLAG_MARK,
	};
	*next = at + log->sector;
	if (entry->discard || count == 0)
		return FOUND_ENTRY;
	if (entry->bytes > room)
		return FOUND_END;
	entry->data_at = *next;
	*next += entry->bytes;
	return FOUND_ENTRY;
}

static int remember(struct writelog *log, uint64_t place, struct error *e)
{
	if (log->entries == log->room) {
		uint64_t room = log->room ? log->room * 2 : 1024;
		uint64_t *grown = realloc(log->place, room * sizeof(*grown));

		if (!grown)
			return error_errno(e, STATUS_FAILED, "write log %s", log->path);
		log->place = grown;
		log->room = room;
	}
	log->place[log->entries++] = place;
	return 0;
}

static int walk(struct writelog *log, struct error *e)
{
	uint64_t at = log->sector;

	while (at < log->bytes && log->bytes - at >= log->sector) {
		unsigned char head[HEAD_BYTES];
		struct writelog_entry entry;
		uint64_t next = 0;
		enum found found;

		if (read_at(log, at, head, sizeof(head), e) < 0)
			return -1;
		found = look(log, head, at, &entry, &next);
		if (found == FOUND_NONSENSE && log->entries < log->counted)
			return error_set(e, STATUS_FAILED, "write log %s: entry %llu, at byte %llu, makes no sense", log->path,
					 (unsigned long long)log->entries, (unsigned long long)at);
		if (found != FOUND_ENTRY)
			return 0;
		if (remember(log, at, e) < 0)
			return -1;
		at = next;
	}
	return 0;
}

/* ---- opening ---- */

/* Without a super block: where the first entry begins, a sector from the start, all smaller sectors are zeros. */
static int guess_sector(struct writelog *log, struct error *e)
{
	for (unsigned sector = SECTOR_LEAST; sector <= SECTOR_MOST && sector + HEAD_BYTES <= log->bytes; sector *= 2) {
		unsigned char head[HEAD_BYTES];

		if (read_at(log, sector, head, sizeof(head), e) < 0)
			return -1;
		if (all_zeros(head, sizeof(head)))
			continue;
		log->sector = sector;
		return 0;
	}
	return 0;
}

static int read_super(struct writelog *log, struct error *e)
{
	unsigned char head[HEAD_BYTES];
	uint64_t sector;

	if (log->bytes == 0)
		return 0;
	if (log->bytes < SECTOR_LEAST)
		return error_set(e, STATUS_FAILED, "%s is no write log: it has %llu bytes", log->path,
				 (unsigned long long)log->bytes);
	if (read_at(log, 0, head, sizeof(head), e) < 0)
		return -1;
	if (all_zeros(head, sizeof(head)))
		return guess_sector(log, e);
	if (number64(head) != MAGIC)
		return error_set(e, STATUS_FAILED, "%s is no write log", log->path);
	if (number64(head + 8) != VERSION)
		return error_set(e, STATUS_FAILED, "write log %s is of version %llu, only %u is known", log->path,
				 (unsigned long long)number64(head + 8), VERSION);
	log->counted = number64(head + 16);
	sector = number64(head + 24) & 0xffffffffu;
	if (sector < SECTOR_LEAST || sector > SECTOR_MOST || sector & (sector - 1))
		return error_set(e, STATUS_FAILED, "write log %s has sectors of %llu bytes", log->path, (unsigned long long)sector);
	log->sector = (unsigned)sector;
	return 0;
}

static int open_file(struct writelog *log, const char *path, struct error *e)
{
	struct stat st;

	log->path = strdup(path);
	log->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!log->path || log->fd < 0 || fstat(log->fd, &st) < 0)
		return error_errno(e, STATUS_FAILED, "write log %s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(e, STATUS_FAILED, "write log %s is not a file", path);
	log->bytes = (uint64_t)st.st_size;
	return 0;
}

int writelog_open(const char *path, struct writelog **out, struct error *e)
{
	struct writelog *log = calloc(1, sizeof(*log));

	*out = NULL;
	if (!log)
		return error_errno(e, STATUS_FAILED, "write log %s", path);
	log->fd = -1;
	if (open_file(log, path, e) < 0 || read_super(log, e) < 0 || (log->sector && walk(log, e) < 0)) {
		writelog_close(log);
		return -1;
	}
	*out = log;
	return 0;
}

void writelog_close(struct writelog *log)
{
	if (!log)
		return;
	if (log->fd >= 0)
		close(log->fd);
	free(log->place);
	free(log->path);
	free(log);
}

/* ---- reading ---- */

uint64_t writelog_entries(const struct writelog *log)
{
	return log->entries;
}

bool writelog_cut(const struct writelog *log)
{
	return log->entries < log->counted;
}

unsigned writelog_sector(const struct writelog *log)
{
	return log->sector;
}

int writelog_entry(struct writelog *log, uint64_t number, struct writelog_entry *entry, struct error *e)
{
	unsigned char head[HEAD_BYTES];
	uint64_t next;

	if (number >= log->entries)
		return error_set(e, STATUS_FAILED, "write log %s has no entry %llu", log->path, (unsigned long long)number);
	if (read_at(log, log->place[number], head, sizeof(head), e) < 0)
		return -1;
	if (look(log, head, log->place[number], entry, &next) != FOUND_ENTRY)
		return error_set(e, STATUS_FAILED, "write log %s was changed", log->path);
	entry->number = number;
	return 0;
}

int writelog_data(struct writelog *log, const struct writelog_entry *entry, uint64_t from, void *to, size_t bytes,
		  struct error *e)
{
	if (!entry->data_at || from > entry->bytes || bytes > entry->bytes - from)
		return error_set(e, STATUS_FAILED, "write log %s: entry %llu has no such data", log->path,
				 (unsigned long long)entry->number);
	return read_at(log, entry->data_at + from, to, bytes, e);
}
