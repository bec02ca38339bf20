/* pread and pwrite. */
#include <errno.h>
#include <unistd.h>

#include "engines/list.h"

static enum engine_queued psync_queue(void *state, struct io *io)
{
	ssize_t n;

	(void)state;
	do {
		if (io->ddir == DDIR_READ)
			n = pread(io->fd, io->buffer, io->length, (off_t)io->offset);
		else if (io->ddir == DDIR_WRITE)
			n = pwrite(io->fd, io->buffer, io->length, (off_t)io->offset);
		else
			return engine_flush(io);
	} while (n < 0 && errno == EINTR);
	io->error = n < 0 ? errno : 0;
	io->moved = n < 0 ? 0 : (uint32_t)n;
	return ENGINE_DONE;
}

const struct engine engine_psync = {
	.name = "psync",
	.help = "pread and pwrite",
	.synchronous = true,
	.queue = psync_queue,
};
