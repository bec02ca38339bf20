/*
 * What a clone does next: direction, file, offset, length and buffer contents of one unit of I/O after the
 * other, until the job's share is done. Any number of units may be in flight; nothing is asked of the
 * system in here (but the cache drop of a pass that begins anew). generator_next() is in the header: it is
 * called once per I/O, in the one place of each loop that needs it.
 */
#ifndef KB_GENERATOR_H
#define KB_GENERATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/engine.h"
#include "guest/buffers.h"
#include "guest/files.h"
#include "guest/job.h"
#include "guest/offsets.h"
#include "guest/walk.h"

/* One file as the loop sees it. */
struct generator_file {
	struct offsets offsets; /* of plain jobs */
	struct walk *walk;      /* of all others */
	int fd;
};

struct generator {
	struct generator_file *file;
	unsigned next_file, last_file;
	uint64_t bytes_left, ios_left; /* that may still be issued in this loop; all ones: no limit */
	uint32_t length[DDIRS];
	uint32_t read_below; /* of a 32-bit draw; mixed jobs only */
	bool plain;          /* fixed sizes, plain offsets, round robin: what is inlined below */
	bool mixed, never_reads;
	enum ddir only; /* of jobs that do not mix */
	struct random64 random;
	struct buffers buffers;

	/* Not plain: which file. */
	unsigned *live, nlive; /* the files that have something left in this pass */
	unsigned stay;         /* I/Os left on the current file, next_file */

	unsigned loops_left; /* after this one */
	const struct job *job;
	const struct file_set *files;
};

/*
 * job and files (sized and open) are kept, not owned. The same seed and index (of the clone within the run)
 * give the same I/O. Returns -1 with failure filled; generator_close() is fine then, too.
 */
int generator_open(struct generator *g, const struct job *job, const struct file_set *files, uint64_t seed,
		   unsigned index, struct failure *failure);
void generator_close(struct generator *g);

/* The length that the buffer of every unit must have. */
uint32_t generator_buffer_length(const struct generator *g);

/* First contents of a unit's buffer of that length. Once per unit, before the measurement. */
void generator_fill(struct generator *g, void *buffer);

/* Forget what was issued: all of the job's bytes, I/Os and loops lie ahead. Offsets go on where they are. */
void generator_set_limits(struct generator *g);

/* ---- the parts of generator_next() ---- */

/* The job's bytes or I/Os are through: begin the next of its loops, or return false. */
bool generator_loop(struct generator *g);

/* All files are at the end of their pass: begin another one where the job has more to do, or return false. */
bool generator_restart(struct generator *g);

/* generator_place() of jobs that are not plain; also sets the length. */
bool generator_place_any(struct generator *g, struct io *io);

/* Round robin over the files that have something left in this pass. */
static inline bool generator_place(struct generator *g, struct io *io)
{
	if (__builtin_expect(!g->plain, 0))
		return generator_place_any(g, io);
	for (unsigned tries = 0; tries <= g->last_file; tries++) {
		struct generator_file *file = &g->file[g->next_file];

		io->file = g->next_file;
		g->next_file = g->next_file == g->last_file ? 0 : g->next_file + 1;
		if (offsets_next(&file->offsets, io->ddir, &io->offset)) {
			io->fd = file->fd;
			io->length = g->length[io->ddir];
			return true;
		}
	}
	return false;
}

static inline enum ddir generator_draw_ddir(struct generator *g)
{
	uint32_t draw = (uint32_t)(random64_next(&g->random) >> 32);

	if (g->never_reads)
		return DDIR_WRITE;
	return draw <= g->read_below ? DDIR_READ : DDIR_WRITE;
}

/*
 * Set ddir, file, fd, offset and length of the next unit and prepare its buffer. It counts as issued from
 * here on. False: nothing is left to do.
 */
static inline bool generator_next(struct generator *g, struct io *io)
{
	if (__builtin_expect(g->bytes_left == 0 || g->ios_left == 0, 0) && !generator_loop(g))
		return false;
	io->ddir = g->mixed ? generator_draw_ddir(g) : g->only;
	if (!generator_place(g, io) && (!generator_restart(g) || !generator_place(g, io)))
		return false;
	if (io->ddir == DDIR_WRITE)
		buffers_prepare(&g->buffers, io->buffer, io->length, io->offset);
	g->bytes_left -= io->length < g->bytes_left ? io->length : g->bytes_left;
	g->ios_left--;
	return true;
}

#endif
