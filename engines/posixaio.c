/* POSIX asynchronous I/O: aio_read, aio_write, aio_suspend. */
#include <aio.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "engines/list.h"

struct posixaio_state {
	struct aiocb *aiocb; /* by io->index */
	struct io **io;      /* in flight */
	const struct aiocb **wait;
	unsigned flying;
};

static void posixaio_close(void *state)
{
	struct posixaio_state *s = state;

	free(s->aiocb);
	free(s->io);
	free(s->wait);
	free(s);
}

/*
 * glibc does the I/O in threads of its own, which a fork leaves behind while its books say that they are there:
 * every call would wait for them for ever.
 */
static int check_fork(struct error *e)
{
#ifdef __GLIBC__
	static pid_t first;

	if (!first)
		first = getpid();
	if (first != getpid())
		return error_set(e, STATUS_FAILED, "posixaio was used by a thread before this process was made, which glibc "
				 "does not survive; use the option thread for all such jobs");
#else
	(void)e;
#endif
	return 0;
}

static int posixaio_open(void **state, const struct engine_setup *setup, struct error *e)
{
	struct posixaio_state *s;

	errno = EDEADLK; /* what becomes of the job where it may not */
	if (check_fork(e) < 0)
		return -1;
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_errno(e, STATUS_FAILED, "posixaio engine");
	s->aiocb = calloc(setup->depth + 1, sizeof(*s->aiocb));
	s->io = calloc(setup->depth + 1, sizeof(struct io *));
	s->wait = calloc(setup->depth + 1, sizeof(struct aiocb *));
	if (!s->aiocb || !s->io || !s->wait) {
		error_errno(e, STATUS_FAILED, "posixaio engine");
		posixaio_close(s);
		return -1;
	}
	for (unsigned i = 0; i <= setup->depth; i++)
		s->aiocb[i].aio_sigevent.sigev_notify = SIGEV_NONE;
	*state = s;
	return 0;
}

static enum engine_queued posixaio_queue(void *state, struct io *io)
{
	struct posixaio_state *s = state;
	struct aiocb *a = &s->aiocb[io->index];

	if (io->ddir != DDIR_READ && io->ddir != DDIR_WRITE)
		return engine_flush(io);
	a->aio_fildes = io->fd;
	a->aio_buf = io->buffer;
	a->aio_nbytes = io->length;
	a->aio_offset = (off_t)io->offset;
	if ((io->ddir == DDIR_READ ? aio_read(a) : aio_write(a)) < 0) {
		/* The system's limit, not the unit's fault, unless there is nothing in flight to wait for. */
		if (errno == EAGAIN && s->flying)
			return ENGINE_BUSY;
		io->error = errno;
		io->moved = 0;
		return ENGINE_DONE;
	}
	s->io[s->flying++] = io;
	return ENGINE_QUEUED;
}

/* What is over, out of the list of those in flight. */
static unsigned collect(struct posixaio_state *s, unsigned max, struct io **done)
{
	unsigned n = 0, kept = 0;

	for (unsigned i = 0; i < s->flying; i++) {
		struct io *io = s->io[i];
		struct aiocb *a = &s->aiocb[io->index];
		int error = n < max ? aio_error(a) : EINPROGRESS;
		ssize_t moved;

		if (error == EINPROGRESS) {
			s->io[kept++] = io;
			continue;
		}
		moved = aio_return(a);
		io->error = error;
		io->moved = error || moved < 0 ? 0 : (uint32_t)moved;
		done[n++] = io;
	}
	s->flying = kept;
	return n;
}

static int posixaio_reap(void *state, unsigned min, unsigned max, struct io **done)
{
	struct posixaio_state *s = state;
	unsigned n = 0;

	for (;;) {
		n += collect(s, max - n, done + n);
		if (n >= min || s->flying == 0)
			return (int)n;
		for (unsigned i = 0; i < s->flying; i++)
			s->wait[i] = &s->aiocb[s->io[i]->index];
		if (aio_suspend(s->wait, (int)s->flying, NULL) < 0)
			return n || errno == EINTR || errno == EAGAIN ? (int)n : -errno;
	}
}

const struct engine engine_posixaio = {
	.name = "posixaio",
	.help = "POSIX asynchronous I/O, aio_read and aio_write",
	.open = posixaio_open,
	.queue = posixaio_queue,
	.reap = posixaio_reap,
	.close = posixaio_close,
};
