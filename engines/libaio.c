/* Linux's own asynchronous I/O: io_submit and io_getevents. */
#include <errno.h>
#include <libaio.h>
#include <stdlib.h>
#include <string.h>

#include "engines/list.h"

struct libaio_state {
	io_context_t context;
	unsigned units;
	struct iocb *iocb;       /* by io->index */
	struct io_event *event;
	struct iocb **queue;     /* [head, tail) waits for io_submit */
	unsigned head, tail;
	struct io **refused;     /* by io_submit itself, not yet reaped */
	unsigned nrefused;
};

static void libaio_close(void *state)
{
	struct libaio_state *s = state;

	if (s->context)
		io_destroy(s->context);
	free(s->iocb);
	free(s->event);
	free(s->queue);
	free(s->refused);
	free(s);
}

static int libaio_open(void **state, const struct engine_setup *setup, struct error *e)
{
	struct libaio_state *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return error_errno(e, STATUS_FAILED, "libaio engine");
	s->units = setup->depth + 1;
	s->iocb = calloc(s->units, sizeof(*s->iocb));
	s->event = calloc(s->units, sizeof(*s->event));
	s->queue = calloc(s->units, sizeof(struct iocb *));
	s->refused = calloc(s->units, sizeof(struct io *));
	if (!s->iocb || !s->event || !s->queue || !s->refused) {
		error_errno(e, STATUS_FAILED, "libaio engine");
		libaio_close(s);
		return -1;
	}
	for (unsigned i = 0; i < s->units; i++)
		s->iocb[i].data = &setup->ios[i];
	r = io_setup((int)s->units, &s->context);
	if (r < 0) {
		s->context = NULL;
		libaio_close(s);
		errno = -r;
		return error_errno(e, STATUS_FAILED, r == -EAGAIN ? "io_setup: more than fs.aio-max-nr allows" : "io_setup");
	}
	*state = s;
	return 0;
}

static enum engine_queued libaio_queue(void *state, struct io *io)
{
	struct libaio_state *s = state;
	struct iocb *iocb = &s->iocb[io->index];

	/* The kernel has no asynchronous flush for all file systems; what was queued before goes first. */
	if (io->ddir != DDIR_READ && io->ddir != DDIR_WRITE)
		return s->head == s->tail ? engine_flush(io) : ENGINE_BUSY;
	iocb->aio_fildes = io->fd;
	iocb->aio_lio_opcode = io->ddir == DDIR_READ ? IO_CMD_PREAD : IO_CMD_PWRITE;
	iocb->u.c.buf = io->buffer;
	iocb->u.c.nbytes = io->length;
	iocb->u.c.offset = (long long)io->offset;
	s->queue[s->tail++] = iocb;
	return ENGINE_QUEUED;
}

/* After a partial io_submit the queue begins at its start again, where there is room for all units. */
static void drop_from_queue(struct libaio_state *s, unsigned n)
{
	s->head += n;
	if (s->head == s->tail) {
		s->head = s->tail = 0;
		return;
	}
	memmove(s->queue, s->queue + s->head, (s->tail - s->head) * sizeof(struct iocb *));
	s->tail -= s->head;
	s->head = 0;
}

static int libaio_commit(void *state)
{
	struct libaio_state *s = state;
	struct io *io;
	int r;

	do
		r = io_submit(s->context, (long)(s->tail - s->head), s->queue + s->head);
	while (r == -EINTR);
	if (r == -EAGAIN)
		return 0;
	if (r < 0) {
		/* The first one is at fault: io_submit tells of others by stopping before them. */
		io = s->queue[s->head]->data;
		io->error = -r;
		io->moved = 0;
		s->refused[s->nrefused++] = io;
		r = 1;
	}
	drop_from_queue(s, (unsigned)r);
	return r;
}

static int libaio_reap(void *state, unsigned min, unsigned max, struct io **done)
{
	struct libaio_state *s = state;
	struct timespec no_time = {0};
	unsigned n = 0;
	int r;

	while (s->nrefused && n < max)
		done[n++] = s->refused[--s->nrefused];
	if (n == max)
		return (int)n;
	min = min > n ? min - n : 0;
	r = io_getevents(s->context, min, (long)(max - n), s->event, min ? NULL : &no_time);
	if (r < 0)
		return n || r == -EINTR ? (int)n : r;
	for (int i = 0; i < r; i++) {
		const struct io_event *event = &s->event[i];
		struct io *io = event->data;
		long res = (long)event->res;

		io->error = res < 0 ? (int)-res : 0;
		io->moved = res < 0 ? 0 : (uint32_t)res;
		done[n++] = io;
	}
	return (int)n;
}

const struct engine engine_libaio = {
	.name = "libaio",
	.help = "Linux's own asynchronous I/O, io_submit",
	.open = libaio_open,
	.queue = libaio_queue,
	.commit = libaio_commit,
	.reap = libaio_reap,
	.close = libaio_close,
};
