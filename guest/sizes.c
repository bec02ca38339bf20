#include "guest/sizes.h"

/* A tile is this many of the longest pieces: pieces are cut short at its end, more rarely in long tiles. */
#define TILE_PIECES 4

void sizes_init(struct sizes *s, const struct job *job, enum ddir ddir)
{
	bool used = ddir == DDIR_READ ? rw_reads(job->rw) : ddir == DDIR_WRITE && rw_writes(job->rw);

	*s = (struct sizes){ .unaligned = job->bs_unaligned };
	if (!used)
		return;
	s->lo = job_bs_min(job, ddir);
	s->hi = job_bs_max(job, ddir);
	s->shift = s->lo & (s->lo - 1) ? 64 : (unsigned)__builtin_ctzll(s->lo);
	if (s->lo != s->hi)
		s->split = job->bssplit[ddir];
}

bool sizes_same(const struct sizes *a, const struct sizes *b)
{
	if (a->lo != b->lo || a->hi != b->hi || a->unaligned != b->unaligned || a->split.count != b->split.count)
		return false;
	for (unsigned i = 0; i < a->split.count; i++)
		if (a->split.part[i].bs != b->split.part[i].bs ||
		    a->split.part[i].percent != b->split.part[i].percent)
			return false;
	return true;
}

static uint64_t trim(const struct sizes *s, uint64_t size)
{
	/* A division takes longer than all the rest of a draw. */
	if (!s->unaligned)
		size -= s->shift < 64 ? size & (s->lo - 1) : size % s->lo;
	return size > s->hi ? s->hi : size;
}

/*
 * The first size whose cumulated share reaches the draw and that fits. When only smaller ones fit that are
 * not drawn, the draw is repeated, as for a range; the smallest fits always, but its share may be 0.
 */
static uint64_t draw_split(const struct sizes *s, struct random64 *random, uint64_t room)
{
	uint64_t fitting = 0, at;

	for (unsigned i = 0; i < s->split.count; i++)
		if (trim(s, s->split.part[i].bs) <= room)
			fitting += s->split.part[i].percent;
	if (fitting == 0)
		return s->lo;
	at = random64_below(random, fitting);
	for (unsigned i = 0; i < s->split.count; i++) {
		if (trim(s, s->split.part[i].bs) > room)
			continue;
		if (at < s->split.part[i].percent)
			return trim(s, s->split.part[i].bs);
		at -= s->split.part[i].percent;
	}
	return s->lo;
}

uint64_t sizes_draw(const struct sizes *s, struct random64 *random, uint64_t room)
{
	uint64_t size;

	if (s->lo == s->hi)
		return s->lo;
	if (s->split.count)
		return draw_split(s, random, room);
	do
		size = trim(s, s->lo + random64_below(random, s->hi));
	while (size > room && s->lo < room);
	return size > room ? s->lo : size;
}

/* ---- every block once, with sizes that vary ---- */

static uint64_t units_of(const struct sizes *s, uint64_t bytes)
{
	return s->shift < 64 ? (bytes + s->lo - 1) >> s->shift : (bytes + s->lo - 1) / s->lo;
}

/* Mean units of a piece. */
static double mean_units(const struct sizes *s)
{
	double sum = 0;

	if (!s->split.count)
		return ((double)s->lo + (double)s->hi) / 2 / (double)s->lo;
	for (unsigned i = 0; i < s->split.count; i++)
		sum += (double)units_of(s, trim(s, s->split.part[i].bs)) * s->split.part[i].percent / 100;
	return sum > 1 ? sum : 1;
}

void mosaic_init(struct mosaic *m, const struct sizes *sizes, uint64_t bytes, struct random64 *keys)
{
	uint64_t tiles;

	m->sizes = *sizes;
	m->units = bytes / sizes->lo;
	m->longest = sizes->hi / sizes->lo;
	m->tile = m->longest * (sizes->lo == sizes->hi ? 1 : TILE_PIECES);
	if (m->tile > m->units)
		m->tile = m->units;
	/* Half more than are needed on average; a tile that needs all gets longer pieces at its end. */
	m->slots = (uint64_t)((double)m->tile / mean_units(sizes) * 1.5) + TILE_PIECES;
	if (m->slots > m->tile)
		m->slots = m->tile;
	if (sizes->lo == sizes->hi)
		m->slots = 1;
	tiles = (m->units + m->tile - 1) / m->tile;
	m->left = tiles * m->slots;
	m->seed = random64_next(keys);
	permutation_init(&m->order, m->left, keys);
}

/* Piece number slot of a tile, if it is cut into that many. Offsets in units, length in bytes. */
static bool find_piece(const struct mosaic *m, uint64_t tile, uint64_t slot, uint64_t *offset, uint64_t *length)
{
	struct random64 random = random64_stream(m->seed, tile);
	uint64_t at = tile * m->tile, rest = m->units - at;

	if (rest > m->tile)
		rest = m->tile;
	for (uint64_t i = 0; rest; i++) {
		uint64_t size = sizes_draw(&m->sizes, &random, UINT64_MAX);
		uint64_t units = units_of(&m->sizes, size), later = (m->slots - 1 - i) * m->longest;

		/* What the later slots could not take. */
		if (rest > later && units < rest - later) {
			units = rest - later;
			size = units * m->sizes.lo;
		}
		if (units > rest) {
			units = rest;
			size = units * m->sizes.lo;
		}
		if (i == slot) {
			*offset = at;
			*length = size;
			return true;
		}
		at += units;
		rest -= units;
	}
	return false;
}

bool mosaic_next(struct mosaic *m, uint64_t *offset, uint64_t *length)
{
	while (m->left) {
		uint64_t i = permutation_next(&m->order);

		m->left--;
		if (find_piece(m, i / m->slots, i % m->slots, offset, length)) {
			*offset *= m->sizes.lo;
			return true;
		}
	}
	return false;
}
