/* read and write, after lseek where the file is not there already. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "engines/list.h"

struct place {
	int fd;
	uint64_t offset; /* where the descriptor stands, UNKNOWN before the first I/O and after an error */
};

struct sync_state {
	unsigned count;
	struct place place[]; /* by file */
};

#define UNKNOWN UINT64_MAX

static int sync_open(void **state, const struct engine_setup *setup, struct error *e)
{
	struct sync_state *s = malloc(sizeof(*s) + setup->nfds * sizeof(s->place[0]));

	if (!s)
		return error_errno(e, STATUS_FAILED, "sync engine");
	s->count = setup->nfds;
	for (unsigned i = 0; i < s->count; i++)
		s->place[i] = (struct place){ setup->fds[i], UNKNOWN };
	*state = s;
	return 0;
}

static void sync_close(void *state)
{
	free(state);
}

static enum engine_queued sync_queue(void *state, struct io *io)
{
	struct place *place = &((struct sync_state *)state)->place[io->file];
	ssize_t n;

	if (io->ddir != DDIR_READ && io->ddir != DDIR_WRITE)
		return engine_flush(io);
	if (place->fd != io->fd) /* opened anew */
		*place = (struct place){ io->fd, UNKNOWN };
	io->moved = 0;
	io->error = 0;
	if (place->offset != io->offset && lseek(io->fd, (off_t)io->offset, SEEK_SET) < 0) {
		io->error = errno;
		place->offset = UNKNOWN;
		return ENGINE_DONE;
	}
	do {
		if (io->ddir == DDIR_READ)
			n = read(io->fd, io->buffer, io->length);
		else
			n = write(io->fd, io->buffer, io->length);
	} while (n < 0 && errno == EINTR);
	if (n < 0) {
		io->error = errno;
		place->offset = UNKNOWN;
	} else {
		io->moved = (uint32_t)n;
		place->offset = io->offset + (uint64_t)n;
	}
	return ENGINE_DONE;
}

const struct engine engine_sync = {
	.name = "sync",
	.help = "read and write, with lseek where needed",
	.synchronous = true,
	.open = sync_open,
	.queue = sync_queue,
	.close = sync_close,
};
