/* The files behind joblog.h: rows go into one chunk while a thread writes the other. */
#ifndef KB_JOBLOG_FILE_H
#define KB_JOBLOG_FILE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/histogram.h"
#include "guest/result.h"

#define LOG_FILES 6

struct log_row {
	uint64_t ms, value, offset;
	uint32_t bs, ddir;
};

struct log_histogram_row {
	uint64_t ms;
	uint32_t bs, ddir;
	struct histogram counts;
};

struct log_chunk {
	char *rows;
	size_t count;
};

struct log_file {
	char *path;
	int fd;
	bool offset_column, histogram;
	unsigned coarseness; /* histograms: 2^coarseness neighbours become one column */
	size_t row_bytes, rows_per_chunk;
	struct log_chunk active, pending; /* pending: the thread's, until its count is 0 again */
	int error;                        /* of the first write that failed; nothing is written after it */
};

struct log_writer {
	struct log_file file[LOG_FILES];
	unsigned count;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool running, ending;
};

/* Add a file. append: all jobs share it, so that it is not emptied. -1 with failure filled. */
int log_writer_add(struct log_writer *w, const char *path, bool append, bool histogram, struct failure *failure);

/* All are added: start the thread. */
int log_writer_start(struct log_writer *w, struct failure *failure);

/*
 * Room for the next row of this file, which the caller fills before it asks again. Waits when the thread
 * is a whole chunk behind.
 */
void *log_writer_row(struct log_writer *w, struct log_file *f);

/* Write what is left, end the thread. -1 with failure filled if anything did not arrive. */
int log_writer_finish(struct log_writer *w, struct failure *failure);

/* Also of one that was not finished. */
void log_writer_close(struct log_writer *w);

#endif
