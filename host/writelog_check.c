#include <string.h>

#include "host/writelog.h"

#define CHUNK 65536u

/* Is it a sector of kickio, of that map, at its place? */
static bool recognise(uint64_t id, const unsigned char *sector, uint64_t offset, struct verify_header *h)
{
	struct sector_expected x = { .map = id, .offset = offset, .any_newer = true };

	memcpy(h, sector, sizeof(*h));
	if (h->offset != offset || (id && h->map != id))
		return false;
	switch (sector_check(sector, &x, h)) {
	case SECTOR_ZEROS:
	case SECTOR_FOREIGN:
	case SECTOR_BAD_HEADER:
	case SECTOR_OTHER_MAP:
		return false;
	case SECTOR_GOOD:
	case SECTOR_OLD:
	case SECTOR_NEWER:
	case SECTOR_MISPLACED: /* under which name the disk is known does not matter */
	case SECTOR_BAD_SUM:
		break;
	}
	return true;
}

int writelog_headers(struct writelog *log, const struct writelog_entry *entry, uint64_t id,
		     void (*header)(void *context, const struct verify_header *h), void *context, struct error *e)
{
	unsigned char chunk[CHUNK];

	for (uint64_t done = 0; entry->data_at && done < entry->bytes;) {
		size_t piece = entry->bytes - done < sizeof(chunk) ? (size_t)(entry->bytes - done) : sizeof(chunk);

		if (writelog_data(log, entry, done, chunk, piece, e) < 0)
			return -1;
		for (size_t at = 0; at < piece; at += VERIFY_SECTOR) {
			struct verify_header h;

			if (recognise(id, chunk + at, entry->offset + done + at, &h))
				header(context, &h);
		}
		done += piece;
	}
	return 0;
}

/* What makes sectors one write: all of them have the same of these. */
struct identity {
	uint64_t start, time_ns;
	uint32_t length, job;
};

struct check {
	unsigned every;
	struct writelog_flushes *out;
	struct identity last; /* of the write that was seen last */
	bool fua, mine;       /* of the entry that is looked at; mine: the job wrote something of it */
	bool unsure;          /* something of what was seen could still be in a cache */
	uint64_t answered;    /* entry behind what made the writes seen so far safe; 0: not safe */
};

static bool same(const struct identity *a, const struct identity *b)
{
	return a->start == b->start && a->time_ns == b->time_ns && a->length == b->length && a->job == b->job;
}

/* No write of the job follows any more, or the next one does: were those before it safe, where they had to be? */
static void judge(struct check *c)
{
	struct writelog_flushes *out = c->out;
	uint64_t fsync = out->seen / c->every;

	if (out->seen == 0 || out->seen % c->every || fsync > out->expected)
		return;
	if (c->answered) {
		out->last_flush = c->answered;
		out->covered = out->seen;
		return;
	}
	out->missing++;
	if (!out->first_missing)
		out->first_missing = fsync;
}

static void see(void *context, const struct verify_header *h)
{
	struct identity identity = { .start = h->start, .time_ns = h->time_ns, .length = h->length, .job = h->job };
	struct check *c = context;

	c->mine = true;
	if (c->out->seen == 0 || !same(&c->last, &identity)) {
		judge(c);
		c->out->seen++;
		c->last = identity;
		c->answered = 0;
	}
	if (c->fua)
		return;
	c->unsure = true;
	c->answered = 0;
}

int writelog_check_flushes(struct writelog *log, uint64_t id, uint64_t writes, unsigned every, struct writelog_flushes *out,
			   struct error *e)
{
	struct check c = { .every = every, .out = out };

	*out = (struct writelog_flushes){ .expected = every ? writes / every : 0 };
	if (!every)
		return error_set(e, STATUS_FAILED, "a job without fsync= has no flushes to look for");
	for (uint64_t i = 0; i < writelog_entries(log); i++) {
		struct writelog_entry entry;

		if (writelog_entry(log, i, &entry, e) < 0)
			return -1;
		if (entry.flush)
			c.unsure = false;
		c.fua = entry.fua;
		c.mine = false;
		if (writelog_headers(log, &entry, id, see, &c, e) < 0)
			return -1;
		if (!c.unsure && !c.answered)
			c.answered = i + 1;
		/* Whoever writes behind the job began when its last fsync had returned: a flush of his is no answer to that. */
		if (out->seen == writes && !c.answered && entry.data_at && !c.mine)
			break;
	}
	judge(&c);
	/* Writes that are not there cannot have been flushed. */
	if (out->seen / every < out->expected) {
		if (!out->first_missing)
			out->first_missing = out->seen / every + 1;
		out->missing += out->expected - out->seen / every;
	}
	return 0;
}
