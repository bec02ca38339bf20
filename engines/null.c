/* No I/O at all: what the loop itself costs. At a depth of 1 a unit is done at once, as in fio. */
#include <stdlib.h>

#include "engines/list.h"

struct null_state {
	unsigned depth, queued, ready;
	struct io *io[]; /* ready ones, then queued ones */
};

static int null_open(void **state, const struct engine_setup *setup, struct error *e)
{
	struct null_state *s = calloc(1, sizeof(*s) + setup->depth * sizeof(s->io[0]));

	if (!s)
		return error_errno(e, STATUS_FAILED, "null engine");
	s->depth = setup->depth;
	*state = s;
	return 0;
}

static enum engine_queued null_queue(void *state, struct io *io)
{
	struct null_state *s = state;

	io->error = 0;
	io->moved = ddir_flushes(io->ddir) ? 0 : io->length;
	if (s->depth == 1 || ddir_flushes(io->ddir))
		return ENGINE_DONE;
	s->io[s->ready + s->queued++] = io;
	return ENGINE_QUEUED;
}

static int null_commit(void *state)
{
	struct null_state *s = state;
	unsigned n = s->queued;

	s->ready += n;
	s->queued = 0;
	return (int)n;
}

/* The newest first: nothing has to be moved. Nothing is queued while the worker reaps. */
static int null_reap(void *state, unsigned min, unsigned max, struct io **done)
{
	struct null_state *s = state;
	unsigned n = 0;

	(void)min;
	while (n < max && s->ready)
		done[n++] = s->io[--s->ready];
	return (int)n;
}

static void null_close(void *state)
{
	free(state);
}

const struct engine engine_null = {
	.name = "null",
	.help = "no I/O, done at once",
	.diskless = true,
	.open = null_open,
	.queue = null_queue,
	.commit = null_commit,
	.reap = null_reap,
	.close = null_close,
};
