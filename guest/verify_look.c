/* The judging half of verify.h. */
#include <stdio.h>
#include <string.h>

#include "guest/text.h"
#include "guest/verify_internal.h"

enum verdict {
	VERDICT_GOOD,
	VERDICT_LOST,       /* nothing of what was written is there */
	VERDICT_STALE,      /* an earlier generation is there */
	VERDICT_TORN,       /* a part of a write is there, this part is not */
	VERDICT_MISPLACED,  /* a write for somewhere else is there */
	VERDICT_CORRUPT,    /* bytes were changed */
	VERDICT_UNEXPECTED, /* a generation that nobody wrote */
	VERDICT_NO_HEADER,  /* without a map: whether something was written is not known */
};

static const char *const names[] = {
	[VERDICT_LOST] = "lost write", [VERDICT_STALE] = "stale", [VERDICT_TORN] = "torn",
	[VERDICT_MISPLACED] = "misdirected write", [VERDICT_CORRUPT] = "corrupt",
	[VERDICT_UNEXPECTED] = "unexpected generation", [VERDICT_NO_HEADER] = "no header",
};

/* ---- one sector after the other ---- */

/* What sector number i of the unit has to be; false: nothing is known to be there, so anything may be. */
static bool expect(const struct verify_target *t, const struct io *io, const uint32_t *least, unsigned i,
		   struct sector_expected *x)
{
	uint64_t offset = io->offset + (uint64_t)i * VERIFY_SECTOR, block = offset / t->unit;

	*x = (struct sector_expected){ .offset = offset, .file = t->number, .last = UINT32_MAX };
	if (!t->area)
		return true;
	if (block >= t->area->map.blocks)
		return false;
	x->map = t->area->id;
	x->any_newer = t->area->lagging;
	x->least = least[block - io->offset / t->unit];
	x->last = verify_map_range(&t->area->map, block).last;
	return x->last != 0;
}

/* Nothing had to be there yet: what was there before kickio wrote is as good as one of its generations. */
static bool may_be_old(const struct sector_expected *x, enum sector_state s)
{
	return x->map && x->least == 0 &&
	       (s == SECTOR_ZEROS || s == SECTOR_FOREIGN || s == SECTOR_OTHER_MAP);
}

static bool look_at_sectors(struct verify *v, const struct verify_target *t, const struct io *io,
			    const uint32_t *least, unsigned sectors)
{
	const char *sector = io->buffer;
	bool bad = false;

	for (unsigned i = 0; i < sectors; i++, sector += VERIFY_SECTOR) {
		v->state[i] = SECTOR_GOOD;
		v->header[i].length = 0;
		if (!expect(t, io, least, i, &v->expected[i]))
			continue;
		v->state[i] = sector_check(sector, &v->expected[i], &v->header[i]);
		if (may_be_old(&v->expected[i], v->state[i])) {
			v->state[i] = SECTOR_GOOD;
			v->header[i].length = 0; /* tells of no write */
		}
		bad |= v->state[i] != SECTOR_GOOD;
	}
	return bad;
}

/* ---- what it means ---- */

/* Did the write that sector `by` is from have to reach sector i, too, after what is there? */
static bool should_have_reached(const struct verify *v, unsigned by, unsigned i)
{
	const struct verify_header *h = &v->header[by];
	uint64_t offset = v->expected[i].offset;

	if (v->state[by] != SECTOR_GOOD || h->length == 0 || offset < h->start || offset - h->start >= h->length)
		return false;
	return v->state[i] != SECTOR_OLD || v->header[i].time_ns < h->time_ns;
}

/* The nearest good sectors on both sides stand for the writes that reach over this one. */
static bool is_torn(const struct verify *v, unsigned i, unsigned sectors)
{
	unsigned left = i, right = i;

	while (left > 0 && v->state[left] != SECTOR_GOOD)
		left--;
	while (right < sectors - 1 && v->state[right] != SECTOR_GOOD)
		right++;
	return should_have_reached(v, left, i) || should_have_reached(v, right, i);
}

static enum verdict judge(const struct verify *v, unsigned i, unsigned sectors)
{
	switch (v->state[i]) {
	case SECTOR_GOOD:
		return VERDICT_GOOD;
	case SECTOR_OLD:
		return is_torn(v, i, sectors) ? VERDICT_TORN : VERDICT_STALE;
	case SECTOR_NEWER:
		return VERDICT_UNEXPECTED;
	case SECTOR_MISPLACED:
		return VERDICT_MISPLACED;
	case SECTOR_OTHER_MAP:
	case SECTOR_ZEROS:
	case SECTOR_FOREIGN:
		if (is_torn(v, i, sectors))
			return VERDICT_TORN;
		return v->expected[i].map ? VERDICT_LOST : VERDICT_NO_HEADER;
	case SECTOR_BAD_HEADER:
	case SECTOR_BAD_SUM:
		break;
	}
	return VERDICT_CORRUPT;
}

/*
 * Without a map two good sectors can still contradict each other: a write that covers both reached one, and
 * what is in the other is older. From then on that one counts as old. `step` is 1 or -1.
 */
static bool look_for_older(struct verify *v, unsigned sectors, int step)
{
	unsigned newest = step > 0 ? 0 : sectors - 1, i = newest;
	bool found = false;

	for (unsigned n = 0; n < sectors; n++, i += (unsigned)step) {
		const struct verify_header *h = &v->header[i], *by = &v->header[newest];

		if (v->state[i] != SECTOR_GOOD)
			continue;
		if (by->map == h->map && by->time_ns > h->time_ns && should_have_reached(v, newest, i)) {
			v->state[i] = SECTOR_OLD;
			found = true;
		} else {
			newest = i;
		}
	}
	return found;
}

/* ---- telling ---- */

static void tell_found(struct text *out, const struct verify *v, unsigned i, const char *sector)
{
	const struct verify_header *h = &v->header[i];
	const unsigned char *b = (const unsigned char *)sector;

	switch (v->state[i]) {
	case SECTOR_ZEROS:
		text_add(out, "found zeros");
		break;
	case SECTOR_FOREIGN:
		text_add(out, "found bytes that kickio did not write: %02x%02x%02x%02x%02x%02x%02x%02x", b[0], b[1],
			 b[2], b[3], b[4], b[5], b[6], b[7]);
		break;
	case SECTOR_OTHER_MAP:
		text_add(out, "found generation %u of job %u of another run", h->generation, h->job);
		break;
	case SECTOR_BAD_HEADER:
		text_add(out, "the header does not match its checksum");
		break;
	case SECTOR_BAD_SUM:
		text_add(out, "the data does not match its checksum; header: generation %u of job %u", h->generation, h->job);
		break;
	default:
		text_add(out, "found generation %u of job %u", h->generation, h->job);
	}
}

static void tell_detail(struct text *out, const struct verify *v, enum verdict verdict, unsigned i, const char *sector)
{
	const struct verify_header *h = &v->header[i];
	const struct sector_expected *x = &v->expected[i];
	const char *path;

	if (verdict == VERDICT_MISPLACED) {
		path = h->file == x->file ? NULL : verify_store_path(v->setup.store, h->file);
		text_add(out, "belongs to offset %llu%s%s, generation %u of job %u", (unsigned long long)h->offset,
			 h->file == x->file ? "" : path ? " of " : " of another file", path ? path : "", h->generation,
			 h->job);
		return;
	}
	if (verdict == VERDICT_STALE) {
		text_add(out, "generation %u, %u was completed; job %u", h->generation, x->least, h->job);
		return;
	}
	if (x->map && x->least)
		text_add(out, "expected generation %u", x->least);
	if (x->map && x->least != x->last)
		text_add(out, "%s%u", x->least ? " to " : "expected nothing newer than generation ", x->last);
	if (x->map)
		text_add(out, ", ");
	tell_found(out, v, i, sector);
}

static void tell(struct verify *v, const struct verify_target *t, const struct io *io, enum verdict verdict,
		 unsigned first, unsigned end)
{
	struct text detail = {0};

	if (v->faults++ >= VERIFY_TOLD)
		return;
	tell_detail(&detail, v, verdict, first, (const char *)io->buffer + (size_t)first * VERIFY_SECTOR);
	note_send(v->setup.notes, "kickio: verify: %s (%s) at file %s offset %llu, length %u", names[verdict],
		  text_get(&detail), t->path, (unsigned long long)(io->offset + (uint64_t)first * VERIFY_SECTOR),
		  (end - first) * VERIFY_SECTOR);
	text_free(&detail);
}

/* Do sectors i-1 and i tell the same fault? */
static bool goes_on(const struct verify *v, unsigned i, enum verdict before, enum verdict verdict)
{
	const struct verify_header *a = &v->header[i - 1], *b = &v->header[i];

	if (verdict != before)
		return false;
	if (verdict == VERDICT_MISPLACED)
		return a->file == b->file && a->offset + VERIFY_SECTOR == b->offset && a->time_ns == b->time_ns;
	return verdict != VERDICT_STALE || (a->generation == b->generation && v->expected[i].least == v->expected[i - 1].least);
}

unsigned verify_look(struct verify *v, const struct verify_target *t, const struct io *io, const uint32_t *least)
{
	unsigned sectors = io->moved / VERIFY_SECTOR, first = 0, faults = 0;
	enum verdict before = VERDICT_GOOD;
	bool bad = look_at_sectors(v, t, io, least, sectors);

	if (!t->area && sectors) {
		bad |= look_for_older(v, sectors, 1);
		bad |= look_for_older(v, sectors, -1);
	}
	if (!bad)
		return 0;
	for (unsigned i = 0; i <= sectors; i++) {
		enum verdict verdict = i < sectors ? judge(v, i, sectors) : VERDICT_GOOD;

		if (i < sectors && before != VERDICT_GOOD && goes_on(v, i, before, verdict))
			continue;
		if (before != VERDICT_GOOD) {
			tell(v, t, io, before, first, i);
			faults++;
		}
		before = verdict;
		first = i;
	}
	return faults;
}
