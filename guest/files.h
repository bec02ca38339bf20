/*
 * The files of one clone of a job: their names, what part of each the job works on, and their state on
 * disk before it starts. Rules: fio's, for size, io_size, offset, percentages and layout.
 */
#ifndef KB_FILES_H
#define KB_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/error.h"
#include "guest/job.h"
#include "guest/note.h"
#include "guest/os.h"
#include "guest/result.h"

struct file {
	char *path;
	struct os_target target; /* as found before layout; bytes is updated by it */
	uint64_t start, bytes;   /* the region */
	int fd;                  /* -1 while closed */
};

struct file_set {
	struct file *file;
	unsigned count;
	unsigned jobnum; /* of the clone within its job */
	uint64_t size;  /* sum of the regions */
	uint64_t limit; /* bytes to move in all: io_size, else size */
};

/*
 * Where a failure is recorded as fio's title line has it. All return -1 with failure filled.
 * jobnum: 0 .. numjobs-1.
 */

/* Names, and what is there now. files is empty on failure. */
int files_find(struct file_set *files, const struct job *job, unsigned jobnum, bool readonly,
	       const struct note_sink *notes, struct failure *failure);

/* Regions and limit, from the sizes that files_find found (a pure function of them and the job). */
int files_size(struct file_set *files, const struct job *job, const struct note_sink *notes,
	       struct failure *failure);

/*
 * Create or extend regular files as the job needs them; random data where it reads. Ends early with EINTR
 * when *stop becomes non-zero.
 */
int files_lay_out(struct file_set *files, const struct job *job, bool readonly, const volatile int *stop,
		  const struct note_sink *notes, struct failure *failure);

/* Open all for the job's I/O, drop caches and advise as the job says. */
int files_open(struct file_set *files, const struct job *job, const struct note_sink *notes,
	       struct failure *failure);

/* Remove the regular files, when the job says so; one note for each that stays. */
void files_unlink(const struct file_set *files, const struct job *job, const struct note_sink *notes);

/* A number that is always the same for a path and differs between paths. */
uint64_t files_path_seed(const char *path);

/* Drop what the system cached of the regions; one note if it cannot. */
void files_drop_cache(const struct file_set *files, const struct note_sink *notes);

void files_close(struct file_set *files);
void files_free(struct file_set *files);

/* Record a failure of errno error unless one is there. Always returns -1. */
int failure_set(struct failure *failure, int error, const char *file, int line, const char *fmt, ...)
	KB_PRINTF(5, 6);
#define FAIL(failure, error, ...) failure_set(failure, error, __FILE__, __LINE__, __VA_ARGS__)

#endif
