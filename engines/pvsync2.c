/* preadv2 and pwritev2 with their flags; by number, since not every libc of Linux has the functions. */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engines/list.h"
#include "guest/job.h"

/* From <linux/fs.h>, which clashes with libc's headers. */
#define FLAG_HIPRI 0x1
#define FLAG_NOWAIT 0x8

static int pvsync2_open(void **state, const struct engine_setup *setup, struct error *e)
{
	int *flags = malloc(sizeof(*flags));

	if (!flags)
		return error_errno(e, STATUS_FAILED, "pvsync2 engine");
	*flags = (setup->job->hipri ? FLAG_HIPRI : 0) | (setup->job->nowait ? FLAG_NOWAIT : 0);
	*state = flags;
	return 0;
}

static enum engine_queued pvsync2_queue(void *state, struct io *io)
{
	struct iovec iov = { io->buffer, io->length };
	int flags = *(int *)state;
	long n;

	if (io->ddir != DDIR_READ && io->ddir != DDIR_WRITE)
		return engine_flush(io);
	/* The offset is passed in two longs, of which a 64-bit kernel ignores the upper one. */
	do
		n = syscall(io->ddir == DDIR_READ ? SYS_preadv2 : SYS_pwritev2, io->fd, &iov, 1L, (long)io->offset, 0L,
			    flags);
	while (n < 0 && errno == EINTR);
	io->error = n < 0 ? errno : 0;
	io->moved = n < 0 ? 0 : (uint32_t)n;
	return ENGINE_DONE;
}

static void pvsync2_close(void *state)
{
	free(state);
}

const struct engine engine_pvsync2 = {
	.name = "pvsync2",
	.help = "preadv2 and pwritev2, with hipri and nowait",
	.synchronous = true,
	.open = pvsync2_open,
	.queue = pvsync2_queue,
	.close = pvsync2_close,
};
