/* Linux's io_uring. */
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>

#include "engines/list.h"
#include "guest/job.h"

struct uring_state {
	struct io_uring ring;
	bool open;
	bool polled; /* hipri: takes reads and writes only */
	bool vectored, fixed_buffers, fixed_files;
	bool plain; /* none of these: the common case, which is asked for once */
	unsigned queued;
	struct iovec *iov; /* by io->index */
};

static void uring_close(void *state)
{
	struct uring_state *s = state;

	if (s->open)
		io_uring_queue_exit(&s->ring);
	free(s->iov);
	free(s);
}

/*
 * Completions may wait for the job's next system call, which comes soon, and one thread alone submits:
 * both spare the kernel work. That some wait is shown to us, or who only polls would not make that call before the
 * next interrupt. Older kernels do not know these flags.
 */
static int open_ring(struct uring_state *s, const struct engine_setup *setup)
{
	const unsigned thrifty = IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SINGLE_ISSUER;
	unsigned flags = setup->job->hipri ? IORING_SETUP_IOPOLL : 0;
	int r = -EINVAL;

	if (setup->job->sqthread_poll)
		flags |= IORING_SETUP_SQPOLL;
	else
		r = io_uring_queue_init(setup->depth + 1, &s->ring, flags | thrifty);
	if (r == -EINVAL)
		r = io_uring_queue_init(setup->depth + 1, &s->ring, flags);
	s->open = r == 0;
	return r;
}

static int register_all(struct uring_state *s, const struct engine_setup *setup, struct error *e)
{
	int r = 0;

	if (s->fixed_buffers)
		r = io_uring_register_buffers(&s->ring, s->iov, setup->depth);
	if (r < 0) {
		errno = -r;
		return error_errno(e, STATUS_FAILED, "fixedbufs: io_uring_register_buffers");
	}
	if (s->fixed_files)
		r = io_uring_register_files(&s->ring, setup->fds, setup->nfds);
	if (r < 0) {
		errno = -r;
		return error_errno(e, STATUS_FAILED, "registerfiles: io_uring_register_files");
	}
	return 0;
}

static int uring_open(void **state, const struct engine_setup *setup, struct error *e)
{
	const struct job *job = setup->job;
	struct uring_state *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return error_errno(e, STATUS_FAILED, "io_uring engine");
	s->iov = calloc(setup->depth + 1, sizeof(*s->iov));
	if (!s->iov) {
		error_errno(e, STATUS_FAILED, "io_uring engine");
		goto fail;
	}
	for (unsigned i = 0; i < setup->depth; i++)
		s->iov[i] = (struct iovec){ setup->ios[i].buffer, setup->buffer_length };
	s->polled = job->hipri;
	s->vectored = !job->nonvectored;
	s->fixed_buffers = job->fixedbufs;
	s->fixed_files = job->registerfiles;
	s->plain = !s->vectored && !s->fixed_buffers && !s->fixed_files;
	r = open_ring(s, setup);
	if (r < 0) {
		errno = -r;
		error_errno(e, STATUS_FAILED, r == -EPERM ? "io_uring_setup: see sysctl kernel.io_uring_disabled" :
			    "io_uring_setup");
		goto fail;
	}
	if (register_all(s, setup, e) < 0)
		goto fail;
	*state = s;
	return 0;
fail:
	uring_close(s);
	return -1;
}

static void fill_rw(struct uring_state *s, struct io_uring_sqe *sqe, const struct io *io)
{
	bool reads = io->ddir == DDIR_READ;

	if (s->fixed_buffers) {
		io_uring_prep_rw(reads ? IORING_OP_READ_FIXED : IORING_OP_WRITE_FIXED, sqe, io->fd, io->buffer,
				 io->length, io->offset);
		sqe->buf_index = (uint16_t)io->index;
	} else if (s->vectored) {
		s->iov[io->index] = (struct iovec){ io->buffer, io->length };
		io_uring_prep_rw(reads ? IORING_OP_READV : IORING_OP_WRITEV, sqe, io->fd, &s->iov[io->index], 1,
				 io->offset);
	} else {
		io_uring_prep_rw(reads ? IORING_OP_READ : IORING_OP_WRITE, sqe, io->fd, io->buffer, io->length,
				 io->offset);
	}
}

static enum engine_queued uring_queue(void *state, struct io *io)
{
	struct uring_state *s = state;
	struct io_uring_sqe *sqe;

	if (ddir_flushes(io->ddir) && s->polled)
		return s->queued ? ENGINE_BUSY : engine_flush(io);
	sqe = io_uring_get_sqe(&s->ring);
	if (!sqe)
		return ENGINE_BUSY;
	if (__builtin_expect(s->plain && !ddir_flushes(io->ddir), 1)) {
		io_uring_prep_rw(io->ddir == DDIR_READ ? IORING_OP_READ : IORING_OP_WRITE, sqe, io->fd, io->buffer,
				 io->length, io->offset);
		io_uring_sqe_set_data(sqe, io);
		s->queued++;
		return ENGINE_QUEUED;
	}
	if (ddir_flushes(io->ddir))
		io_uring_prep_fsync(sqe, io->fd, io->ddir == DDIR_DATASYNC ? IORING_FSYNC_DATASYNC : 0);
	else
		fill_rw(s, sqe, io);
	if (s->fixed_files) {
		sqe->fd = (int)io->file;
		sqe->flags |= IOSQE_FIXED_FILE;
	}
	io_uring_sqe_set_data(sqe, io);
	s->queued++;
	return ENGINE_QUEUED;
}

static int uring_commit(void *state)
{
	struct uring_state *s = state;
	int r;

	do
		r = io_uring_submit(&s->ring);
	while (r == -EINTR);
	if (r == -EAGAIN || r == -EBUSY)
		return 0;
	if (r < 0)
		return r;
	/* Of a ring with a kernel thread it tells how many that has not looked at; all are handed over. */
	if (s->ring.flags & IORING_SETUP_SQPOLL)
		r = (int)s->queued;
	s->queued -= (unsigned)r;
	return r;
}

static int uring_reap(void *state, unsigned min, unsigned max, struct io **done)
{
	struct uring_state *s = state;
	struct io_uring_cqe *cqe;
	unsigned head, n = 0;
	int r = 0;

	if (io_uring_cq_ready(&s->ring) < (min ? min : 1)) {
		r = min ? io_uring_wait_cqe_nr(&s->ring, &cqe, min) : io_uring_peek_cqe(&s->ring, &cqe);
		if (r < 0 && r != -EINTR && r != -EAGAIN)
			return r;
	}
	io_uring_for_each_cqe(&s->ring, head, cqe) {
		struct io *io = io_uring_cqe_get_data(cqe);

		if (n == max)
			break;
		io->error = cqe->res < 0 ? -cqe->res : 0;
		io->moved = cqe->res < 0 ? 0 : (uint32_t)cqe->res;
		done[n++] = io;
	}
	io_uring_cq_advance(&s->ring, n);
	return (int)n;
}

const struct engine engine_io_uring = {
	.name = "io_uring",
	.help = "Linux's io_uring, with hipri, fixedbufs, registerfiles, sqthread_poll, nonvectored",
	.open = uring_open,
	.queue = uring_queue,
	.commit = uring_commit,
	.reap = uring_reap,
	.close = uring_close,
};
