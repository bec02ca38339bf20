#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/os.h"
#include "host/writelog.h"

#define CHUNK 1048576u

static int write_at(int fd, uint64_t at, const void *from, size_t bytes, struct error *e)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t n = pwrite(fd, (const char *)from + done, bytes - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(e, STATUS_HOST, "replay of a write log");
		done += (size_t)n;
	}
	return 0;
}

/* chunk is overwritten where there are no holes. */
static int make_zeros(int fd, uint64_t at, uint64_t bytes, void *chunk, struct error *e)
{
	int why = os_punch(fd, at, bytes);

	if (why == 0)
		return 0;
	if (why != EOPNOTSUPP) {
		errno = why;
		return error_errno(e, STATUS_HOST, "replay of a write log");
	}
	memset(chunk, 0, CHUNK);
	for (uint64_t done = 0; done < bytes;) {
		size_t piece = bytes - done < CHUNK ? (size_t)(bytes - done) : CHUNK;

		if (write_at(fd, at + done, chunk, piece, e) < 0)
			return -1;
		done += piece;
	}
	return 0;
}

static int replay_one(struct writelog *log, const struct writelog_entry *entry, int fd, unsigned char *chunk, struct error *e)
{
	if (entry->discard)
		return make_zeros(fd, entry->offset, entry->bytes, chunk, e);
	for (uint64_t done = 0; entry->data_at && done < entry->bytes;) {
		size_t piece = entry->bytes - done < CHUNK ? (size_t)(entry->bytes - done) : CHUNK;
		int r;

		if (writelog_data(log, entry, done, chunk, piece, e) < 0)
			return -1;
		/* Zeroes of a disk of terabytes must not fill the host's. */
		if (chunk[0] == 0 && memcmp(chunk, chunk + 1, piece - 1) == 0)
			r = make_zeros(fd, entry->offset + done, piece, chunk, e);
		else
			r = write_at(fd, entry->offset + done, chunk, piece, e);
		if (r < 0)
			return -1;
		done += piece;
	}
	return 0;
}

int writelog_replay(struct writelog *log, uint64_t end, int fd, struct error *e)
{
	unsigned char *chunk = malloc(CHUNK);
	int r = 0;

	if (!chunk)
		return error_errno(e, STATUS_HOST, "replay of a write log");
	for (uint64_t i = 0; r == 0 && i < end; i++) {
		struct writelog_entry entry;

		r = writelog_entry(log, i, &entry, e);
		if (r == 0)
			r = replay_one(log, &entry, fd, chunk, e);
	}
	free(chunk);
	return r;
}
